"""Every compiled loop of GB against its slow twin: random and structured views, windows of all kinds."""

from __future__ import annotations

import math

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sharpfield.gb import kernels
from sharpfield.gb.matches import Pair, best_matches, code_bits, pad_views, search_offsets
from sharpfield.gb.params import GBParams

SCALE = 1 / 0.7229**2
STEPS = [(0, 1), (1, 0), (1, 1), (1, -1)]
# symmetric; off-center; without zero; all negative; two wide; reaching out of the view; with codes of 9 bits
WINDOWS = [(-6, 6), (-2, 4), (2, 5), (-5, -1), (0, 1), (-20, 17), (-9, 9)]


def views_of(kind: str, height: int, width: int, seed: int = 0) -> np.ndarray:
    """Two float32 views: without structure, all alike, full of ties, or one the other's shifted copy."""
    rng = np.random.default_rng(seed)
    if kind == "random":
        views = rng.random((2, height, width))
    elif kind == "constant":
        views = np.full((2, height, width), 0.25)
    elif kind == "stripes":
        views = np.broadcast_to((np.arange(width) % 3 == 0) * 0.8, (2, height, width))
    else:
        wide = rng.random((height, width + 3))
        views = np.stack([wide[:, :width], wide[:, 3:]])
    return np.array(views, np.float32)


def twin_distances(views, down, right, params) -> tuple[np.ndarray, np.ndarray]:
    """Distance of every pixel to every candidate, first to second view and back (code, y, x)."""
    steps = naive.window(down, right, *params.disparity)
    forward = [naive.patch_distance(views[0], views[1], dy, dx, params.patch) for dy, dx in steps]
    backward = [naive.patch_distance(views[1], views[0], -dy, -dx, params.patch) for dy, dx in steps]
    return np.array(forward), np.array(backward)


def assert_best(keys: np.ndarray, distances: np.ndarray, bits: int) -> None:
    """The keys name the smallest distances, best first, as exactly as a key can."""
    kept = len(keys)
    empty = keys == kernels.EMPTY_KEY
    assert np.array_equal(empty.sum(axis=0), np.maximum(kept - np.isfinite(distances).sum(axis=0), 0))
    assert (np.diff(keys.astype(np.int64), axis=0) >= 0).all()
    low_bits = (1 << bits) - 1
    precision = 2.0 ** (bits - 23) + 1e-5
    wanted = np.sort(distances, axis=0)
    for slot, y, x in zip(*np.nonzero(~empty), strict=True):
        key = keys[slot, y, x]
        exact = distances[key & low_bits, y, x]
        assert np.isfinite(exact)
        stored = np.int32(key & ~low_bits).view(np.float32)
        assert stored == pytest.approx(exact, rel=precision, abs=1e-30)
        assert exact == pytest.approx(wanted[slot, y, x], rel=2 * precision, abs=1e-30)
    codes = np.where(empty, -1 - np.arange(kept)[:, np.newaxis, np.newaxis], keys & low_bits)
    assert (np.diff(np.sort(codes, axis=0), axis=0) != 0).all()  # none twice


# --- distances, exponential, lists ------------------------------------------------------------------------------


def test_exp_minus_is_the_exponential():
    values = np.concatenate([np.linspace(0, 40, 999), [1e-30, 1e-6]]).astype(np.float32)
    result, scratch = np.empty_like(values), np.empty(values.shape, np.int32)
    kernels.exp_minus(values, SCALE, result, scratch)
    exact = np.array([math.exp(-SCALE * float(value)) for value in values])
    # the argument itself is rounded to float32, so its error grows with it
    assert (abs(result - exact) <= exact * (5e-7 + 2e-7 * SCALE * values)).all()
    assert abs(result - exact).max() < 3e-7


def test_exp_minus_of_a_huge_distance_is_tiny_and_not_garbage():
    values = np.array([50, 100, 1e4, 1e30, np.inf], np.float32)
    result, scratch = np.empty_like(values), np.empty(values.shape, np.int32)
    kernels.exp_minus(values, SCALE, result, scratch)
    assert (result >= 0).all()
    assert (result < 1e-30).all()


