"""The compiled loops of `heber`: costs of a sweep, samples through their warps, Gram matrices, total variation.

All are single-threaded and release the interpreter lock. Each has a slow, obvious twin in `tests/test_heber.py`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

compiled = njit(nogil=True, cache=True)
inlined = njit(nogil=True, inline="always")

BLOCK = 1024  # pixels of a matrix's column that are summed in single precision, then added in double
LEFT, RIGHT, UP, DOWN = range(
    4
)  # sides of the reference view; the cost of a disparity is that of the best side


@inlined
def cubic_weights(t, weight):
    """Write Keys' four cubic weights (a = -0.5) of a place t in [0, 1) after the second of four pixels."""
    s = np.float32(1) - t
    weight[0] = np.float32(-0.5) * t * s * s
    weight[1] = np.float32(1) + t * t * (np.float32(1.5) * t - np.float32(2.5))
    weight[2] = np.float32(1) + s * s * (np.float32(1.5) * s - np.float32(2.5))
    weight[3] = np.float32(-0.5) * s * t * t


@inlined
def meeting(length, move):
    """Return from where to where (start, stop) a line of pixels, looked at `move` pixels aside, exists."""
    floor = int(np.floor(move))
    beyond = 1 if move > floor else 0
    return max(0, -floor), min(length, length - floor - beyond)


@compiled
def add_differences(reference, view, move_y, move_x, limit, sides, total, count):
    """Add min(|view(y + move_y, x + move_x) - reference(y, x)|, limit) to the totals of the given sides.

    `total` and `count` (4, y, x): sums and numbers of terms; where the view does not reach, nothing is added. `sides`
    holds for each of the four whether the view lies on it.
    """
    height, width = reference.shape
    floor_y, floor_x = int(np.floor(move_y)), int(np.floor(move_x))
    top, bottom = meeting(height, move_y)
    left, right = meeting(width, move_x)
    if bottom <= top or right <= left:
        return
    wy, wx = np.empty(4, np.float32), np.empty(4, np.float32)
    cubic_weights(np.float32(move_y - floor_y), wy)
    cubic_weights(np.float32(move_x - floor_x), wx)
    bound = np.float32(limit)
    line, padded = np.empty(width, np.float32), np.empty(width + 4, np.float32)
    length = right - left
    begin = left + floor_x  # of the pixel at or before the place; `padded` begins one pixel before the view
    for y in range(top, bottom):
        a = view[min(max(y + floor_y - 1, 0), height - 1)]
        b = view[y + floor_y]
        c = view[min(y + floor_y + 1, height - 1)]
        d = view[min(y + floor_y + 2, height - 1)]
        for x in range(width):
            padded[x + 1] = wy[0] * a[x] + wy[1] * b[x] + wy[2] * c[x] + wy[3] * d[x]
        padded[0] = padded[1]
        padded[width + 1 :] = padded[width]
        e, f = padded[begin : begin + length], padded[begin + 1 : begin + 1 + length]
        g, h = padded[begin + 2 : begin + 2 + length], padded[begin + 3 : begin + 3 + length]
        here = reference[y, left:right]
        for x in range(length):
            seen = wx[0] * e[x] + wx[1] * f[x] + wx[2] * g[x] + wx[3] * h[x]
            line[x] = min(abs(seen - here[x]), bound)
        for side in range(4):
            if sides[side]:
                sums, numbers = total[side, y, left:right], count[side, y, left:right]
                for x in range(length):
                    sums[x] += line[x]
                for x in range(length):
                    numbers[x] += np.float32(1)


@compiled
def best_side(total, count, unknown, cost):
    """Write the least mean of the four sides, `unknown` where no side has any term."""
    height, width = cost.shape
    for y in range(height):
        out = cost[y]
        for x in range(width):
            out[x] = unknown
        for side in range(4):
            sums, numbers = total[side, y], count[side, y]
            for x in range(width):
                mean = sums[x] / max(numbers[x], np.float32(0.5))
                out[x] = min(out[x], mean if numbers[x] >= np.float32(0.5) else np.float32(unknown))


