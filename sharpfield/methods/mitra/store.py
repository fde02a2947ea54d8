"""Subspaces of the priors, made once: kept for the life of the process, and on disk from run to run.

One small file for each disparity, patch and camera, in the user's folder for such things (`SHARPFIELD_CACHE` names
another). A file appears whole or not at all; one that cannot be read, whatever is in it, is made anew; where nothing
can be written, the subspaces live as long as the process.
"""

from __future__ import annotations

import hashlib
import os
import sys
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import count
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sharpfield.errors import SharpfieldError
from sharpfield.io.atomic import replacing
from sharpfield.methods.mitra.prior import GROWTH, SCALES, DisparityPrior, PatchShape
from sharpfield.parallel import Workers
from sharpfield.progress import Progress, ProgressCallback, silent

Subspace = NDArray[np.float32]

_FORM = 1  # to be raised when what a file holds is computed differently
_KEPT = 512  # subspaces in memory, of 40 kB each for 5x5 views


def folder() -> Path:
    """Return where the files go: `SHARPFIELD_CACHE`, or the folder that the system has for caches."""
    named = os.environ.get("SHARPFIELD_CACHE")
    if named:
        return Path(named)
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "sharpfield"


def subspaces(
    shape: PatchShape,
    disparities: Sequence[float],
    rank: int,
    workers: Workers,
    progress: ProgressCallback = silent,
) -> NDArray[np.float32]:
    """Return the subspaces of patches (disparity, rank, samples), made where they are not kept.

    Parameters
    ----------
    shape
        What a patch consists of.
    disparities
        High-resolution pixels between adjacent views.
    rank
        Dimensions of a subspace.
    """
    # the prior of -d is that of d, turned by half a turn: R is even
    sizes = sorted({_size(d) for d in disparities})
    done = count(1)

    def one(size: float) -> Subspace:
        made = _kept(shape, size, rank)
        progress(Progress("making priors", next(done) / len(sizes)))
        return made

    made = dict(zip(sizes, workers.map(one, sizes), strict=True))
    result = np.empty((len(disparities), rank, shape.samples), np.float32)
    for number, disparity in enumerate(disparities):
        upright = made[_size(disparity)].reshape(rank, -1, shape.side, shape.side)
        turned = upright if disparity >= 0 else upright[..., ::-1, ::-1]
        result[number] = turned.reshape(rank, -1)
    return result


def _size(disparity: float) -> float:
    return round(abs(disparity), 6)


@lru_cache(maxsize=_KEPT)
def _kept(shape: PatchShape, disparity: float, rank: int) -> Subspace:
    try:
        path = folder() / "mitra" / f"{_key(shape, disparity, rank)}.npz"
    except RuntimeError:  # no home
        return DisparityPrior(shape, disparity).subspace(rank)
    found = _read(path, (rank, shape.samples))
    if found is None:
        found = DisparityPrior(shape, disparity).subspace(rank)
        _write(path, found)
    found.flags.writeable = False
    return found


def _key(shape: PatchShape, disparity: float, rank: int) -> str:
    what = (_FORM, shape.views, shape.side, shape.camera.factor, str(shape.camera), disparity, rank)
    digest = hashlib.sha256(repr((what, SCALES.tolist(), GROWTH)).encode())
    return digest.hexdigest()[:32]


def _read(path: Path, shape: tuple[int, int]) -> Subspace | None:
    """Return what a file holds, or None when there is none or it is not whole (the archive has a checksum)."""
    try:
        # opened here: np.load leaves a file open that is not whole
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            found = archive["subspace"]
    except (OSError, ValueError, KeyError, EOFError, NotImplementedError, zipfile.BadZipFile):
        return None
    if found.shape != shape or found.dtype != np.float32 or not np.isfinite(found).all():
        return None
    return found


def _write(path: Path, subspace: Subspace) -> None:
    # a full disk or a folder of somebody else's costs time in the next run, and nothing else
    with (
        suppress(OSError, SharpfieldError),
        replacing(path, overwrite=True) as temporary,
        temporary.open("wb") as file,
    ):
        np.savez(file, subspace=subspace)
