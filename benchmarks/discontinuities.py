"""What `mitra` does where depth jumps, and from view to view, on the built-in scene: docs/images/mitra.png.

`python -m benchmarks discontinuities` (a minute) prints PSNR for the publication's plain average and for ours, over all
pixels, near jumps of the depth and elsewhere, and draws one such place in a corner view and the PSNR of every view.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import ndimage

import sharpfield as sf
from sharpfield import pictures
from sharpfield.color import luma
from sharpfield.observe import Camera, degrade
from sharpfield.synthetic import render_scene

IMAGE = Path(__file__).resolve().parents[1] / "docs" / "images" / "mitra.png"

_SIZE = (240, 320)
_BORDER = 15  # left out, as by the paper
_JUMP = 0.5  # pixels of disparity between neighbouring pixels
_NEAR = 6  # pixels around a jump: 1.5 samples of the low resolution on either side of a patch's side
_DETAIL = 64
_ZOOM = 3
_GAIN = 6.0
_VIEW = (4, 4)
_RANGE = 3.0  # dB that the map of the views shows, from the best one down
_PLAIN = 1e3  # misfit at which all patches count the same: the publication's average


def main() -> None:
    scene = render_scene(size=_SIZE, supersampling=3)
    truth = scene.lightfield
    low = degrade(truth, Camera(2))
    results = {
        "bicubic": sf.upscale(low, 2, method="bicubic"),
        "plain average": sf.upscale(low, 2, method="mitra", misfit=_PLAIN),
        "mitra": sf.upscale(low, 2, method="mitra"),
    }
    jumps = np.stack([[near_jumps(plane) for plane in row] for row in scene.disparity])
    print("| result | all | near jumps | elsewhere | variance over views | worst view |")
    print("|---|---|---|---|---|---|")
    maps, details, errors = {}, {}, {}
    y, x = place_of_jumps(jumps[_VIEW])
    for name, result in results.items():
        every = psnr(result, truth, np.ones_like(jumps))
        near, far = (float(np.mean(psnr(result, truth, mask))) for mask in (jumps, ~jumps))
        print(
            f"| {name} | {every.mean():.2f} | {near:.2f} | {far:.2f} | {every.var():.2f} | {every.min():.2f} |"
        )
        details[name] = result.views[_VIEW][y, x]
        errors[f"{name}: error x {_GAIN:g}"] = pictures.error_map(
            result.views[_VIEW][y, x], truth.views[_VIEW][y, x], _GAIN
        )
        best = float(every.max())
        label = f"{name}: {every.min():.1f} .. {best:.1f} dB, variance {every.var():.2f}"
        maps[label] = pictures.heat(every, best - _RANGE, best)
    details["truth"] = truth.views[_VIEW][y, x]
    side = _DETAIL * _ZOOM
    sheets = [
        pictures.panel_sheet({name: grown(image, _ZOOM) for name, image in details.items()}),
        pictures.panel_sheet({name: grown(image, _ZOOM) for name, image in errors.items()}),
        pictures.panel_sheet({name: grown(image, side // 5) for name, image in maps.items()}),
    ]
    pictures.save_png(stacked(sheets), IMAGE, overwrite=True)


def near_jumps(disparity: np.ndarray) -> np.ndarray:
    """Return where the disparity (y, x) of a pixel not far away differs by a jump from its neighbour's."""
    down, right = (np.abs(np.diff(disparity, axis=axis, append=np.nan)) > _JUMP for axis in (0, 1))
    return ndimage.maximum_filter(down | right, 2 * _NEAR + 1)


def place_of_jumps(jumps: np.ndarray) -> tuple[slice, slice]:
    """Return the detail with the most pixels near jumps."""
    half = _DETAIL // 2
    inside = np.s_[half + _BORDER : -half - _BORDER, half + _BORDER : -half - _BORDER]
    share = ndimage.uniform_filter(jumps.astype(float), _DETAIL)[inside]
    y, x = (int(at) + _BORDER for at in np.unravel_index(share.argmax(), share.shape))
    return slice(y, y + _DETAIL), slice(x, x + _DETAIL)


def psnr(result: sf.LightField, truth: sf.LightField, mask: np.ndarray) -> np.ndarray:
    """Return the PSNR of every view over the pixels of a mask (v, u, y, x)."""
    inside = np.s_[:, :, _BORDER:-_BORDER, _BORDER:-_BORDER]
    square = (luma(result.views).astype(float) - luma(truth.views))[inside] ** 2
    return -10 * np.log10(np.average(square, axis=(2, 3), weights=mask[inside]))


def grown(image: np.ndarray, zoom: int) -> pictures.Picture:
    """Return a picture with larger pixels."""
    return pictures.picture(image).repeat(zoom, axis=0).repeat(zoom, axis=1)


def stacked(sheets: list[pictures.Picture]) -> pictures.Picture:
    """Return sheets below each other, as wide as the widest."""
    wide = max(sheet.shape[1] for sheet in sheets)
    paper = sheets[0][0, 0]
    rows = []
    for sheet in sheets:
        row = np.empty((sheet.shape[0], wide, 3), np.uint8)
        row[:] = paper
        row[:, : sheet.shape[1]] = sheet
        rows.append(row)
    return np.vstack(rows)
