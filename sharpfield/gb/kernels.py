"""The compiled loops that find matches, edges and warps: arrays in, arrays out, nothing else.

Those that apply what was found are in `operator_kernels.py`. All are single-threaded and release the interpreter
lock; threads run them on different pairs or views. Inner loops run over row slices from 0 so that the compiler can
vectorise them. Each has a slow, obvious twin in `tests/naive.py`.

A *code* numbers a displacement of the search window. Along one axis it is `disparity - low`; for diagonal
neighbours `(disparity_y - low) * W + (disparity_x - low)`. Seen from either view of a pair the code is the same,
only the displacement changes sign. A *key* holds a patch distance and its code in one int32: the float's bits with the
low ones replaced by the code. Positive floats order as integers, so keeping the best is a chain of min and max.
"""

from __future__ import annotations

import numpy as np
from numba import njit

EMPTY_KEY = np.int32(2**31 - 1)

compiled = njit(nogil=True, cache=True)
inlined = njit(nogil=True, inline="always")


@compiled
def exp_minus(values, scale, result, bits):
    """Write exp(-scale * values) of a row, to 3e-7; a polynomial, as the library's exp is not vectorised."""
    scaled = np.float32(-scale * 1.4426950408889634)
    floats = bits.view(np.float32)
    for x in range(values.shape[0]):
        power = max(values[x] * scaled, np.float32(-126.0))
        whole = np.int32(power)
        h = (power - np.float32(whole) + np.float32(0.5)) * np.float32(0.6931471805599453)
        bits[x] = (whole + np.int32(127)) << np.int32(23)
        series = np.float32(1 / 24) + h * (np.float32(1 / 120) + h * np.float32(1 / 720))
        series = np.float32(0.5) + h * (np.float32(1 / 6) + h * series)
        series = np.float32(1) + h * (np.float32(1) + h * series)
        result[x] = series * np.float32(0.7071067811865476)
    for x in range(values.shape[0]):
        result[x] *= floats[x]


@inlined
def patch_distances(first, second, y, first_x, second_y, second_x, patch, count, column, distance):
    """Write the squared distances of `count` pairs of patches along a row of two padded views.

    The patch of output x has its top left corner at (y, first_x + x) in `first`, (second_y, second_x + x) in
    `second`. Sums are formed anew for each row, in one order: no drift, and the same bits wherever a tile begins.
    """
    wide = count + patch - 1
    columns = column[:wide]
    end, second_end = first_x + wide, second_x + wide
    columns[:] = 0
    row = 0
    # seven at a time, the paper's patch in one pass: what is summed stays in registers
    while row + 7 <= patch:
        top, below = y + row, second_y + row
        a0, b0 = first[top, first_x:end], second[below, second_x:second_end]
        a1, b1 = first[top + 1, first_x:end], second[below + 1, second_x:second_end]
        a2, b2 = first[top + 2, first_x:end], second[below + 2, second_x:second_end]
        a3, b3 = first[top + 3, first_x:end], second[below + 3, second_x:second_end]
        a4, b4 = first[top + 4, first_x:end], second[below + 4, second_x:second_end]
        a5, b5 = first[top + 5, first_x:end], second[below + 5, second_x:second_end]
        a6, b6 = first[top + 6, first_x:end], second[below + 6, second_x:second_end]
        for x in range(wide):
            d0, d1, d2, d3 = a0[x] - b0[x], a1[x] - b1[x], a2[x] - b2[x], a3[x] - b3[x]
            d4, d5, d6 = a4[x] - b4[x], a5[x] - b5[x], a6[x] - b6[x]
            columns[x] += d0 * d0 + d1 * d1 + d2 * d2 + d3 * d3 + d4 * d4 + d5 * d5 + d6 * d6
        row += 7
    while row < patch:
        a0, b0 = first[y + row, first_x:end], second[second_y + row, second_x:second_end]
        for x in range(wide):
            difference = a0[x] - b0[x]
            columns[x] += difference * difference
        row += 1
    distances = distance[:count]
    distances[:] = 0
    step = 0
    while step + 7 <= patch:
        s0, s1, s2 = columns[step:], columns[step + 1 :], columns[step + 2 :]
        s3, s4, s5, s6 = columns[step + 3 :], columns[step + 4 :], columns[step + 5 :], columns[step + 6 :]
        for x in range(count):
            distances[x] += s0[x] + s1[x] + s2[x] + s3[x] + s4[x] + s5[x] + s6[x]
        step += 7
    while step < patch:
        shifted = columns[step:]
        for x in range(count):
            distances[x] += shifted[x]
        step += 1


