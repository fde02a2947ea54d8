"""`sharp` as a whole: grids, factors, cameras; parts and threads; damaged views; what is refused."""

from __future__ import annotations

import math
from dataclasses import replace

import naive
import numpy as np
import pytest
from sharp_scenes import ALONE, MEASURED, NEAR, bicubic, plane, psnr, seen_by, still_life

import sharpfield as sf
from sharpfield.errors import InputError, OptionError
from sharpfield.gb.method import run_square
from sharpfield.gb.params import GBParams
from sharpfield.lightfield import LightField
from sharpfield.observe import Camera, degrade
from sharpfield.parallel import Workers
from sharpfield.progress import silent
from sharpfield.sharp import problem
from sharpfield.sharp.confidence import Confidence
from sharpfield.sharp.method import find_samples, run
from sharpfield.sharp.params import SharpParams, plan

# --- the whole ---------------------------------------------------------------------------------------------------


def gain(high: np.ndarray, camera: Camera, options: SharpParams = NEAR) -> tuple[float, float]:
    """PSNR of `sharp`, and how much that is above bicubic."""
    low = seen_by(camera, high)
    ours = run(low, camera, options, ALONE, silent)
    assert ours.shape == high.shape
    assert ours.dtype == np.float32
    assert ours.min() >= 0
    assert ours.max() <= 1
    score = psnr(ours, high)
    return score, score - psnr(bicubic(low, camera.factor), high)


def test_a_plane_that_only_moves_is_recovered():
    score, above = gain(plane(), Camera(2))
    assert score > 31
    assert above > 6


@pytest.mark.parametrize(("grid", "least"), [((1, 5), 1.0), ((4, 1), 1.0), ((2, 2), 1.0), ((3, 4), 5.0)])
def test_every_grid_gains(grid, least):
    assert gain(plane(grid, (48, 56)), Camera(2))[1] > least


@pytest.mark.parametrize(("factor", "least"), [(3, 3.0), (4, 1.0)])
def test_every_factor_gains(factor, least):
    assert gain(plane(disparity=1.7), Camera(factor))[1] > least


@pytest.mark.parametrize(("blur", "least"), [("gaussian:0.8", 3.0), ("bicubic", 3.0)])
def test_every_camera_gains(blur, least):
    assert gain(plane(), Camera.parse(blur, 2))[1] > least


@pytest.mark.parametrize(("grid", "factor"), [((1, 2), 2), ((2, 3), 3), ((3, 1), 4)])
@pytest.mark.parametrize("value", [0.0, 0.3, 1.0])
def test_a_constant_light_field_stays(grid, factor, value):
    low = np.full((*grid, 5, 7), value, np.float32)
    high = run(low, Camera(factor), MEASURED, ALONE, silent)
    assert high.shape == (*grid, 5 * factor, 7 * factor)
    assert high == pytest.approx(value, abs=1e-5)


@pytest.mark.parametrize(("size", "factor"), [((4, 4), 2), ((1, 1), 8), ((3, 20), 3), ((17, 2), 4)])
def test_the_smallest_views(size, factor):
    low = np.random.default_rng(0).random((2, 2, *size), np.float32).round()
    kept = low.copy()
    high = run(low, Camera(factor), MEASURED, ALONE, silent)
    assert np.isfinite(high).all()
    assert high.min() >= 0
    assert high.max() <= 1
    assert np.array_equal(low, kept)


# --- parts and threads -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("steps", "share"), [(30, 0.002), (6, 0.04)])
def test_blocks_and_threads_give_the_same(monkeypatch, steps, share):
    """Solved to the end, blocks are one piece; a few steps of conjugate gradient are each block's own."""
    _, low, _ = still_life()
    options = replace(NEAR, solve_steps=steps)
    whole = run(low, Camera(2), options, ALONE, silent)
    monkeypatch.setattr(problem, "_SIDE", 48)
    assert len(problem.blocks((96, 96), Camera(2))) == 4
    parts = run(low, Camera(2), options, ALONE, silent)
    difference = np.abs(parts - whole)
    assert np.mean(difference > 1 / 255) < share
    assert np.sqrt(np.mean(difference**2)) < 0.5 / 255
    if steps < 10:
        with Workers(3) as workers:
            assert np.array_equal(run(low, Camera(2), options, workers, silent), parts)


