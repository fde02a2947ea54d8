"""A whole light field: tiles, color, memory, options as a person gives them, and the record of what was done."""

from __future__ import annotations

from functools import cache

import naive
import numpy as np
import pytest

from sharpfield import catalogue
from sharpfield.color import to_luma_chroma
from sharpfield.contract import Need
from sharpfield.errors import InputError, OptionError
from sharpfield.interpolate import interpolate
from sharpfield.lightfield import LightField
from sharpfield.observe import Camera, degrade
from sharpfield.parallel import Workers
from sharpfield.progress import silent
from sharpfield.upscaling import parse_memory, plan_tiles, upscale

METHODS = ["bilinear", "bicubic", "gb-dr", "gb-sq"]
GRAPH = ["gb-sq", "gb-dr"]


@cache
def small(grid=(2, 3), size=(24, 28), channels=3) -> LightField:
    """A low-resolution light field of 12 x 14 pixels, in color."""
    planes = [naive.two_planes(grid, size, seed) for seed in range(channels)]
    # neighbouring channels are much alike, as colors are
    views = np.stack([0.8 * planes[0] + 0.2 * plane for plane in planes], axis=-1).astype(np.float32)
    return degrade(LightField(views, name="small"), Camera(2))


@cache
def larger() -> LightField:
    """100 x 92 pixels, grey: enough for some tiles."""
    views = naive.texture_plane((2, 2), (200, 184), 0.9, seed=3)
    return degrade(LightField(views.astype(np.float32), name="larger"), Camera(2))


# --- what comes out ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("factor", [2, 3])
def test_every_method_enlarges_every_view(method, factor):
    low = small()
    high = upscale(low, factor, method=method, disparity=(-3, 3))
    assert (high.grid, high.size, high.channels) == (low.grid, (12 * factor, 14 * factor), 3)
    assert (high.name, high.bits) == (low.name, low.bits)
    assert high.views.min() >= 0
    assert high.views.max() <= 1
    assert not high.views.flags.writeable


@pytest.mark.parametrize("method", GRAPH)
def test_luma_is_the_methods_and_chroma_is_interpolated(method):
    low = small()
    luma, chroma = to_luma_chroma(low.views)
    options = catalogue.make_options(method, "fast", {"disparity": (-3, 3)})
    with Workers(1) as workers:
        wanted = catalogue.find(method).load()(luma, Camera(2), options, workers, silent)
    for kind in ("bicubic", "bilinear"):
        high = upscale(low, 2, method=method, disparity=(-3, 3), chroma=kind)
        ours, colors = to_luma_chroma(high.views)
        unclipped = ((high.views > 0) & (high.views < 1)).all(axis=-1)
        assert unclipped.mean() > 0.9
        assert abs(ours - wanted)[unclipped].max() < 1e-6
        planes = interpolate(np.ascontiguousarray(np.moveaxis(chroma, -1, 0)), 2, kind)
        assert abs(colors - np.moveaxis(planes, 0, -1))[unclipped].max() < 1e-6


def test_the_paper_interpolates_chroma_bilinearly():
    low = small()
    plain = upscale(low, 2, method="bilinear", preset="paper")
    assert np.array_equal(plain.views, upscale(low, 2, method="bilinear", chroma="bilinear").views)
    assert not np.array_equal(plain.views, upscale(low, 2, method="bilinear").views)
    assert plain.metadata["upscale"]["chroma"] == "bilinear"


@pytest.mark.parametrize("method", METHODS)
def test_grey_stays_grey_in_one_channel_and_in_three(method):
    grey = small(channels=1)
    high = upscale(grey, 2, method=method, disparity=(-3, 3))
    assert high.channels == 1
    tripled = upscale(grey.with_views(np.repeat(grey.views, 3, axis=-1)), 2, method=method, disparity=(-3, 3))
    assert tripled.channels == 3
    assert abs(tripled.views - high.views).max() < 1e-6


