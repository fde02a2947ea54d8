"""`sharp`: places, noise, disparities and confidence against known truths; the same bits and parts; damaged views."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import naive
import numpy as np
import pytest
from scipy import ndimage

import sharpfield as sf
from sharpfield.color import luma
from sharpfield.errors import InputError, OptionError
from sharpfield.gb.method import run_square
from sharpfield.gb.params import GBParams
from sharpfield.interpolate import interpolate
from sharpfield.lightfield import LightField
from sharpfield.observe import Camera, degrade
from sharpfield.parallel import Workers
from sharpfield.progress import silent
from sharpfield.sharp import problem
from sharpfield.sharp.calibrate import Placement, calibrate
from sharpfield.sharp.confidence import Confidence, Samples, noise_of
from sharpfield.sharp.disparity import blurred, sweep
from sharpfield.sharp.method import find_samples, refined, run
from sharpfield.sharp.params import SharpParams, plan
from sharpfield.synthetic import fronto_parallel, render_scene

ALONE = Workers(1)
# small scenes full of texture have no quiet part to measure noise in: where they have none they say so
NEAR = SharpParams(disparity=(-4, 4), noise=0.0)
MEASURED = SharpParams(disparity=(-4, 4))


def psnr(a, b) -> float:
    return float(-10 * np.log10(np.mean((np.asarray(a, np.float64) - b) ** 2)))


def seen_by(camera: Camera, high: np.ndarray) -> np.ndarray:
    """What a camera of 8 bits makes of views."""
    low = camera.map((high.shape[2], high.shape[3])).stack(high.astype(np.float32))
    return (np.floor(low * 255 + 0.5).clip(0, 255) / 255).astype(np.float32)


def bicubic(low: np.ndarray, factor: int) -> np.ndarray:
    high = interpolate(low.reshape(-1, *low.shape[2:]), factor, "bicubic").clip(0, 1)
    return high.reshape(*low.shape[:2], *high.shape[1:])


def waves(grid, size, disparity, translation=0.0, seed=0) -> np.ndarray:
    """Views of one plane, waves finer than half of the views can hold among them: exact at any place of any view.

    A point at x in the middle of the grid is at x - p disparity + translation in the view at p (v, u, 2).
    """
    rng = np.random.default_rng(seed)
    v, u, y, x = np.ogrid[: grid[0], : grid[1], : size[0], : size[1]]
    moved = np.broadcast_to(translation, (*grid, 2))[..., np.newaxis, np.newaxis, :]
    y = y + disparity * (v - (grid[0] - 1) / 2) - moved[..., 0]
    x = x + disparity * (u - (grid[1] - 1) / 2) - moved[..., 1]
    total = 0.0
    for fy, fx, phase in rng.uniform(-1, 1, (40, 3)) * [2.0, 2.0, math.pi]:
        total = total + np.sin(fy * y + fx * x + phase) / max(math.hypot(fy, fx), 0.2)
    return (0.5 + total / 28).clip(0, 1)


@cache
def still_life(side: int = 96) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Luma of the synthetic scene (v, u, y, x), what a camera of 8 bits makes of it, and the true disparities."""
    scene = render_scene((3, 3), (side, side), supersampling=2)
    high = luma(scene.lightfield.views)
    return high, seen_by(Camera(2), high), scene.disparity


@cache
def plane(grid=(3, 3), size=(60, 72), disparity=1.3) -> np.ndarray:
    """A textured plane at no whole number of pixels."""
    return luma(fronto_parallel(grid, size, disparity, seed=4).lightfield.views)


