"""Every compiled loop of `sharp` against a slow twin: odd and small arrays, borders, samples that land outside."""

from __future__ import annotations

import naive
import numpy as np
import pytest

from sharpfield.observe import Camera
from sharpfield.sharp import kernels
from sharpfield.sharp.calibrate import Placement
from sharpfield.sharp.confidence import Samples
from sharpfield.sharp.problem import Block, Prior, normal_equations, problem_at

# step (y, x) a pixel of disparity, and offset (y, x); halves and eighths, so that a table of 1024 phases is exact
WAYS = [(0, 0, 0, 0), (1, -2, 0.25, -0.5), (-1.5, 0.5, -0.375, 0), (0, 2, 1.5, 0.125), (9, -9, 0, 0)]
SIZES = [(4, 5), (7, 4), (5, 9)]  # of the samples


def random(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random(shape, np.float32)


def disparities(*shape: int, seed: int = 0) -> np.ndarray:
    """Disparities from -2 to 2 in steps of a sixteenth."""
    return (np.random.default_rng(seed).integers(-32, 33, shape) / 16).astype(np.float32)


# --- cubic weights -----------------------------------------------------------------------------------------------


def test_the_tables_are_keys_and_his_slope():
    for phase in range(kernels.PHASES + 1):
        t = phase / kernels.PHASES
        weights = [naive.keys(k - t) for k in range(-1, 3)]
        slopes = [(naive.keys(k - t - 1e-6) - naive.keys(k - t + 1e-6)) / 2e-6 for k in range(-1, 3)]
        assert kernels.PHASE_WEIGHTS[phase] == pytest.approx(weights, abs=1e-7)
        assert kernels.PHASE_SLOPES[phase] == pytest.approx(slopes, abs=1e-5)
    assert kernels.PHASE_WEIGHTS.sum(axis=1) == pytest.approx(1, abs=1e-6)
    assert kernels.PHASE_SLOPES.sum(axis=1) == pytest.approx(0, abs=1e-6)


def twin_taps(at: float, n: int) -> np.ndarray:
    """The weights of all n pixels at a position, held inside; the border pixel is repeated."""
    at = min(max(at, 0.0), n - 1.0)
    weights = np.zeros(n)
    for k in range(int(at) - 2, int(at) + 4):
        weights[min(max(k, 0), n - 1)] += naive.keys(at - k)
    return weights


@pytest.mark.parametrize("length", [4, 5, 9])
def test_taps_hold_positions_inside_and_repeat_the_border(length):
    weight = np.empty(4, np.float32)
    for at in [-3, -0.25, 0, 0.5, 1, 1.375, length - 2, length - 1.125, length - 1, length - 0.5, length + 7]:
        first = kernels.cubic_taps.py_func(np.float32(at), length, kernels.PHASE_WEIGHTS, weight)
        assert 0 <= first <= length - 4
        dense = np.zeros(length)
        dense[first : first + 4] = weight
        assert dense == pytest.approx(twin_taps(at, length), abs=1e-6)


# --- samples: residuals, slopes, weights -------------------------------------------------------------------------


def landing(place, disparity, way, factor) -> tuple[float, ...]:
    """Where a sample lands."""
    return tuple(factor * c + way[2 + k] + float(disparity[place]) * way[k] for k, c in enumerate(place))


def twin_residuals(image, samples, disparity, way, factor) -> np.ndarray:
    """Infinite where the block of a sample is not inside of the image."""
    result = np.full(samples.shape, np.inf)
    for place in np.ndindex(*samples.shape):
        at = landing(place, disparity, way, factor)
        if all(-0.01 <= a <= n - factor + 0.01 for a, n in zip(at, image.shape, strict=True)):
            y, x = (twin_taps(a, n) for a, n in zip(at, image.shape, strict=True))
            result[place] = y @ image.astype(np.float64) @ x - samples[place]
    return result


def residuals(image, samples, disparity, way, factor) -> np.ndarray:
    result = np.empty(samples.shape, np.float32)
    way = tuple(np.float32(part) for part in way)
    kernels.sample_residuals(image, samples, disparity, *way, factor, kernels.PHASE_WEIGHTS, result)
    return result


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("size", "factor"), [(SIZES[0], 2), (SIZES[1], 3), (SIZES[2], 1), (SIZES[2], 4)])
def test_residuals_are_the_twins(way, size, factor):
    image, samples = random(size[0] * factor, size[1] * factor, seed=1), random(*size, seed=2)
    disparity = disparities(*size)
    ours = residuals(image, samples, disparity, way, factor)
    wanted = twin_residuals(image, samples, disparity, way, factor)
    assert np.array_equal(np.isinf(ours), np.isinf(wanted))
    assert ours == pytest.approx(wanted, abs=2e-6)
    if any(way):
        assert np.isinf(wanted).any()
    assert np.isfinite(wanted).any()


