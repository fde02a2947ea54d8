"""The compiled loops of the sweep over disparities: arrays in, arrays out.

Each has a slow, obvious twin in `tests/test_sharp_sweep.py`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

compiled = njit(nogil=True, cache=True, fastmath={"contract", "reassoc", "nsz", "arcp"})


@compiled
def shift_view(image, move_y, move_x, weight_y, weight_x, out):
    """Write out(y, x) = image(y + move_y, x + move_x) for whole moves, summed over four by four cubic weights."""
    height, width = image.shape
    rows, columns = out.shape
    line = np.empty(columns + 3, np.float32)
    row = np.empty(width, np.float32)
    for y in range(rows):
        first = y + move_y - 1
        a = image[min(max(first, 0), height - 1)]
        b = image[min(max(first + 1, 0), height - 1)]
        c = image[min(max(first + 2, 0), height - 1)]
        d = image[min(max(first + 3, 0), height - 1)]
        for x in range(width):
            row[x] = weight_y[0] * a[x] + weight_y[1] * b[x] + weight_y[2] * c[x] + weight_y[3] * d[x]
        # line[k] is the row at k + move_x - 1
        start = move_x - 1
        left = min(max(-start, 0), columns + 3)
        right = max(min(width - start, columns + 3), left)
        for k in range(left):
            line[k] = row[0]
        inner, source = line[left:right], row[left + start : right + start]
        for k in range(right - left):
            inner[k] = source[k]
        for k in range(right, columns + 3):
            line[k] = row[width - 1]
        p, q, r, s = line[0:columns], line[1 : columns + 1], line[2 : columns + 2], line[3 : columns + 3]
        result = out[y]
        for x in range(columns):
            result[x] = weight_x[0] * p[x] + weight_x[1] * q[x] + weight_x[2] * r[x] + weight_x[3] * s[x]


@compiled
def add_differences(first, second, top, bottom, left, right, limit, cost, count):
    """Add min(|first - second|, limit), inside a rectangle, to the cost, and one to the count."""
    most = np.float32(limit)
    length = right - left
    if length <= 0:
        return
    for y in range(top, bottom):
        a, b, c, n = (
            first[y, left:right],
            second[y, left:right],
            cost[y, left:right],
            count[y, left:right],
        )
        for x in range(length):
            c[x] += min(abs(a[x] - b[x]), most)
            n[x] += np.float32(1)


@compiled
def mean_cost(cost, count, limit):
    """Divide the cost by the count; where nothing was compared it is the limit."""
    for y in range(cost.shape[0]):
        c, n = cost[y], count[y]
        for x in range(cost.shape[1]):
            c[x] = c[x] / n[x] if n[x] > 0 else np.float32(limit)


@compiled
def box_mean(image, radius, out):
    """Write the mean over the square of that radius, cut at the border."""
    height, width = image.shape
    sums = np.zeros(width, np.float32)
    wide = np.empty(width + 2 * radius + 1, np.float32)
    for y in range(min(radius, height)):
        row = image[y]
        for x in range(width):
            sums[x] += row[x]
    for k in range(wide.shape[0]):
        wide[k] = 0
    middle = wide[radius : radius + width]
    for y in range(height):
        if y + radius < height:
            row = image[y + radius]
            for x in range(width):
                sums[x] += row[x]
        if y - radius - 1 >= 0:
            row = image[y - radius - 1]
            for x in range(width):
                sums[x] -= row[x]
        for x in range(width):
            middle[x] = sums[x]
        result = out[y]
        for x in range(width):
            result[x] = 0
        for k in range(2 * radius + 1):
            part = wide[k : k + width]
            for x in range(width):
                result[x] += part[x]
        rows = min(y + radius, height - 1) - max(y - radius, 0) + 1
        for x in range(width):
            columns = min(x + radius, width - 1) - max(x - radius, 0) + 1
            result[x] /= np.float32(rows * columns)


@compiled
def guided_products(guide, cost, guide_square, guide_cost):
    """Write guide² and guide cost."""
    for y in range(guide.shape[0]):
        g, c, s, p = guide[y], cost[y], guide_square[y], guide_cost[y]
        for x in range(guide.shape[1]):
            s[x] = g[x] * g[x]
            p[x] = g[x] * c[x]


@compiled
def guided_line(mean, mean_cost, mean_square, mean_product, epsilon, slope, level):
    """Write the line cost = slope guide + level that fits each square, from the means over it."""
    eps = np.float32(epsilon)
    for y in range(mean.shape[0]):
        m, c, s, p = mean[y], mean_cost[y], mean_square[y], mean_product[y]
        a, b = slope[y], level[y]
        for x in range(mean.shape[1]):
            a[x] = (p[x] - m[x] * c[x]) / (max(s[x] - m[x] * m[x], np.float32(0)) + eps)
            b[x] = c[x] - a[x] * m[x]


@compiled
def keep_best(cost, number, before, best, chosen, at_before, at_after):
    """Keep, for every pixel, the least cost so far, the number of its slice, and the costs of the two beside it."""
    for y in range(cost.shape[0]):
        c, p, b, k, left, right = cost[y], before[y], best[y], chosen[y], at_before[y], at_after[y]
        for x in range(cost.shape[1]):
            follows = k[x] == number - 1
            right[x] = c[x] if follows else right[x]
            better = c[x] < b[x]
            left[x] = p[x] if better else left[x]
            right[x] = np.float32(1e9) if better else right[x]
            b[x] = c[x] if better else b[x]
            k[x] = np.float32(number) if better else k[x]
            p[x] = c[x]


@compiled
def pooled_step(disparity, pull, stiffness, alike, flat, farthest, result):
    """Write disparity - sum of pulls / (sum of stiffnesses + flat), over five by five neighbours of like disparity."""
    height, width = disparity.shape
    inverse, most = np.float32(1 / alike), np.float32(farthest)
    for y in range(height):
        for x in range(width):
            d = disparity[y, x]
            total, stiff = np.float32(0), np.float32(flat)
            for i in range(max(y - 2, 0), min(y + 3, height)):
                for j in range(max(x - 2, 0), min(x + 3, width)):
                    apart = (disparity[i, j] - d) * inverse
                    w = 1 / (1 + apart * apart)
                    total += w * pull[i, j]
                    stiff += w * stiffness[i, j]
            result[y, x] = d - min(max(total / stiff, -most), most)