@pytest.mark.parametrize("patch", [1, 3, 7, 9, 15])
@pytest.mark.parametrize("step", [(0, -3), (2, 1), (-4, 0), (0, 9)])
def test_patch_distances_of_a_row(patch, step):
    views = views_of("random", 8, 10)
    padded = pad_views(views, patch // 2)
    twin = naive.patch_distance(views[0], views[1], *step, patch)
    start, count = max(0, -step[1]), 10 - abs(step[1])
    for y in range(max(0, -step[0]), min(8, 8 - step[0])):
        column, distance = np.empty(10 + patch, np.float32), np.empty(10, np.float32)
        kernels.patch_distances.py_func(
            padded[0], padded[1], y, start, y + step[0], start + step[1], patch, count, column, distance
        )
        assert distance[:count] == pytest.approx(twin[y, start : start + count], rel=1e-5)


@pytest.mark.parametrize("kept", [2, 4])
def test_a_list_keeps_the_smallest_keys_in_order(kept):
    insert = kernels.insert_best_two if kept == 2 else kernels.insert_best_four
    arrivals = np.random.default_rng(0).integers(0, 40, (9, 50)).astype(np.int32)
    lists = np.full((kept, 50), kernels.EMPTY_KEY, np.int32)
    for count, keys in enumerate(arrivals, 1):
        insert.py_func(keys, *lists)
        wanted = np.sort(arrivals[:count], axis=0)[:kept]
        assert np.array_equal(lists[: len(wanted)], wanted)
        assert (lists[len(wanted) :] == kernels.EMPTY_KEY).all()


# --- matches ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("disparity", WINDOWS)
def test_the_best_matches_are_the_twins(step, disparity):
    params = GBParams(disparity=disparity)
    for kind in ("random", "constant", "stripes", "shifted"):
        views = views_of(kind, 9, 12)
        keys = best_matches(pad_views(views, 3), Pair(0, 1, *step), params)
        bits = code_bits(len(naive.window(*step, *disparity)))
        for ours, theirs in zip(keys, twin_distances(views, *step, params), strict=True):
            assert ours.shape == ((4 if all(step) else 2), 9, 12)
            assert_best(ours, theirs, bits)


@given(
    st.tuples(st.integers(1, 10), st.integers(1, 10)),
    st.sampled_from(STEPS),
    st.integers(-12, 11),
    st.integers(1, 8),
    st.sampled_from([1, 3, 5]),
    st.sampled_from(["random", "stripes", "shifted"]),
    st.integers(0, 99),
)
@settings(max_examples=60, deadline=None)
def test_the_best_matches_of_views_of_any_size(size, step, low, span, patch, kind, seed):
    params = GBParams(disparity=(low, low + span), patch=patch)
    views = views_of(kind, *size, seed)
    keys = best_matches(pad_views(views, patch // 2), Pair(0, 1, *step), params)
    bits = code_bits(len(naive.window(*step, *params.disparity)))
    for ours, theirs in zip(keys, twin_distances(views, *step, params), strict=True):
        assert_best(ours, theirs, bits)


def test_the_widest_window_has_16_bit_codes_and_still_finds_the_match():
    params = GBParams(disparity=(-127, 127), patch=5)
    views = views_of("shifted", 8, 16)
    bits = code_bits(255**2)
    assert bits == 16
    forward, backward = best_matches(pad_views(views, 2), Pair(0, 1, 1, 1), params)
    # the second view is the first moved 3 to the left, 0 up
    inside = forward[0, 2:-2, 5:-2] & 0xFFFF
    assert (inside == 127 * 255 + 130).all()
    # of 65025 candidates those that can lie in a view of 8 x 16, numbered anew in the same order
    steps = naive.window(1, 1, -127, 127)
    within = [code for code, (dy, dx) in enumerate(steps) if abs(dy) < 8 and abs(dx) < 16]
    number = np.full(len(steps), -1)
    number[within] = range(len(within))
    for keys, sign in ((forward, 1), (backward, -1)):
        first, second = views[::sign]
        distances = [
            naive.patch_distance(first, second, sign * dy, sign * dx, 5)
            for dy, dx in (steps[code] for code in within)
        ]
        assert (number[keys & 0xFFFF] >= 0).all()
        assert_best((keys & ~0xFFFF) | number[keys & 0xFFFF].astype(np.int32), np.array(distances), bits)


# --- mutual edges -----------------------------------------------------------------------------------------------


def mutual(keys, step, params):
    offset_y, offset_x = search_offsets(*step, params)
    code_type = np.uint8 if offset_y.size <= 256 else np.uint16
    codes = [np.empty(keys[0].shape, code_type) for _ in range(2)]
    weights = [np.empty(keys[0].shape, np.float32) for _ in range(2)]
    kernels.mutual_edges(
        *keys,
        offset_y,
        offset_x,
        code_bits(offset_y.size),
        SCALE,
        codes[0],
        weights[0],
        codes[1],
        weights[1],
    )
    return codes, weights


def listed(keys, bits):
    """The lists of a view as a set of (y, x, code)."""
    return {
        (y, x, int(keys[slot, y, x]) & ((1 << bits) - 1))
        for slot, y, x in np.ndindex(*keys.shape)
        if keys[slot, y, x] != kernels.EMPTY_KEY
    }


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("disparity", [(-6, 6), (2, 5), (-20, 17), (0, 1)])
@pytest.mark.parametrize("kind", ["random", "constant", "stripes", "shifted"])
def test_an_edge_is_kept_when_both_ends_listed_it(step, disparity, kind):
    params = GBParams(disparity=disparity)
    views = views_of(kind, 7, 10)
    keys = best_matches(pad_views(views, 3), Pair(0, 1, *step), params)
    codes, weights = mutual(keys, step, params)
    steps = naive.window(*step, *disparity)
    bits = code_bits(len(steps))
    first, second = (listed(lists, bits) for lists in keys)
    both = {(y, x, code) for y, x, code in first if (y + steps[code][0], x + steps[code][1], code) in second}
    distances = twin_distances(views, *step, params)
    for sign, code, weight, distance in zip((1, -1), codes, weights, distances, strict=True):
        found = set()
        for slot, y, x in zip(*np.nonzero(weight), strict=True):
            number = int(code[slot, y, x])
            dy, dx = steps[number]
            found.add((y, x, number) if sign == 1 else (y - dy, x - dx, number))
            exact = SCALE * distance[number, y, x]
            # the low half of a key's distance is unknown; what that does to the weight
            error = exact * (2.0 ** (bits - 24) + 1e-5) + 1e-6
            assert weight[slot, y, x] == pytest.approx(math.exp(-exact), rel=error)
        assert found == both
        assert np.count_nonzero(weight) == len(both)


# --- square constraint ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("grid", [(3, 3), (1, 3), (2, 1), (3, 2)])
@pytest.mark.parametrize("disparity", [(-6, 6), (-2, 4), (2, 5), (-20, 17), (0, 1)])
def test_the_square_constraint_is_the_twins(grid, disparity):
    size, (low, high) = (9, 12), disparity
    views = naive.two_planes(grid, size).astype(np.float32)
    flat = views.reshape(-1, *size)
    for v, u in np.ndindex(*grid):
        scores, similar = naive.square_scores(views, v, u, low, high)
        neighbours = np.array([((v + a) * grid[1] + u + b, a, b) for a, b in similar])
        code = np.empty(size, np.uint8)
        weight = np.empty((len(similar), *size), np.float32)
        missing = np.empty(weight.shape, np.float32)
        kernels.square_constraint(
            pad_views(flat, 3),
            v * grid[1] + u,
            neighbours,
            7,
            low,
            high - low + 1,
            SCALE,
            code,
            weight,
            missing,
        )
        assert (code < high - low).all()
        chosen = code[np.newaxis].astype(int)
        reached = np.take_along_axis(scores, chosen, 0)[0]
        assert reached == pytest.approx(scores.max(axis=0), rel=2e-6)
        for m, (w, there) in enumerate(similar.values()):
            near, far = (np.take_along_axis(w, chosen + i, 0)[0] for i in (0, 1))
            near_in, far_in = (np.take_along_axis(there, chosen + i, 0)[0] for i in (0, 1))
            assert np.array_equal(missing[m] == 1, ~near_in & ~far_in)
            inside = missing[m] == 0
            wanted = near[inside] / (near + far)[inside]
            assert weight[m][inside] == pytest.approx(wanted, abs=1e-5)


def test_pixels_too_unlike_for_any_weight_share_it():
    # white against black, patch 31: exp(-961 / sigma^2) is no float; the two pixels are then weighed alike
    views = np.stack([np.zeros((6, 9)), np.ones((6, 9))]).astype(np.float32)
    code, weight = np.empty((6, 9), np.uint8), np.empty((1, 6, 9), np.float32)
    missing = np.empty((1, 6, 9), np.float32)
    kernels.square_constraint(
        pad_views(views, 15),
        0,
        np.array([(1, 0, 1)]),
        31,
        -1,
        3,
        1e4,
        code,
        weight,
        missing,
    )
    assert np.isfinite(weight).all()
    assert ((weight >= 0) & (weight <= 1)).all()
    assert not missing.any()
    inner = weight[0, :, 1:-1]
    assert ((inner == 0.5) | (inner == 1)).all()