# --- places ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("grid", [(1, 5), (4, 1), (2, 2), (3, 4)])
def test_places_on_a_grid(grid):
    placement = Placement.on_grid(grid)
    count = grid[0] * grid[1]
    assert placement.position.sum(axis=0) == pytest.approx(0)
    assert not placement.translation.any()
    distance = np.hypot(*placement.position.T)
    assert distance[placement.middle] == distance.min()
    for a, b in np.ndindex(count, count):
        row, column = (b // grid[1] - a // grid[1], b % grid[1] - a % grid[1])
        assert list(placement.step(a, b)) == [row, column]
        assert not placement.offset(a, b).any()
    for view in range(count):
        for wanted in (1, 3, 100):
            near = placement.nearest(view, wanted)
            assert near[0] == view
            assert len(set(near)) == len(near) == min(wanted + 1, count)
            apart = [float(np.hypot(*placement.step(view, other))) for other in near]
            assert apart == sorted(apart)
            rest = [np.hypot(*placement.step(view, other)) for other in range(count) if other not in near]
            assert all(far >= apart[-1] for far in rest)


def test_samples_land_where_their_points_are():
    """With the true disparities, translations and views, no residual is left but the camera's and the cubic's."""
    translation = np.random.default_rng(0).uniform(-0.3, 0.3, (2, 3, 2))
    high = waves((2, 3), (48, 56), 1.4, 2 * translation)
    low = camera_map(high).reshape(6, 24, 28)
    places = Placement.on_grid((2, 3))
    residual = {}
    for sign in (1, -1):
        placement = Placement(places.grid, places.position, sign * translation.reshape(-1, 2))
        samples = Samples(low, np.full_like(low, 1.4), placement, 2)
        seen = Camera(2).dense_map((48, 56)).stack(high.reshape(6, 48, 56).astype(np.float32))
        inner = [samples.residual(seen[i], i, j)[4:-4, 4:-4] for i, j in np.ndindex(6, 6) if i != j]
        residual[sign] = np.sqrt(np.mean(np.square(inner)))
    assert residual[1] < 0.007
    assert residual[-1] > 5 * residual[1]


def camera_map(high: np.ndarray) -> np.ndarray:
    return Camera(2).map((high.shape[2], high.shape[3])).stack(high.astype(np.float32))


# --- calibration -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("grid", "seed"), [((3, 3), 0), ((3, 3), 1), ((1, 4), 2)])
def test_translations_of_single_views_are_found(grid, seed):
    """Up to 0.3 low-resolution pixels; what moves views as a disparity does is told from none by nobody."""
    jitter = np.random.default_rng(seed).uniform(-0.3, 0.3, (*grid, 2))
    low = seen_by(Camera(2), waves(grid, (80, 88), 1.3, 2 * jitter, seed)).reshape(-1, 40, 44)
    placement = Placement.on_grid(grid)
    found, window = calibrate(blurred(low, 0.8, ALONE), placement, (-3, 3), 0.05, True, ALONE)
    middle = placement.middle
    truth = jitter.reshape(-1, 2) - jitter.reshape(-1, 2)[middle]
    away = placement.position - placement.position[middle]
    error = found.translation - truth
    assert not error[middle].any()
    as_disparity = np.sum(error * away) / np.sum(away**2)
    assert np.abs(error - as_disparity * away).max() < 0.05
    # the disparity found is the true one, but for what it explains instead
    assert window[0] < 0.65 - as_disparity < window[1]


def test_a_view_that_fits_no_other_is_no_reference():
    """Black in the middle: the translations of the others are found against a view beside it."""
    jitter = np.random.default_rng(0).uniform(-0.3, 0.3, (3, 3, 2))
    low = seen_by(Camera(2), waves((3, 3), (80, 88), 1.3, 2 * jitter)).reshape(-1, 40, 44)
    low[4] = 0
    placement = Placement.on_grid((3, 3))
    found, window = calibrate(blurred(low, 0.8, ALONE), placement, (-3, 3), 0.05, True, ALONE)
    fine = [view for view in range(9) if view != 4]
    error = (found.translation - jitter.reshape(-1, 2))[fine]
    # against any of them, and but for what a disparity explains
    basis = np.stack([np.ones((8, 2)) * [1, 0], np.ones((8, 2)) * [0, 1], placement.position[fine]], axis=-1)
    known = np.linalg.lstsq(basis.reshape(16, 3), error.ravel(), rcond=None)[0]
    assert np.abs(error - basis @ known).max() < 0.05
    assert window[0] < 0.65 - known[2] < window[1]


def test_no_translation_is_found_where_there_is_none_or_it_is_not_asked_for():
    low = seen_by(Camera(2), waves((3, 3), (64, 72), 1.3)).reshape(-1, 32, 36)
    placement, smooth = Placement.on_grid((3, 3)), blurred(low, 0.8, ALONE)
    found, window = calibrate(smooth, placement, (-3, 3), 0.05, True, ALONE)
    assert np.abs(found.translation).max() < 0.04
    kept, _ = calibrate(smooth, placement, (-3, 3), 0.05, False, ALONE)
    assert not kept.translation.any()
    small, _ = calibrate(np.ascontiguousarray(smooth[:, :12]), placement, (-3, 3), 0.05, True, ALONE)
    assert not small.translation.any()
    assert -3 <= window[0] < 0.65 < window[1] <= 3
    assert window[1] - window[0] < 1.5


# --- noise and confidence ----------------------------------------------------------------------------------------


def test_noise_is_measured_on_what_has_texture():
    scene = render_scene((1, 2), (384, 384), supersampling=2)
    clean = seen_by(Camera(2), luma(scene.lightfield.views)).reshape(2, 192, 192)
    assert noise_of(clean) < 1.5 / 255
    for sigma in (5 / 255, 10 / 255, 0.08):
        noise = np.random.default_rng(1).standard_normal(clean.shape)
        # grey in the middle, so that nothing is clipped
        noisy = (0.3 + 0.4 * clean + sigma * noise).astype(np.float32)
        assert noise_of(noisy) == pytest.approx(sigma, rel=0.15)
    assert noise_of(np.full((2, 40, 40), 0.3, np.float32)) == 0
    assert noise_of(clean[:, :15]) == 0  # nothing to measure it in


def test_scales_shrink_with_the_stages_and_widen_with_the_noise():
    params = SharpParams(first_residual=0.04, last_residual=0.01, stages=3)
    scales = [Confidence.of_stage(params, stage, 0.0) for stage in range(3)]
    assert [each.residual for each in scales] == pytest.approx([0.04, 0.02, 0.01])
    assert all(each.agreement == params.disparity_agreement for each in scales)
    noisy = Confidence.of_stage(params, 2, 10 / 255)
    assert noisy.residual > 10 / 255
    assert noisy.agreement > params.disparity_agreement
    assert Confidence.of_stage(SharpParams(stages=1), 0, 0.0).residual == SharpParams().first_residual


def test_weights_are_between_0_and_1_and_a_bad_sample_loses_its():
    high = waves((1, 3), (48, 56), 1.5)
    low = camera_map(high).reshape(3, 24, 28)
    samples = Samples(low, np.full_like(low, 1.5), Placement.on_grid((1, 3)), 2)
    seen = Camera(2).dense_map((48, 56)).stack(high.reshape(3, 48, 56).astype(np.float32))
    confidence = Confidence(0.02, 0.2, 0.0625)
    good = samples.weight(samples.residual(seen[0], 0, 1), 0, 1, confidence)
    assert good.min() >= 0
    assert good.max() <= 1
    # none where it lands outside, the full weight of its distance elsewhere
    outside = np.isinf(samples.residual(seen[0], 0, 1))
    assert outside.any()
    assert not good[outside].any()
    assert good[4:-4, 4:-4].min() > 0.8 / 1.0625
    low[1, 12, 14] += 0.3
    bad = samples.weight(samples.residual(seen[0], 0, 1), 0, 1, confidence)
    assert bad[12, 14] < 0.05
    apart = np.abs(bad - good) > 1e-6
    assert apart[11:14, 13:16].all()
    assert apart.sum() == 9
    low[1, 12, 14] -= 0.3
    samples.disparity[0, 12:] += 1
    other = samples.weight(samples.residual(seen[0], 0, 1), 0, 1, confidence)
    assert np.array_equal(other[:11], good[:11])
    assert other[14:-2].max() < 0.05


# --- disparities -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("grid", "wanted"), [((1, 4), 1.7), ((4, 1), -2.3), ((2, 2), 0.4), ((3, 4), 1.1)])
def test_a_plane_has_its_disparity(grid, wanted):
    low = plane(grid, (40, 48), wanted).reshape(-1, 40, 48)
    found = sweep(blurred(low, 0.8, ALONE), Placement.on_grid(grid), (-3, 3), 0.1, 0.05, ALONE)
    error = np.abs(found - wanted)[:, 6:-6, 6:-6]
    assert np.median(error) < 0.05
    assert np.mean(error < 0.1) > 0.95
    only = sweep(blurred(low, 0.8, ALONE), Placement.on_grid(grid), (-3, 3), 0.1, 0.05, ALONE, only=[1])
    assert np.array_equal(only[0], found[1])


def test_disparities_of_the_scene():
    """High-resolution pixels, on what is textured and away from outlines; the refinement brings them nearer."""
    high, low, disparity = still_life()
    truth = disparity.reshape(9, 48, 2, 48, 2).mean(axis=(2, 4))
    samples = find_samples(low, 2, NEAR, ALONE)
    seen = Camera(2).dense_map((96, 96)).stack(high.reshape(9, 96, 96).astype(np.float32))
    better = refined(samples, seen, Confidence.of_stage(NEAR, 1, 0.0), ALONE)
    counted = []
    for view in range(9):
        slopes = ndimage.gaussian_gradient_magnitude(samples.low[view], 0.8)
        textured = np.sqrt(ndimage.uniform_filter(slopes**2, 5)) > 0.02
        near, far = ndimage.maximum_filter(truth[view], 5), ndimage.minimum_filter(truth[view], 5)
        counted.append(textured & (near - far < 0.3))
    kept = np.array(counted)
    assert kept.mean() > 0.2
    before, after = (np.abs(each.disparity - truth)[kept] for each in (samples, better))
    assert np.mean(before < 0.2) > 0.8
    assert np.median(before) < 0.08
    assert np.mean(after < 0.1) > 0.75
    assert np.median(after) < 0.8 * np.median(before)


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


@pytest.mark.parametrize(("steps", "share"), [(30, 0.002), (6, 0.03)])
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