def test_between_the_phases_a_residual_is_off_by_half_a_phase_at_most():
    image, samples = random(10, 12), np.zeros((5, 6), np.float32)
    disparity = (random(5, 6, seed=3) - 0.5) * 3
    way = 0.37, -0.61, 0.113, 0.207
    wanted = twin_residuals(image, samples, disparity, way, 2)
    ours = residuals(image, samples, disparity, way, 2)
    inside = np.isfinite(wanted)
    assert inside.sum() > 10
    # half a phase in both directions, times the steepest that cubic weights make of pixels in [0, 1]
    steepest = np.clip(kernels.PHASE_SLOPES, 0, None).sum(axis=1).max()
    steepest *= np.abs(kernels.PHASE_WEIGHTS).sum(axis=1).max()
    assert np.abs(ours[inside] - wanted[inside]).max() < 2 * 0.5 / kernels.PHASES * steepest + 1e-6


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("size", "factor"), [(SIZES[0], 2), (SIZES[1], 3), (SIZES[2], 1)])
def test_slopes_are_differences_of_the_residuals(way, size, factor):
    image, samples = random(size[0] * factor, size[1] * factor, seed=1), random(*size, seed=2)
    disparity = disparities(*size)
    residual = residuals(image, samples, disparity, way, factor)
    ours = np.full(size, 9, np.float32)
    kernels.sample_slopes(
        image,
        disparity,
        *(np.float32(part) for part in way),
        factor,
        kernels.PHASE_WEIGHTS,
        kernels.PHASE_SLOPES,
        residual,
        ours,
    )
    assert (ours[np.isinf(residual)] == 0).all()
    h = 1e-6
    after, before = (
        twin_residuals(image, samples, disparity.astype(np.float64) + by, way, factor) for by in (h, -h)
    )
    compared = 0
    for place in np.ndindex(*size):
        at = landing(place, disparity, way, factor)
        # beyond the outermost pixel the position is held, so a difference across it is one-sided
        held = any(not 0 < a < n - 1 for a, n in zip(at, image.shape, strict=True))
        if np.isfinite(residual[place]) and not held:
            assert ours[place] == pytest.approx((after[place] - before[place]) / (2 * h), rel=2e-5, abs=2e-4)
            compared += 1
    assert compared >= (6 if not any(way) else 1)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("size", "factor"), [((1, 1), 4), ((1, 6), 2), ((5, 1), 3), ((6, 7), 2)])
def test_weights_are_the_twins(way, size, factor):
    image = random(max(4, size[0] * factor), max(4, size[1] * factor), seed=1)
    disparity, own = disparities(*size, seed=4) / 4, disparities(*size, seed=5) / 4
    samples = random(*size, seed=2)
    residual = residuals(image, samples, disparity, way, factor)
    ours = np.full(size, 9, np.float32)
    distance, agreement, scale = 0.7, 0.3, 0.2
    kernels.sample_weights(
        residual,
        disparity,
        own,
        *(np.float32(part) for part in way),
        factor,
        distance,
        agreement,
        scale,
        ours,
    )
    for y, x in np.ndindex(*size):
        if np.isinf(residual[y, x]):
            assert ours[y, x] == 0
            continue
        around = residual[max(y - 1, 0) : y + 2, max(x - 1, 0) : x + 2].astype(np.float64)
        square = np.mean(around[np.isfinite(around)] ** 2)
        at = landing((y, x), disparity, way, factor)
        there = tuple(min(int(np.floor(a / factor + 0.5)), n - 1) for a, n in zip(at, size, strict=True))
        apart = float(own[there]) - float(disparity[y, x])
        wanted = distance / (1 + (apart / agreement) ** 2) / (1 + square / scale**2)
        assert ours[y, x] == pytest.approx(wanted, rel=1e-5)


