"""`sharp`: places, noise, confidence and disparities of samples, against known truths."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage
from sharp_scenes import ALONE, NEAR, plane, seen_by, still_life, waves

from sharpfield.color import luma
from sharpfield.observe import Camera
from sharpfield.sharp.calibrate import Placement, calibrate
from sharpfield.sharp.confidence import Confidence, Samples, noise_of
from sharpfield.sharp.disparity import blurred, sweep
from sharpfield.sharp.method import find_samples, refined
from sharpfield.sharp.params import SharpParams
from sharpfield.synthetic import render_scene

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
