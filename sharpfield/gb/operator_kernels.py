"""The compiled loops that apply warps and Laplacian, in every step of the solver: arrays in, arrays out, nothing else.

Single-threaded, without the interpreter lock, each with a slow twin in `tests/naive.py`, as in `kernels.py`, which
says what a code is. Here a code becomes a displacement in the flattened view by the table `offsets`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

compiled = njit(nogil=True, cache=True)
inlined = njit(nogil=True, inline="always")


@compiled
def row_scales(edge_weight, scale):
    """Write 1 / (sum of a pixel's edge weights to one neighbour), 0 where it has none (end of section V-B)."""
    kept, height, width = edge_weight.shape
    for y in range(height):
        row = scale[y]
        for x in range(width):
            row[x] = 0
        for slot in range(kept):
            weights = edge_weight[slot, y]
            for x in range(width):
                row[x] += weights[x]
        for x in range(width):
            row[x] = 1 / row[x] if row[x] > 0 else 0


@inlined
def rows_ahead(offsets, width):
    """Return how many rows below its own pixel a displacement can lead, and one; 0 where all stay in their row."""
    reach = np.max(offsets) // width
    return max(reach + 2, 0) if np.max(np.abs(offsets)) >= width else 0


@inlined
def touch(image, y):
    """Read one pixel of each cache line of a row (if there is such a row), so that it is in the cache when needed.

    What is gathered along displacements comes from a dozen rows in no order that the processor could foresee: without
    this, the Laplacian took 17 ns a pixel instead of 11.5 on views larger than the cache. The sum is returned so that
    the reading is not left out.
    """
    total = np.float32(0)
    if 0 <= y < image.shape[0]:
        row = image[y]
        for x in range(0, row.shape[0], 16):
            total += row[x]
    return total


@compiled
def square_forward(source, code, weight, offsets, result):
    """Write result(p) = w source(p + o) + (1 - w) source(p + o'), o and o' the displacements of code and code + 1."""
    height, width = weight.shape
    flat = source.reshape(-1)
    limit = flat.shape[0] - 1
    ahead = rows_ahead(offsets, width)
    touched = np.float32(0)
    for y in range(height):
        touched += touch(source, y + ahead) if ahead else 0
        codes, weights, row = code[y], weight[y], result[y]
        base = y * width
        for x in range(width):
            here = base + x
            # a tap outside the view weighs 0; it must only not be read there
            near = min(max(here + offsets[codes[x]], 0), limit)
            far = min(max(here + offsets[codes[x] + 1], 0), limit)
            b = flat[far]
            row[x] = b + weights[x] * (flat[near] - b)
    return touched


@compiled
def square_adjoint_add(target, code, weight, offsets, result):
    """Add the transpose of `square_forward`, applied to `target`, to `result`."""
    height, width = weight.shape
    flat = result.reshape(-1)
    limit = flat.shape[0] - 1
    ahead = rows_ahead(offsets, width)
    touched = np.float32(0)
    for y in range(height):
        touched += touch(result, y + ahead) if ahead else 0
        codes, weights, row = code[y], weight[y], target[y]
        base = y * width
        # two passes: neighbouring pixels often share a tap, and adding twice to one place in a row would wait
        for x in range(width):
            near = min(max(base + x + offsets[codes[x]], 0), limit)
            flat[near] += weights[x] * row[x]
        for x in range(width):
            far = min(max(base + x + offsets[codes[x] + 1], 0), limit)
            flat[far] += row[x] - weights[x] * row[x]
    return touched


@compiled
def edges_forward(source, code, weight, scale, offsets, result):
    """Write result(p) = scale(p) times the sum of w source(p + o) over the pixel's edges."""
    kept, height, width = weight.shape
    flat = source.reshape(-1)
    limit = flat.shape[0] - 1
    ahead = rows_ahead(offsets, width)
    touched = np.float32(0)
    for y in range(height):
        touched += touch(source, y + ahead) if ahead else 0
        row = result[y]
        base = y * width
        for x in range(width):
            row[x] = 0
        for slot in range(kept):
            codes, weights = code[slot, y], weight[slot, y]
            for x in range(width):
                # an empty slot weighs 0 and may point outside; it must only not be read there
                there = min(max(base + x + offsets[codes[x]], 0), limit)
                row[x] += weights[x] * flat[there]
        scales = scale[y]
        for x in range(width):
            row[x] *= scales[x]
    return touched


@compiled
def edges_adjoint_add(target, code, weight, scale, offsets, result):
    """Add the transpose of `edges_forward`, applied to `target`, to `result`."""
    kept, height, width = weight.shape
    flat = result.reshape(-1)
    limit = flat.shape[0] - 1
    scaled = np.empty(width, np.float32)
    ahead = rows_ahead(offsets, width)
    touched = np.float32(0)
    for y in range(height):
        touched += touch(result, y + ahead) if ahead else 0
        row, scales = target[y], scale[y]
        base = y * width
        for x in range(width):
            scaled[x] = row[x] * scales[x]
        for slot in range(kept):
            codes, weights = code[slot, y], weight[slot, y]
            for x in range(width):
                there = min(max(base + x + offsets[codes[x]], 0), limit)
                flat[there] += weights[x] * scaled[x]
    return touched


@compiled
def laplacian_add(view, source, code, weight, offsets, scale, result):
    """Add scale * sum_j w_ij (u_i - u_j) over each pixel's edges, two or four, to one neighbouring view."""
    kept, height, width = weight.shape
    flat = source.reshape(-1)
    factor = np.float32(scale)
    limit = flat.shape[0] - 1
    ahead = rows_ahead(offsets, width)
    touched = np.float32(0)
    for y in range(height):
        touched += touch(source, y + ahead) if ahead else 0
        row, out = view[y], result[y]
        base = y * width
        # all edges in one pass: least traffic on the result; an empty slot weighs 0 and may point outside, where
        # it must only not be read
        c0, c1, w0, w1 = code[0, y], code[1, y], weight[0, y], weight[1, y]
        if kept == 2:
            for x in range(width):
                u0 = flat[min(max(base + x + offsets[c0[x]], 0), limit)]
                u1 = flat[min(max(base + x + offsets[c1[x]], 0), limit)]
                out[x] += factor * (w0[x] * (row[x] - u0) + w1[x] * (row[x] - u1))
        else:
            c2, c3, w2, w3 = code[2, y], code[3, y], weight[2, y], weight[3, y]
            for x in range(width):
                u0 = flat[min(max(base + x + offsets[c0[x]], 0), limit)]
                u1 = flat[min(max(base + x + offsets[c1[x]], 0), limit)]
                u2 = flat[min(max(base + x + offsets[c2[x]], 0), limit)]
                u3 = flat[min(max(base + x + offsets[c3[x]], 0), limit)]
                near = w0[x] * (row[x] - u0) + w1[x] * (row[x] - u1)
                out[x] += factor * (near + w2[x] * (row[x] - u2) + w3[x] * (row[x] - u3))
    return touched
