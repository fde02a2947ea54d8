"""`wanner`: every compiled loop against its twin, adjoints, disparities against the truth, and what it gives."""

from __future__ import annotations

from functools import cache

import naive
import numpy as np
import pytest
from scipy import ndimage

import sharpfield as sf
from sharpfield.color import luma
from sharpfield.errors import InputError, OptionError
from sharpfield.interpolate import interpolate
from sharpfield.methods.wanner import kernels
from sharpfield.methods.wanner.disparity import find_disparities
from sharpfield.methods.wanner.method import run
from sharpfield.methods.wanner.params import WannerParams, plan
from sharpfield.methods.wanner.projection import NormalEquations, normal_equations
from sharpfield.methods.wanner.variational import denoise, fill, solve
from sharpfield.observe import Camera, degrade
from sharpfield.parallel import Workers
from sharpfield.progress import silent
from sharpfield.synthetic import fronto_parallel, render_scene

ALONE = Workers(1)


def random(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random(shape, np.float32)


# --- structure tensors -------------------------------------------------------------------------------------------


def twin_line(row: np.ndarray, x: float) -> float:
    """A row between its pixels; nothing beyond its ends."""
    if not 0 <= x <= len(row) - 1:
        return np.nan
    taps = range(int(np.floor(x)) - 1, int(np.floor(x)) + 3)
    return sum(naive.keys(x - tap) * float(row[min(max(tap, 0), len(row) - 1)]) for tap in taps)


@pytest.mark.parametrize("shear", [0.0, 0.25, -1.4, 2.0, 30.0])
@pytest.mark.parametrize(("reference", "first", "last"), [(1, 0, 3), (0, 0, 2), (3, 1, 3)])
def test_structure_tensors_are_the_twins(shear, reference, first, last):
    series, weight = random(4, 3, 11), np.arange(1, last - first + 1, dtype=np.float32)
    ours = np.empty((3, 3, 11), np.float32)
    kernels.epipolar_tensor(series, reference, first, last, shear, weight, *ours)
    wanted = np.zeros((3, 3, 11))
    for y in range(3):
        image = np.array(
            [[twin_line(series[k, y], x - (k - reference) * shear) for x in range(11)] for k in range(4)]
        )
        for n, k in enumerate(range(first, last)):
            for x in range(1, 10):
                along = image[k + 1, x] - image[k, x]
                across = (image[k, x + 1] - image[k, x - 1] + image[k + 1, x + 1] - image[k + 1, x - 1]) / 4
                if not np.isnan(along + across):
                    products = across * across, across * along, along * along
                    wanted[:, y, x] += weight[n] * np.array(products)
    assert ours == pytest.approx(wanted, abs=1e-5)


def test_the_orientation_is_the_eigenvector_and_the_coherence_that_of_the_eigenvalues():
    xx, kk = random(6, 7, seed=1) + np.float32(0.05), random(6, 7, seed=2) / 10
    xk = ((random(6, 7, seed=3) - 0.5) * np.sqrt(xx * kk)).astype(np.float32)
    disparity, coherence = np.full((6, 7), 9, np.float32), np.full((6, 7), 0.3, np.float32)
    kernels.keep_most_coherent(xx, xk, kk, 0.5, 0.45, 1.0, 0.0, 0.3, disparity, coherence)
    for y, x in np.ndindex(6, 7):
        values, vectors = np.linalg.eigh([[xx[y, x], xk[y, x]], [xk[y, x], kk[y, x]]])
        # along (dx, dk) the image does not change; it is what it was at x - d dk, so d = -dx / dk
        dx, dk = vectors[:, 0]
        slope, measure = -dx / dk, ((values[1] - values[0]) / values.sum()) ** 2
        if abs(slope) <= 0.3 and 0.45 <= 0.5 + slope <= 1.0 and measure > 0.3:
            assert disparity[y, x] == pytest.approx(0.5 + slope, abs=1e-4)
            assert coherence[y, x] == pytest.approx(measure, abs=1e-4)
        else:
            assert disparity[y, x] == 9
            assert coherence[y, x] == np.float32(0.3)
    assert (disparity != 9).any()
    assert (disparity == 9).any()


# --- disparities -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("grid", "wanted"), [((1, 3), 1.7), ((3, 1), -2.3), ((3, 3), 0.4), ((2, 5), 3.1)])
def test_a_plane_has_its_disparity(grid, wanted):
    low = luma(fronto_parallel(grid, (48, 56), wanted, seed=4).lightfield.views)
    found = find_disparities(low, 1, WannerParams(disparity=(-4, 4)), ALONE)
    inside = found.value[..., 12:-12, 12:-12]
    assert np.median(np.abs(inside - wanted)) < 0.03
    assert np.mean(np.abs(inside - wanted) < 0.1) > 0.95


def test_disparities_of_the_scene():
    """Within 0.1 high-resolution pixels of the truth on 80 % of what is textured and away from outlines."""
    scene = render_scene((5, 5), (192, 192), supersampling=2)
    low = luma(degrade(scene.lightfield, Camera(2)).views)
    blocks = scene.disparity.reshape(5, 5, 96, 2, 96, 2)
    truth = blocks.mean(axis=(3, 5))
    good = []
    found = find_disparities(low, 2, WannerParams(disparity=(-6, 6)), ALONE)
    for v, u in np.ndindex(5, 5):
        slopes = ndimage.gaussian_gradient_magnitude(low[v, u], 0.8)
        textured = np.sqrt(ndimage.uniform_filter(slopes**2, 5)) > 0.02
        # what is hidden in some view lies beside an outline, as far as the disparities differ, times the views
        near, far = ndimage.maximum_filter(truth[v, u], 5), ndimage.minimum_filter(truth[v, u], 5)
        counted = textured & (near - far < 0.3)
        assert counted.mean() > 0.3
        good.append(np.abs(found.value[v, u] - truth[v, u])[counted] < 0.1)
    assert np.concatenate(good).mean() > 0.8


def test_nothing_is_found_outside_the_range_and_gaps_are_filled():
    low = luma(fronto_parallel((1, 5), (40, 48), 2.0, seed=4).lightfield.views)
    found = find_disparities(low, 1, WannerParams(disparity=(-1, 1)), ALONE)
    assert np.abs(found.value).max() <= 1
    values, weight = np.full((9, 14), 5, np.float32), np.zeros((9, 14), np.float32)
    values[2, 3], weight[2, 3] = 7, 1
    assert fill(values, weight) == pytest.approx(7)
    values[:] = 5
    assert fill(values, 0 * weight) == pytest.approx(values)


def test_denoising_removes_outliers_and_keeps_steps():
    truth = np.zeros((20, 24), np.float32)
    truth[:, 12:] = 3
    measured, coherence = truth.copy(), np.ones_like(truth)
    measured[5, 5], measured[14, 18], coherence[5, 5], coherence[9:11, 2:9] = 9, -9, 0.5, 0
    measured[9:11, 2:9] = -4
    assert denoise(measured, coherence, 1.0) == pytest.approx(truth, abs=0.05)


# --- projection --------------------------------------------------------------------------------------------------


def twin_rows(disparity, offset, factor, size) -> np.ndarray:
    """M of one view: the cubic weights of all pixels for every sample, (samples, pixels)."""
    rows = []
    for y, x in np.ndindex(*disparity.shape):
        at = [factor * c + o * float(disparity[y, x]) for c, o in zip((y, x), offset, strict=True)]
        if any(not 0 <= a <= n - 1 for a, n in zip(at, size, strict=True)):
            rows.append(np.zeros(size).ravel())
            continue
        axes = []
        for a, n in zip(at, size, strict=True):
            axis = np.zeros(n)
            for tap in range(int(np.floor(a)) - 1, int(np.floor(a)) + 3):
                axis[min(max(tap, 0), n - 1)] += naive.keys(a - tap)
            axes.append(axis)
        rows.append(np.outer(*axes).ravel())
    return np.array(rows)


def dense(apply, size) -> np.ndarray:
    """The matrix of a linear map of images, column by column."""
    units = np.eye(size[0] * size[1], dtype=np.float32).reshape(-1, *size)
    return np.stack([apply(unit).ravel() for unit in units], axis=1)


@pytest.mark.parametrize(
    ("factor", "low_size", "offset"), [(2, (4, 5), (0, 1)), (3, (3, 4), (-2, 1)), (2, (5, 4), (0, 0))]
)
def test_normal_equations_are_those_of_the_rows(factor, low_size, offset):
    size = (factor * low_size[0], factor * low_size[1])
    samples, weight = random(*low_size, seed=1), random(*low_size, seed=2)
    weight[1, 1] = 0
    disparity = 5 * random(*low_size, seed=3) - 2
    stencil, right_side = np.zeros((kernels.STENCIL, *size), np.float32), np.zeros(size, np.float32)
    down, right = (float(o) for o in offset)
    kernels.add_samples(samples, disparity, weight, down, right, factor, stencil, right_side)
    rows = twin_rows(disparity, offset, factor, size)
    wanted = rows.T @ (weight.ravel()[:, np.newaxis] * rows)
    assert right_side.ravel() == pytest.approx(rows.T @ (weight * samples).ravel(), abs=1e-5)

    def apply(image: np.ndarray) -> np.ndarray:
        out = np.empty_like(image)
        kernels.apply_stencil(stencil, image, out)
        return out

    def bound(image: np.ndarray) -> np.ndarray:
        out = np.empty_like(image)
        kernels.bound_stencil(stencil, image, out)
        return out

    assert dense(apply, size) == pytest.approx(wanted, abs=1e-5)
    assert dense(bound, size) == pytest.approx(np.abs(wanted), abs=1e-5)


def twin_weight(samples, disparity, other, own, offset, factor, agreement, stretch, contrast) -> np.ndarray:
    weight = np.zeros(samples.shape)
    height, width = samples.shape
    slopes = np.gradient(disparity.astype(float))
    for y, x in np.ndindex(height, width):
        d = float(disparity[y, x])
        at_y, at_x = y + offset[0] * d / factor, x + offset[1] * d / factor
        near_y, near_x = int(np.floor(at_y + 0.5)), int(np.floor(at_x + 0.5))
        if not (0 <= near_y < height and 0 <= near_x < width):
            continue
        determinant = 1 + (offset[0] * slopes[0][y, x] + offset[1] * slopes[1][y, x]) / factor
        taps = [[min(max(int(np.floor(at)) - 1 + k, 0), n - 1) for k in range(4)] for at, n in
                ((at_y, height), (at_x, width))]  # fmt: skip
        light = sum(
            naive.keys(at_y - np.floor(at_y) + 1 - i)
            * naive.keys(at_x - np.floor(at_x) + 1 - j)
            * float(other[taps[0][i], taps[1][j]])
            for i in range(4)
            for j in range(4)
        )
        weight[y, x] = (
            1 / (1 + ((determinant - 1) / stretch) ** 2)
            / (1 + ((own[near_y, near_x] - d) / agreement) ** 4)
            / (1 + ((light - samples[y, x]) / contrast) ** 2)
        )  # fmt: skip
    return weight


@pytest.mark.parametrize("offset", [(0, 1), (2, -1), (-4, 0)])
def test_weights_are_the_twins(offset):
    samples, other, disparity, own = (random(7, 9, seed=seed) for seed in range(4))
    given = {"factor": 2, "agreement": 0.4, "stretch": 0.3, "contrast": 0.2}
    weight = np.empty_like(samples)
    down, right = (float(o) for o in offset)
    kernels.sample_weights(samples, disparity, other, own, down, right, *given.values(), weight)
    wanted = twin_weight(samples, disparity, other, own, offset, **given)
    assert weight == pytest.approx(wanted, rel=1e-3, abs=1e-6)


@cache
def equations(camera: str = "box", factor: int = 2) -> NormalEquations:
    """The normal equations of the middle of three by three views, at disparities of all kinds."""
    low, disparity = random(3, 3, 8, 9), 3 * random(3, 3, 8, 9, seed=1) - 1
    seen = Camera.parse(camera, factor)
    blur = seen.dense_map((8 * factor, 9 * factor))
    params = WannerParams(contrast=1, agreement=2, stretch=2)
    return normal_equations(low, disparity, (1, 1), seen, blur, params)


@pytest.mark.parametrize("camera", ["box", "gaussian:0.9", "bicubic"])
@pytest.mark.parametrize("factor", [2, 3])
def test_the_projection_is_symmetric_and_below_its_bound(camera, factor):
    problem = equations(camera, factor)
    u, v = (random(8 * factor, 9 * factor, seed=seed) for seed in (5, 6))
    image_u, image_v = problem.apply(u), problem.apply(v)
    assert float((image_u * v).sum()) == pytest.approx(float((u * image_v).sum()), rel=1e-5)
    assert float((image_u * u).sum()) > 0
    for seed in range(5):
        w = random(8 * factor, 9 * factor, seed=seed) - np.float32(0.5)
        assert float((w * problem.apply(w)).sum()) <= float((problem.curvature() * w * w).sum())


def test_where_all_views_show_the_same_light_the_scene_explains_them():
    """A constant scene meets the equations exactly, whatever the disparities are."""
    disparity = 3 * random(3, 3, 8, 9, seed=1)
    low = np.full((3, 3, 8, 9), 0.3, np.float32)
    camera = Camera(2)
    problem = normal_equations(low, disparity, (0, 2), camera, camera.dense_map((16, 18)), WannerParams())
    gradient = np.empty((16, 18), np.float32)
    problem.gradient(np.full((16, 18), 0.3, np.float32), gradient)
    assert np.abs(gradient).max() < 1e-5


@pytest.mark.parametrize("camera", ["box", "gaussian:0.9", "bicubic"])
def test_the_camera_is_its_dense_map_at_every_block(camera):
    seen, image = Camera.parse(camera, 3), random(15, 18)
    assert seen.dense_map((15, 18)).apply(image)[::3, ::3] == pytest.approx(
        seen.map((15, 18)).apply(image), abs=1e-6
    )


# --- total variation ---------------------------------------------------------------------------------------------


def gradient(image: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    down, right = np.zeros_like(image), np.zeros_like(image)
    down[:-1], right[:, :-1] = np.diff(image, axis=0), np.diff(image, axis=1)
    return down, right


@pytest.mark.parametrize("size", [(1, 1), (1, 6), (7, 1), (6, 9)])
def test_the_divergence_is_minus_the_adjoint_of_the_gradient(size):
    image, p, q = (random(*size, seed=seed) for seed in range(3))
    div = np.empty_like(image)
    kernels.divergence(p, q, div)
    down, right = gradient(image)
    assert float((down * p + right * q).sum()) == pytest.approx(-float((image * div).sum()), abs=1e-4)


def test_a_dual_step_goes_up_the_gradient_and_stays_within_the_limit():
    image, curvature, p, q = (random(6, 8, seed=seed) for seed in range(4))
    pace = curvature.copy()
    pace[:-1] = np.minimum(pace[:-1], curvature[1:])
    pace[:, :-1] = np.minimum(pace[:, :-1], curvature[:, 1:])
    down, right = gradient(image)
    new_p, new_q = p + 0.2 * pace * down, q + 0.2 * pace * right
    scale = np.minimum(1, 0.7 / np.hypot(new_p, new_q))
    kernels.raise_dual(image, curvature, 0.2, 0.7, p, q)
    assert p == pytest.approx(new_p * scale, abs=1e-6)
    assert q == pytest.approx(new_q * scale, abs=1e-6)


def test_primal_steps_are_the_twins():
    target, inverse, div, weight, value = (4 * random(5, 6, seed=seed) - 1 for seed in range(5))
    out = np.empty_like(target)
    kernels.primal_of(target, inverse, div, out)
    assert out == pytest.approx(np.clip(target + inverse * div, 0, 1), abs=1e-6)
    weight, now = np.abs(weight), value.copy()
    kernels.denoise_step(target, weight, 0.3, div, now, out)
    moved = value + 0.3 * div
    pulled = moved - np.clip(moved - target, -0.3 * weight, 0.3 * weight)
    assert now == pytest.approx(pulled, abs=1e-6)
    assert out == pytest.approx(2 * pulled - value, abs=1e-6)


def objective(problem: NormalEquations, u: np.ndarray, tv_weight: float) -> float:
    u = u.astype(np.float32)
    quadratic = float((u * problem.apply(u)).sum()) / 2 - float((u * problem.right_side).sum())
    return quadratic + tv_weight * float(np.hypot(*gradient(u)).sum())


@pytest.mark.parametrize("camera", ["box", "bicubic"])
@pytest.mark.parametrize("tv_weight", [0.003, 0.1])
def test_the_solution_is_a_minimum(camera, tv_weight):
    problem = equations(camera)
    u = solve(problem, random(16, 18, seed=7), tv_weight, 400, 10)
    least = objective(problem, u, tv_weight)
    other = solve(problem, random(16, 18, seed=8), tv_weight, 400, 10)
    assert objective(problem, other, tv_weight) == pytest.approx(least, abs=2e-4)
    for seed in range(10):
        aside = np.clip(u + 0.02 * (random(16, 18, seed=seed) - 0.5), 0, 1)
        assert objective(problem, aside, tv_weight) > least - 1e-5
    assert u.min() >= 0
    assert u.max() <= 1


# --- the method --------------------------------------------------------------------------------------------------


def test_other_views_bring_back_what_one_has_lost():
    scene = fronto_parallel((3, 3), (64, 72), 1.5, seed=2).lightfield
    low, truth = luma(degrade(scene, Camera(2)).views), luma(scene.views)
    high = run(low, Camera(2), WannerParams(disparity=(-3, 3)), ALONE, silent)
    bicubic = interpolate(low, 2, "bicubic")
    gain = sf.psnr(high, truth, border=8) - sf.psnr(bicubic, truth, border=8)
    assert gain.min() > 3


def test_grids_and_sizes_that_it_cannot_do():
    for grid in ((1, 1), (2, 2), (1, 2)):
        with pytest.raises(InputError, match="at least 3 views"):
            plan(WannerParams(), grid, (64, 64))
    with pytest.raises(InputError, match="too small"):
        plan(WannerParams(), (3, 3), (6, 64))
    assert plan(WannerParams(), (1, 3), (64, 64)).options == WannerParams()


@pytest.mark.parametrize("size", [(8, 8), (8, 40)])
def test_tiny_views(size):
    low = random(3, 3, size[0] // 8, size[1] // 8)
    high = run(low, Camera(8), WannerParams(disparity=(-30, 30)), ALONE, silent)
    assert high.shape == (3, 3, *size)
    assert np.isfinite(high).all()


@pytest.mark.parametrize(
    "wrong",
    [
        {"disparity": (3, -3)},
        {"disparity": (0.5, 2)},
        {"tv_weight": -1},
        {"tv_weight": float("nan")},
        {"contrast": 0},
        {"shear": 2},
        {"fista_steps": 0},
        {"reach": 0},
    ],
)
def test_options_without_meaning(wrong):
    with pytest.raises(OptionError):
        WannerParams(**wrong)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "y", "x", "gain"),
    [
        ("hciold_buddha", 300, 400, 3),
        ("stanford_legotruck", 400, 500, 1.5),
        ("hcinew_bicycle", 156, 156, 3),
        ("lytro_bikes", 86, 170, 3),
    ],
)
def test_tiles_of_real_light_fields_are_above_bilinear(data_folder, name, y, x, gain):
    truth = sf.read(data_folder / name).crop(slice(y, y + 120), slice(x, x + 120))
    low = degrade(truth, Camera(2))
    high = sf.upscale(low, 2, method="wanner", disparity=(-6, 6))
    assert (sf.psnr(high, truth) - sf.psnr(sf.upscale(low, 2, method="bilinear"), truth)).mean() > gain
