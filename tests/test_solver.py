"""The solvers on small dense matrices: they know a problem only by what it does to a vector."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sharpfield.kernels import add_scaled_dot, descend, dot, scale_and_add
from sharpfield.parallel import Workers
from sharpfield.solver import Room, conjugate_gradient, proximal_point


def matrix_of(eigenvalues, seed=0) -> np.ndarray:
    """A symmetric matrix with these eigenvalues."""
    rng = np.random.default_rng(seed)
    basis, _ = np.linalg.qr(rng.standard_normal((len(eigenvalues),) * 2))
    return basis * np.asarray(eigenvalues, float) @ basis.T


def applying(matrix):
    """Matrix as the solvers take it, and the number of times that it was used."""
    calls = []

    def apply(x, out):
        calls.append(1)
        out[...] = (matrix @ x.ravel().astype(np.float64)).reshape(x.shape)

    return apply, calls


def vector(n, seed=0, shape=None) -> np.ndarray:
    """A vector as the solvers take it: of two axes or more, shared out along the first."""
    return np.random.default_rng(seed).standard_normal(n).astype(np.float32).reshape(shape or (1, n))


def in_range_of(matrix, seed=1) -> np.ndarray:
    """A linear term with which the quadratic has a minimum, though the matrix is singular."""
    return (vector(len(matrix), seed) @ matrix).astype(np.float32)


def solved(matrix, right) -> np.ndarray:
    return np.linalg.solve(matrix, right.ravel())[np.newaxis]


# --- the loops over vectors -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 7, 1000])
def test_the_vector_kernels(n):
    a, b, c, d = (vector(n, seed, (n,)) for seed in range(4))
    exact = [x.astype(np.float64) for x in (a, b, c, d)]
    assert dot(a, b) == pytest.approx(float(exact[0] @ exact[1]), abs=1e-9)
    ours = a.copy()
    total = add_scaled_dot(ours, b, 0.3)
    assert ours == pytest.approx(exact[0] + 0.3 * exact[1], abs=1e-6)
    assert total == pytest.approx(float(ours.astype(float) @ exact[1]), abs=1e-9)
    x, residual = a.copy(), b.copy()
    total = descend(x, residual, c, d, 0.7)
    assert x == pytest.approx(exact[0] + 0.7 * exact[2], abs=1e-6)
    assert residual == pytest.approx(exact[1] - 0.7 * exact[3], abs=1e-6)
    assert total == pytest.approx(float((residual.astype(float) ** 2).sum()), abs=1e-9)
    ours = a.copy()
    scale_and_add(ours, b, -0.4)
    assert ours == pytest.approx(-0.4 * exact[0] + exact[1], abs=1e-6)


# --- conjugate gradient -----------------------------------------------------------------------------------------


def test_a_room_that_has_been_worked_in_is_as_good_as_a_new_one():
    matrix = matrix_of(np.geomspace(1, 50, 12))
    room = Room(vector(12))
    for seed in range(3):
        right, start = vector(12, seed), vector(12, seed + 9)
        before = right.copy(), start.copy()
        given = {"shift": 0.1, "iterations": 7}
        ours = conjugate_gradient(applying(matrix)[0], right, start, room=room, **given)
        new = conjugate_gradient(applying(matrix)[0], right, start, **given)
        assert np.array_equal(ours.x, new.x)
        assert ours.x is room.x
        assert np.array_equal(right, before[0])
        assert np.array_equal(start, before[1])


@given(st.integers(1, 24), st.floats(1, 300), st.integers(0, 999))
@settings(max_examples=60, deadline=None)
def test_conjugate_gradient_solves(n, condition, seed):
    matrix = matrix_of(np.geomspace(1, condition, n), seed)
    right = vector(n, seed)
    solution = conjugate_gradient(
        applying(matrix)[0], right, vector(n, seed + 1), tolerance=1e-5, iterations=400
    )
    assert solution.converged
    assert solution.residual <= 1e-5
    exact = solved(matrix, right)
    assert np.linalg.norm(solution.x @ matrix - right) <= 1e-3 * np.linalg.norm(right)
    assert np.linalg.norm(solution.x - exact) <= 1e-3 * np.linalg.norm(exact) * condition


def test_it_ends_after_as_many_steps_as_there_are_eigenvalues():
    matrix = matrix_of([1, 1, 1, 4, 4, 9, 9, 9, 9])
    solution = conjugate_gradient(applying(matrix)[0], vector(9), 0 * vector(9), tolerance=1e-5)
    assert solution.iterations == 3


def test_the_shift_is_added_to_the_diagonal():
    matrix, right = matrix_of([0, 0, 1, 5]), vector(4)
    solution = conjugate_gradient(applying(matrix)[0], right, vector(4, 1), shift=0.5, tolerance=1e-7)
    assert solution.x == pytest.approx(solved(matrix + 0.5 * np.eye(4), right), abs=1e-4)


def test_inputs_stay_and_a_step_costs_one_product():
    matrix = matrix_of(np.geomspace(1, 1e4, 30))
    right, start = vector(30), vector(30, 1)
    kept = right.copy(), start.copy()
    apply, calls = applying(matrix)
    solution = conjugate_gradient(apply, right, start, tolerance=1e-12, iterations=7)
    assert np.array_equal(right, kept[0])
    assert np.array_equal(start, kept[1])
    assert solution.iterations == 7
    assert not solution.converged
    assert len(calls) == 8
    assert solution.x.dtype == np.float32


def test_the_residual_it_reports_is_the_residual():
    matrix, right = matrix_of(np.geomspace(1, 50, 20)), vector(20)
    for iterations in range(1, 6):
        solution = conjugate_gradient(
            applying(matrix)[0], right, 0 * vector(20), tolerance=1e-12, iterations=iterations
        )
        exact = np.linalg.norm(right - solution.x @ matrix) / np.linalg.norm(right)
        assert solution.residual == pytest.approx(exact, rel=1e-3)


def test_least_steps_are_made_even_when_the_start_is_good():
    matrix, right = matrix_of(np.geomspace(1, 9, 12)), vector(12)
    start = (solved(matrix, right) + 1e-4).astype(np.float32)
    lazy = conjugate_gradient(applying(matrix)[0], right, start, tolerance=0.1)
    assert (lazy.iterations, lazy.converged) == (0, True)
    assert np.array_equal(lazy.x, start)
    busy = conjugate_gradient(applying(matrix)[0], right, start, tolerance=0.1, least=2)
    assert busy.iterations == 2
    assert busy.residual < lazy.residual


def test_nothing_to_do():
    zero = np.zeros((1, 5), np.float32)
    solution = conjugate_gradient(applying(np.eye(5))[0], zero, zero, least=1)
    assert (solution.iterations, solution.converged, solution.residual) == (0, True, 0)
    solution = conjugate_gradient(applying(np.eye(5))[0], zero, zero + 1)
    assert solution.converged
    assert solution.x == pytest.approx(0, abs=1e-6)


def test_a_matrix_that_is_not_positive_ends_the_steps():
    solution = conjugate_gradient(applying(-np.eye(4))[0], vector(4), 0 * vector(4), iterations=50)
    assert np.isfinite(solution.x).all()
    assert not solution.converged


# --- proximal point ---------------------------------------------------------------------------------------------

TIGHT = {"steps": 3000, "tolerance": 1e-6, "cg_tolerance": 1e-7, "cg_iterations": 100}


@pytest.mark.parametrize("growth", [1.0, 2.0, 5.0])
@pytest.mark.parametrize("eigenvalues", [[0.5, 1, 2, 4], [0, 0, 0.3, 1, 8], [0, 0.2, 0.2, 3]])
def test_proximal_point_minimises_even_a_singular_quadratic(eigenvalues, growth):
    n = len(eigenvalues)
    matrix = matrix_of(eigenvalues, 4)
    linear = in_range_of(matrix)  # in the range: a minimum exists
    start = vector(n, 2)
    solution = proximal_point(applying(matrix)[0], linear, start, beta=1, growth=growth, **TIGHT)
    assert solution.converged
    # no step moves along the null space: the minimiser nearest to the start
    exact = start - (start @ matrix + linear) @ np.linalg.pinv(matrix, rcond=1e-9)
    assert solution.x == pytest.approx(exact, abs=2e-4)
    gradient = solution.x @ matrix + linear
    assert math.sqrt(np.mean(gradient**2)) < 5e-6


def exact_steps(matrix, linear, z, beta, tolerance, most):
    """The paper's iteration, every system solved exactly."""
    done = 0
    while done < most:
        new = solved(matrix + np.eye(z.size) / beta, z / beta - linear)
        change, z, done = math.sqrt(np.mean((new - z) ** 2)), new, done + 1
        if change / beta < tolerance:
            break
    return z, done


