"""Light fields side by side: the same views, the same window of the scene, whole factors between their sizes.

A low-resolution light field is compared as it is: its pixel covers a block of pixels of the largest one. Where
that does not work out the error says which two disagree and how; `resample` makes them agree.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sharpfield.errors import InputError
from sharpfield.io.selection import parse_crop
from sharpfield.lightfield import LightField

Size = tuple[int, int]

LARGEST_FACTOR = 8  # between the sizes of two light fields


def check_grids(names: Sequence[str], grids: Sequence[Size]) -> None:
    """Raise InputError where two light fields have different numbers of views."""
    for name, grid in zip(names[1:], grids[1:], strict=True):
        if grid != grids[0]:
            raise InputError(
                f"{names[0]} has {_text(grids[0])} views and {name} {_text(grid)}; give the same views of both, "
                f"or --resample (resample=True) to compare the central {_text(_common([grids[0], grid]))}"
            )


def aligned(fields: Sequence[LightField], *, resample: bool = False) -> list[LightField]:
    """Return the light fields so that all cover the same views and the same window of the scene.

    Parameters
    ----------
    fields
        The first is the one that the others are compared with.
    resample
        Take the central views where grids differ, and resize views whose sizes are no whole factor apart.

    Returns
    -------
    fields
        Cropped by less than one pixel of the smallest where sizes do not divide; what was done is in their notes.
    """
    if resample:
        common = _common([lf.grid for lf in fields])
        fields = [_central(lf, common) for lf in fields]
    check_grids([lf.name for lf in fields], [lf.grid for lf in fields])
    frame = max((lf.size for lf in fields), key=lambda size: size[0] * size[1])
    largest = next(lf for lf in fields if lf.size == frame)
    factors = [factor_between(lf.size, frame) for lf in fields]
    for index, (lf, factor) in enumerate(zip(fields, factors, strict=True)):
        if factor is None and not resample:
            raise InputError(
                f"{largest.name} has views of {_pixels(frame)} and {lf.name} of {_pixels(lf.size)}: no whole factor "
                f"from 1 to {LARGEST_FACTOR} lies between them; crop one of them, or --resample (resample=True) to "
                "enlarge the smaller one"
            )
        if factor is None:
            fields = [*fields[:index], _resized(lf, frame), *fields[index + 1 :]]
    whole = [factor or 1 for factor in factors]
    return [
        _cropped(lf, size)
        for lf, size in zip(fields, _window([lf.size for lf in fields], whole), strict=True)
    ]


def windowed(fields: Sequence[LightField], window: str) -> list[LightField]:
    """Return the same window of aligned light fields, made larger to whole pixels of the smallest ones.

    Parameters
    ----------
    fields
        What `aligned` returned.
    window
        `"100:300,50:250"`, y and x in pixels of the largest.
    """
    frame = max((lf.size for lf in fields), key=lambda size: size[0] * size[1])
    factors = [frame[0] // lf.size[0] for lf in fields]
    step = math.lcm(*factors)
    y, x = (
        slice(part.start // step * step, -(-part.stop // step) * step) for part in parse_crop(window, frame)
    )
    return [
        lf.crop(*(slice(part.start // factor, part.stop // factor) for part in (y, x)))
        for lf, factor in zip(fields, factors, strict=True)
    ]


def _window(sizes: Sequence[Size], factors: Sequence[int]) -> list[Size]:
    """Return the size of each that covers what all of them show, in whole pixels of each."""
    step = math.lcm(*factors)
    height, width = (
        min(size[axis] * factor for size, factor in zip(sizes, factors, strict=True)) // step * step
        for axis in (0, 1)
    )
    return [(height // factor, width // factor) for factor in factors]


def factor_between(size: Size, frame: Size) -> int | None:
    """Return how many times larger the frame is, its last rows or columns left out, or None."""
    fitting = {}
    for factor in range(1, LARGEST_FACTOR + 1):
        left = [full - factor * side for full, side in zip(frame, size, strict=True)]
        # of a truth, rows that the factor of a result does not divide are missing in the result
        if min(left) >= 0 and max(left) < (LARGEST_FACTOR if factor == 1 else factor):
            fitting[factor] = sum(left)
    return min(fitting, key=fitting.__getitem__, default=None)


def _common(grids: Sequence[Size]) -> Size:
    return min(grid[0] for grid in grids), min(grid[1] for grid in grids)


def _central(lf: LightField, grid: Size) -> LightField:
    if lf.grid == grid:
        return lf
    rows, columns = (
        slice((have - want) // 2, (have - want) // 2 + want) for have, want in zip(lf.grid, grid, strict=True)
    )
    note = f"the central {_text(grid)} of the {_text(lf.grid)} views are compared"
    return _noted(lf.select(rows, columns), note)


def _resized(lf: LightField, size: Size) -> LightField:
    views = np.empty((*lf.grid, *size, lf.channels), np.float32)
    for place in np.ndindex(lf.grid):
        for channel in range(lf.channels):
            views[(*place, ..., channel)] = _resized_plane(lf.views[place][..., channel], size)
    return _noted(lf.with_views(np.clip(views, 0, 1)), f"resized from {_pixels(lf.size)} to {_pixels(size)}")


def _resized_plane(plane: NDArray[np.float32], size: Size) -> NDArray[np.float32]:
    image = Image.fromarray(np.ascontiguousarray(plane))
    return np.asarray(image.resize((size[1], size[0]), Image.Resampling.BICUBIC))


def _cropped(lf: LightField, size: Size) -> LightField:
    if lf.size == size:
        return lf
    note = f"cropped at the bottom and on the right from {_pixels(lf.size)} to {_pixels(size)}"
    return _noted(lf.crop(slice(size[0]), slice(size[1])), note)


def _noted(lf: LightField, note: str) -> LightField:
    return lf.with_views(lf.views, notes=(*lf.notes, note))


def _text(grid: Size) -> str:
    return f"{grid[0]}x{grid[1]}"


def _pixels(size: Size) -> str:
    return f"{size[1]}x{size[0]}"
