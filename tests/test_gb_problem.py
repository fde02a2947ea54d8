"""The quadratic: matrix-free against assembled, gradient against differences, each term from its definition."""

from __future__ import annotations

from functools import cache

import naive
import numpy as np
import pytest
from test_gb_graph import ALONE, flat_views, graph_matrix, graph_of
from test_gb_warp import camera_matrix, warps_of

from sharpfield.gb.params import GBParams
from sharpfield.gb.problem import Problem
from sharpfield.observe import Camera
from sharpfield.parallel import Workers

CASES = [
    ("square", "box", (3, 3), (12, 14), (-6, 6)),
    ("direct", "box", (3, 3), (12, 14), (-6, 6)),
    ("square", "gaussian:0.8", (2, 3), (12, 12), (-2, 4)),
    ("direct", "bicubic", (3, 2), (14, 12), (-2, 4)),
    ("square", "bicubic", (1, 3), (16, 12), (-4, 3)),
    ("direct", "box", (3, 1), (12, 16), (-4, 3)),
    ("square", "box", (2, 2), (12, 12), (2, 5)),
]


@cache
def scene(grid, size) -> tuple[np.ndarray, np.ndarray]:
    """An estimate of the views and another light field to be explained, low-resolution."""
    views = naive.two_planes(grid, size, seed=3).astype(np.float32)
    low = np.random.default_rng(5).random((grid[0] * grid[1], size[0] // 2, size[1] // 2), np.float32)
    return views, low


def problem_of(variant, blur, grid, size, disparity, workers=ALONE, **params) -> Problem:
    views, low = scene(grid, size)
    camera, params = Camera.parse(blur, 2), {"disparity": disparity, **params}
    return Problem(
        low,
        camera.map(size),
        warps_of(views, variant, camera, **params),
        graph_of(views, **params),
        GBParams(**params),
        workers,
    )


def twin_warps(variant, views, w, disparity) -> dict:
    if variant == "square":
        return naive.square_warps(views, *disparity)
    return naive.direct_warps(w, views.shape[:2], views.shape[2:])


def random_views(problem: Problem, seed=0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((len(problem.low), *problem.camera.size_in)).astype(np.float32)


def applied(problem: Problem, u: np.ndarray) -> np.ndarray:
    out = np.full_like(u, np.nan)  # what is there before must not matter
    problem.apply(u, out)
    return out


@pytest.mark.parametrize("case", CASES)
def test_apply_and_linear_are_the_assembled_p_and_q(case):
    variant, _, grid, size, disparity = case
    views, low = scene(grid, size)
    problem = problem_of(*case, data_weight_warp=0.3, graph_weight=0.02)
    w = graph_matrix(problem.graph, size)
    warps = twin_warps(variant, views, w, disparity)
    p, q = naive.quadratic(low.reshape(len(low), -1), camera_matrix(problem.camera), warps, w, 0.3, 0.02)
    assert abs(p - p.T).max() < 1e-12
    u = random_views(problem)
    assert applied(problem, u).ravel() == pytest.approx(p @ u.ravel(), abs=3e-5)
    assert problem.linear().ravel() == pytest.approx(q, abs=1e-5)


@pytest.mark.parametrize("case", CASES)
def test_p_is_symmetric_and_positive_semi_definite(case):
    problem = problem_of(*case)
    for seed in range(5):
        u, w = random_views(problem, seed), random_views(problem, seed + 50)
        pu, pw = applied(problem, u), applied(problem, w)
        assert np.vdot(w, pu) == pytest.approx(np.vdot(pw, u), rel=1e-3, abs=1e-3)
        assert np.vdot(u, pu) > 0


@pytest.mark.parametrize("case", CASES)
def test_the_gradient_is_p_u_plus_q_and_agrees_with_differences(case):
    problem = problem_of(*case)
    u, gradient = random_views(problem), problem.gradient(random_views(problem))
    assert gradient == pytest.approx(applied(problem, u) + problem.linear(), abs=1e-5)
    for seed in range(1, 4):
        step = random_views(problem, seed)
        # the value is quadratic: central differences are exact at any distance
        slope = (problem.value(u + step) - problem.value(u - step)) / 2
        scale = float(np.linalg.norm(gradient) * np.linalg.norm(step))
        assert slope == pytest.approx(float(np.vdot(gradient, step)), abs=1e-5 * scale)


@pytest.mark.parametrize("case", CASES)
def test_the_value_is_the_quadratic(case):
    # F(u) = u' P u / 2 + q' u + r, with r = F(0)
    problem = problem_of(*case)
    u = random_views(problem, 7)
    quadratic = float(np.vdot(u, applied(problem, u))) / 2 + float(np.vdot(problem.linear(), u))
    assert problem.value(u) == pytest.approx(quadratic + problem.value(np.zeros_like(u)), rel=1e-4)


@pytest.mark.parametrize("case", CASES[:3])
def test_each_term_from_its_definition(case):
    variant, _, grid, size, disparity = case
    problem = problem_of(*case)
    camera = camera_matrix(problem.camera)
    u, low = random_views(problem, 3).reshape(-1, size[0] * size[1]).astype(float), problem.low
    data = sum(((camera @ u[k] - low[k].ravel()) ** 2).sum() for k in range(len(low)))
    w = graph_matrix(problem.graph, size)
    warps = twin_warps(variant, scene(grid, size)[0], w, disparity)
    warped = sum(
        (naive.mask_of(camera, warp) * (camera @ (warp @ u[source]) - low[target].ravel()) ** 2).sum()
        for (source, target), warp in warps.items()
    )
    smooth = float(u.ravel() @ (naive.laplacian(w) @ u.ravel()))
    terms = problem.terms(random_views(problem, 3))
    assert terms == pytest.approx((data, warped, smooth), rel=1e-4)
    value = terms[0] + 0.2 * terms[1] + 0.0055 * terms[2]
    assert problem.value(random_views(problem, 3)) == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize("variant", ["square", "direct"])
def test_without_weights_only_the_data_term_is_left(variant):
    problem = problem_of(variant, "box", (2, 2), (12, 12), (-4, 4), data_weight_warp=0.0, graph_weight=0.0)
    u = random_views(problem)
    a = camera_matrix(problem.camera)
    for view, ours in zip(u, applied(problem, u), strict=True):
        assert ours.ravel() == pytest.approx(2 * (a.T @ (a @ view.ravel())), abs=1e-6)
    assert problem.value(u) == pytest.approx(problem.terms(u)[0])


@pytest.mark.parametrize("variant", ["square", "direct"])
def test_a_constant_light_field_is_a_minimiser(variant):
    low = np.full((4, 6, 6), 0.4, np.float32)
    views = np.full((2, 2, 12, 12), 0.4, np.float32)
    camera = Camera(2)
    problem = Problem(
        low, camera.map((12, 12)), warps_of(views, variant, camera), graph_of(views), GBParams(), ALONE
    )
    assert problem.value(flat_views(views)) == pytest.approx(0, abs=1e-9)
    assert problem.gradient(flat_views(views)) == pytest.approx(0, abs=2e-6)


@pytest.mark.parametrize("case", CASES[:3])
def test_threads_do_not_change_a_bit(case):
    u = random_views(problem_of(*case))
    alone = problem_of(*case)
    for threads in (2, 3):
        with Workers(threads) as workers:
            problem = problem_of(*case, workers=workers)
            assert np.array_equal(applied(problem, u), applied(alone, u))
            assert np.array_equal(problem.linear(), alone.linear())
