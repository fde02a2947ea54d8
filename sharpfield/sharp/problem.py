"""The problem of one view: normal equations of all samples that tell about it, and the prior; never a matrix.

A = Bᵀ N B + Σ_D λ_D Dᵀ W D, with N = Mᵀ W M the products of the cubic weights of all samples, which couples pixels
within 7 x 7 for every camera; the prior's W are those of the estimate at hand (iteratively reweighted least squares).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sharpfield.resample import SeparableMap
from sharpfield.sharp import kernels
from sharpfield.sharp.confidence import Confidence, Samples
from sharpfield.sharp.params import SharpParams

Plane = NDArray[np.float32]

_DIAGONAL = 0.1  # weight of second differences along diagonals, as a part of that along rows and columns


@dataclass(frozen=True)
class Prior:
    """Weights of the prior: λ of second differences, λ of first differences, and the knee of both.

    Parameters
    ----------
    bend, slope
        λ of second and of first differences.
    knee
        Where a difference becomes an edge.
    """

    bend: float
    slope: float
    knee: float

    @classmethod
    def of(cls, params: SharpParams, noise: float, factor: int) -> Prior:
        """Return the prior for views of that noise: λ grows with its variance.

        A sample is spread over factor² pixels, and so is what it weighs against the prior of each.
        """
        spread = (2 / factor) ** 2
        variance = (noise / params.reference_noise) ** 2
        return cls(
            params.bend_weight * spread * (1 + variance),
            params.slope_weight * spread * variance,
            params.bend_knee,
        )


@dataclass(frozen=True, eq=False)
class Problem:
    """A u = b of one view at an estimate of it.

    Parameters
    ----------
    stencil
        N (25, y, x), each pair of pixels once.
    blur
        B: what the camera sees at every pixel.
    prior
        λ of its terms.
    bends, slopes
        W of second (4, y, x) and first differences (2, y, x).
    """

    stencil: NDArray[np.float32]
    blur: SeparableMap
    prior: Prior
    bends: NDArray[np.float32]
    slopes: NDArray[np.float32]

    def apply(self, u: Plane, out: Plane) -> None:
        """Write A u."""
        seen = self.blur.apply(u)
        spread = np.empty_like(seen)
        kernels.apply_stencil(self.stencil, seen, spread)
        self.blur.adjoint(spread, out=out)
        self.add_prior(u, out)

    def add_prior(self, u: Plane, out: Plane) -> None:
        """Add Σ_D λ_D Dᵀ W D u."""
        if self.prior.bend:
            kernels.add_bends(u, self.bends, self.prior.bend, self.prior.bend * _DIAGONAL, out)
        if self.prior.slope:
            kernels.add_slopes(u, self.slopes, self.prior.slope, out)


def normal_equations(
    samples: Samples, seen: Plane, view: int, neighbours: int, confidence: Confidence
) -> tuple[NDArray[np.float32], Plane]:
    """Return N (25, y, x) and Mᵀ W v of one view, from the samples of the view itself and of the nearest others.

    Parameters
    ----------
    samples
        Of all views.
    seen
        What the camera sees of the view's estimate at every pixel.
    """
    cells = np.zeros((*seen.shape, kernels.CELL), np.float32)
    right_side = np.zeros_like(seen)
    for other in samples.placement.nearest(view, neighbours):
        if other == view:
            weight = np.ones(samples.low.shape[1:], np.float32)
        else:
            weight = samples.weight(samples.residual(seen, view, other), view, other, confidence)
        kernels.add_samples(
            samples.low[other],
            samples.disparity[other],
            weight,
            *samples.way(view, other),
            samples.factor,
            kernels.PHASE_WEIGHTS,
            cells,
            right_side,
        )
    stencil = np.empty((kernels.STENCIL, *seen.shape), np.float32)
    kernels.stencil_planes(cells, stencil)
    return stencil, right_side


def problem_at(u: Plane, stencil: NDArray[np.float32], blur: SeparableMap, prior: Prior) -> Problem:
    """Return the problem with the prior's weights of the estimate u."""
    bends = np.empty((4, *u.shape), np.float32)
    slopes = np.empty((2, *u.shape), np.float32)
    if prior.bend:
        kernels.bend_weights(u, prior.knee, bends)
    if prior.slope:
        kernels.slope_weights(u, prior.knee, slopes)
    return Problem(stencil, blur, prior, bends, slopes)
