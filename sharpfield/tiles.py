"""Sub-light-fields: which windows of the views are super-resolved one by one, and how the results merge.

A plan is made for each axis on its own; a tile is a pair of spans, and its weights the product of theirs. The
weights of all spans over a pixel sum to 1, so that merging what was split gives it back.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sharpfield.errors import OptionError

# Section VII-A: N' = 100 and 70 for factors 2 and 3, about 200 high-resolution pixels
_PAPER_SIDE = {2: 100, 3: 70}
_PAPER_TAPER = 0.15


@dataclass(frozen=True)
class Span:
    """A run of low-resolution pixels along one axis, and the weight of each of its high-resolution pixels."""

    start: int
    stop: int
    weight: NDArray[np.float32]

    @property
    def length(self) -> int:
        """How many low-resolution pixels it holds."""
        return self.stop - self.start


@dataclass(frozen=True)
class Tiling:
    """Spans of the two axes; each pair of them is a tile."""

    rows: tuple[Span, ...]
    columns: tuple[Span, ...]
    factor: int

    def __len__(self) -> int:
        return len(self.rows) * len(self.columns)

    def __iter__(self) -> Iterator[Tile]:
        for y in self.rows:
            for x in self.columns:
                yield Tile(y, x, self.factor)

    @property
    def pixels(self) -> int:
        """Low-resolution pixels of all tiles together: what the work grows with."""
        return sum(span.length for span in self.rows) * sum(span.length for span in self.columns)


@dataclass(frozen=True)
class Tile:
    """One sub-light-field: the same window of every view."""

    y: Span
    x: Span
    factor: int

    @property
    def pixels(self) -> int:
        """Low-resolution pixels of a view."""
        return self.y.length * self.x.length

    def cut(self, low: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the tile of low-resolution planes (..., y, x)."""
        return low[..., self.y.start : self.y.stop, self.x.start : self.x.stop]

    def add(self, high: NDArray[np.float32], merged: NDArray[np.float32]) -> None:
        """Add a super-resolved tile (..., Y, X), weighted, to the planes that it is part of."""
        a = self.factor
        place = merged[..., self.y.start * a : self.y.stop * a, self.x.start * a : self.x.stop * a]
        weight = self.y.weight[:, np.newaxis] * self.x.weight
        for index in np.ndindex(*high.shape[:-2]):  # view by view: no copy of the whole
            place[index] += high[index] * weight


def paper_tiling(size: tuple[int, int], factor: int, side: int | None = None) -> Tiling:
    """Return the paper's tiles: N' x N' low-resolution pixels, half overlapping, merged by a Tukey window.

    Parameters
    ----------
    size
        Height and width of a low-resolution view.
    factor
        Super-resolution factor.
    side
        N'; as in section VII-A when None.
    """
    side = side or _PAPER_SIDE.get(factor, max(200 // factor, 1))
    if side < 8:
        raise OptionError(f"a tile has at least 8 low-resolution pixels a side, not {side}")
    rows, columns = (_half_overlapping(length, side, factor) for length in size)
    return Tiling(rows, columns, factor)


def budget_tiling(size: tuple[int, int], factor: int, halo: int, pixels: float, smallest: int = 32) -> Tiling:
    """Return the fewest tiles of at most `pixels` low-resolution pixels each, halo included.

    Parameters
    ----------
    size
        Height and width of a low-resolution view.
    factor
        Super-resolution factor.
    halo
        High-resolution pixels around a tile that are computed for their neighbours' sake, then left out.
    pixels
        Low-resolution pixels of a view that fit into memory at a time.
    smallest
        Tiles are not made smaller than this, halo not counted, even if they do not fit.
    """
    margin = math.ceil(halo / factor)
    best: tuple[int, int, int] | None = None
    most = [max(length // smallest, 1) for length in size]
    for rows in range(1, most[0] + 1):
        for columns in range(1, most[1] + 1):
            sides = [
                _padded_side(length, count, margin)
                for length, count in zip(size, (rows, columns), strict=True)
            ]
            if sides[0] * sides[1] <= pixels or (rows, columns) == tuple(most):
                work = rows * columns * sides[0] * sides[1]
                if best is None or work < best[0]:
                    best = work, rows, columns
                break
    assert best is not None  # the loops always reach the smallest tiles
    return Tiling(
        _side_by_side(size[0], best[1], margin, factor),
        _side_by_side(size[1], best[2], margin, factor),
        factor,
    )


def _padded_side(length: int, count: int, margin: int) -> int:
    return min(math.ceil(length / count) + (2 if count > 2 else count - 1) * margin, length)


def _half_overlapping(length: int, side: int, factor: int) -> tuple[Span, ...]:
    if length <= side:
        return (Span(0, length, np.ones(length * factor, np.float32)),)
    starts = [*range(0, length - side, side // 2), length - side]
    window = _tukey(side * factor, _PAPER_TAPER)
    return _normalised([(start, start + side, window) for start in starts], length, factor)


def _side_by_side(length: int, count: int, margin: int, factor: int) -> tuple[Span, ...]:
    edges = [round(i * length / count) for i in range(count + 1)]
    spans = []
    for begin, end in pairwise(edges):
        start, stop = max(begin - margin, 0), min(end + margin, length)
        position = np.arange(start * factor, stop * factor) + 0.5
        # a ramp half as wide as the halo across each seam: its outer half is never seen
        ramp = max(margin * factor / 2, 1)
        rise = np.ones(position.size) if begin == 0 else (position - begin * factor) / ramp + 0.5
        fall = np.ones(position.size) if end == length else (end * factor - position) / ramp + 0.5
        spans.append((start, stop, np.clip(np.minimum(rise, fall), 0, 1)))
    return _normalised(spans, length, factor)


def _normalised(
    spans: list[tuple[int, int, NDArray[np.float64]]], length: int, factor: int
) -> tuple[Span, ...]:
    total = np.zeros(length * factor)
    for start, stop, weight in spans:
        total[start * factor : stop * factor] += weight
    return tuple(
        Span(start, stop, (weight / total[start * factor : stop * factor]).astype(np.float32))
        for start, stop, weight in spans
    )


def _tukey(length: int, taper: float) -> NDArray[np.float64]:
    """Return a Tukey window sampled at pixel centers, so that it is nowhere 0."""
    position = (np.arange(length) + 0.5) / length
    edge = np.minimum(position, 1 - position)
    return np.where(edge < taper / 2, 0.5 * (1 - np.cos(2 * np.pi * edge / taper)), 1.0)
