"""The compiled loops of `sharp`: arrays in, arrays out; single-threaded, they release the interpreter lock.

Positions are in pixels of the array that is looked at; beyond its border the border pixel is repeated. A table of
cubic weights stands in for Keys' polynomial: row p holds the four weights of the fraction p / PHASES. Each loop has a
slow, obvious twin in `tests/test_sharp_kernels.py`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

compiled = njit(nogil=True, cache=True, fastmath={"contract", "reassoc", "nsz", "arcp"})
inlined = njit(nogil=True, inline="always")

PHASES = 1024
STENCIL = 25  # pairs of pixels that one cubic sample looks at: half of 7 x 7, and the middle
CELL = 28  # floats a pixel while the stencil is summed: 7 columns of it and of each of three rows below


def cubic_phases():
    """Return the table of cubic weights (PHASES + 1, 4) of Keys (1981), a = -0.5."""
    distance = np.abs(np.arange(-1, 3) - (np.arange(PHASES + 1) / PHASES)[:, np.newaxis])
    near = (1.5 * distance - 2.5) * distance * distance + 1
    far = ((-0.5 * distance + 2.5) * distance - 4) * distance + 2
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0.0)).astype(np.float32)


def cubic_slopes():
    """Return the derivatives of the cubic weights by the position, in the same order."""
    away = np.arange(-1, 3) - (np.arange(PHASES + 1) / PHASES)[:, np.newaxis]
    distance = np.abs(away)
    near = (4.5 * distance - 5) * distance
    far = (-1.5 * distance + 5) * distance - 4
    slope = np.where(distance <= 1, near, np.where(distance < 2, far, 0.0))
    return (-np.sign(away) * slope).astype(np.float32)


PHASE_WEIGHTS = cubic_phases()
PHASE_SLOPES = cubic_slopes()


@inlined
def cubic_taps(position, length, phases, weight):
    """Write four cubic weights at a position, held inside of 0..length-1; return the first of their pixels.

    What would fall outside is added to the border pixel.
    """
    inside = min(max(position, np.float32(0)), np.float32(length - 1))
    floor = min(int(inside), length - 2)
    phase = int((inside - np.float32(floor)) * np.float32(PHASES) + np.float32(0.5))
    first = floor - 1
    if first >= 0 and first + 4 <= length:
        for k in range(4):
            weight[k] = phases[phase, k]
        return first
    base = min(max(first, 0), length - 4)
    for k in range(4):
        weight[k] = 0
    for k in range(4):
        weight[min(max(first + k, 0), length - 1) - base] += phases[phase, k]
    return base


@compiled
def sample_residuals(image, samples, disparity, step_y, step_x, from_y, from_x, factor, phases, residual):
    """Write image(where a sample lands) - sample, for all samples of a view; outside of the image, infinity.

    Sample (y, x) of disparity d lands at factor (y, x) + (from_y, from_x) + d (step_y, step_x).
    """
    height, width = samples.shape
    rows, columns = image.shape
    wy, wx = np.empty(4, np.float32), np.empty(4, np.float32)
    for y in range(height):
        for x in range(width):
            d = disparity[y, x]
            at_y = np.float32(factor * y) + from_y + d * step_y
            at_x = np.float32(factor * x) + from_x + d * step_x
            if at_y < -0.01 or at_x < -0.01 or at_y > rows - factor + 0.01 or at_x > columns - factor + 0.01:
                residual[y, x] = np.inf
                continue
            top = cubic_taps(at_y, rows, phases, wy)
            left = cubic_taps(at_x, columns, phases, wx)
            total = np.float32(0)
            for i in range(4):
                line = image[top + i]
                total += wy[i] * (
                    wx[0] * line[left]
                    + wx[1] * line[left + 1]
                    + wx[2] * line[left + 2]
                    + wx[3] * line[left + 3]
                )
            residual[y, x] = total - samples[y, x]


@compiled
def sample_slopes(image, disparity, step_y, step_x, from_y, from_x, factor, phases, slopes, residual, slope):
    """Write the derivative, by the sample's disparity, of what `sample_residuals` reads; 0 where that is infinite."""
    height, width = disparity.shape
    rows, columns = image.shape
    wy, wx = np.empty(4, np.float32), np.empty(4, np.float32)
    sy, sx = np.empty(4, np.float32), np.empty(4, np.float32)
    for y in range(height):
        for x in range(width):
            if not residual[y, x] < np.float32(1e9):
                slope[y, x] = 0
                continue
            d = disparity[y, x]
            at_y = np.float32(factor * y) + from_y + d * step_y
            at_x = np.float32(factor * x) + from_x + d * step_x
            top = cubic_taps(at_y, rows, phases, wy)
            left = cubic_taps(at_x, columns, phases, wx)
            cubic_taps(at_y, rows, slopes, sy)
            cubic_taps(at_x, columns, slopes, sx)
            along_y, along_x = np.float32(0), np.float32(0)
            for i in range(4):
                line = image[top + i]
                a, b, c, e = line[left], line[left + 1], line[left + 2], line[left + 3]
                along_y += sy[i] * (wx[0] * a + wx[1] * b + wx[2] * c + wx[3] * e)
                along_x += wy[i] * (sx[0] * a + sx[1] * b + sx[2] * c + sx[3] * e)
            slope[y, x] = step_y * along_y + step_x * along_x