@pytest.mark.parametrize("method", GRAPH)
@pytest.mark.parametrize("grid", [(1, 3), (3, 1), (1, 2)])
def test_one_row_or_column_of_views(method, grid):
    high = upscale(small(grid, channels=1), 2, method=method, disparity=(-3, 3))
    assert (high.grid, high.size) == (grid, (24, 28))
    assert np.isfinite(high.views).all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("preset", ["fast", "paper"])
def test_a_constant_light_field_stays(method, preset):
    color = np.array([0.2, 0.5, 0.7], np.float32)
    low = LightField(np.broadcast_to(color, (2, 2, 8, 9, 3)))
    high = upscale(low, 2, method=method, preset=preset, disparity=(-6, 6))
    assert high.views == pytest.approx(np.broadcast_to(color, high.views.shape), abs=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_threads_do_not_change_a_bit(method):
    one, three = (upscale(small(), 2, method=method, disparity=(-6, 6), threads=n) for n in (1, 3))
    assert np.array_equal(one.views, three.views)


def test_a_camera_by_name_and_as_a_camera():
    low = small(channels=1)
    named = upscale(low, 2, camera="gaussian:0.9", disparity=(-3, 3))
    given = upscale(low, 2, camera=Camera(2, "gaussian", 0.9), disparity=(-3, 3))
    assert np.array_equal(named.views, given.views)
    assert named.metadata["upscale"]["camera"] == "gaussian:0.9"
    assert not np.array_equal(named.views, upscale(low, 2, disparity=(-3, 3)).views)


# --- the record -------------------------------------------------------------------------------------------------


def test_the_record_tells_how_it_was_made():
    low = small().with_views(small().views, metadata={"kept": 1}, notes=("read so",))
    high = upscale(low, 2, method="gb-dr", preset="paper", disparity=[-3, 4], iterations=1)
    record = high.metadata["upscale"]
    assert high.metadata["kept"] == 1
    assert high.notes == ("read so",)
    assert {name: record[name] for name in ("method", "preset", "factor", "camera", "chroma", "tiles")} == {
        "method": "gb-dr",
        "preset": "paper",
        "factor": 2,
        "camera": "box",
        "chroma": "bilinear",
        "tiles": 1,
    }
    assert record["seconds"] >= 0
    assert record["options"]["disparity"] == [-3, 4]
    assert record["options"]["iterations"] == 1
    assert record["options"]["beta"] == 1
    assert "upscale" not in low.metadata


def test_a_whole_factor_may_be_a_float():
    assert upscale(small(), 2.0, method="bilinear").metadata["upscale"]["factor"] == 2


# --- progress ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("memory", [None, "1MB"])
@pytest.mark.parametrize("method", ["gb-sq", "bicubic"])
def test_progress_runs_from_0_to_1(method, memory):
    events = []
    result = upscale(
        larger(),
        2,
        method=method,
        memory=memory,
        disparity=(-2, 2),
        threads=1,
        progress=events.append,
    )
    fractions = [event.fraction for event in events]
    tiles = result.metadata["upscale"]["tiles"]
    assert tiles == (6 if memory else 1)
    assert fractions == sorted(fractions)
    assert fractions[0] >= 0
    assert fractions[-1] == pytest.approx(1)
    if tiles > 1:
        assert events[0].stage.startswith("tile 1 of 6: ")
        assert events[-1].stage.startswith("tile 6 of 6: ")


# --- tiles ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", GRAPH)
def test_tiles_give_what_one_piece_gives_seams_and_borders_included(method):
    # the same number of solver steps in every tile: nothing but the halo can make a difference
    steps = {"beta": 1.0, "beta_growth": 1.0, "proximal_steps": 10, "cg_tolerance": 1e-6}
    given = {"method": method, "disparity": (-6, 6), "iterations": 1, **steps}
    whole = upscale(larger(), 2, **given)
    tiled = upscale(larger(), 2, memory="1MB", **given)
    assert (whole.metadata["upscale"]["tiles"], tiled.metadata["upscale"]["tiles"]) == (1, 6)
    assert abs(whole.views - tiled.views).max() < 0.1 / 255


@pytest.mark.parametrize("method", GRAPH)
def test_tiles_differ_little_with_the_schedule_that_stops_by_itself(method):
    # a tile stops by its own gradient, a hair apart from the whole; where two candidates look almost alike the
    # second graph then takes another edge: a few pixels anywhere, no seam
    whole = upscale(larger(), 2, method=method, disparity=(-6, 6))
    tiled = upscale(larger(), 2, method=method, disparity=(-6, 6), memory="1MB")
    difference = abs(whole.views - tiled.views)
    assert difference.mean() < 0.1 / 255
    assert np.mean(difference > 1 / 255) < 0.01
    truth = naive.texture_plane((2, 2), (200, 184), 0.9, seed=3)[..., np.newaxis]
    errors = [np.sqrt(np.mean((result.views - truth) ** 2)) for result in (whole, tiled)]
    assert errors[1] == pytest.approx(errors[0], rel=0.01)  # 0.09 dB


@pytest.mark.parametrize("method", ["bilinear", "bicubic"])
def test_tiles_of_an_interpolation_are_exact(method):
    whole, tiled = (upscale(larger(), 2, method=method, memory=memory) for memory in (None, "1MB"))
    assert abs(whole.views - tiled.views).max() < 1e-6


def test_the_paper_preset_takes_the_papers_tiles():
    low = LightField(np.zeros((1, 2, 120, 90), np.float32))
    need = Need(None, halo=18)
    assert len(plan_tiles(low, 2, need, preset="paper")) == 2
    assert len(plan_tiles(low, 2, need, preset="fast")) == 1


# --- memory -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (None, 2e9),
        ("2GB", 2e9),
        ("512MB", 512e6),
        ("512 mb", 512e6),
        ("1.5G", 1.5e9),
        (".5GB", 0.5e9),
        ("1GiB", 2**30),
        ("8 KiB", 8192),
        ("3TB", 3e12),
        ("250000000", 250e6),
        ("1e9", 1e9),
        (1.5e9, 1.5e9),
        (10**9, 1e9),
        ("100B", 100),
    ],
)
def test_a_memory_budget(text, size):
    assert parse_memory(text) == size


