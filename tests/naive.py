"""Slow, obvious twins of the fast code. They share no code with the package and know only loops and formulas."""

from __future__ import annotations

import math

import numpy as np

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