@compiled
def sample_weights(
    residual, disparity, own, step_y, step_x, from_y, from_x, factor, distance, agreement, scale, weight
):
    """Write distance x agreement of disparities x 1 / (1 + mean residual² / scale²), the mean over three by three."""
    height, width = residual.shape
    square = np.empty((height, width + 2), np.float32)
    known = np.empty((height, width + 2), np.float32)
    for y in range(height):
        for x in range(width):
            r = residual[y, x]
            inside = r < np.float32(1e9)
            square[y, x + 1] = r * r if inside else np.float32(0)
            known[y, x + 1] = np.float32(1) if inside else np.float32(0)
        square[y, 0] = square[y, width + 1] = known[y, 0] = known[y, width + 1] = 0
    sums, counts = np.empty(width + 2, np.float32), np.empty(width + 2, np.float32)
    inverse_scale, inverse_agreement = np.float32(1 / scale**2), np.float32(1 / agreement)
    inverse_factor = np.float32(1 / factor)
    for y in range(height):
        above, below = max(y - 1, 0), min(y + 1, height - 1)
        for x in range(width + 2):
            sums[x] = square[y, x]
            counts[x] = known[y, x]
        if above < y:
            for x in range(width + 2):
                sums[x] += square[above, x]
                counts[x] += known[above, x]
        if below > y:
            for x in range(width + 2):
                sums[x] += square[below, x]
                counts[x] += known[below, x]
        for x in range(width):
            if known[y, x + 1] == 0:
                weight[y, x] = 0
                continue
            total, count = sums[x] + sums[x + 1] + sums[x + 2], counts[x] + counts[x + 1] + counts[x + 2]
            d = disparity[y, x]
            at_y = np.float32(y) + (from_y + d * step_y) * inverse_factor
            at_x = np.float32(x) + (from_x + d * step_x) * inverse_factor
            there_y = min(int(at_y + np.float32(0.5)), height - 1)
            there_x = min(int(at_x + np.float32(0.5)), width - 1)
            apart = (own[there_y, there_x] - d) * inverse_agreement
            weight[y, x] = np.float32(distance) / ((1 + apart * apart) * (1 + total / count * inverse_scale))