@pytest.mark.parametrize("beta", [0.3, 1.0, 10.0])
def test_without_growth_the_steps_are_the_papers(beta):
    matrix = matrix_of(np.concatenate([[0, 0], np.geomspace(1e-2, 4, 18)]), 3)
    linear, start = in_range_of(matrix), vector(20, 2)
    for tolerance in (1e-2, 1e-3):
        solution = proximal_point(
            applying(matrix)[0],
            linear,
            start,
            beta=beta,
            steps=5000,
            tolerance=tolerance,
            cg_tolerance=1e-7,
            cg_iterations=60,
        )
        exact, done = exact_steps(matrix, linear, start.astype(float), beta, tolerance, 5000)
        assert abs(solution.steps - done) <= 1
        assert solution.converged
        assert solution.residual < tolerance
        if solution.steps == done:
            assert solution.x == pytest.approx(exact, abs=1e-4)


def test_growth_reaches_the_gradient_where_the_papers_schedule_stops_in_fewer_steps():
    matrix = matrix_of(np.concatenate([[0, 0], np.geomspace(1e-4, 4, 38)]), 3)
    linear, start = in_range_of(matrix), vector(40, 2)
    given = {"tolerance": 1e-3, "cg_tolerance": 1e-6, "cg_iterations": 60, "steps": 1000}
    plain = proximal_point(applying(matrix)[0], linear, start, beta=1, **given)
    grown = proximal_point(applying(matrix)[0], linear, start, beta=1, growth=2, **given)
    assert grown.converged
    assert grown.steps < plain.steps / 2
    # it stops where the paper's does, not far beyond: where it stops is part of the method
    assert 0.5e-3 < grown.residual < 1e-3
    distance = np.linalg.norm(grown.x - plain.x) / np.linalg.norm(start - plain.x)
    assert distance < 0.1


