"""Which views are neighbours, which way a search leads, and what lies beyond the border."""

from __future__ import annotations

import naive
import numpy as np
import pytest

from sharpfield.gb import kernels
from sharpfield.gb.matches import (
    Pair,
    adjacent_views,
    best_matches,
    code_bits,
    neighbouring_pairs,
    pad_views,
    search_offsets,
)
from sharpfield.gb.params import GBParams

GRIDS = [(1, 1), (1, 5), (4, 1), (2, 2), (3, 2), (5, 5)]


@pytest.mark.parametrize("grid", GRIDS)
def test_every_two_neighbours_are_paired_once(grid):
    wanted = {
        frozenset([(v, u), (v + a, u + b)]) for v, u in np.ndindex(*grid) for a, b in naive.around(grid, v, u)
    }
    pairs = neighbouring_pairs(grid)
    found = [frozenset([divmod(pair.first, grid[1]), divmod(pair.second, grid[1])]) for pair in pairs]
    assert set(found) == wanted
    assert len(found) == len(wanted)
    for pair in pairs:
        (v, u), (w, t) = divmod(pair.first, grid[1]), divmod(pair.second, grid[1])
        assert (pair.down, pair.right) == (w - v, t - u)
        assert pair.adjacent == (v == w or u == t)


@pytest.mark.parametrize("grid", GRIDS)
def test_the_views_beside_a_view(grid):
    for v, u in np.ndindex(*grid):
        found = adjacent_views(grid, v * grid[1] + u)
        wanted = {((v + a) * grid[1] + u + b, a, b) for a, b in naive.around(grid, v, u, corners=False)}
        assert set(found) == wanted
        assert len(found) == len(wanted)


@pytest.mark.parametrize("disparity", [(-6, 6), (-2, 4), (2, 5), (-5, -1), (0, 1)])
@pytest.mark.parametrize("step", [(0, 1), (1, 0), (1, 1), (1, -1)])
def test_a_search_leads_where_the_paper_says(disparity, step):
    offset_y, offset_x = search_offsets(*step, GBParams(disparity=disparity))
    assert list(zip(offset_y, offset_x, strict=True)) == naive.window(*step, *disparity)


def test_patches_see_half_intensity_beyond_the_border():
    views = np.random.default_rng(0).random((2, 3, 4), np.float32)
    padded = pad_views(views, 3)
    assert padded.shape == (2, 9, 10)
    assert padded.dtype == np.float32
    for view, wide in zip(views, padded, strict=True):
        assert np.array_equal(wide, np.pad(view, 3, constant_values=np.float32(0.5)))
    assert np.array_equal(pad_views(views, 0), views)


def test_code_bits():
    assert [code_bits(n) for n in (1, 2, 3, 13, 169, 256, 257, 255**2)] == [1, 1, 2, 4, 8, 8, 9, 16]
    for codes in range(1, 700):
        assert codes <= 2 ** code_bits(codes)


@pytest.mark.parametrize("step", [(0, 1), (1, 0), (1, 1), (1, -1)])
def test_the_camera_moves_right_and_down(step):
    # a point of disparity 2 lies 2 to the left in the view to the right, 2 up in the view below
    views = naive.texture_plane((2, 2), (20, 22), 2, seed=4).astype(np.float32)
    first, second = views[0, 1 if step[1] < 0 else 0], views[step[0], 0 if step[1] < 0 else step[1]]
    params = GBParams(disparity=(-3, 4))
    offset_y, offset_x = search_offsets(*step, params)
    padded = pad_views(np.stack([first, second]), 3)
    forward, backward = best_matches(padded, Pair(0, 1, *step), params)
    low_bits = (1 << code_bits(offset_y.size)) - 1
    inside = slice(6, -6)
    for best in (forward, backward):  # the code of a pair is the same from both ends
        code = best[0, inside, inside] & low_bits
        assert (offset_y[code] == -2 * step[0]).all()
        assert (offset_x[code] == -2 * step[1]).all()
        assert (best[0, inside, inside] & ~low_bits).view(np.float32).max() < 1e-10
    assert forward.dtype == np.int32
    assert (forward != kernels.EMPTY_KEY).any()