def test_steps_add_up():
    residual, slope, weight, pull, stiffness = (random(5, 7, seed=n) - np.float32(0.3) for n in range(5))
    weight = np.maximum(weight, 0)
    residual[weight == 0] = np.inf  # what has no weight is not looked at
    wanted_pull, wanted_stiffness = pull.astype(np.float64), stiffness.astype(np.float64)
    for place in np.ndindex(5, 7):
        if weight[place]:
            wanted_pull[place] += float(weight[place]) * float(residual[place]) * float(slope[place])
            wanted_stiffness[place] += float(weight[place]) * float(slope[place]) ** 2
    kernels.add_steps(residual, slope, weight, pull, stiffness)
    assert (weight == 0).any()
    assert pull == pytest.approx(wanted_pull, abs=1e-6)
    assert stiffness == pytest.approx(wanted_stiffness, abs=1e-6)


# --- normal equations --------------------------------------------------------------------------------------------


def placed(size, factor, seed=0) -> tuple[Samples, dict[int, np.ndarray]]:
    """Samples of 2 x 2 views with translations, and weights with zeros among them."""
    places = Placement.on_grid((2, 2))
    translation = np.array([[0, 0], [0.25, -0.5], [-0.125, 0.375], [0.5, 0]])
    placement = Placement(places.grid, places.position, translation)
    samples = Samples(
        random(4, *size, seed=seed), disparities(4, *size, seed=seed + 1) / 2, placement, factor
    )
    weights = {view: random(*size, seed=seed + 2 + view) for view in (0, 2, 3)}
    weights[2][1:3, 1:3] = 0
    return samples, weights


def twin_rows(samples, weights, view, block) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """M (samples, pixels of the block), the weights of its rows, and what the samples show."""
    rows, weight, shown = [], [], []
    for other, table in weights.items():
        step = samples.placement.position[other] - samples.placement.position[view]
        offset = samples.factor * (samples.placement.translation[view] - samples.placement.translation[other])
        for place in np.ndindex(*table.shape):
            at = landing(place, samples.disparity[other], (*step, *offset), samples.factor)
            at = [a - first[0] for a, first in zip(at, (block.rows, block.columns), strict=True)]
            if all(0 <= a <= n - 1 for a, n in zip(at, block.size, strict=True)):
                y, x = (twin_taps(a, n) for a, n in zip(at, block.size, strict=True))
                rows.append(np.outer(y, x).ravel())
                weight.append(table[place])
                shown.append(samples.low[other][place])
    return np.array(rows), np.array(weight, np.float64), np.array(shown, np.float64)


def dense(stencil: np.ndarray) -> np.ndarray:
    """The symmetric matrix of which a stencil holds each pair once."""
    height, width = stencil.shape[1:]
    moves = [(0, m) for m in range(4)] + [(k, m) for k in (1, 2, 3) for m in range(-3, 4)]
    matrix = np.zeros((height * width, height * width))
    for plane, (down, right) in enumerate(moves):
        for y, x in np.ndindex(height, width):
            if y + down < height and 0 <= x + right < width:
                here, there = y * width + x, (y + down) * width + x + right
                matrix[here, there] = matrix[there, here] = stencil[plane, y, x]
            else:
                assert stencil[plane, y, x] == 0
    return matrix


BLOCKS = [
    ((4, 5), 2, Block((0, 8), (0, 10), (0, 8), (0, 10))),
    ((5, 3), 3, Block((0, 15), (0, 9), (0, 15), (0, 9))),
    ((6, 6), 2, Block((3, 9), (5, 12), (4, 8), (6, 12))),
    ((1, 1), 4, Block((0, 4), (0, 4), (0, 4), (0, 4))),
]


@pytest.mark.parametrize(("size", "factor", "block"), BLOCKS)
def test_the_stencil_is_the_matrix_of_the_rows(size, factor, block):
    samples, weights = placed(size, factor)
    stencil, right_side = normal_equations(samples, weights, 0, block)
    rows, weight, shown = twin_rows(samples, weights, 0, block)
    assert len(rows)
    ours, wanted = dense(stencil), rows.T @ (weight[:, np.newaxis] * rows)
    assert ours == pytest.approx(wanted, abs=1e-5)
    assert right_side.ravel() == pytest.approx(rows.T @ (weight * shown), abs=1e-5)
    assert np.linalg.eigvalsh(ours).min() > -1e-5
    # constants: every row sums to one
    assert ours.sum() == pytest.approx(weight.sum(), rel=1e-5)