def test_the_limit_of_steps():
    matrix = matrix_of([0, 0.01, 1, 3])
    linear = in_range_of(matrix)
    solution = proximal_point(
        applying(matrix)[0],
        linear,
        vector(4, 2),
        beta=1,
        steps=3,
        tolerance=1e-9,
        cg_tolerance=1e-6,
        cg_iterations=20,
    )
    assert (solution.steps, solution.converged) == (3, False)
    assert solution.iterations >= 3
    assert solution.residual > 1e-9


def test_at_the_minimum_it_stops_at_once():
    matrix = matrix_of([0, 1, 2])
    point = vector(3)
    solution = proximal_point(
        applying(matrix)[0],
        (-point @ matrix).astype(np.float32),
        point,
        beta=10,
        growth=2,
        steps=50,
        tolerance=1e-4,
        cg_tolerance=1e-6,
        cg_iterations=20,
    )
    assert solution.steps == 1
    assert solution.converged
    assert solution.x == pytest.approx(point, abs=1e-5)


def test_a_start_within_the_inner_tolerance_is_not_taken_for_the_minimum():
    # with a small beta the first system is nearly solved by its start; without a step the change would be 0
    matrix = matrix_of([0.5, 1, 2, 4])
    linear = in_range_of(matrix)
    solution = proximal_point(
        applying(matrix)[0],
        linear,
        vector(4, 2),
        beta=0.01,
        growth=2,
        steps=200,
        tolerance=1e-4,
        cg_tolerance=0.5,
        cg_iterations=20,
    )
    assert solution.steps > 1
    assert solution.converged
    assert abs(solution.x @ matrix + linear).max() < 1e-3