@inlined
def insert_best_two(keys, first, second):
    """Keep the two smallest keys of every pixel of a row."""
    for x in range(keys.shape[0]):
        key = keys[x]
        worse = max(first[x], key)
        first[x] = min(first[x], key)
        second[x] = min(second[x], worse)


@inlined
def insert_best_four(keys, first, second, third, fourth):
    """Keep the four smallest keys of every pixel of a row."""
    for x in range(keys.shape[0]):
        key = keys[x]
        worse = max(first[x], key)
        first[x] = min(first[x], key)
        key = max(second[x], worse)
        second[x] = min(second[x], worse)
        worse = max(third[x], key)
        third[x] = min(third[x], key)
        fourth[x] = min(fourth[x], worse)


@compiled
def match_pair(first, second, patch, offset_y, offset_x, code_bits, best_first, best_second):
    """Find every pixel's best matches between two padded views, both ways in one visit.

    The distance of p in `first` to p + d in `second` is that of p + d in `second` to p in `first`, so one patch
    distance feeds both lists. `best_first` and `best_second` (n, y, x) int32, n = 2 or 4, hold keys, best first.
    """
    kept, height, width = best_first.shape
    low_bits = np.int32((1 << code_bits) - 1)
    column = np.empty(width + patch, np.float32)
    distance = np.empty(width, np.float32)
    bits = distance.view(np.int32)
    best_first[:] = EMPTY_KEY
    best_second[:] = EMPTY_KEY
    for y in range(height):
        for code in range(offset_y.shape[0]):
            other_y = y + offset_y[code]
            shift = offset_x[code]
            start = max(0, -shift)
            count = min(width, width - shift) - start
            if other_y < 0 or other_y >= height or count <= 0:
                continue
            other = start + shift
            patch_distances(first, second, y, start, other_y, other, patch, count, column, distance)
            keys = bits[:count]
            number = np.int32(code)
            for x in range(count):
                keys[x] = (keys[x] & ~low_bits) | number
            end, other_end = start + count, other + count
            if kept == 2:
                insert_best_two(keys, best_first[0, y, start:end], best_first[1, y, start:end])
                insert_best_two(
                    keys, best_second[0, other_y, other:other_end], best_second[1, other_y, other:other_end]
                )
            else:
                insert_best_four(
                    keys,
                    best_first[0, y, start:end],
                    best_first[1, y, start:end],
                    best_first[2, y, start:end],
                    best_first[3, y, start:end],
                )
                insert_best_four(
                    keys,
                    best_second[0, other_y, other:other_end],
                    best_second[1, other_y, other:other_end],
                    best_second[2, other_y, other:other_end],
                    best_second[3, other_y, other:other_end],
                )