@pytest.mark.parametrize("size", [(4, 4), (4, 9), (7, 5), (1, 6), (6, 1), (2, 3)])
def test_the_stencil_applied_is_its_matrix_and_its_own_adjoint(size):
    height, width = size
    stencil = random(kernels.STENCIL, *size) - np.float32(0.5)
    for plane in range(1, kernels.STENCIL):
        down, right = (0, plane) if plane < 4 else ((plane - 4) // 7 + 1, (plane - 4) % 7 - 3)
        for y, x in np.ndindex(*size):
            if not (y + down < height and 0 <= x + right < width):
                stencil[plane, y, x] = 0
    u, v = random(*size, seed=1), random(*size, seed=2)
    of_u, of_v = np.full(size, np.nan, np.float32), np.full(size, np.nan, np.float32)
    kernels.apply_stencil(stencil, u, of_u)
    kernels.apply_stencil(stencil, v, of_v)
    assert of_u.ravel() == pytest.approx(dense(stencil) @ u.ravel(), abs=1e-5)
    assert np.vdot(of_u, v) == pytest.approx(np.vdot(u, of_v), abs=1e-4)


def twin_dense_line(n: int, factor: int, blur: str, sigma: float) -> np.ndarray:
    """B of one axis (n, n): row i is what a sample sees whose block begins at pixel i."""
    matrix = np.zeros((n, n))
    for i in range(n):
        centre = i + (factor - 1) / 2
        for j in range(i - 40, i + 41):
            distance = abs(j - centre)
            weight = {
                "box": float(distance < factor / 2),
                "gaussian": np.exp(-(distance**2) / (2 * (sigma or 1) ** 2)) * (distance <= 4 * sigma + 1),
                "bicubic": naive.keys(distance / factor),
            }[blur]
            matrix[i, naive.mirrored(j, n)] += weight
    return matrix / matrix.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("blur", "factor", "sigma"),
    [("box", 2, 0.0), ("box", 3, 0.0), ("gaussian", 2, 0.8), ("bicubic", 2, 0.0), ("bicubic", 4, 0.0)],
)
def test_the_problem_applied_is_its_dense_matrix(blur, factor, sigma):
    """B'NB + sum of D'WD: equal to the rows assembled, symmetric, positive semidefinite."""
    size = {2: (4, 5), 3: (3, 3), 4: (2, 3)}[factor]
    high = size[0] * factor, size[1] * factor
    block = Block((0, high[0]), (0, high[1]), (0, high[0]), (0, high[1]))
    samples, weights = placed(size, factor)
    stencil, _ = normal_equations(samples, weights, 3, block)
    camera = Camera(factor, blur, sigma or None)
    estimate, prior = random(*high, seed=7), Prior(0.3, 0.2, 0.1)
    problem = problem_at(estimate, stencil, camera.dense_map(high), prior)
    ours = np.empty((estimate.size, estimate.size))
    for column, unit in enumerate(np.eye(estimate.size, dtype=np.float32)):
        out = np.empty(high, np.float32)
        problem.apply(unit.reshape(high), out)
        ours[:, column] = out.ravel()
    rows, weight, _ = twin_rows(samples, weights, 3, block)
    seen = rows @ np.kron(*(twin_dense_line(n, factor, blur, sigma) for n in high))
    wanted = seen.T @ (weight[:, np.newaxis] * seen)
    for d, strength in (*twin_bends(high, 0.3, 0.03), *twin_slopes(high, 0.2)):
        wanted += strength * d.T @ np.diag(twin_weights(d, estimate, 0.1)) @ d
    assert ours == pytest.approx(wanted, abs=2e-5)
    assert ours == pytest.approx(ours.T, abs=2e-6)
    assert np.linalg.eigvalsh((ours + ours.T) / 2).min() > -1e-5


@pytest.mark.parametrize("seed", range(4))
def test_the_window_misses_no_sample_that_lands_in_the_block(seed):
    samples, _ = placed((7, 9), 2, seed)
    rng = np.random.default_rng(seed)
    for view, other in np.ndindex(4, 4):
        step_y, step_x, from_y, from_x = samples.way(view, other)
        first, size = rng.integers(0, 8, 2), (5, 6)
        start = np.float32(from_y - first[0]), np.float32(from_x - first[1])
        top, bottom, left, right = samples.window(other, (step_y, step_x), start, size)
        for y, x in np.ndindex(7, 9):
            at = landing((y, x), samples.disparity[other], (step_y, step_x, *start), 2)
            if all(0 <= a <= n - 1 for a, n in zip(at, size, strict=True)):
                assert top <= y < bottom
                assert left <= x < right