def test_blocks_cover_a_view_once():
    for size in ((9, 500), (448, 700), (224, 223)):
        count = np.zeros(size, int)
        for block in problem.blocks(size, Camera(3, "bicubic")):
            count[block.kept] += 1
            part = np.zeros(size, bool)
            part[block.place] = True
            assert part[block.place].shape == block.size
            inside = np.zeros(block.size, bool)
            inside[block.inner] = True
            wide = np.zeros(size, bool)
            wide[block.place] = inside
            kept = np.zeros(size, bool)
            kept[block.kept] = True
            assert np.array_equal(wide, kept)
        assert (count == 1).all()


def test_tiles_differ_little_from_one_piece():
    """Where noise is said and translations are not sought; a tile still sweeps the range of its own disparities."""
    truth = naive.texture_plane((2, 2), (200, 184), 0.9, seed=3)
    low = degrade(LightField(truth.astype(np.float32), name="plane"), Camera(2))
    given = {"method": "sharp", "disparity": (-1, 2), "threads": 1, "noise": 0.0, "calibrate": False}
    whole, tiled = (sf.upscale(low, 2, memory=memory, **given) for memory in (None, "1MB"))
    assert whole.metadata["upscale"]["tiles"] == 1
    assert tiled.metadata["upscale"]["tiles"] > 3
    difference = np.abs(whole.views - tiled.views)
    errors = [psnr(each.views[..., 0], truth) for each in (whole, tiled)]
    assert np.mean(difference > 1 / 255) < 0.01
    assert errors[1] == pytest.approx(errors[0], abs=0.1)


# --- damaged views -----------------------------------------------------------------------------------------------


def damaged(low: np.ndarray, damage: str) -> tuple[np.ndarray, list[int]]:
    """A damaged copy, and the numbers of the views that are."""
    views = low.copy()
    if damage == "two swapped":
        views[0, 1], views[2, 1] = low[2, 1], low[0, 1]
        return views, [1, 7]
    if damage == "one black":
        views[0, 1] = 0
    elif damage == "the middle one black":
        views[1, 1] = 0
        return views, [4]
    else:
        views[0, 1] *= np.float32(0.7)
    return views, [1]


def scores(result: np.ndarray, high: np.ndarray, left_out: list[int]) -> list[float]:
    ours, truth = (each.reshape(-1, *high.shape[2:]) for each in (result, high))
    return [psnr(ours[view], truth[view]) for view in range(len(ours)) if view not in left_out]


def mean_weights(views: np.ndarray, ours: np.ndarray, changed: np.ndarray) -> np.ndarray:
    """How much the samples of each view (second) may say about every other (first), on the mean.

    Of a damaged view, the samples that the damage changed.
    """
    samples = find_samples(views, 2, NEAR, ALONE)
    confidence = Confidence.of_stage(NEAR, NEAR.stages - 1, 0.0)
    seen = Camera(2).dense_map(ours.shape[2:]).stack(ours.reshape(9, *ours.shape[2:]))
    table = np.zeros((9, 9))
    for i, j in np.ndindex(9, 9):
        weight = samples.weight(samples.residual(seen[i], i, j), i, j, confidence)
        table[i, j] = weight[changed[j]].mean() if changed[j].any() else weight.mean()
    return table