@pytest.mark.parametrize(
    "text", ["", "GB", "2 parsecs", "-1GB", "0", 0, -5, "2GBs", "1..5GB", "nan", "inf", True]
)
def test_what_is_no_memory_budget(text):
    with pytest.raises(OptionError, match="size like 2GB"):
        upscale(small(), 2, method="bilinear", memory=text)


def test_tiles_follow_the_budget():
    low = LightField(np.zeros((5, 5, 300, 400), np.float32))
    need = catalogue.find("gb-sq").plan(catalogue.make_options("gb-sq"), low.grid, (600, 800))
    counts = [len(plan_tiles(low, 2, need, memory=memory)) for memory in ("1GB", "2GB", "4GB", "64GB")]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > 1
    assert counts[-1] == 1


def test_a_budget_below_input_and_result_is_said():
    high = upscale(small(), 2, method="bilinear", memory="100MB")
    assert any("budget" in note for note in high.notes)
    assert upscale(small(), 2, method="bilinear").notes == small().notes


# --- what is asked for wrongly ----------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [1, 0, -2, 2.5, 9, True, "2", None])
def test_factors_that_do_not_exist(factor):
    with pytest.raises(OptionError, match="whole number from 2 to 8"):
        upscale(small(), factor)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"disparity": (6, -6)}, "did you mean -6:6"),
        ({"disparity": (3, 3)}, "LO < HI"),
        ({"disparity": (-2.5, 3)}, "whole numbers"),
        ({"disparity": (-200, 200)}, "at most 255"),
        ({"disparity": (1, 2, 3)}, "two whole numbers"),
        ({"disparity": 3}, "two whole numbers"),
        ({"disparity": "-6:6"}, "two whole numbers"),
        ({"disparity": (50, 60)}, "leads out of views"),
        ({"method": "gb-sw"}, "did you mean 'gb-s[qw]'"),
        ({"method": "magic"}, "there are bilinear, bicubic"),
        ({"preset": "papre"}, "did you mean 'paper'"),
        ({"preset": "slow"}, "there are fast, paper"),
        ({"sigm": 1.0}, "did you mean 'sigma'"),
        ({"wombats": 1.0}, "its options are disparity, stages"),
        ({"method": "bicubic", "sigma": 1.0}, "it has none"),
        ({"chroma": "nearest"}, "chroma is bilinear or bicubic"),
        ({"camera": "pinhole"}, "gaussian:SIGMA"),
        ({"camera": "gaussian"}, "sigma"),
        ({"camera": Camera(3)}, "the camera shrinks by 3"),
        ({"threads": 0}, "threads"),
        ({"threads": 1.5}, "threads"),
        ({"patch": 4}, "odd"),
        ({"start": "nearest"}, "start"),
    ],
)
def test_what_is_asked_for_wrongly_is_said_in_one_line(given, said):
    with pytest.raises(OptionError, match=said) as caught:
        upscale(small(), 2, **given)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_status == 2


