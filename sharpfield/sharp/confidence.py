"""How much a sample may say about another view, and how noisy the views are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpfield.sharp import kernels
from sharpfield.sharp.calibrate import Placement
from sharpfield.sharp.params import SharpParams

Views = NDArray[np.float32]
Plane = NDArray[np.float32]
Way = tuple[np.float32, np.float32, np.float32, np.float32]

_BLOCK = 8  # side of the blocks in which noise is measured
_UNDER = 1.15  # what disparities that fit the noise, and the quietest blocks, make the noise look smaller by
_BESIDE = 4  # views beside the middle one that it is compared with
_QUIET = 0.2  # share of the blocks that show no more than noise
_GAUSSIAN = 0.6745  # median of |x| of a Gaussian of deviation 1
_ROUNDING = (
    0.008  # deviation that a good camera and rounding to 8 bits stay below: nothing is to be done about it
)
_SURE_RESIDUAL = 2.0  # residuals of so many deviations are noise, not occlusion
_SURE_DISPARITY = 20.0  # pixels of error that noise of deviation 1 brings into disparities, about


def noise_of(views: Views) -> float:
    """Return the standard deviation of the noise of views (n, y, x), from differences of 2 x 2 pixels in quiet blocks.

    d = (v(0, 0) - v(0, 1) - v(1, 0) + v(1, 1)) / 2 has the deviation of the noise where the view is smooth; of each
    block the median of |d|, and of all blocks the quantile below which the picture itself hardly counts.
    """
    rows, columns = (side // 2 * 2 for side in views.shape[1:])
    cut = views[:, :rows, :columns]
    return _deviation((cut[:, ::2, ::2] - cut[:, ::2, 1::2] - cut[:, 1::2, ::2] + cut[:, 1::2, 1::2]) / 2)


def noise_between(smooth: Views, sigma: float, disparity: Views, placement: Placement) -> float:
    """Return the standard deviation of the noise of views, from what a view and those beside it do not share.

    Where the picture is fine everywhere, `noise_of` takes it for noise; but its points are in the other views, too, and
    noise is not. Aliasing is what this takes for noise: the smaller of the two is nearer to the truth.

    Parameters
    ----------
    smooth
        The views (n, y, x), blurred by a Gaussian of deviation `sigma`.
    disparity
        Of the views, low-resolution pixels.
    """
    view = placement.middle
    apart = []
    for other in placement.nearest(view, _BESIDE)[1:]:
        move, offset = -placement.step(view, other), -placement.offset(view, other)
        way = np.float32(move[0]), np.float32(move[1]), np.float32(offset[0]), np.float32(offset[1])
        found = np.empty_like(smooth[view])
        kernels.sample_residuals(
            smooth[other], smooth[view], disparity[view], *way, 1, kernels.PHASE_WEIGHTS, found
        )
        apart.append(np.where(np.isfinite(found), found, 0))
    reach = np.arange(-8, 9)
    weight = np.exp(-(reach**2) / (2 * max(sigma, 0.1) ** 2))
    kept = float(np.sum((weight / weight.sum()) ** 2))  # of the noise, along each axis, as a variance
    return _UNDER * _deviation(np.array(apart, np.float32)) / (math.sqrt(2) * kept)


def _deviation(planes: NDArray[np.floating[Any]]) -> float:
    """Return the standard deviation in the quiet blocks of planes (n, y, x)."""
    rows, columns = (side // _BLOCK for side in planes.shape[1:])
    if not (rows and columns):
        return 0.0
    cut = np.abs(planes[:, : rows * _BLOCK, : columns * _BLOCK])
    blocks = cut.reshape(len(planes), rows, _BLOCK, columns, _BLOCK).transpose(0, 1, 3, 2, 4)
    middle = np.median(blocks.reshape(-1, _BLOCK * _BLOCK), axis=1)
    return float(np.quantile(middle, _QUIET) / _GAUSSIAN)


def disturbing_part(noise: float) -> float:
    """Return the deviation of what noise is beyond rounding and a good camera; fine texture looks like so much, too."""
    return math.sqrt(max(noise**2 - _ROUNDING**2, 0))


@dataclass(frozen=True)
class Confidence:
    """Scales of residuals and of disparities for a stage.

    Parameters
    ----------
    residual
        Residual at which a sample counts half.
    agreement
        Difference of disparities at which it counts half, high-resolution pixels.
    distance
        How fast views count less with their distance.
    """

    residual: float
    agreement: float
    distance: float

    @classmethod
    def of_stage(cls, params: SharpParams, stage: int, noise: float) -> Confidence:
        """Return the scales of a stage, widened by what noise explains."""
        way = stage / max(params.stages - 1, 1)
        residual = params.first_residual ** (1 - way) * params.last_residual**way
        disturbing = disturbing_part(noise)
        return cls(
            float(np.hypot(residual, _SURE_RESIDUAL * disturbing)),
            float(np.hypot(params.disparity_agreement, _SURE_DISPARITY * disturbing)),
            params.view_distance,
        )


@dataclass(frozen=True, eq=False)
class Samples:
    """The samples of all views, and where they land in other views.

    Parameters
    ----------
    low
        What they show (n, y, x).
    disparity
        Of each sample, high-resolution pixels.
    placement
        Of the views.
    factor
        High-resolution pixels in a low-resolution one.
    noise
        Standard deviation of the noise of what they show.
    """

    low: Views
    disparity: Views
    placement: Placement
    factor: int
    noise: float = 0.0

    def way(self, seen_from: int, view: int) -> Way:
        """Return step (y, x) a pixel of disparity and offset (y, x) of samples of `view` in `seen_from`."""
        step = self.placement.step(seen_from, view)
        offset = self.factor * self.placement.offset(seen_from, view)
        return np.float32(step[0]), np.float32(step[1]), np.float32(offset[0]), np.float32(offset[1])

    def range(self, view: int) -> tuple[float, float]:
        """Return the least and the largest disparity of the samples of a view."""
        return self._ranges[view]

    @cached_property
    def _ranges(self) -> list[tuple[float, float]]:
        return [(float(plane.min()), float(plane.max())) for plane in self.disparity]

    def window(
        self, view: int, step: tuple[np.float32, ...], start: tuple[np.float32, ...], size: tuple[int, int]
    ) -> NDArray[np.int64]:
        """Return the rectangle (top, bottom, left, right) of samples of a view that may land in a block of that size.

        Parameters
        ----------
        step, start
            Sample (y, x) of disparity d lands at factor (y, x) + start + d step of the block.
        """
        edges = []
        for moves, first, length, side in zip(step, start, size, self.low.shape[1:], strict=True):
            reach = [float(moves) * d for d in self.range(view)]
            low = (-float(first) - max(reach)) / self.factor
            high = (length - float(first) - min(reach)) / self.factor
            edges += [min(max(math.floor(low), 0), side), min(max(math.ceil(high) + 1, 0), side)]
        return np.array(edges)

    def residual(self, seen: Plane, seen_from: int, view: int) -> Plane:
        """Return (S B u)(where samples land) - samples, for what the camera sees of u at every pixel."""
        result = np.empty(self.low.shape[1:], np.float32)
        kernels.sample_residuals(
            seen,
            self.low[view],
            self.disparity[view],
            *self.way(seen_from, view),
            self.factor,
            kernels.PHASE_WEIGHTS,
            result,
        )
        return result

    def slope(self, seen: Plane, seen_from: int, view: int, residual: Plane) -> Plane:
        """Return the derivative of the residual by the samples' disparities."""
        result = np.empty_like(residual)
        kernels.sample_slopes(
            seen,
            self.disparity[view],
            *self.way(seen_from, view),
            self.factor,
            kernels.PHASE_WEIGHTS,
            kernels.PHASE_SLOPES,
            residual,
            result,
        )
        return result

    def weight(self, residual: Plane, seen_from: int, view: int, confidence: Confidence) -> Plane:
        """Return how much each sample of `view` may say about the view `seen_from`.

        Distance of the views x agreement of the two disparities where the sample lands x smallness of the residual,
        averaged over three by three samples; 0 outside of the view.
        """
        result = np.empty_like(residual)
        step = self.placement.step(seen_from, view)
        kernels.sample_weights(
            residual,
            self.disparity[view],
            self.disparity[seen_from],
            *self.way(seen_from, view),
            self.factor,
            1 / (1 + confidence.distance * float(step @ step)),
            confidence.agreement,
            confidence.residual,
            result,
        )
        return result
