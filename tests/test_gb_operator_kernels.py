"""The compiled loops of warps and Laplacian against the matrices that they stand for."""

from __future__ import annotations

import numpy as np
import pytest

from sharpfield.gb import operator_kernels


def random_edges(kept, height, width, wide, seed=0):
    """Edge lists in which any slot may be empty; none leads out of the view unless its weight is 0."""
    rng = np.random.default_rng(seed)
    count = 361 if wide else 7
    offset_y, offset_x = rng.integers(-2, 3, count), rng.integers(-3, 4, count)
    code = rng.integers(0, count, (kept, height, width)).astype(np.uint16 if wide else np.uint8)
    weight = (rng.random(code.shape) * (rng.random(code.shape) < 0.7)).astype(np.float32)
    for slot, y, x in np.ndindex(*code.shape):
        there = y + offset_y[code[slot, y, x]], x + offset_x[code[slot, y, x]]
        if not (0 <= there[0] < height and 0 <= there[1] < width):
            weight[slot, y, x] = 0
    return code, weight, offset_y, offset_x


def edge_matrix(code, weight, offset_y, offset_x):
    """Row p holds the weights of the edges of pixel p."""
    kept, height, width = code.shape
    matrix = np.zeros((height * width, height * width))
    for slot, y, x in np.ndindex(kept, height, width):
        if weight[slot, y, x]:
            number = code[slot, y, x]
            matrix[y * width + x, (y + offset_y[number]) * width + x + offset_x[number]] += weight[slot, y, x]
    return matrix


@pytest.mark.parametrize("kept", [2, 4])
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("size", [(6, 9), (1, 8), (7, 1)])
def test_edges_as_a_matrix(kept, wide, size):
    rng = np.random.default_rng(1)
    code, weight, offset_y, offset_x = random_edges(kept, *size, wide)
    matrix = edge_matrix(code, weight, offset_y, offset_x)
    offsets = offset_y * size[1] + offset_x
    scale = np.empty(size, np.float32)
    operator_kernels.row_scales(weight, scale)
    sums = weight.sum(axis=0)
    assert scale[sums > 0] == pytest.approx(1 / sums[sums > 0], rel=1e-6)
    assert (scale[sums == 0] == 0).all()

    image, other = rng.random((2, *size), np.float32)
    result = np.empty_like(image)
    operator_kernels.edges_forward(image, code, weight, scale, offsets, result)
    rows = scale.reshape(-1, 1) * matrix
    assert result.ravel() == pytest.approx(rows @ image.ravel(), abs=1e-6)

    result = other.copy()
    operator_kernels.edges_adjoint_add(image, code, weight, scale, offsets, result)
    assert result.ravel() == pytest.approx(other.ravel() + rows.T @ image.ravel(), abs=2e-6)

    source, start = rng.random((2, *size), np.float32)
    result = start.copy()
    operator_kernels.laplacian_add(image, source, code, weight, offsets, 0.3, result)
    wanted = matrix.sum(axis=1) * image.ravel() - matrix @ source.ravel()
    assert result.ravel() == pytest.approx(start.ravel() + 0.3 * wanted, abs=1e-6)


@pytest.mark.parametrize("weight", [1e-3, 1e-20, 2.0**-126])
def test_rows_of_faint_edges_are_normalised_too(weight):
    scale = np.empty((1, 2), np.float32)
    operator_kernels.row_scales(np.array([[[weight, 0]], [[weight, 0]]], np.float32), scale)
    assert scale[0, 0] * np.float32(2 * weight) == pytest.approx(1, rel=1e-6)
    assert scale[0, 1] == 0


@pytest.mark.parametrize("size", [(6, 9), (1, 8), (7, 1)])
@pytest.mark.parametrize("step", [(0, 1), (1, 0), (0, -1), (-1, 0)])
def test_square_rows_as_a_matrix(size, step):
    (height, width), low, window = size, -2, 5
    rng = np.random.default_rng(2)
    code = rng.integers(0, window - 1, size).astype(np.uint8)
    weight = rng.random(size, np.float32)
    matrix = np.zeros((height * width, height * width))
    lacking = np.zeros(size, bool)
    for y, x in np.ndindex(*size):
        taps = [
            (y - step[0] * d, x - step[1] * d) for d in (low + int(code[y, x]), low + int(code[y, x]) + 1)
        ]
        inside = [0 <= j < height and 0 <= i < width for j, i in taps]
        lacking[y, x] = not any(inside)
        if not all(inside):
            weight[y, x] = float(inside[0])
        for (j, i), there, share in zip(taps, inside, (weight[y, x], 1 - weight[y, x]), strict=True):
            if there:
                matrix[y * width + x, j * width + i] += share
    offsets = -(step[0] * width + step[1]) * np.arange(low, low + window)
    image, other = rng.random((2, *size), np.float32)
    result = np.empty_like(image)
    operator_kernels.square_forward(image, code, weight, offsets, result)
    kept = ~lacking.ravel()
    assert result.ravel()[kept] == pytest.approx((matrix @ image.ravel())[kept], abs=1e-6)

    # a row without a pixel is never used: the mask has made its sample 0
    image[lacking] = 0
    result = other.copy()
    operator_kernels.square_adjoint_add(image, code, weight, offsets, result)
    assert result.ravel() == pytest.approx(other.ravel() + matrix.T @ image.ravel(), abs=2e-6)


@pytest.mark.parametrize(
    ("offsets", "ahead"),
    [
        ([-3, 0, 3], 0),  # along the row: nothing to read before
        ([-10, 0, 10], 3),
        ([-65, 0, 65], 8),
        ([-43, -20], 0),  # all above: has been read
        ([-73, -60], 0),
        ([10, 64], 8),
    ],
)
def test_rows_are_read_ahead_as_far_as_a_displacement_leads(offsets, ahead):
    assert operator_kernels.rows_ahead.py_func(np.array(offsets), 10) == ahead


def test_a_row_that_is_read_ahead_is_in_the_view():
    image = np.arange(60, dtype=np.float32).reshape(3, 20)
    assert [operator_kernels.touch.py_func(image, y) for y in (-5, -1, 0, 2, 3, 9)] == [0, 0, 16, 96, 0, 0]