def test_methods_that_search_nothing_take_a_disparity():
    assert upscale(small(), 2, method="bicubic", disparity=(-3, 3)).size == (24, 28)


def test_an_array_is_refused_with_what_makes_a_light_field_of_it():
    with pytest.raises(
        InputError, match=r"not ndarray; make one of an array \(sharpfield.LightField\(array\)\)"
    ):
        upscale(np.zeros((2, 2, 16, 16)), 2)


@pytest.mark.parametrize("method", GRAPH)
def test_one_view_is_refused(method):
    one = LightField(np.zeros((1, 1, 20, 20), np.float32))
    with pytest.raises(InputError, match="bicubic"):
        upscale(one, 2, method=method)
    assert upscale(one, 2, method="bicubic").size == (40, 40)


@pytest.mark.parametrize("method", GRAPH)
def test_small_views_shrink_the_window_and_say_so(method):
    low = LightField(np.random.default_rng(0).random((2, 2, 5, 9), np.float32))
    high = upscale(low, 2, method=method, disparity=(-20, 20))
    assert high.size == (10, 18)
    assert high.metadata["upscale"]["options"]["disparity"] == [-9, 9]
    (note,) = high.notes
    assert "shrunk to -9:9" in note


@pytest.mark.parametrize("size", [(3, 20), (20, 3), (1, 1), (1, 30)])
def test_views_smaller_than_a_patch_are_refused_with_the_smallest_that_works(size):
    low = LightField(np.random.default_rng(0).random((2, 2, *size), np.float32))
    with pytest.raises(InputError, match="at least 7 pixels a side"):
        upscale(low, 2, method="gb-sq")
    assert upscale(low, 2, patch=1, disparity=(-1, 1)).size == (2 * size[0], 2 * size[1])
    assert upscale(low, 2, method="bicubic").size == (2 * size[0], 2 * size[1])
    enough = LightField(np.random.default_rng(0).random((2, 2, 4, 4), np.float32))
    assert upscale(enough, 2).size == (8, 8)


def test_the_method_is_ours_unless_something_of_the_papers_is_asked_for():
    low = small()
    taken = [
        upscale(low, 2, disparity=(-2, 2), **given).metadata["upscale"]["method"]
        for given in ({}, {"stages": 1}, {"preset": "paper"}, {"patch": 5}, {"method": "gb-dr"})
    ]
    assert taken == ["sharp", "sharp", "gb-sq", "gb-sq", "gb-dr"]