@compiled
def couple(volume, first, step, value, pull, out):
    """Write for every pixel the disparity d with the least cost(d) + pull (d - value)^2.

    `volume` (d, y, x) holds the costs at first + n step; between them a parabola through the best and its neighbours.
    """
    numbers, height, width = volume.shape
    for y in range(height):
        now, result = value[y], out[y]
        least, place = np.full(width, np.float32(np.inf)), np.zeros(width, np.int32)
        for n in range(numbers):
            cost = volume[n, y]
            d = np.float32(first + n * step)
            for x in range(width):
                apart = d - now[x]
                total = cost[x] + np.float32(pull) * apart * apart
                place[x] = n if total < least[x] else place[x]
                least[x] = min(total, least[x])
        for x in range(width):
            n = place[x]
            d = np.float32(first + n * step)
            if 0 < n < numbers - 1:
                before, after = d - np.float32(step) - now[x], d + np.float32(step) - now[x]
                a = volume[n - 1, y, x] + np.float32(pull) * before * before
                c = volume[n + 1, y, x] + np.float32(pull) * after * after
                bend = a + c - 2 * least[x]
                if bend > np.float32(1e-12):
                    lean = np.float32(0.5) * (a - c) / bend
                    d += np.float32(step) * min(max(lean, np.float32(-0.5)), np.float32(0.5))
            result[x] = d


@compiled
def ascend(ahead, limit, step, down, right):
    """Do p = p + step grad ahead, then bring the length of p at every pixel down to the `limit` there.

    Differences are forward ones, 0 at the last row and column.
    """
    height, width = ahead.shape
    s = np.float32(step)
    for y in range(height):
        row, below, bound = ahead[y], ahead[min(y + 1, height - 1)], limit[y]
        p, q = down[y], right[y]
        for x in range(width - 1):
            q[x] += s * (row[x + 1] - row[x])
        for x in range(width):
            p[x] += s * (below[x] - row[x])
        for x in range(width):
            squared = p[x] * p[x] + q[x] * q[x]
            if squared > bound[x] * bound[x]:
                scale = bound[x] / np.sqrt(squared)
                p[x] *= scale
                q[x] *= scale


@compiled
def descend(force, pace, down, right, target, pull, low, high, value, ahead):
    """Do a primal step: value - pace (force - div p), drawn to `target` by the weight `pull`, clipped to low..high.

    `ahead` becomes twice the new value less the old one, which the next dual step takes.
    """
    height, width = value.shape
    line = np.empty(width, np.float32)
    least, most, w = np.float32(low), np.float32(high), np.float32(pull)
    for y in range(height):
        p, above, q = down[y], down[max(y - 1, 0)], right[y]
        lower = np.float32(1) if y < height - 1 else np.float32(0)
        upper = np.float32(1) if y > 0 else np.float32(0)
        for x in range(width):
            line[x] = lower * p[x] - upper * above[x]
        for x in range(width - 1):
            line[x] += q[x]
        for x in range(1, width):
            line[x] -= q[x - 1]
        now, push, s, aim, out = value[y], force[y], pace[y], target[y], ahead[y]
        for x in range(width):
            moved = now[x] - s[x] * (push[x] - line[x])
            moved = (moved + s[x] * w * aim[x]) / (1 + s[x] * w)
            moved = min(max(moved, least), most)
            out[x] = 2 * moved - now[x]
            now[x] = moved


@inlined
def linear_value(image, at_y, at_x):
    """Return an image between its pixels, at a place inside it."""
    height, width = image.shape
    top, left = min(int(at_y), height - 1), min(int(at_x), width - 1)
    bottom, after = min(top + 1, height - 1), min(left + 1, width - 1)
    t, s = np.float32(at_y - top), np.float32(at_x - left)
    upper = image[top, left] + s * (image[top, after] - image[top, left])
    lower = image[bottom, left] + s * (image[bottom, after] - image[bottom, left])
    return upper + t * (lower - upper)


@compiled
def trust(disparity, own, down, right, factor, agreement, weight):
    """Multiply the weights of a view's samples by how well their disparities fit `own`, the reference's.

    By 1 / (1 + (e / agreement)^4): e is how far apart, in high-resolution pixels, the two disparities place the sample
    in the reference, from which the view is (down, right) steps away. By 0 where it lands outside.
    """
    height, width = disparity.shape
    steps = np.float32(max(abs(down), abs(right)))
    for y in range(height):
        for x in range(width):
            d = disparity[y, x]
            at_y, at_x = y + down * d / factor, x + right * d / factor
            if 0 <= at_y <= height - 1 and 0 <= at_x <= width - 1:
                apart = steps * (linear_value(own, at_y, at_x) - d) / np.float32(agreement)
                square = apart * apart
                weight[y, x] /= 1 + square * square
            else:
                weight[y, x] = 0


