"""The HDF5 files of the HCI archive of 2013 (`lf.h5`): `/LF` (v, u, y, x, 3) uint8, and `/GT_DEPTH`.

Its views are stored right to left: u is turned, so that the camera moves right as u grows. Rows run downward as
sharpfield's do. The attributes vRes, hRes, yRes, xRes say the grid and the size; dV, dH, focalLength and shift
the geometry, from which the disparity of a view is dH * focalLength / depth - shift.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from sharpfield.errors import InputError, OptionError
from sharpfield.io.arrays import layout
from sharpfield.io.atomic import check_free, replacing
from sharpfield.io.content import begins, decoding
from sharpfield.io.hdf5_access import attributes, contains, dataset, is_hdf5, opened
from sharpfield.io.pictures import quantize
from sharpfield.io.source import Format, Picture, ReadOptions, Samples, ViewSource, check_memory
from sharpfield.lightfield import LightField
from sharpfield.progress import Progress, ProgressCallback, silent

_SHAPE = ("vRes", "hRes", "yRes", "xRes")
_GEOMETRY = ("dV", "dH", "focalLength", "shift")
_DEPTH = "GT_DEPTH"


def sniff(path: Path, options: ReadOptions) -> bool:
    """HDF5 with /LF that no MATLAB wrote."""
    return (
        is_hdf5(path)
        and path.suffix.lower() != ".mat"
        and not begins(path, b"MATLAB")
        and contains(path, "LF")
        and not contains(path, "views")
    )


@contextmanager
def open_hci(path: Path, options: ReadOptions) -> Iterator[ViewSource]:
    """Open an lf.h5."""
    place = str(path)
    with opened(path) as file:
        with decoding(place):
            views = dataset(file, "LF", place)
            said = attributes(file)
            depth = dataset(file, _DEPTH, place) if _DEPTH in file else None
            shape = tuple(views.shape)
        axes = layout(shape, f"{place}: /LF")
        _check_shape(said, (*axes.grid, *axes.size), place)
        check_memory((*axes.size, axes.channels), place)
        missing = [name for name in _GEOMETRY if name not in said]
        notes = (f"attributes {', '.join(missing)} missing",) if missing else ()
        last = axes.grid[1] - 1

        def load(v: int, u: int) -> Picture:
            with decoding(f"{place}: view ({v}, {u})"):
                return axes.picture(views[v, last - u])

        def depth_of(v: int, u: int) -> Samples:
            assert depth is not None
            with decoding(f"{place}: /{_DEPTH}"):
                return np.asarray(depth[v, last - u])

        maps: dict[str, Callable[[int, int], Samples]] = {}
        if depth is not None and depth.shape == shape[:4]:
            maps["depth"] = depth_of
        elif depth is not None:
            notes = (*notes, f"/{_DEPTH} of shape {depth.shape} left out")
        yield ViewSource(
            name=path.parent.name if path.stem.lower() == "lf" else path.stem,
            source=place,
            grid=axes.grid,
            size=axes.size,
            channels=axes.channels,
            load=load,
            parallel=False,  # the library serves one thread at a time
            notes=(*notes, *axes.notes),
            metadata=said,
            maps=maps,
        )


def _check_shape(said: dict[str, Any], shape: tuple[int, ...], place: str) -> None:
    """Check that the attributes are there and fit: without them nothing says that views run right to left."""
    missing = [name for name in _SHAPE if name not in said]
    if missing:
        raise InputError(
            f"{place}: has /LF as the HCI archive of 2013 does, but not its attributes {', '.join(missing)}; add them, "
            "or say --from hdf5 to read /LF as (v, u, y, x, c)"
        )
    if tuple(said[name] for name in _SHAPE) != shape:
        rows, columns, height, width = (said[name] for name in _SHAPE)
        raise InputError(
            f"{place}: its attributes say {rows}x{columns} views of {width}x{height}, /LF has {shape[0]}x{shape[1]} "
            f"of {shape[3]}x{shape[2]}; correct the attributes"
        )


def write(
    lf: LightField,
    path: Path,
    *,
    overwrite: bool = False,
    bits: int | None = None,
    threads: int | None = None,
    progress: ProgressCallback = silent,
) -> None:
    """Write an lf.h5, 8 bits, RGB."""
    import h5py

    check_free(path, overwrite=overwrite, folder=False)
    if (lf.bits if bits is None else bits) != 8:
        raise OptionError(f"{path}: hci2013 holds 8 bits a sample; say bits 8 to round, or choose hdf5")
    shape = (*lf.grid, *lf.size)
    with replacing(path, overwrite=overwrite) as temporary, h5py.File(temporary, "w") as file:
        for name, length in zip(_SHAPE, shape, strict=True):
            file.attrs[name] = length
        for name in _GEOMETRY:
            if isinstance(lf.metadata.get(name), (int, float)):
                file.attrs[name] = lf.metadata[name]
        views = file.create_dataset("LF", (*shape, 3), "u1", chunks=(1, 1, *lf.size, 3), compression="gzip")
        for done, (v, u) in enumerate(np.ndindex(lf.grid), 1):
            views[v, lf.grid[1] - 1 - u] = quantize(
                lf.views[v, u], 8
            )  # grey is repeated in the three channels
            progress(Progress("writing views", done / (lf.grid[0] * lf.grid[1])))
        depth = lf.metadata.get("depth")
        if isinstance(depth, np.ndarray) and depth.shape == shape:
            file.create_dataset(_DEPTH, data=depth[:, ::-1].astype(np.float32), compression="gzip")


FORMAT = Format(
    name="hci2013",
    description="lf.h5 of the HCI archive of 2013: /LF with views right to left, /GT_DEPTH, geometry attributes",
    sniff=sniff,
    open=open_hci,
    write=write,
    streams=True,
)
