"""Every compiled loop of the sweep over disparities against a slow twin."""

from __future__ import annotations

import naive
import numpy as np
import pytest

from sharpfield.sharp.disparity import kernels as sweeping
from sharpfield.sharp.disparity import moved
from sharpfield.sharp.disparity.sweep import _guided


def random(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random(shape, np.float32)


# --- sweep -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(1, 1), (3, 8), (6, 2)])
@pytest.mark.parametrize("move", [(0.0, 0.0), (-2.25, 1.5), (1.75, -3.0), (40.5, -40.5)])
def test_a_shifted_view_is_the_twins(size, move):
    image, out = random(*size), np.full((5, 7), np.nan, np.float32)
    whole = [int(np.floor(m)) for m in move]
    weights = [
        np.array([naive.keys(k - (m - w)) for k in range(-1, 3)], np.float32)
        for m, w in zip(move, whole, strict=True)
    ]
    sweeping.shift_view(image, *whole, *weights, out)
    for y, x in np.ndindex(5, 7):
        total = 0.0
        for k in range(y + whole[0] - 3, y + whole[0] + 5):
            for j in range(x + whole[1] - 3, x + whole[1] + 5):
                pixel = image[min(max(k, 0), size[0] - 1), min(max(j, 0), size[1] - 1)]
                total += naive.keys(y + move[0] - k) * naive.keys(x + move[1] - j) * float(pixel)
        assert out[y, x] == pytest.approx(total, abs=1e-5)


@pytest.mark.parametrize("rectangle", [(0, 5, 0, 7), (1, 3, 2, 6), (2, 2, 0, 7), (0, 5, 4, 2)])
def test_differences_add_up_inside_and_their_mean_is_the_limit_elsewhere(rectangle):
    first, second, cost, count = (random(5, 7, seed=n) for n in range(4))
    cost, count = cost * 0, count * 0
    top, bottom, left, right = rectangle
    for _ in range(2):
        sweeping.add_differences(first, second, *rectangle, 0.3, cost, count)
    sweeping.mean_cost(cost, count, 0.3)
    for y, x in np.ndindex(5, 7):
        inside = top <= y < bottom and left <= x < right
        assert count[y, x] == (2 if inside else 0)
        wanted = min(abs(float(first[y, x]) - float(second[y, x])), 0.3) if inside else 0.3
        assert cost[y, x] == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("size", [(1, 1), (1, 9), (3, 2), (8, 11)])
@pytest.mark.parametrize("radius", [1, 2, 4])
def test_the_box_mean_is_the_twins(size, radius):
    image, out = random(*size), np.full(size, np.nan, np.float32)
    sweeping.box_mean(image, radius, out)
    assert out == pytest.approx(twin_box(image, radius), abs=1e-6)


def twin_box(image, radius) -> np.ndarray:
    return np.array(
        [
            [
                np.mean(image[max(y - radius, 0) : y + radius + 1, max(x - radius, 0) : x + radius + 1])
                for x in range(image.shape[1])
            ]
            for y in range(image.shape[0])
        ]
    )


@pytest.mark.parametrize("size", [(2, 3), (9, 7)])
def test_the_guided_filter_fits_lines_to_windows(size):
    """He, Sun and Tang's filter: in each window cost = slope guide + level, by least squares with a ridge."""
    guide, cost = random(*size, seed=1), random(*size, seed=2)
    slope, level = np.empty(size), np.empty(size)
    for y, x in np.ndindex(*size):
        cut = slice(max(y - 2, 0), y + 3), slice(max(x - 2, 0), x + 3)
        g, c = guide[cut].ravel().astype(np.float64), cost[cut].ravel().astype(np.float64)
        slope[y, x] = np.mean((g - g.mean()) * (c - c.mean())) / (np.mean((g - g.mean()) ** 2) + 1e-4)
        level[y, x] = c.mean() - slope[y, x] * g.mean()
    wanted = twin_box(slope, 2) * guide + twin_box(level, 2)
    assert _guided(guide, cost) == pytest.approx(wanted, abs=2e-5)


def test_the_least_cost_is_kept_with_the_two_beside_it():
    costs = np.random.default_rng(0).integers(0, 9, (6, 5, 7)).astype(np.float32)  # with ties
    unknown = np.float32(1e9)
    before, best, at_before, at_after = (np.full((5, 7), unknown, np.float32) for _ in range(4))
    chosen = np.full((5, 7), -2, np.float32)
    for number, cost in enumerate(costs):
        sweeping.keep_best(cost, number, before, best, chosen, at_before, at_after)
    for y, x in np.ndindex(5, 7):
        line = list(costs[:, y, x])
        first = line.index(min(line))
        assert chosen[y, x] == first
        assert best[y, x] == line[first]
        assert at_before[y, x] == (line[first - 1] if first else unknown)
        assert at_after[y, x] == (line[first + 1] if first < 5 else unknown)


@pytest.mark.parametrize("size", [(1, 1), (2, 7), (8, 6)])
def test_a_disparity_moves_with_its_like(size):
    disparity, pull, stiffness = random(*size), random(*size, seed=1) - np.float32(0.5), random(*size, seed=2)
    for alike, flat, farthest in ((0.3, 2e-3, 0.1), (0.1, 1.0, 5.0)):
        ours = np.empty_like(disparity)
        sweeping.pooled_step(disparity, pull, stiffness, alike, flat, farthest, ours)
        for y, x in np.ndindex(*size):
            cut = slice(max(y - 2, 0), y + 3), slice(max(x - 2, 0), x + 3)
            weight = 1 / (1 + ((disparity[cut] - disparity[y, x]).astype(np.float64) / alike) ** 2)
            step = np.sum(weight * pull[cut]) / (np.sum(weight * stiffness[cut]) + flat)
            wanted = disparity[y, x] - min(max(step, -farthest), farthest)
            assert ours[y, x] == pytest.approx(wanted, abs=2e-5)
    # nothing pulls: nothing moves
    assert np.array_equal(moved(disparity, 0 * pull, stiffness), disparity)
