"""Disparity maps to disk: one NumPy archive, a folder or a zip with one file a view, or one file of one map.

The ending of the output decides. PFM keeps every value; a PNG has 16 bits, and a JSON text beside it says what they
stand for: disparity = offset + scale * value, the same two numbers for all maps of an output.
"""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpfield.errors import OptionError
from sharpfield.io.atomic import check_free, replacing
from sharpfield.io.folder import check_replaceable
from sharpfield.io.pfm import encode_pfm
from sharpfield.io.png import encode_16

Maps = NDArray[np.float32]
View = tuple[int, int]

PICTURES = ("pfm", "png")
RECORD = "depth.json"  # beside the maps of a folder or zip
_TOP = 65535


@dataclass(frozen=True)
class MapOutput:
    """Where disparity maps go, and in which form.

    Parameters
    ----------
    path
        The final name.
    container
        `npz`, `folder`, `zip`, or `file` for one picture.
    picture
        `pfm` or `png`; nothing in an archive of NumPy.
    overwrite
        Replace what is there.
    """

    path: Path
    container: str
    picture: str
    overwrite: bool

    @property
    def beside(self) -> Path | None:
        """The text beside a single PNG; None where there is none, or where it is in the folder or zip."""
        alone = self.container == "file" and self.picture == "png"
        return self.path.with_suffix(".json") if alone else None


def choose_output(
    path: str | Path, *, single: bool, picture: str | None = None, overwrite: bool = False
) -> MapOutput:
    """Return what the ending of an output chooses, or refuse it before any work is spent on it.

    Parameters
    ----------
    path
        Ends in .npz, .zip, .pfm or .png; without an ending it is a folder.
    single
        Whether there is one map only.
    picture
        `pfm` (when None) or `png`: the files of a folder or zip.
    overwrite
        Replace what is there.
    """
    final = Path(path)
    ending = final.suffix.lower()
    if picture is not None and picture not in PICTURES:
        raise OptionError(f"the format of maps is pfm or png, not {picture!r}")
    if ending in (".pfm", ".png"):
        if not single:
            raise OptionError(
                f"{final}: holds one map; choose which (--centre, or --view V,U), or give a folder, .zip or .npz"
            )
        container, ending_picture = "file", ending[1:]
    elif ending in (".npz", ".zip"):
        container, ending_picture = ending[1:], "" if ending == ".npz" else picture or "pfm"
    elif not ending or final.is_dir():
        container, ending_picture = "folder", picture or "pfm"
    else:
        raise OptionError(
            f"{final}: maps are not written as {ending}; OUT ends in .npz, .zip, .pfm or .png, or is a folder"
        )
    if single and container in ("folder", "zip"):
        raise OptionError(f"{final}: one map is one file; let OUT end in .pfm, .png or .npz")
    if picture is not None and picture != ending_picture:
        raise OptionError(f"{final}: is not written as {picture}; leave out the format or change the ending")
    output = MapOutput(final, container, ending_picture, overwrite)
    for each in filter(None, (final, output.beside)):
        check_free(each, overwrite=overwrite, folder=container == "folder")
    if container == "folder" and final.exists():
        check_replaceable(final)
    return output


def write_maps(
    output: MapOutput, disparity: Maps, record: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> dict[str, Any]:
    """Write maps (v, u, y, x), whole or not at all; return the record that was written with them.

    Parameters
    ----------
    record
        What is known of the maps, as plain values.
    arrays
        What goes into an archive of NumPy besides.
    """
    known = dict(record)
    if output.picture == "png":
        low, scale = _steps(disparity)
        known |= {"disparity_is": "offset + scale * value", "offset": low, "scale": scale}
    text = (json.dumps(known, indent=2, allow_nan=False) + "\n").encode()

    def picture(view: View) -> bytes:
        plane = disparity[view]
        if output.picture == "pfm":
            return encode_pfm(plane)
        return encode_16(_quantized(plane, low, scale)[..., np.newaxis])

    names = map_names((disparity.shape[0], disparity.shape[1]), output.picture)
    with ExitStack() as stack:
        if output.beside is not None:
            stack.enter_context(replacing(output.beside, overwrite=output.overwrite)).write_bytes(text)
        place = stack.enter_context(
            replacing(output.path, overwrite=output.overwrite, folder=output.container == "folder")
        )
        if output.container == "npz":
            with place.open("wb") as file:
                everything: dict[str, Any] = {"disparity": disparity, **arrays}
                np.savez(file, **everything, record=np.array(text.decode()))
        elif output.container == "file":
            place.write_bytes(picture((0, 0)))
        elif output.container == "folder":
            for view, name in names.items():
                (place / name).write_bytes(picture(view))
            (place / RECORD).write_bytes(text)
        else:
            with zipfile.ZipFile(place, "w", zipfile.ZIP_STORED) as archive:
                for view, name in names.items():  # no date: the same input, the same bytes
                    archive.writestr(zipfile.ZipInfo(name), picture(view))
                archive.writestr(zipfile.ZipInfo(RECORD), text)
    return known


def map_names(grid: tuple[int, int], picture: str) -> dict[View, str]:
    """Return the name of each view's map: depth_VV_UU, as the views are view_VV_UU."""
    digits = max(2, len(str(max(grid) - 1)))
    return {(v, u): f"depth_{v:0{digits}}_{u:0{digits}}.{picture}" for v, u in np.ndindex(*grid)}


def _steps(disparity: Maps) -> tuple[float, float]:
    """Return the disparity of the value 0 and that of a step, so that the largest disparity has the value 65535."""
    low, high = float(disparity.min()), float(disparity.max())
    return low, (high - low) / _TOP if high > low else 1.0


def _quantized(plane: Maps, low: float, scale: float) -> NDArray[np.uint16]:
    value = np.floor((plane.astype(np.float64) - low) / scale + 0.5)
    if not math.isfinite(float(value.sum())):
        raise OptionError("a map holds values that are not finite; PFM and npz keep them")
    return np.clip(value, 0, _TOP).astype(np.uint16)
