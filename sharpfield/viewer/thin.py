"""How much of a light field a page can hold: which views stay, and how far they are reduced.

A page lives in a browser, perhaps of a telephone: its views are all in the graphics memory at once. What is left
out is always said in a note.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sharpfield.io.pictures import quantize
from sharpfield.io.source import Picture, ViewSource
from sharpfield.lightfield import LightField

LARGEST_GRID = 9
LARGEST_SIDE = 4096  # of a texture that every browser takes
LARGEST_FIELD = 96_000_000  # pixels of all views of one light field: 384 MB of graphics memory

_FEWER = (5, 3)  # how many views a side are kept, one after the other, before the views are reduced


@dataclass(frozen=True)
class Thinning:
    """Every how many-th view stays along v and u, and by which whole factor the views are reduced."""

    step: tuple[int, int] = (1, 1)
    reduction: int = 1

    def kept(self, grid: tuple[int, int]) -> tuple[slice, slice]:
        """Return the views that stay: evenly spread and centred."""
        rows, columns = (
            slice((count - 1) % step // 2, count, step) for count, step in zip(grid, self.step, strict=True)
        )
        return rows, columns

    def remarks(self, grid: tuple[int, int], size: tuple[int, int]) -> tuple[str, ...]:
        """Say what is left out of a light field of this grid and size, if anything is."""
        texts = []
        if self.step != (1, 1):
            rows, columns = (
                len(range(count)[part]) for count, part in zip(grid, self.kept(grid), strict=True)
            )
            texts.append(f"{rows}x{columns} of the {grid[0]}x{grid[1]} views are on the page, evenly spread")
        if self.reduction > 1:
            texts.append(
                f"views of {size[1]}x{size[0]} are shown reduced {self.reduction} times; take a window of them "
                "(--window) to see every pixel"
            )
        return tuple(texts)


def plan_thinning(grid: tuple[int, int], sizes: Sequence[tuple[int, int]]) -> Thinning:
    """Return what makes light fields of one grid fit a page; `sizes` are those of their views.

    First views are left out until 9x9 are left; when that is too many pixels still, until 5x5, then 3x3; then the
    views are reduced.
    """
    height, width = max(sizes, key=lambda size: size[0] * size[1])
    step = _steps(grid, LARGEST_GRID)
    for most in _FEWER:
        if _views(grid, step) * height * width > LARGEST_FIELD:
            step = _steps(grid, most)
    reduction = math.ceil(max(height, width) / LARGEST_SIDE)
    while _views(grid, step) * (height // reduction) * (width // reduction) > LARGEST_FIELD:
        reduction += 1
    return Thinning(step, reduction)


def _steps(grid: tuple[int, int], most: int) -> tuple[int, int]:
    return math.ceil(grid[0] / most), math.ceil(grid[1] / most)


def _views(grid: tuple[int, int], step: tuple[int, int]) -> int:
    return math.ceil(grid[0] / step[0]) * math.ceil(grid[1] / step[1])


def reduced(views: NDArray[np.float32], factor: int) -> NDArray[np.float32]:
    """Return the mean of every block of `factor` x `factor` pixels of views (..., y, x, c)."""
    if factor == 1:
        return views
    *outer, height, width, channels = views.shape
    y, x = height // factor, width // factor
    blocks = views[..., : y * factor, : x * factor, :].reshape(*outer, y, factor, x, factor, channels)
    return np.asarray(blocks.mean(axis=(-4, -2), dtype=np.float32))


def thinned(lf: LightField, thinning: Thinning) -> LightField:
    """Return the light field as the page shows it."""
    rows, columns = thinning.kept(lf.grid)
    fewer = lf.select(rows, columns) if thinning.step != (1, 1) else lf
    return fewer.with_views(reduced(fewer.views, thinning.reduction)) if thinning.reduction > 1 else fewer


def reduced_source(source: ViewSource, factor: int) -> ViewSource:
    """Return a source whose views are reduced one by one as they are read: the whole never is in memory."""
    if factor == 1:
        return source

    def load(v: int, u: int) -> Picture:
        picture = source.load(v, u)
        samples = picture.samples
        if samples.dtype.kind == "u":
            samples = samples.astype(np.float32) / np.float32(np.iinfo(samples.dtype).max)
        small = reduced(np.asarray(samples, np.float32), factor)
        return replace(picture, samples=quantize(small, picture.bits) if picture.bits in (8, 16) else small)

    size = source.size[0] // factor, source.size[1] // factor
    return replace(source, size=size, load=load, maps={})
