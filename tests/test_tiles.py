"""Tiles: what is split and merged is what it was, for both ways of tiling and any size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sharpfield.errors import OptionError
from sharpfield.tiles import Tiling, budget_tiling, paper_tiling

sizes = st.tuples(st.integers(1, 99), st.integers(1, 99))


def assert_merges_to_the_identity(tiling: Tiling, size: tuple[int, int], factor: int) -> None:
    rng = np.random.default_rng(size[0])
    low = rng.random((1, 2, *size), np.float32)
    high = rng.random((1, 2, size[0] * factor, size[1] * factor), np.float32)
    merged, cover = np.zeros_like(high), np.zeros(high.shape[2:])
    for tile in tiling:
        cut = tile.cut(low)
        assert cut.shape[2:] == (tile.y.length, tile.x.length)
        assert tile.pixels == cut[0, 0].size
        part = high[
            ..., tile.y.start * factor : tile.y.stop * factor, tile.x.start * factor : tile.x.stop * factor
        ]
        tile.add(part, merged)
        weight = np.multiply.outer(tile.y.weight, tile.x.weight)
        cover[tile.y.start * factor : tile.y.stop * factor, tile.x.start * factor : tile.x.stop * factor] += (
            weight
        )
        assert weight.min() >= 0
    assert abs(merged - high).max() < 1e-6
    assert abs(cover - 1).max() < 1e-6
    assert sum(tile.pixels for tile in tiling) == tiling.pixels
    assert len(list(tiling)) == len(tiling)


@given(sizes, st.integers(2, 4), st.integers(8, 60))
@settings(max_examples=50, deadline=None)
def test_the_papers_tiles_merge_to_what_was_split(size, factor, side):
    tiling = paper_tiling(size, factor, side)
    assert_merges_to_the_identity(tiling, size, factor)
    for spans, length in ((tiling.rows, size[0]), (tiling.columns, size[1])):
        assert all(span.length == min(side, length) for span in spans)


@given(sizes, st.integers(2, 4), st.integers(0, 60), st.floats(-1e6, 1e5))
@settings(max_examples=50, deadline=None)
def test_tiles_of_a_budget_merge_to_what_was_split(size, factor, halo, pixels):
    assert_merges_to_the_identity(budget_tiling(size, factor, halo, pixels), size, factor)


# --- the paper's tiles ------------------------------------------------------------------------------------------


def test_the_papers_tiles_on_its_own_data():
    # 768 x 768 at factor 2: 49 tiles of 100 x 100, half overlapping
    tiling = paper_tiling((384, 384), 2)
    assert len(tiling) == 49
    assert {(tile.y.length, tile.x.length) for tile in tiling} == {(100, 100)}
    assert [span.start for span in tiling.rows] == [0, 50, 100, 150, 200, 250, 284]
    assert {span.length for span in paper_tiling((256, 256), 3).rows} == {70}


@pytest.mark.parametrize("factor", [4, 5, 8])
def test_at_other_factors_tiles_are_about_200_pixels_high_resolution(factor):
    assert {span.length for span in paper_tiling((300, 300), factor).rows} == {200 // factor}


def test_small_views_are_one_tile_of_weight_one():
    (tile,) = paper_tiling((100, 60), 2)
    assert (tile.y.start, tile.y.stop, tile.x.start, tile.x.stop) == (0, 100, 0, 60)
    assert (tile.y.weight == 1).all()
    assert (tile.x.weight == 1).all()


def test_the_merge_fades_over_15_percent_of_a_tile():
    first, second = paper_tiling((150, 10), 2).rows
    # each fades over half of 15 % of its 200 pixels; between the fades both count the same
    assert (first.weight[:100] >= 0.5).all()
    assert first.weight[100:115][0] > 0.99
    assert (np.diff(first.weight[100:115]) < 0).all()
    assert first.weight[116:184] == pytest.approx(0.5, abs=1e-6)
    assert first.weight[::-1] == pytest.approx(second.weight, abs=1e-6)


@pytest.mark.parametrize("side", [1, 7])
def test_tiny_tiles_are_refused(side):
    with pytest.raises(OptionError, match="at least 8"):
        paper_tiling((100, 100), 2, side)


# --- tiles from a budget ----------------------------------------------------------------------------------------


def test_what_fits_is_one_tile():
    (tile,) = budget_tiling((120, 90), 2, 18, 120 * 90)
    assert (tile.y.length, tile.x.length) == (120, 90)
    assert (np.multiply.outer(tile.y.weight, tile.x.weight) == 1).all()
    assert len(budget_tiling((120, 90), 2, 18, 120 * 90 - 1)) == 2


@given(
    st.tuples(st.integers(40, 400), st.integers(40, 400)),
    st.integers(2, 4),
    st.integers(0, 40),
    st.integers(1, 9),
)
@settings(max_examples=60, deadline=None)
def test_tiles_stay_within_the_budget_where_they_can(size, factor, halo, parts):
    budget = size[0] * size[1] / parts
    tiling = budget_tiling(size, factor, halo, budget)
    most = tuple(max(length // 32, 1) for length in size)
    largest = max(tile.pixels for tile in tiling)
    assert largest <= budget or (len(tiling.rows), len(tiling.columns)) == most


def test_a_halo_surrounds_every_tile_and_is_left_out():
    tiling = budget_tiling((128, 128), 2, 20, 60 * 128)
    assert len(tiling) > 1
    for spans in (tiling.rows, tiling.columns):
        for number, span in enumerate(spans):
            inner = span.weight > 0
            begins, ends = int(inner.argmax()), len(inner) - int(inner[::-1].argmax())
            # 20 pixels of halo, of which at least half weighs nothing
            assert begins == 0 if number == 0 else begins >= 10
            assert ends == len(inner) if number == len(spans) - 1 else ends <= len(inner) - 10


def test_no_halo_means_plain_cuts():
    tiling = budget_tiling((64, 40), 3, 0, 33 * 40)
    assert [(span.start, span.stop) for span in tiling.rows] == [(0, 32), (32, 64)]
    assert all((span.weight == 1).all() for span in tiling.rows)


def test_the_fewest_computed_pixels_are_chosen():
    # cutting the long side costs less halo than cutting the short one
    tiling = budget_tiling((40, 400), 2, 20, 40 * 230)
    assert (len(tiling.rows), len(tiling.columns)) == (1, 2)


def test_tiles_do_not_get_smaller_than_they_should():
    tiling = budget_tiling((200, 100), 2, 0, 0)
    assert (len(tiling.rows), len(tiling.columns)) == (6, 3)
    assert min(span.length for span in (*tiling.rows, *tiling.columns)) >= 32
    assert len(budget_tiling((20, 31), 2, 18, -5.0)) == 1