@compiled
def add_samples(
    samples, disparity, weight, step_y, step_x, from_y, from_x, factor, phases, window, cells, right_side
):
    """Add the normal equations of the samples of a view: products of cubic weights, pixel by pixel.

    Those of the samples top..bottom, left..right (`window`) that land in the block `right_side` (Y, X). `cells`
    (Y X 28): at (y, x), 7 k + 3 + m stands for the pair of (y, x) and (y + k, x + m), k from 0 to 3; m >= 0 if k is 0.
    """
    rows, columns = right_side.shape
    wy, wx = np.empty(4, np.float32), np.empty(4, np.float32)
    sums = right_side.reshape(rows * columns)
    # unsigned, as negative indices cost time
    one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)
    for y in range(window[0], window[1]):
        for x in range(window[2], window[3]):
            w = weight[y, x]
            if w <= np.float32(1e-4):
                continue
            d = disparity[y, x]
            at_y = np.float32(factor * y) + from_y + d * step_y
            at_x = np.float32(factor * x) + from_x + d * step_x
            if at_y < -0.01 or at_x < -0.01 or at_y > rows - 0.99 or at_x > columns - 0.99:
                continue
            top = cubic_taps(at_y, rows, phases, wy)
            left = cubic_taps(at_x, columns, phases, wx)
            wx0, wx1, wx2, wx3 = wx[0], wx[1], wx[2], wx[3]
            value = w * samples[y, x]
            for i in range(4):
                pixel = np.uint64((top + i) * columns + left)
                along = value * wy[i]
                sums[pixel] += along * wx0
                sums[pixel + one] += along * wx1
                sums[pixel + two] += along * wx2
                sums[pixel + three] += along * wx3
                both = w * wy[i] * wy[i]
                for j in range(4):
                    product = both * wx[j]
                    cell = np.uint64(CELL) * (pixel + np.uint64(j)) + three
                    for m in range(j, 4):
                        cells[cell + np.uint64(m - j)] += product * wx[m]
                for k in range(1, 4 - i):
                    both = w * wy[i] * wy[i + k]
                    for j in range(4):
                        product = both * wx[j]
                        cell = np.uint64(CELL) * (pixel + np.uint64(j)) + np.uint64(7 * k + 3 - j)
                        cells[cell] += product * wx0
                        cells[cell + one] += product * wx1
                        cells[cell + two] += product * wx2
                        cells[cell + three] += product * wx3


@compiled
def stencil_planes(cells, stencil):
    """Write the planes of the stencil (25, Y, X) from the cells.

    Planes: 0 the pixel itself, 1..3 to its right, then seven for each of the three rows below.
    """
    height, width = stencil.shape[1:]
    for y in range(height):
        for plane in range(STENCIL):
            row = stencil[plane, y]
            first = np.uint64(CELL * width * y + plane + 3)
            for x in range(width):
                row[x] = cells[first + np.uint64(CELL) * np.uint64(x)]


@compiled
def apply_stencil(stencil, image, out):
    """Write N image, for the symmetric matrix N of which the stencil holds each pair of pixels once."""
    height, width = image.shape
    for y in range(height):
        row, centre, result = image[y], stencil[0, y], out[y]
        for x in range(width):
            result[x] = centre[x] * row[x]
    for y in range(height):
        for plane in range(1, STENCIL):
            down = 0 if plane < 4 else (plane - 4) // 7 + 1
            right = plane if plane < 4 else (plane - 4) % 7 - 3
            if y + down >= height:
                break
            start = max(0, -right)
            length = width - abs(right)
            weight = stencil[plane, y, start : start + length]
            here = image[y, start : start + length]
            there = image[y + down, start + right : start + right + length]
            result_here = out[y, start : start + length]
            result_there = out[y + down, start + right : start + right + length]
            if down == 0:
                # the two overlap
                for x in range(length):
                    result_here[x] += weight[x] * there[x]
                for x in range(length):
                    result_there[x] += weight[x] * here[x]
            else:
                for x in range(length):
                    result_here[x] += weight[x] * there[x]
                    result_there[x] += weight[x] * here[x]


@compiled
def bend_weights(u, knee, weights):
    """Write 1 / sqrt(1 + (second difference / knee)²) along rows, columns and both diagonals; 0 at the border."""
    height, width = u.shape
    inverse = np.float32(1 / knee)
    one = np.float32(1)
    weights[:] = 0
    for y in range(height):
        here = u[y]
        middle = here[1 : width - 1]
        a, b = here[: width - 2], here[2:]
        out = weights[0, y, 1 : width - 1]
        for x in range(width - 2):
            t = (a[x] + b[x] - 2 * middle[x]) * inverse
            out[x] = one / np.sqrt(one + t * t)
        if 0 < y < height - 1:
            above, below = u[y - 1], u[y + 1]
            out = weights[1, y]
            for x in range(width):
                t = (above[x] + below[x] - 2 * here[x]) * inverse
                out[x] = one / np.sqrt(one + t * t)
            a, b = above[: width - 2], below[2:]
            out = weights[2, y, 1 : width - 1]
            for x in range(width - 2):
                t = (a[x] + b[x] - 2 * middle[x]) * inverse
                out[x] = one / np.sqrt(one + t * t)
            a, b = above[2:], below[: width - 2]
            out = weights[3, y, 1 : width - 1]
            for x in range(width - 2):
                t = (a[x] + b[x] - 2 * middle[x]) * inverse
                out[x] = one / np.sqrt(one + t * t)