@compiled
def mutual_edges(
    best_first,
    best_second,
    offset_y,
    offset_x,
    code_bits,
    scale,
    code_first,
    weight_first,
    code_second,
    weight_second,
):
    """Keep the edges that both ends chose, with their weight exp(-scale * distance); all others weigh 0."""
    kept, height, width = best_first.shape
    low_bits = np.int32((1 << code_bits) - 1)
    half = np.int32((1 << code_bits) >> 1)
    key = np.empty(width, np.int32)
    distance = key.view(np.float32)
    similarity = np.empty(width, np.float32)
    scratch = np.empty(width, np.int32)
    weight_second[:] = 0
    for slot in range(kept):
        for y in range(height):
            codes = code_second[slot, y]
            keys = best_second[slot, y]
            for x in range(width):
                codes[x] = keys[x] & low_bits if keys[x] != EMPTY_KEY else 0
    for slot in range(kept):
        for y in range(height):
            keys = best_first[slot, y]
            codes = code_first[slot, y]
            weights = weight_first[slot, y]
            for x in range(width):
                # the code's bits are taken as the middle of what they can stand for
                key[x] = (keys[x] & ~low_bits) | half if keys[x] != EMPTY_KEY else 0
            exp_minus(distance, scale, similarity, scratch)
            for x in range(width):
                weights[x] = 0
                codes[x] = 0
                if keys[x] == EMPTY_KEY:
                    continue
                code = keys[x] & low_bits
                codes[x] = code
                other_y = y + offset_y[code]
                other_x = x + offset_x[code]
                for other in range(kept):
                    if best_second[other, other_y, other_x] == keys[x]:
                        weights[x] = similarity[x]
                        weight_second[other, other_y, other_x] = similarity[x]
                        break


@compiled
def square_constraint(views, target, neighbours, patch, low, window, scale, code, weight, missing):
    """Choose delta for every pixel of a view (eq. 11, 12) and weigh the two pixels of each neighbour.

    Parameters
    ----------
    views
        Padded views (n, y + patch - 1, x + patch - 1).
    target
        Number of the view to be computed.
    neighbours
        Of each adjacent view: its number, its step down and its step right of the target.
    code, weight, missing
        Written: delta - low (y, x); the first pixel's weight (m, y, x); 1 where neither pixel is inside (m, y, x).
    """
    count = neighbours.shape[0]
    height, width = code.shape
    column = np.empty(width + patch, np.float32)
    row = np.empty(width, np.float32)
    scratch = np.empty(width, np.int32)
    similarity = np.empty((count, window, width), np.float32)
    inside = np.empty((count, window, width), np.float32)
    best = np.empty(width, np.float32)
    score = np.empty(width, np.float32)
    there = np.empty(width, np.float32)
    for y in range(height):
        for m in range(count):
            source, down, right = neighbours[m]
            for d in range(window):
                weights = similarity[m, d]
                present = inside[m, d]
                for x in range(width):
                    weights[x] = 0
                    present[x] = 0
                # a point of disparity d lies d left in the view to the right, d up in the view below
                source_y = y - (low + d) * down
                shift = -(low + d) * right
                start = max(0, -shift)
                length = min(width, width - shift) - start
                if source_y < 0 or source_y >= height or length <= 0:
                    continue
                patch_distances(
                    views[target],
                    views[source],
                    y,
                    start,
                    source_y,
                    start + shift,
                    patch,
                    length,
                    column,
                    row,
                )
                exp_minus(row[:length], scale, weights[start : start + length], scratch[:length])
                present[start : start + length] = 1
        for x in range(width):
            best[x] = -1
        for d in range(window - 1):
            for x in range(width):
                score[x] = 0
                there[x] = 0
            for m in range(count):
                near, far = similarity[m, d], similarity[m, d + 1]
                near_in, far_in = inside[m, d], inside[m, d + 1]
                for x in range(width):
                    score[x] += near[x] + far[x]
                    there[x] += near_in[x] + far_in[x]
            codes = code[y]
            for x in range(width):
                mean = score[x] / max(there[x], np.float32(1))
                if mean > best[x]:
                    best[x] = mean
                    codes[x] = d
        for m in range(count):
            weights = weight[m, y]
            absent = missing[m, y]
            for x in range(width):
                d = code[y, x]
                near, far = similarity[m, d, x], similarity[m, d + 1, x]
                near_in, far_in = inside[m, d, x], inside[m, d + 1, x]
                total = near + far
                absent[x] = 1 if near_in + far_in == 0 else 0
                # both similarities can be too small for a float: then each pixel that is inside weighs the same
                weights[x] = near / total if total > 0 else near_in / max(near_in + far_in, np.float32(1))