@pytest.mark.parametrize(
    "damage", ["two swapped", "one black", "the middle one black", "0.7 of the exposure"]
)
def test_a_bad_view_says_little_and_the_rest_is_no_worse_than_gb(damage):
    high, low, _ = still_life()
    views, bad = damaged(low, damage)
    ours = run(views, Camera(2), NEAR, ALONE, silent)
    theirs = run_square(views, Camera(2), GBParams(disparity=(-4, 4)), ALONE, silent)
    mine, gbs = scores(ours, high, bad), scores(theirs, high, bad)
    changed = (np.abs(views - low) > 0.05).reshape(9, *low.shape[2:])
    weights = mean_weights(views, ours, changed)
    fine = [view for view in range(9) if view not in bad]
    loud = np.mean([weights[i, j] for i in fine for j in fine if i != j])
    quiet = np.mean([weights[i, j] for i in fine for j in bad])
    assert np.mean(mine) > np.mean(gbs)
    assert min(mine) > min(gbs)
    assert quiet < 0.3 * loud


@pytest.mark.parametrize("sigma", [5, 10])
def test_heavy_noise_is_borne_better_than_by_gb_and_bicubic(sigma):
    high, low, _ = still_life(160)
    noise = np.random.default_rng(0).standard_normal(low.shape)
    noisy = np.clip(low + sigma / 255 * noise, 0, 1).astype(np.float32)
    ours = run(noisy, Camera(2), replace(NEAR, noise=sigma / 255), ALONE, silent)
    theirs = run_square(noisy, Camera(2), GBParams(disparity=(-4, 4)), ALONE, silent)
    mine = scores(ours, high, [])
    others = [scores(each, high, []) for each in (theirs, bicubic(noisy, 2))]
    assert np.mean(mine) > max(np.mean(each) for each in others)
    assert min(mine) > max(min(each) for each in others)


# --- what is refused ---------------------------------------------------------------------------------------------


def test_what_is_no_light_field_is_refused():
    with pytest.raises(InputError, match="one view is no light field"):
        plan(SharpParams(), (1, 1), (64, 64))
    with pytest.raises(InputError, match="one view is no light field"):
        run(np.zeros((1, 1, 16, 16), np.float32), Camera(2), SharpParams(), ALONE, silent)
    with pytest.raises(InputError, match=r"64x6 .* too small"):
        plan(SharpParams(), (3, 3), (6, 64))
    with pytest.raises(InputError, match="one view"):
        sf.upscale(LightField(np.zeros((1, 1, 16, 16), np.float32)), 2, method="sharp")


def test_what_a_light_field_needs():
    need = plan(SharpParams(disparity=(-3, 5)), (1, 3), (64, 64))
    assert need.options == SharpParams(disparity=(-3, 5))
    assert need.halo >= 5 * 2
    assert plan(SharpParams(disparity=(-30, 5)), (9, 9), (64, 64)).halo >= 30 * 2
    assert need.bytes_per_pixel > 8


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"disparity": (6, -6)}, "did you mean -6:6"),
        ({"disparity": (2, 2)}, "LO < HI"),
        ({"disparity": (-1.5, 2)}, "whole numbers"),
        ({"first_residual": 0}, "first_residual must be greater than 0"),
        ({"last_residual": math.nan}, "last_residual"),
        ({"bend_knee": -1}, "bend_knee"),
        ({"reference_noise": 0}, "reference_noise"),
        ({"disparity_agreement": 0}, "disparity_agreement"),
        ({"sweep_limit": 0}, "sweep_limit"),
        ({"solve_tolerance": 0}, "solve_tolerance"),
        ({"bend_weight": -0.1}, "bend_weight must be 0 or greater"),
        ({"slope_weight": math.nan}, "slope_weight"),
        ({"view_distance": -1}, "view_distance"),
        ({"sweep_blur": -0.5}, "sweep_blur"),
        ({"stages": 0}, "stages must be at least 1"),
        ({"prior_rounds": 0}, "prior_rounds"),
        ({"neighbours": 0}, "neighbours"),
        ({"solve_steps": 0}, "solve_steps"),
        ({"sweep_step": 0}, "sweep_step is from 1/256 to 1"),
        ({"sweep_step": 1.5}, "sweep_step"),
        ({"noise": 1.0}, "noise is a part of the white level"),
        ({"noise": math.nan}, "noise"),
    ],
)
def test_wrong_options_are_refused(values, said):
    with pytest.raises(OptionError, match=said):
        SharpParams(**values)
