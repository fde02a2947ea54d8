"""`upscale(disparity="auto")`: the window is read off the pixels; a wrong order of views is said, with its remedy."""

from __future__ import annotations

import itertools
import json
from functools import cache

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sharpfield import catalogue
from sharpfield.errors import OptionError
from sharpfield.geometry import Geometry, Percentiles, choose_search, find_search, flip, transpose
from sharpfield.geometry.window import PAD
from sharpfield.lightfield import LightField
from sharpfield.metrics import evaluate
from sharpfield.observe import Camera, degrade
from sharpfield.synthetic import render_scene
from sharpfield.upscaling import upscale

# the window and what is said of it are tested here: the least work that goes through all of it
LARGE = (200, 300)
QUICK = {"iterations": 1, "proximal_steps": 1, "cg_iterations": 1, "patch": 3}


@cache
def scene(grid=(3, 3), size=(120, 130), far=-0.5, near=1.0) -> LightField:
    """A textured wall, and textured squares before it that hide and show it."""
    v, u, y, x = np.ogrid[: grid[0], : grid[1], : size[0], : size[1]]
    front = ((y + near * v) % 48 < 20) & ((x + near * u) % 44 < 22)
    wall, squares = (naive.texture_plane(grid, size, d, seed) for d, seed in ((far, 1), (near, 2)))
    return LightField(np.where(front, 0.2 + 0.8 * squares, 0.8 * wall).astype(np.float32), name="scene")


def reordered(lf: LightField, transposed: bool, flip_v: bool, flip_u: bool) -> LightField:
    """Store the views in another order."""
    lf = flip(lf, "u") if flip_u else lf
    lf = flip(lf, "v") if flip_v else lf
    return transpose(lf) if transposed else lf


def measured(low: float, high: float, confidence: float = 1.0, **more) -> Geometry:
    return Geometry(
        horizontal=Percentiles(low, low, (low + high) / 2, high, high, samples=1000),
        confidence=confidence,
        sentence="seen",
        **more,
    )


# --- the window -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["gb-sq", "gb-dr"])
@pytest.mark.parametrize("factor", [2, 3])
def test_the_window_holds_what_is_measured_and_is_recorded(method, factor):
    high = upscale(scene(), factor, method=method, disparity="auto", **QUICK)
    record = high.metadata["upscale"]
    low, top = record["search"]["window"]
    assert record["options"]["disparity"] == [low, top]
    assert record["search"]["auto"] is True
    assert record["search"]["measured"] == pytest.approx([-0.5, 1.0], abs=0.3)
    assert record["search"]["warnings"] == []
    assert low <= -0.5 * factor - PAD < low + 2
    assert top - 2 < 1.0 * factor + PAD <= top
    assert high.notes == scene().notes
    json.dumps(record)


def test_auto_is_the_default_and_the_papers_preset_keeps_its_window():
    default = upscale(scene(), 2, **QUICK).metadata["upscale"]
    assert default["search"]["auto"] is True
    paper = upscale(scene(), 2, preset="paper", **QUICK).metadata["upscale"]
    assert paper["options"]["disparity"] == [-6, 6]
    assert paper["search"] is None
    assert upscale(scene(), 2, preset="paper", disparity="auto", **QUICK).metadata["upscale"]["search"][
        "auto"
    ]


def test_a_window_that_is_given_is_taken_and_nothing_is_measured(monkeypatch):
    monkeypatch.setattr("sharpfield.upscaling.find_search", None)
    record = upscale(flip(scene(), "u"), 2, disparity=(-2, 3), **QUICK).metadata["upscale"]
    assert record["options"]["disparity"] == [-2, 3]
    assert record["search"] is None


def test_a_search_that_has_been_done_is_taken_with_its_warnings():
    search = find_search(flip(scene(), "u"), 2, given=(-2, 3))
    high = upscale(flip(scene(), "u"), 2, disparity=search, **QUICK)
    assert high.metadata["upscale"]["options"]["disparity"] == [-2, 3]
    assert high.metadata["upscale"]["search"]["auto"] is False
    assert any("--flip u" in note for note in high.notes)


def test_a_method_that_searches_nothing_measures_nothing(monkeypatch):
    monkeypatch.setattr("sharpfield.upscaling.find_search", None)
    for disparity in (None, "auto"):
        record = upscale(flip(scene(), "u"), 2, method="bicubic", disparity=disparity).metadata["upscale"]
        assert record["search"] is None


def test_the_window_gives_what_the_same_window_given_gives():
    auto = upscale(scene(), 2, **QUICK)
    window = tuple(auto.metadata["upscale"]["search"]["window"])
    assert np.array_equal(auto.views, upscale(scene(), 2, disparity=window, **QUICK).views)


