"""Slow, obvious twins of the fast code. They share no code with the package and know only loops and formulas."""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse

# --- the camera and the interpolations -------------------------------------------------------------------------


def keys(t: float) -> float:
    """Cubic convolution, a = -1/2, as Keys writes it."""
    t = abs(t)
    if t <= 1:
        return 1.5 * t**3 - 2.5 * t**2 + 1
    if t < 2:
        return -0.5 * t**3 + 2.5 * t**2 - 4 * t + 2
    return 0.0


def mirrored(i: int, n: int) -> int:
    """Fold an index back: ... 1 0 | 0 1 2 ... n-1 | n-1 n-2 ..."""
    while not 0 <= i < n:
        i = -1 - i if i < 0 else 2 * n - 1 - i
    return i


def camera_line(line: np.ndarray, factor: int, blur: str, sigma: float = 0.0) -> np.ndarray:
    """One line of pixels through the camera."""
    n = len(line)
    low = []
    for i in range(n // factor):
        centre = factor * i + (factor - 1) / 2
        total = weights = 0.0
        for j in range(-40 * factor, n + 40 * factor):
            distance = j - centre
            if blur == "box":
                weight = 1.0 if abs(distance) < factor / 2 else 0.0
            elif blur == "gaussian":
                weight = math.exp(-(distance**2) / (2 * sigma**2))
            else:
                weight = keys(distance / factor)
            total += weight * float(line[mirrored(j, n)])
            weights += weight
        low.append(total / weights)
    return np.array(low)


def interpolated_line(line: np.ndarray, factor: int, kind: str) -> np.ndarray:
    """One line of pixels, enlarged."""
    n = len(line)
    high = []
    for j in range(n * factor):
        position = (j - (factor - 1) / 2) / factor
        total = 0.0
        for i in range(-3, n + 3):
            distance = abs(position - i)
            weight = max(0.0, 1 - distance) if kind == "bilinear" else keys(distance)
            total += weight * float(line[min(max(i, 0), n - 1)])
        high.append(total)
    return np.array(high)


def along_both_axes(image: np.ndarray, of_line) -> np.ndarray:
    """Do to every column, then to every row."""
    columns = np.stack([of_line(column) for column in image.T], axis=1)
    return np.stack([of_line(row) for row in columns])


# --- scores ----------------------------------------------------------------------------------------------------


def psnr(a: np.ndarray, b: np.ndarray) -> float:
    """PSNR of two planes in [0, 1]."""
    total = 0.0
    for ours, theirs in zip(a.ravel(), b.ravel(), strict=True):
        total += (float(ours) - float(theirs)) ** 2
    return -10 * math.log10(total / a.size)


def ssim(a: np.ndarray, b: np.ndarray, data_range: float = 1.0) -> float:
    """SSIM of two planes: the mean over all 11 x 11 windows that lie inside."""
    window = np.array(
        [[math.exp(-(i * i + j * j) / (2 * 1.5**2)) for j in range(-5, 6)] for i in range(-5, 6)]
    )
    window /= window.sum()
    c1, c2 = (0.01 * data_range) ** 2, (0.03 * data_range) ** 2
    values = []
    for y in range(a.shape[0] - 10):
        for x in range(a.shape[1] - 10):
            p = a[y : y + 11, x : x + 11].astype(np.float64)
            q = b[y : y + 11, x : x + 11].astype(np.float64)
            mean_p, mean_q = (window * p).sum(), (window * q).sum()
            variance_p = (window * (p - mean_p) ** 2).sum()
            variance_q = (window * (q - mean_q) ** 2).sum()
            covariance = (window * (p - mean_p) * (q - mean_q)).sum()
            values.append(
                (2 * mean_p * mean_q + c1)
                * (2 * covariance + c2)
                / ((mean_p**2 + mean_q**2 + c1) * (variance_p + variance_q + c2))
            )
    return float(np.mean(values))


# --- GB, from the paper ----------------------------------------------------------------------------------------
# Views are arrays (v, u, y, x), float64. Pixel (v, u, y, x) has the number ((v U + u) Y + y) X + x. A point of
# disparity d that lies at (y, x) in view (v, u) lies at (y - a d, x - b d) in view (v + a, u + b).


def texture_plane(grid, size, disparity, seed=0) -> np.ndarray:
    """Views of a textured plane: a sum of random waves, exact at any disparity."""
    rng = np.random.default_rng(seed)
    v, u, y, x = np.ogrid[: grid[0], : grid[1], : size[0], : size[1]]
    total = 0.0
    for frequency_y, frequency_x, phase in rng.uniform(-1, 1, (24, 3)) * [1.3, 1.3, math.pi]:
        wave = np.sin(frequency_y * (y + disparity * v) + frequency_x * (x + disparity * u) + phase)
        total = total + wave / max(math.hypot(frequency_y, frequency_x), 0.2)
    return np.broadcast_to(0.5 + total / 40, (*grid, *size)).clip(0, 1)


def two_planes(grid, size, seed=0) -> np.ndarray:
    """A plane behind, and a square in front that hides another part of it in every view."""
    views = texture_plane(grid, size, -0.8, seed).copy()
    front = texture_plane(grid, size, 1.5, seed + 1)
    for v, u, y, x in np.ndindex(*views.shape):
        centre_y, centre_x = size[0] / 2 - 1.5 * v, size[1] / 2 - 1.5 * u
        if abs(y - centre_y) < size[0] / 5 and abs(x - centre_x) < size[1] / 5:
            views[v, u, y, x] = front[v, u, y, x]
    return views


def around(grid, v, u, corners=True) -> list[tuple[int, int]]:
    """Steps (a, b) from view (v, u) to its neighbours on the grid."""
    return [
        (a, b)
        for a in (-1, 0, 1)
        for b in (-1, 0, 1)
        if (a, b) != (0, 0) and (corners or a == 0 or b == 0)
        if 0 <= v + a < grid[0] and 0 <= u + b < grid[1]
    ]


def window(a, b, low, high) -> list[tuple[int, int]]:
    """Displacements (dy, dx) that are searched in the view a step (a, b) away."""
    disparities = range(low, high + 1)
    if a == 0:
        return [(0, -b * d) for d in disparities]
    if b == 0:
        return [(-a * d, 0) for d in disparities]
    return [(-a * d, -b * e) for d in disparities for e in disparities]


def patches(view, side) -> np.ndarray:
    """The patch around every pixel (y, x, side, side); beyond the border everything is 0.5."""
    padded = np.pad(np.asarray(view, np.float64), side // 2, constant_values=0.5)
    return np.lib.stride_tricks.sliding_window_view(padded, (side, side))


def patch_distance(view, other, dy, dx, side) -> np.ndarray:
    """||P(y, x) - P'(y + dy, x + dx)||^2 for every pixel (y, x); infinite where that is outside the view."""
    height, width = np.shape(view)
    ys = [y for y in range(height) if 0 <= y + dy < height]
    xs = [x for x in range(width) if 0 <= x + dx < width]
    result = np.full((height, width), np.inf)
    if ys and xs:
        here, there = patches(view, side), patches(other, side)
        cut = here[ys[0] : ys[-1] + 1, xs[0] : xs[-1] + 1]
        moved = there[ys[0] + dy : ys[-1] + dy + 1, xs[0] + dx : xs[-1] + dx + 1]
        result[ys[0] : ys[-1] + 1, xs[0] : xs[-1] + 1] = ((cut - moved) ** 2).sum(axis=(2, 3))
    return result


def adjacency(views, low=-6, high=6, side=7, sigma=0.7229) -> sparse.csr_array:
    """W: the weights of section V-B pruned to the best two or four, and kept where both ends kept them."""
    grid, size = views.shape[:2], views.shape[2:]
    number = np.arange(views.size).reshape(views.shape)
    rows, columns, weights = [], [], []
    for v, u in np.ndindex(*grid):
        for a, b in around(grid, v, u):
            steps = window(a, b, low, high)
            distances = np.array(
                [patch_distance(views[v, u], views[v + a, u + b], dy, dx, side) for dy, dx in steps]
            )
            best = np.argsort(distances, axis=0, kind="stable")[: 4 if a and b else 2]
            for y, x in np.ndindex(*size):
                for code in best[:, y, x]:
                    if np.isfinite(distances[code, y, x]):
                        dy, dx = steps[code]
                        rows.append(number[v, u, y, x])
                        columns.append(number[v + a, u + b, y + dy, x + dx])
                        weights.append(math.exp(-distances[code, y, x] / sigma**2))
    pruned = sparse.csr_array((weights, (rows, columns)), shape=(views.size, views.size))
    return sparse.csr_array(pruned * (pruned.T != 0))


def laplacian(w) -> sparse.csr_array:
    """L = D - W."""
    return sparse.csr_array(sparse.diags_array(w.sum(axis=1)) - w)


def square_scores(views, v, u, low, high, side=7, sigma=0.7229):
    """S(delta) for delta = low .. high - 1 (delta, y, x), and of each neighbour the similarities (W, y, x).

    Similarities of pixels that do not exist are 0; S is the mean over those that do.
    """
    similar = {}
    for a, b in around(views.shape[:2], v, u, corners=False):
        distances = [
            patch_distance(views[v, u], views[v + a, u + b], -a * d, -b * d, side)
            for d in range(low, high + 1)
        ]
        similar[a, b] = np.exp(-np.array(distances) / sigma**2), np.isfinite(distances)
    scores = []
    for i in range(high - low):
        total = sum(w[i] + w[i + 1] for w, _ in similar.values())
        exist = sum(there[i].astype(int) + there[i + 1] for _, there in similar.values())
        scores.append(np.where(exist > 0, total / np.maximum(exist, 1), -1))
    return np.array(scores), similar


def square_warps(views, low=-6, high=6, side=7, sigma=0.7229) -> dict:
    """F of section V-A, {(source, target): matrix}; views are numbered v U + u."""
    grid, (height, width) = views.shape[:2], views.shape[2:]
    warps = {}
    for v, u in np.ndindex(*grid):
        scores, similar = square_scores(views, v, u, low, high, side, sigma)
        chosen = scores.argmax(axis=0)
        for (a, b), (w, there) in similar.items():
            matrix = sparse.lil_array((height * width, height * width))
            for y, x in np.ndindex(height, width):
                both = [i for i in (chosen[y, x], chosen[y, x] + 1) if there[i, y, x]]
                for i in both:
                    column = (y - a * (low + i)) * width + (x - b * (low + i))
                    matrix[y * width + x, column] = w[i, y, x] / sum(w[j, y, x] for j in both)
            warps[(v + a) * grid[1] + u + b, v * grid[1] + u] = sparse.csr_array(matrix)
    return warps


def direct_warps(w, grid, size) -> dict:
    """F at the end of section V-B, {(source, target): matrix}: blocks of W, rows divided by their sums."""
    pixels = size[0] * size[1]
    warps = {}
    for v, u in np.ndindex(*grid):
        for a, b in around(grid, v, u):
            target, source = v * grid[1] + u, (v + a) * grid[1] + u + b
            block = w[target * pixels : (target + 1) * pixels, source * pixels : (source + 1) * pixels]
            sums = block.sum(axis=1)
            inverse = np.array([1 / s if s > 0 else 0.0 for s in sums])
            warps[source, target] = sparse.csr_array(sparse.diags_array(inverse) @ block)
    return warps


def camera_matrix(size, factor, blur="box", sigma=0.0) -> sparse.csr_array:
    """S B for one view, its pixels row by row."""
    y, x = (np.stack([camera_line(unit, factor, blur, sigma) for unit in np.eye(n)], axis=1) for n in size)
    y[abs(y) < 1e-9] = 0
    x[abs(x) < 1e-9] = 0
    return sparse.csr_array(sparse.kron(sparse.csr_array(y), sparse.csr_array(x)))


def mask_of(camera, warp) -> np.ndarray:
    """H: 1 for a low-resolution sample all of whose pixels have a row in F."""
    lacking = warp.sum(axis=1) == 0
    return ((camera != 0).astype(float) @ lacking == 0).astype(float)


def quadratic(low, camera, warps, w, lambda2=0.2, lambda3=0.0055):
    """P and q of section V-C, assembled, for the low-resolution views (n, pixels)."""
    count = len(low)
    every = sparse.kron(sparse.eye_array(count), camera)
    p = every.T @ every + lambda3 * laplacian(w)
    q = every.T @ low.ravel()
    for (source, target), warp in warps.items():
        use = np.zeros((1, count))
        use[0, source] = 1
        seen = sparse.diags_array(mask_of(camera, warp)) @ camera @ warp
        seen = sparse.csr_array(sparse.kron(sparse.csr_array(use), seen))
        p = p + lambda2 * (seen.T @ seen)
        q = q + lambda2 * (seen.T @ (mask_of(camera, warp) * low[target]))
    return sparse.csr_array(2 * p), -2 * q


def proximal_point(p, q, start, beta=1.0, tolerance=1e-4) -> np.ndarray:
    """Algorithm 1, lines 7 to 11, with plain conjugate gradient: to 1e-6, 20 steps at most."""
    z = start
    while True:
        matrix, right = p + sparse.eye_array(len(z)) / beta, z / beta - q
        x = z.copy()
        residual = right - matrix @ x
        direction = residual
        for _ in range(20):
            if np.linalg.norm(residual) <= 1e-6 * np.linalg.norm(right):
                break
            step = (residual @ residual) / (direction @ (matrix @ direction))
            x = x + step * direction
            smaller = residual - step * (matrix @ direction)
            direction = smaller + (smaller @ smaller) / (residual @ residual) * direction
            residual = smaller
        change = np.sqrt(np.mean((x - z) ** 2))
        z = x
        if change < tolerance * beta:
            return z


def gb(low, factor, variant, iterations=2, low_disparity=-6, high_disparity=6) -> np.ndarray:
    """Algorithm 1 with the numbers of section VII, for luma (v, u, y, x)."""
    grid = low.shape[:2]
    u = np.array(
        [
            [along_both_axes(view, lambda line: interpolated_line(line, factor, "bilinear")) for view in row]
            for row in low
        ]
    )
    camera = camera_matrix(u.shape[2:], factor)
    for _ in range(iterations):
        w = adjacency(u, low_disparity, high_disparity)
        if variant == "square":
            warps = square_warps(u, low_disparity, high_disparity)
        else:
            warps = direct_warps(w, grid, u.shape[2:])
        p, q = quadratic(low.reshape(grid[0] * grid[1], -1), camera, warps, w)
        u = proximal_point(p, q, u.ravel()).clip(0, 1).reshape(u.shape)
    return u