# --- prior -------------------------------------------------------------------------------------------------------


def differences(size, moves) -> np.ndarray:
    """D, one row for every pixel that has all it needs: weight c of the pixel (dy, dx) away for each of `moves`."""
    rows = []
    for y, x in np.ndindex(*size):
        if all(0 <= y + dy < size[0] and 0 <= x + dx < size[1] for dy, dx, _ in moves):
            row = np.zeros(size)
            for dy, dx, c in moves:
                row[y + dy, x + dx] += c
            rows.append(row.ravel())
    return np.array(rows).reshape(-1, size[0] * size[1])


def twin_bends(size, straight, diagonal) -> list[tuple[np.ndarray, float]]:
    ways = [(0, 1, straight), (1, 0, straight), (1, 1, diagonal), (1, -1, diagonal)]
    return [
        (differences(size, [(-dy, -dx, 1), (0, 0, -2), (dy, dx, 1)]), strength) for dy, dx, strength in ways
    ]


def twin_slopes(size, strength) -> list[tuple[np.ndarray, float]]:
    return [(differences(size, [(0, 0, -1), (dy, dx, 1)]), strength) for dy, dx in ((0, 1), (1, 0))]


def twin_weights(d, u, knee) -> np.ndarray:
    return 1 / np.sqrt(1 + (d @ u.ravel().astype(np.float64) / knee) ** 2)


def bends(u, at, knee, straight, diagonal) -> np.ndarray:
    weights, out = np.full((4, *u.shape), np.nan, np.float32), np.zeros(u.shape, np.float32)
    kernels.bend_weights(at, knee, weights)
    kernels.add_bends(u, weights, straight, diagonal, out)
    return out


def slopes(u, at, knee, strength) -> np.ndarray:
    weights, out = np.full((2, *u.shape), np.nan, np.float32), np.zeros(u.shape, np.float32)
    kernels.slope_weights(at, knee, weights)
    kernels.add_slopes(u, weights, strength, out)
    return out


PRIORS = {
    "bends": (lambda u, at: bends(u, at, 0.2, 0.7, 0.3), lambda size: twin_bends(size, 0.7, 0.3)),
    "slopes": (lambda u, at: slopes(u, at, 0.2, 0.7), lambda size: twin_slopes(size, 0.7)),
}


@pytest.mark.parametrize("size", [(8, 8), (5, 9), (3, 3), (2, 5), (6, 2), (1, 4), (4, 1)])
@pytest.mark.parametrize("term", PRIORS)
def test_the_prior_is_its_dense_matrix_and_symmetric(term, size):
    apply, twin = PRIORS[term]
    at, u, v = (random(*size, seed=n) for n in range(3))
    wanted = np.zeros((u.size, u.size))
    for d, strength in twin(size):
        wanted += strength * d.T @ np.diag(twin_weights(d, at, 0.2)) @ d
    assert apply(u, at).ravel() == pytest.approx(wanted @ u.ravel(), abs=5e-6)
    assert np.vdot(apply(u, at), v) == pytest.approx(np.vdot(u, apply(v, at)), abs=1e-5)


def test_constants_have_no_slope_and_ramps_do_not_bend():
    y, x = np.mgrid[:7, :9].astype(np.float32)
    at, ones, ramp = random(7, 9), np.ones((7, 9), np.float32), 0.25 * y - 0.5 * x + 1
    assert np.abs(bends(ones, at, 0.2, 1, 1)).max() == 0
    assert np.abs(bends(ramp, at, 0.2, 1, 1)).max() < 1e-6
    assert np.abs(slopes(ones, at, 0.2, 1)).max() == 0
    assert np.abs(slopes(ramp, at, 0.2, 1)).max() > 0.1
    # the energy of the one is the sum over the differences
    assert np.vdot(ramp, slopes(ramp, ramp, 1e9, 1)) == pytest.approx(6 * 9 * 0.25**2 + 7 * 8 * 0.5**2)