@compiled
def add_bends(u, weights, straight, diagonal, out):
    """Add sum over directions of strength Dᵀ W D u, D the second difference along a direction."""
    height, width = u.shape
    s, t = np.float32(straight), np.float32(diagonal)
    force = np.empty(width, np.float32)
    inner = force[: width - 2]
    n = width - 2
    for y in range(height):
        here = u[y]
        middle = here[1 : width - 1]
        w = weights[0, y, 1 : width - 1]
        a, b = here[: width - 2], here[2:]
        for x in range(n):
            inner[x] = s * w[x] * (a[x] + b[x] - 2 * middle[x])
        p, q, r = out[y, : width - 2], out[y, 1 : width - 1], out[y, 2:]
        for x in range(n):
            p[x] += inner[x]
        for x in range(n):
            q[x] -= 2 * inner[x]
        for x in range(n):
            r[x] += inner[x]
        if 0 < y < height - 1:
            above, below = u[y - 1], u[y + 1]
            w = weights[1, y]
            up, mid, down = out[y - 1], out[y], out[y + 1]
            for x in range(width):
                f = s * w[x] * (above[x] + below[x] - 2 * here[x])
                up[x] += f
                mid[x] -= 2 * f
                down[x] += f
            w = weights[2, y, 1 : width - 1]
            a, b = above[: width - 2], below[2:]
            p, q, r = out[y - 1, : width - 2], out[y, 1 : width - 1], out[y + 1, 2:]
            for x in range(n):
                f = t * w[x] * (a[x] + b[x] - 2 * middle[x])
                p[x] += f
                q[x] -= 2 * f
                r[x] += f
            w = weights[3, y, 1 : width - 1]
            a, b = above[2:], below[: width - 2]
            p, q, r = out[y - 1, 2:], out[y, 1 : width - 1], out[y + 1, : width - 2]
            for x in range(n):
                f = t * w[x] * (a[x] + b[x] - 2 * middle[x])
                p[x] += f
                q[x] -= 2 * f
                r[x] += f


@compiled
def slope_weights(u, knee, weights):
    """Write 1 / sqrt(1 + (difference / knee)²) of a pixel and the next to the right, and the next below."""
    height, width = u.shape
    inverse = np.float32(1 / knee)
    one = np.float32(1)
    weights[:] = 0
    for y in range(height):
        here, after, out = u[y, : width - 1], u[y, 1:], weights[0, y]
        for x in range(width - 1):
            t = (after[x] - here[x]) * inverse
            out[x] = one / np.sqrt(one + t * t)
        if y + 1 < height:
            here, after, out = u[y], u[y + 1], weights[1, y]
            for x in range(width):
                t = (after[x] - here[x]) * inverse
                out[x] = one / np.sqrt(one + t * t)


@compiled
def add_slopes(u, weights, strength, out):
    """Add strength Dᵀ W D u, D the differences along rows and columns."""
    height, width = u.shape
    s = np.float32(strength)
    for y in range(height):
        here, after, w = u[y, : width - 1], u[y, 1:], weights[0, y]
        p, q = out[y, : width - 1], out[y, 1:]
        for x in range(width - 1):
            p[x] -= s * w[x] * (after[x] - here[x])
        for x in range(width - 1):
            q[x] += s * w[x] * (after[x] - here[x])
        if y + 1 < height:
            here, after, w, p, q = u[y], u[y + 1], weights[1, y], out[y], out[y + 1]
            for x in range(width):
                f = s * w[x] * (after[x] - here[x])
                p[x] -= f
                q[x] += f


@compiled
def add_steps(residual, slope, weight, pull, stiffness):
    """Add weight residual slope to the pull of each sample, and weight slope² to its stiffness."""
    for y in range(residual.shape[0]):
        r, s, w, p, q = residual[y], slope[y], weight[y], pull[y], stiffness[y]
        for x in range(residual.shape[1]):
            if w[x] > 0:
                p[x] += w[x] * r[x] * s[x]
                q[x] += w[x] * s[x] * s[x]
