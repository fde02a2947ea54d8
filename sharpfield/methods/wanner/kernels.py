"""The compiled loops of `wanner`: structure tensors, projections, total variation; arrays in, arrays out.

All are single-threaded and release the interpreter lock. Each has a slow, obvious twin in `tests/test_wanner.py`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

compiled = njit(nogil=True, cache=True)
inlined = njit(nogil=True, inline="always")

LEAST = np.float32(1e-3)  # what is less coherent is noise
STENCIL = 25  # distinct products of two pixels that one cubic sample looks at: half of 7 x 7, and the middle


@inlined
def keys(t):
    """Cubic convolution kernel of Keys (1981), a = -0.5, for t >= 0."""
    if t < 1:
        return (np.float32(1.5) * t - np.float32(2.5)) * t * t + np.float32(1)
    if t < 2:
        return ((np.float32(-0.5) * t + np.float32(2.5)) * t - np.float32(4)) * t + np.float32(2)
    return np.float32(0)


@inlined
def cubic_taps(position, length, weight):
    """Write the four weights of a cubic sample at `position` in 0..length-1, return the first tap (length >= 4).

    Beyond the border the border pixel is repeated: what would fall outside is added to it.
    """
    floor = int(np.floor(position))
    fraction = np.float32(position - floor)
    base = min(max(floor - 1, 0), length - 4)
    for k in range(4):
        weight[k] = 0
    for k in range(4):
        tap = min(max(floor - 1 + k, 0), length - 1)
        weight[tap - base] += keys(abs(np.float32(k - 1) - fraction))
    return base


@inlined
def shifted_row(row, move, padded, weight, line):
    """Write line(x) = row(x + move), cubic between pixels, and return from where to where there is such a place."""
    width = row.shape[0]
    floor = int(np.floor(move))
    fraction = np.float32(move - floor)
    for t in range(4):
        weight[t] = keys(abs(np.float32(t - 1) - fraction))
    for t in range(2):
        padded[t] = row[0]
        padded[width + 2 + t] = row[width - 1]
    for x in range(width):
        padded[2 + x] = row[x]
    start = max(0, -floor)
    stop = min(width, width - floor - (1 if fraction > 0 else 0))
    if stop > start:
        length = stop - start
        begin = start + floor + 1
        a, b = padded[begin : begin + length], padded[begin + 1 : begin + 1 + length]
        c, d = padded[begin + 2 : begin + 2 + length], padded[begin + 3 : begin + 3 + length]
        out = line[start:stop]
        for x in range(length):
            out[x] = weight[0] * a[x] + weight[1] * b[x] + weight[2] * c[x] + weight[3] * d[x]
    return start, stop


@compiled
def epipolar_tensor(series, reference, first, last, shear, pair_weight, xx, xk, kk):
    """Write the structure tensor of the sheared epipolar images of a series of views along x, not yet averaged.

    The image of row y is S(k, x) = view k at (y, x - (k - reference) shear): what has the disparity `shear` stands
    upright. Derivatives are taken half way between adjacent views and summed over the pairs from `first` to `last`
    with `pair_weight`; where a view does not reach, its pair counts for nothing.
    """
    height, width = series.shape[1:]
    views = last - first + 1
    lines = np.empty((views, width), np.float32)
    start, stop = np.empty(views, np.int64), np.empty(views, np.int64)
    padded, weight = np.empty(width + 4, np.float32), np.empty(4, np.float32)
    for y in range(height):
        for n in range(views):
            move = -(first + n - reference) * shear
            start[n], stop[n] = shifted_row(series[first + n, y], move, padded, weight, lines[n])
        out_xx, out_xk, out_kk = xx[y], xk[y], kk[y]
        for x in range(width):
            out_xx[x] = 0
            out_xk[x] = 0
            out_kk[x] = 0
        for n in range(views - 1):
            begin, end = max(start[n], start[n + 1]) + 1, min(stop[n], stop[n + 1]) - 1
            if end <= begin:
                continue
            length = end - begin
            w = pair_weight[n]
            near, far = lines[n, begin - 1 : end + 1], lines[n + 1, begin - 1 : end + 1]
            near_before, far_before = near[:length], far[:length]
            near_here, far_here = near[1 : 1 + length], far[1 : 1 + length]
            near_after, far_after = near[2 : 2 + length], far[2 : 2 + length]
            sum_xx, sum_xk, sum_kk = out_xx[begin:end], out_xk[begin:end], out_kk[begin:end]
            for x in range(length):
                along = far_here[x] - near_here[x]
                across = np.float32(0.25) * (near_after[x] - near_before[x] + far_after[x] - far_before[x])
                sum_xx[x] += w * across * across
                sum_xk[x] += w * across * along
                sum_kk[x] += w * along * along


@compiled
def keep_most_coherent(xx, xk, kk, shear, low, high, noise, span, disparity, coherence):
    """Take the orientation of averaged tensors where it is more coherent than what there is.

    An orientation that leans by more than `span` belongs to another shear; one outside of low..high is an outlier.
    """
    height, width = xx.shape
    for y in range(height):
        a, b, c = xx[y], xk[y], kk[y]
        best, found = coherence[y], disparity[y]
        for x in range(width):
            difference = a[x] - c[x]
            root = np.sqrt(difference * difference + 4 * b[x] * b[x])
            total = a[x] + c[x] + noise
            measure = (root / total) ** 2
            slope = 2 * b[x] / max(difference + root, np.float32(1e-20))
            value = np.float32(shear) + slope
            good = measure > max(best[x], LEAST) and abs(slope) <= span and low <= value <= high
            best[x] = measure if good else best[x]
            found[x] = value if good else found[x]


@inlined
def cubic_value(image, at_y, at_x):
    """Return an image between its pixels; beyond the border the border pixel is repeated."""
    height, width = image.shape
    floor_y, floor_x = int(np.floor(at_y)), int(np.floor(at_x))
    part_y, part_x = np.float32(at_y - floor_y), np.float32(at_x - floor_x)
    total = np.float32(0)
    for i in range(4):
        row = image[min(max(floor_y - 1 + i, 0), height - 1)]
        line = np.float32(0)
        for j in range(4):
            line += keys(abs(np.float32(j - 1) - part_x)) * row[min(max(floor_x - 1 + j, 0), width - 1)]
        total += keys(abs(np.float32(i - 1) - part_y)) * line
    return total


@compiled
def sample_weights(samples, disparity, other, own, down, right, factor, agreement, stretch, contrast, weight):
    """Write how much each sample of a view may say about another view, (down, right) steps away.

    A sample of disparity d is seen there if the disparity `own` and the light of `other` agree with it where it
    lands; where its neighbours land nearer together or farther apart than here, the scene is stretched between
    the views and the sample counts less. Disparities are in high-resolution pixels.
    """
    height, width = disparity.shape
    step_y, step_x = np.float32(down / factor), np.float32(right / factor)
    for y in range(height):
        top, bottom = max(y - 1, 0), min(y + 1, height - 1)
        for x in range(width):
            d = disparity[y, x]
            at_y, at_x = y + d * step_y, x + d * step_x
            there_y, there_x = int(np.floor(at_y + np.float32(0.5))), int(np.floor(at_x + np.float32(0.5)))
            if there_y < 0 or there_y >= height or there_x < 0 or there_x >= width:
                weight[y, x] = 0
                continue
            left, after = max(x - 1, 0), min(x + 1, width - 1)
            slope_y = (disparity[bottom, x] - disparity[top, x]) / np.float32(max(bottom - top, 1))
            slope_x = (disparity[y, after] - disparity[y, left]) / np.float32(max(after - left, 1))
            # of the map x -> x + offset d(x), the determinant of the derivative less that of the identity
            lean = (step_y * slope_y + step_x * slope_x) / stretch
            apart = ((own[there_y, there_x] - d) / agreement) ** 2
            differs = (cubic_value(other, at_y, at_x) - samples[y, x]) / contrast
            weight[y, x] = 1 / ((1 + lean * lean) * (1 + apart * apart) * (1 + differs * differs))


@compiled
def add_samples(samples, disparity, weight, down, right, factor, stencil, right_side):
    """Add the normal equations of the samples of one view, as another view's blurred pixels explain them.

    Sample (y, x) of disparity d is the blurred image at factor (y, x) + (down, right) d, between four by four
    pixels. `stencil` (25, Y, X) holds the products of two pixels' weights, each pair once, with the upper one (on
    one row, the left one) of the two; `right_side` the samples.
    """
    height, width = samples.shape
    rows, columns = right_side.shape
    wy, wx = np.empty(4, np.float32), np.empty(4, np.float32)
    for y in range(height):
        for x in range(width):
            w = weight[y, x]
            if w <= 0:
                continue
            at_y = factor * y + down * disparity[y, x]
            at_x = factor * x + right * disparity[y, x]
            if at_y < 0 or at_y > rows - 1 or at_x < 0 or at_x > columns - 1:
                continue
            top = cubic_taps(at_y, rows, wy)
            left = cubic_taps(at_x, columns, wx)
            value = w * samples[y, x]
            for i in range(4):
                for j in range(4):
                    right_side[top + i, left + j] += value * wy[i] * wx[j]
            for i in range(4):
                yy = w * wy[i] * wy[i]
                for j in range(4):
                    for k in range(j, 4):
                        stencil[k - j, top + i, left + j] += yy * wx[j] * wx[k]
                for n in range(i + 1, 4):
                    yy_apart = w * wy[i] * wy[n]
                    first = 7 * (n - i)  # plane of (n - i) rows down, no column aside
                    for j in range(4):
                        for k in range(4):
                            stencil[first + k - j, top + i, left + j] += yy_apart * wx[j] * wx[k]


@compiled
def apply_stencil(stencil, image, out):
    """Write N image, for the symmetric matrix N of which the stencil holds each pair of pixels once."""
    height, width = image.shape
    for y in range(height):
        row, centre, result = image[y], stencil[0, y], out[y]
        for x in range(width):
            result[x] = centre[x] * row[x]
    for plane in range(1, STENCIL):
        down = (plane + 3) // 7
        right = plane - 7 * down
        start = max(0, -right)
        length = width - abs(right)
        for y in range(height - down):
            weight = stencil[plane, y, start : start + length]
            here = image[y, start : start + length]
            there = image[y + down, start + right : start + right + length]
            result_here = out[y, start : start + length]
            result_there = out[y + down, start + right : start + right + length]
            for x in range(length):
                result_here[x] += weight[x] * there[x]
            for x in range(length):
                result_there[x] += weight[x] * here[x]


@compiled
def divergence(down, right, out):
    """Write the divergence: minus the transpose of forward differences that are 0 at the last row and column."""
    height, width = out.shape
    for y in range(height):
        row = out[y]
        for x in range(width):
            row[x] = 0
        if y < height - 1:
            here = down[y]
            for x in range(width):
                row[x] += here[x]
        if y > 0:
            above = down[y - 1]
            for x in range(width):
                row[x] -= above[x]
        along = right[y]
        for x in range(width - 1):
            row[x] += along[x]
        for x in range(1, width):
            row[x] -= along[x - 1]


@compiled
def bound_stencil(stencil, image, out):
    """Write |N| image, for the matrix of `apply_stencil` with the absolute values of its entries."""
    height, width = image.shape
    for y in range(height):
        for x in range(width):
            out[y, x] = stencil[0, y, x] * image[y, x]
    for plane in range(1, STENCIL):
        down = (plane + 3) // 7
        right = plane - 7 * down
        start = max(0, -right)
        for y in range(height - down):
            for x in range(start, start + width - abs(right)):
                weight = abs(stencil[plane, y, x])
                out[y, x] += weight * image[y + down, x + right]
                out[y + down, x + right] += weight * image[y, x]


@compiled
def raise_dual(image, curvature, step, limit, down, right):
    """Do p = p + step curvature grad image, then bring the length of p at every pixel down to `limit`.

    The curvature of a pixel here is the least of those that its differences look at.
    """
    height, width = image.shape
    s, bound = np.float32(step), np.float32(limit)
    pace = np.empty(width, np.float32)
    for y in range(height):
        row, below = image[y], image[min(y + 1, height - 1)]
        curved, curved_below = curvature[y], curvature[min(y + 1, height - 1)]
        p, q = down[y], right[y]
        for x in range(width):
            pace[x] = s * min(curved[x], curved_below[x])
        for x in range(width - 1):
            pace[x] = min(pace[x], s * curved[x + 1])
        for x in range(width):
            p[x] += pace[x] * (below[x] - row[x])
        for x in range(width - 1):
            q[x] += pace[x] * (row[x + 1] - row[x])
        for x in range(width):
            scale = bound / max(bound, np.sqrt(p[x] * p[x] + q[x] * q[x]), np.float32(1e-30))
            p[x] *= scale
            q[x] *= scale


@compiled
def primal_of(target, inverse, div, out):
    """Write target + div / curvature, clipped to [0, 1]: the primal image that belongs to the dual field."""
    height, width = out.shape
    for y in range(height):
        a, b, c, result = target[y], inverse[y], div[y], out[y]
        for x in range(width):
            result[x] = min(max(a[x] + b[x] * c[x], np.float32(0)), np.float32(1))


@compiled
def denoise_step(measured, weight, step, div, value, ahead):
    """Do a primal step of weighted TV-L1: the value moves along the divergence, then towards what was measured.

    `ahead` becomes the value extrapolated, which the next dual step takes.
    """
    height, width = value.shape
    s = np.float32(step)
    for y in range(height):
        now, target, w, move, out = value[y], measured[y], weight[y], div[y], ahead[y]
        for x in range(width):
            moved = now[x] + s * move[x]
            reach = s * w[x]
            pulled = moved - min(max(moved - target[x], -reach), reach)
            out[x] = 2 * pulled - now[x]
            now[x] = pulled