@inlined
def cubic_place(at, length, weight):
    """Write the weights of the place `at` in 0..length-1, return the first of its pixels (length >= 4).

    Beyond the border the border pixel is repeated: its neighbours' weights go to it.
    """
    floor = min(int(at), length - 1)
    cubic_weights(np.float32(at - floor), weight)
    if floor == 0:
        weight[0] += weight[1]
        weight[1], weight[2], weight[3] = weight[2], weight[3], np.float32(0)
        return 0
    if floor == length - 2:
        weight[3] += weight[2]
        weight[2], weight[1], weight[0] = weight[1], weight[0], np.float32(0)
        # the four pixels end with the last one
        return length - 4
    if floor == length - 1:
        weight[0], weight[1], weight[2], weight[3] = (
            np.float32(0),
            np.float32(0),
            np.float32(0),
            np.float32(1),
        )
        return length - 4
    return floor - 1


@compiled
def spread_differences(samples, disparity, weight, down, right, factor, seen, threshold, total, mass):
    """Spread what a view's samples differ by from `seen` (Y, X), the blurred image of the reference.

    Sample (y, x) of disparity d and weight m lies at factor (y, x) + (down, right) d, between four by four pixels P. Of
    its difference e, the sparse part is what is beyond the threshold; g e, g = min(1, threshold / |e|), remains.
    `total` gains P^T m g e and `mass` |P|^T m g |P| 1.
    """
    height, width = samples.shape
    rows, columns = seen.shape
    wy, wx = np.empty(4, np.float32), np.empty(4, np.float32)
    bound = np.float32(threshold)
    for y in range(height):
        for x in range(width):
            m = weight[y, x]
            if m <= 0:
                continue
            at_y = factor * y + down * disparity[y, x]
            at_x = factor * x + right * disparity[y, x]
            if at_y < 0 or at_y > rows - 1 or at_x < 0 or at_x > columns - 1:
                continue
            top, left = cubic_place(at_y, rows, wy), cubic_place(at_x, columns, wx)
            value = np.float32(0)
            for i in range(4):
                line = seen[top + i]
                value += wy[i] * (
                    wx[0] * line[left]
                    + wx[1] * line[left + 1]
                    + wx[2] * line[left + 2]
                    + wx[3] * line[left + 3]
                )
            e = samples[y, x] - value
            m *= bound / max(bound, abs(e))
            e *= m
            m *= (abs(wy[0]) + abs(wy[1]) + abs(wy[2]) + abs(wy[3])) * (
                abs(wx[0]) + abs(wx[1]) + abs(wx[2]) + abs(wx[3])
            )
            for i in range(4):
                gain, bulk = total[top + i], mass[top + i]
                we, wm = wy[i] * e, abs(wy[i]) * m
                for j in range(4):
                    gain[left + j] += we * wx[j]
                    bulk[left + j] += wm * abs(wx[j])


@compiled
def mix(weights, planes, out):
    """Do out += sum over k of weights[k] planes[k]."""
    height, width = out.shape
    for y in range(height):
        row = out[y]
        for k in range(planes.shape[0]):
            w, plane = weights[k], planes[k, y]
            for x in range(width):
                row[x] += w * plane[x]


# sums may be reordered so that they vectorise: the order depends on the length alone, never on threads
@njit(nogil=True, cache=True, fastmath={"reassoc", "nsz"})
def gram(columns):
    """Return the products of every two columns (J, n) of a matrix, (J, J)."""
    number, length = columns.shape
    out = np.zeros((number, number))
    for start in range(0, length, BLOCK):
        stop = min(start + BLOCK, length)
        for i in range(number):
            a = columns[i, start:stop]
            for j in range(i + 1):
                b = columns[j, start:stop]
                total = np.float32(0)
                for x in range(stop - start):
                    total += a[x] * b[x]
                out[i, j] += total
    for i in range(number):
        for j in range(i):
            out[j, i] = out[i, j]
    return out
