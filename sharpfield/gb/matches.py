"""Which pixels of a neighbouring view look like a given one: patch distances, and the best of them (eq. 10, 13)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sharpfield.gb import kernels
from sharpfield.gb.params import GBParams

# Patches that hang over the border of a view see this constant there (the paper is silent; docs/method.md)
BORDER_INTENSITY = 0.5


@dataclass(frozen=True)
class Pair:
    """Two neighbouring views, by number (v * columns + u), and the step on the grid from the first to the second."""

    first: int
    second: int
    down: int
    right: int

    @property
    def adjacent(self) -> bool:
        """Whether the two share a row or a column of the grid (𝒩⁺), rather than a corner (𝒩ˣ)."""
        return self.down == 0 or self.right == 0


def neighbouring_pairs(grid: tuple[int, int]) -> list[Pair]:
    """Return every unordered pair of views that are neighbours, 𝒩ₖ of section V-B, once."""
    rows, columns = grid
    pairs = []
    for v in range(rows):
        for u in range(columns):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                if v + down < rows and 0 <= u + right < columns:
                    pairs.append(Pair(v * columns + u, (v + down) * columns + u + right, down, right))
    return pairs


def adjacent_views(grid: tuple[int, int], view: int) -> list[tuple[int, int, int]]:
    """Return 𝒩ₖ⁺ of a view: number, step down and step right of each view beside it."""
    rows, columns = grid
    v, u = divmod(view, columns)
    return [
        ((v + down) * columns + u + right, down, right)
        for down, right in ((0, -1), (0, 1), (-1, 0), (1, 0))
        if 0 <= v + down < rows and 0 <= u + right < columns
    ]


def pad_views(views: NDArray[np.float32], radius: int) -> NDArray[np.float32]:
    """Return views (n, y, x) with a border of half intensity, as wide as a patch can hang over."""
    count, height, width = views.shape
    padded = np.full((count, height + 2 * radius, width + 2 * radius), BORDER_INTENSITY, np.float32)
    padded[:, radius : radius + height, radius : radius + width] = views
    return padded


def search_offsets(down: int, right: int, params: GBParams) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the displacement (y, x) of every code towards the view `down` and `right` of a view.

    The window is 1 x W along a row, W x 1 along a column, W x W towards a corner (section V-B, step 1). A point
    of disparity d lies d to the left in the view to the right, and d up in the view below.
    """
    disparities = np.arange(params.disparity[0], params.disparity[1] + 1)
    if right == 0:
        return -down * disparities, np.zeros_like(disparities)
    if down == 0:
        return np.zeros_like(disparities), -right * disparities
    vertical, horizontal = np.meshgrid(disparities, disparities, indexing="ij")
    return -down * vertical.ravel(), -right * horizontal.ravel()


def code_bits(codes: int) -> int:
    """Return how many bits a number below `codes` takes in a key."""
    return max(int(codes - 1).bit_length(), 1)


def kept_matches(pair: Pair) -> int:
    """Return how many matches of a pixel are kept (section V-B, step 2)."""
    return 2 if pair.adjacent else 4


def best_matches(
    padded: NDArray[np.float32], pair: Pair, params: GBParams, keys: NDArray[np.int32] | None = None
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the keys of the best matches of every pixel, first to second view and second to first.

    ||𝒫(x, y) - 𝒫'(x', y')||_F² of eq. 10 and 13 over the search window; the two best are kept along a row or a column,
    the four best towards a corner (section V-B, step 2).

    Parameters
    ----------
    keys
        Room for them, (2, 4, y, x), overwritten; made when None.
    """
    offset_y, offset_x = search_offsets(pair.down, pair.right, params)
    kept = kept_matches(pair)
    if keys is None:
        size = (padded.shape[1] - 2 * params.radius, padded.shape[2] - 2 * params.radius)
        keys = np.empty((2, kept, *size), np.int32)
    best_first, best_second = keys[0, :kept], keys[1, :kept]
    kernels.match_pair(
        padded[pair.first],
        padded[pair.second],
        params.patch,
        offset_y,
        offset_x,
        code_bits(offset_y.size),
        best_first,
        best_second,
    )
    return best_first, best_second
