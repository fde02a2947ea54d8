"""The two convex problems: a disparity map with weighted TV-L1, a view with TV from its normal equations."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sharpfield.methods.wanner import kernels
from sharpfield.methods.wanner.projection import NormalEquations

Plane = NDArray[np.float32]

_DENOISE_STEPS = 100
_STEP = 0.35  # of primal and dual: its square times 8, the norm of the gradient squared, is below 1
# the dual problem of a step allows twice as much; but that rings, and the momentum of FISTA carries it on
_DUAL_STEP = 0.12


def denoise(measured: Plane, coherence: Plane, weight: float) -> Plane:
    """Minimise sum |grad d| + weight sum coherence |d - measured|, about, from a map whose gaps are filled.

    The primal-dual algorithm of Chambolle and Pock. The gaps are filled first, from coarse to fine, since a gradient
    method would take as many steps as they are wide.
    """
    value = fill(measured, coherence)
    target, weights = np.ascontiguousarray(measured), np.ascontiguousarray(weight * coherence, np.float32)
    ahead, div = value.copy(), np.empty_like(value)
    down, right, flat = np.zeros_like(value), np.zeros_like(value), np.ones_like(value)
    for _ in range(_DENOISE_STEPS):
        kernels.raise_dual(ahead, flat, _STEP, 1.0, down, right)
        kernels.divergence(down, right, div)
        kernels.denoise_step(target, weights, _STEP, div, value, ahead)
    return value


def fill(values: Plane, weight: Plane) -> Plane:
    """Return values (y, x), replaced by weighted averages of wider and wider neighbourhoods where weight is low."""
    height, width = values.shape
    if max(height, width) == 1:
        return values.copy()
    # an odd side ends with a block that is half empty
    padding = ((0, height % 2), (0, width % 2))
    sums, weights = (np.pad(plane, padding) for plane in (values * weight, weight))
    rows, columns = sums.shape[0] // 2, sums.shape[1] // 2
    sums, weights = (plane.reshape(rows, 2, columns, 2).sum(axis=(1, 3)) for plane in (sums, weights))
    known = weights > 0
    block_mean = np.where(known, sums / np.where(known, weights, 1), values[::2, ::2])
    coarse = fill(block_mean.astype(np.float32), np.minimum(weights, 1).astype(np.float32))
    blocks = coarse.repeat(2, axis=0).repeat(2, axis=1)[:height, :width]
    return np.asarray(weight * values + (1 - weight) * blocks, np.float32)


def solve(
    equations: NormalEquations, start: Plane, tv_weight: float, iterations: int, dual_steps: int
) -> Plane:
    """Minimise tv_weight TV(u) + u' A u / 2 - b' u over 0 <= u <= 1 by FISTA (Beck and Teboulle, 2009).

    A step minimises the total variation plus a separable quadratic that lies above the data term; that inner problem is
    solved on the dual field of the gradient, which is kept from step to step.
    """
    curvature = equations.curvature()
    inverse = 1 / curvature
    u = np.clip(start, 0, 1)
    ahead, gradient = u.copy(), np.empty_like(u)
    div, primal = np.empty_like(u), np.empty_like(u)
    down, right = np.zeros_like(u), np.zeros_like(u)
    momentum = 1.0
    for _ in range(iterations):
        equations.gradient(ahead, gradient)
        gradient *= inverse
        target = np.subtract(ahead, gradient, out=gradient)
        for _ in range(dual_steps):
            kernels.divergence(down, right, div)
            kernels.primal_of(target, inverse, div, primal)
            kernels.raise_dual(primal, curvature, _DUAL_STEP, tv_weight, down, right)
        kernels.divergence(down, right, div)
        kernels.primal_of(target, inverse, div, primal)
        following = (1 + math.sqrt(1 + 4 * momentum * momentum)) / 2
        np.subtract(primal, u, out=ahead)
        ahead *= np.float32((momentum - 1) / following)
        ahead += primal
        u, primal, momentum = primal, u, following
    return u