@given(st.integers(0, 9999), st.integers(1, 3), st.floats(0.1, 50), st.floats(1, 8))
@settings(max_examples=80, deadline=None)
def test_it_never_fails_however_coarse_its_inner_steps(seed, cg_iterations, beta, growth):
    rng = np.random.default_rng(seed)
    matrix = matrix_of(np.geomspace(1e-6, 10, 12), seed)
    reports = []
    solution = proximal_point(
        applying(matrix)[0],
        vector(12, seed),
        rng.random((1, 12), np.float32),
        beta=beta,
        growth=growth,
        steps=40,
        tolerance=1e-7,
        cg_tolerance=1e-3,
        cg_iterations=cg_iterations,
        report=reports.append,
    )
    assert np.isfinite(solution.x).all()
    assert len(reports) == solution.steps
    assert all(0 <= done <= 1 for done in reports)


def test_a_gradient_that_hardly_falls_does_not_overflow():
    # the pull is out of the range of P: the gradient stays, for ever, just about the same
    matrix = np.diag([0.0, 1e-5])
    solution = proximal_point(
        applying(matrix)[0],
        np.ones((1, 2), np.float32),
        np.zeros((1, 2), np.float32),
        beta=1,
        growth=2,
        steps=12,
        tolerance=1e-4,
        cg_tolerance=1e-6,
        cg_iterations=20,
    )
    assert not solution.converged
    assert np.isfinite(solution.x).all()


def test_reports_end_near_the_whole_and_start_is_not_changed():
    matrix = matrix_of(np.geomspace(0.01, 2, 16))
    start, reports = vector(16, 2), []
    kept = start.copy()
    solution = proximal_point(
        applying(matrix)[0],
        vector(16, 1),
        start,
        beta=1,
        growth=2,
        steps=100,
        tolerance=1e-4,
        cg_tolerance=1e-6,
        cg_iterations=30,
        report=reports.append,
    )
    assert solution.converged
    assert np.array_equal(start, kept)
    assert reports[-1] == 1
    assert reports == sorted(reports)


@pytest.mark.parametrize("shape", [(5, 8), (5, 2, 4), (1, 40), (40, 1)])
def test_threads_do_not_change_a_bit(shape):
    matrix = matrix_of(np.geomspace(1e-3, 5, 40))
    linear, start = vector(40, 1, shape), vector(40, 2, shape)
    given = {"tolerance": 1e-4, "cg_tolerance": 1e-5, "cg_iterations": 30, "steps": 50}
    alone = proximal_point(applying(matrix)[0], linear, start, beta=1, growth=2, **given)
    direct = conjugate_gradient(applying(matrix)[0], linear, start, shift=0.1)
    for threads in (1, 2, 3):
        with Workers(threads) as workers:
            many = proximal_point(
                applying(matrix)[0], linear, start, beta=1, growth=2, workers=workers, **given
            )
            again = conjugate_gradient(applying(matrix)[0], linear, start, shift=0.1, workers=workers)
        assert np.array_equal(many.x, alone.x)
        assert (many.steps, many.iterations, many.residual) == (alone.steps, alone.iterations, alone.residual)
        assert np.array_equal(again.x, direct.x)