@pytest.mark.parametrize(
    "disparity", ["automatic", "-6:6", "", (1, 2, 3), (1,), 6, 2.5, {"lo": 1, "hi": 2}, b"-6"]
)
def test_what_is_no_window(disparity):
    with pytest.raises(OptionError, match="two whole numbers"):
        upscale(scene(), 2, disparity=disparity)


@settings(max_examples=60, deadline=None)
@given(st.floats(-16, 16), st.floats(0, 32), st.integers(2, 8), st.floats(0, 1))
def test_every_window_is_one_that_gb_takes(low, width, factor, confidence):
    high = min(low + width, 16.0)
    search = choose_search(measured(low, high, confidence), factor, LARGE)
    options = catalogue.make_options("gb-sq", given={"disparity": search.window})
    first, last = options.disparity
    if search.measured:
        assert first <= low * factor - PAD or first == -127
        assert last >= high * factor + PAD or last == 127
    if confidence < 0.5:
        assert first <= -6 <= 6 <= last


def test_little_that_is_sure_keeps_the_papers_window_at_the_least():
    assert choose_search(measured(-0.2, 0.3), 2, LARGE).window == (-1 - PAD, 1 + PAD)
    assert choose_search(measured(-0.2, 5.0, 0.3), 2, (15, 90)).window == (-6, 6)  # chance
    unsure = choose_search(measured(-0.2, 5.0, 0.3), 2, LARGE)
    assert unsure.window == (-6, 10 + PAD)
    assert "not everywhere surely" in unsure.reason


def test_disparity_at_the_limit_of_what_is_looked_for_is_said():
    (warning,) = choose_search(measured(-1, 15.9), 2, LARGE).warnings
    assert "reaches the 16 pixels that were looked for" in warning
    assert "--disparity LO:HI" in warning


# --- nothing to measure -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("views", "reason"),
    [
        (np.full((2, 2, 40, 44), 0.5, np.float32), "no texture"),
        (np.random.default_rng(0).random((3, 3, 10, 12), np.float32), "too small"),
        (np.random.default_rng(0).random((3, 3, 60, 64), np.float32), "do not match"),
        (np.random.default_rng(0).random((2, 2, 60, 64), np.float32), "hardly match"),
        (np.random.default_rng(0).random((1, 2, 30, 40), np.float32), "hardly match"),
    ],
    ids=["flat", "tiny", "noise", "noise in two rows", "noise in two views"],
)
def test_views_that_tell_nothing_are_searched_as_in_the_paper(views, reason):
    high = upscale(LightField(views), 2, **QUICK)
    search = high.metadata["upscale"]["search"]
    assert search["window"] == [-6, 6]
    assert search["measured"] is None
    assert reason in search["reason"]
    assert high.notes == ()


@pytest.mark.parametrize("axis", ["u", "v"])
@pytest.mark.parametrize("count", [2, 3, 5])
def test_one_row_or_column_is_measured_without_a_word(axis, count):
    grid = (1, count) if axis == "u" else (count, 1)
    high = upscale(scene(grid), 2, **QUICK)
    search = high.metadata["upscale"]["search"]
    assert search["measured"] == pytest.approx([-0.5, 1.0], abs=0.4)
    assert high.notes == ()


@settings(max_examples=8, deadline=None)
@given(st.integers(1, 3), st.integers(1, 3), st.integers(4, 40), st.integers(4, 40), st.floats(0.0, 0.2))
def test_any_shape_goes_through(rows, columns, height, width, contrast):
    if rows * columns == 1:
        rows = 2
    random = np.random.default_rng(height)
    views = 0.5 + contrast * (random.random((rows, columns, height, width), np.float32) - 0.5)
    high = upscale(LightField(views), 2, **QUICK)
    assert high.size == (2 * height, 2 * width)
    assert not any("opposite order" in note or "exchanged" in note for note in high.notes)


# --- the order of the views -------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [each for each in itertools.product((False, True), repeat=3) if any(each)])
def test_a_wrong_order_is_said_with_the_flags_that_set_it_right(order):
    stored = reordered(scene(), *order)
    flags = [
        flag for flag, wrong in zip(("--transpose", "--flip v", "--flip u"), order, strict=True) if wrong
    ]
    high = upscale(stored, 2, **QUICK)
    (warning,) = high.metadata["upscale"]["search"]["warnings"]
    assert warning in high.notes
    assert " ".join(flags) in warning
    assert "the result is poor" in warning


def test_what_it_warns_of_is_true():
    truth = render_scene(grid=(3, 3), size=(96, 128)).lightfield
    low = degrade(truth, Camera(2))
    scores = {
        name: evaluate(upscale(views, 2), stored).psnr_mean
        for name, views, stored in (
            ("right", low, truth),
            ("wrong", flip(low, "u"), flip(truth, "u")),
        )
    }
    assert scores["right"] > scores["wrong"] + 0.3
