"""The Gaussian prior of light field patches of one disparity: covariances, subspaces, estimators.

A patch of disparity d shows in view (v, u) at (y, x) what the scene has at (y + v d, x + u d). So all that is needed
is R, the covariance of an image at two places. R(y, x) = sum over k of w_k exp(-(y² + x²) / 2 s_k²), with scales s_k in
geometric progression and w_k = s_k^γ: between the smallest and the largest scale its spectrum falls with the
frequency as f^-(2 + γ), the law of natural images. Every term is a product of a function of y and one of x, and so
is the camera: the covariances of a patch are sums of Kronecker products of small matrices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, eigh

from sharpfield.observe import Camera

Matrix = NDArray[np.float64]

# the law of natural images: scales in high-resolution pixels, and how their variance grows
SCALES = np.geomspace(0.25, 30, 12)
GROWTH = 1.0
WEIGHTS = SCALES**GROWTH / np.sum(SCALES**GROWTH)


@dataclass(frozen=True)
class PatchShape:
    """What a patch consists of.

    Parameters
    ----------
    views
        Rows and columns of views.
    side
        Low-resolution pixels a side, in each view.
    camera
        What makes the low resolution.
    """

    views: tuple[int, int]
    side: int
    camera: Camera

    @property
    def samples(self) -> int:
        """Low-resolution samples of a patch."""
        return self.views[0] * self.views[1] * self.side**2

    @property
    def pixels(self) -> int:
        """High-resolution pixels of a patch in one view."""
        return (self.side * self.camera.factor) ** 2


def axis_covariance(
    first: Matrix,
    second: Matrix,
    offsets: NDArray[np.int64] | None = None,
    weight: Matrix | None = None,
) -> Matrix:
    """Return sum over t of weight[t] exp(-(first[i] - second[j] - offsets[t])² / 2 s_k²), (k, i, j).

    Parameters
    ----------
    first, second
        Places along an axis, high-resolution pixels.
    offsets, weight
        Where the second of them looks; at its own place alone when None.
    """
    distance = first[:, np.newaxis] - second
    if offsets is None or weight is None:
        offsets, weight = np.zeros(1, np.int64), np.ones(1)
    total = np.zeros((SCALES.size, *distance.shape))
    for offset, share in zip(offsets, weight, strict=True):
        total += share * np.exp(-((distance - offset) ** 2) / (2 * SCALES[:, np.newaxis, np.newaxis] ** 2))
    return total


class DisparityPrior:
    """Zero-mean Gaussian prior of patches of one disparity, as far as an estimate needs it.

    Parameters
    ----------
    shape
        What a patch consists of.
    disparity
        High-resolution pixels between adjacent views.
    """

    def __init__(self, shape: PatchShape, disparity: float) -> None:
        self.shape, self.disparity = shape, disparity
        self._windows = _windows(shape.camera)

    def samples(self) -> Matrix:
        """Return S B Σ (S B)ᵀ: the covariance of the low-resolution samples, each (v, u, y, x)."""
        _, weight = self._windows
        # the difference of two samples' places of looking: the blur with itself
        both = np.convolve(weight, weight[::-1])
        reach = np.arange(both.size) - (weight.size - 1)
        y, x = (
            axis_covariance(self._low(axis), self._low(axis), reach, both).reshape(
                SCALES.size, count, self.shape.side, count, self.shape.side
            )
            for axis, count in enumerate(self.shape.views)
        )
        return _kronecker(y, x)

    def crossing(self, row: int) -> Matrix:
        """Return Σ (S B)ᵀ for one row of views: high-resolution pixels (u, y, x) of it with all samples."""
        side, columns = self.shape.side, self.shape.views[1]
        large = side * self.shape.camera.factor
        y = axis_covariance(self._high(0)[row], self._low(0), *self._windows)
        x = axis_covariance(self._high(1).ravel(), self._low(1), *self._windows)
        return _kronecker(
            y.reshape(SCALES.size, 1, large, self.shape.views[0], side),
            x.reshape(SCALES.size, columns, large, columns, side),
        )

    def subspace(self, rank: int) -> NDArray[np.float32]:
        """Return the leading `rank` eigenvectors of the samples' covariance about the patch's mean, (rank, samples)."""
        covariance = self.samples()
        # the mean of a patch says nothing of its disparity
        covariance -= covariance.mean(axis=0)
        covariance -= covariance.mean(axis=1)[:, np.newaxis]
        n = self.shape.samples
        _, vectors = eigh(covariance, subset_by_index=[n - rank, n - 1], overwrite_a=True, check_finite=False)
        return np.ascontiguousarray(vectors[:, ::-1].T, np.float32)

    def estimator(self, noise: float) -> NDArray[np.float32]:
        """Return E (views, pixels of a view, samples): x̂ = E y, every row with the sum 1.

        Parameters
        ----------
        noise
            Variance of the noise of a sample, as a part of the variance of a pixel.
        """
        covariance = self.samples()
        covariance.flat[:: self.shape.samples + 1] += noise
        factor = cho_factor(covariance, lower=True, overwrite_a=True, check_finite=False)
        # best linear unbiased estimate of the mean: (1ᵀ Σ⁻¹ y) / (1ᵀ Σ⁻¹ 1)
        level = cho_solve(factor, np.ones(self.shape.samples), check_finite=False)
        level /= level.sum()
        rows, columns = self.shape.views
        estimator = np.empty((rows * columns, self.shape.pixels, self.shape.samples), np.float32)
        for row in range(rows):  # a row of views at a time, in double precision
            crossing = self.crossing(row)
            part = cho_solve(factor, crossing.T, overwrite_b=True, check_finite=False).T
            part += (1 - part.sum(axis=1))[:, np.newaxis] * level
            estimator[row * columns : (row + 1) * columns] = part.reshape(
                columns, self.shape.pixels, self.shape.samples
            )
        return estimator

    def _low(self, axis: int) -> Matrix:
        """Return where the blocks of samples begin along an axis, (views * side), in the scene."""
        pixels = np.arange(self.shape.side) * float(self.shape.camera.factor)
        return (self._moves(axis)[:, np.newaxis] + pixels).ravel()

    def _high(self, axis: int) -> Matrix:
        """Return where the pixels are along an axis, (views, side * factor), in the scene."""
        pixels = np.arange(self.shape.side * self.shape.camera.factor, dtype=float)
        return self._moves(axis)[:, np.newaxis] + pixels

    def _moves(self, axis: int) -> Matrix:
        return np.arange(self.shape.views[axis], dtype=np.float64) * self.disparity


def _windows(camera: Camera) -> tuple[NDArray[np.int64], Matrix]:
    """Return where a sample looks from its block's first pixel, and its weights of sum 1."""
    offsets, weight = camera.window()
    return offsets, np.asarray(weight / weight.sum(), np.float64)


def _kronecker(y: Matrix, x: Matrix) -> Matrix:
    """Sum the Kronecker products of (k, v, y, v', y') and (k, u, x, u', x') to ((v, u, y, x), (v', u', y', x'))."""
    terms = y.shape[0]
    product = (y * WEIGHTS.reshape(-1, 1, 1, 1, 1)).reshape(terms, -1).T @ x.reshape(terms, -1)
    whole = product.reshape(y.shape[1:] + x.shape[1:]).transpose(0, 4, 1, 5, 2, 6, 3, 7)
    rows = y.shape[1] * x.shape[1] * y.shape[2] * x.shape[2]
    return np.ascontiguousarray(whole).reshape(rows, -1)
