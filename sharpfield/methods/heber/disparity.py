"""Disparity of every view: a sweep over all disparities, coupled with total variation, then the rank of the stack."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sharpfield.methods.heber import kernels
from sharpfield.methods.heber.params import HeberParams, window_of
from sharpfield.resample import SeparableMap, Taps

Plane = NDArray[np.float32]
Planes = NDArray[np.float32]

_LIMIT = 0.3  # light: a larger difference says no more than this one
_WINDOW = (1.0, 6.0, 15.0, 20.0, 15.0, 6.0, 1.0)  # of the average of the costs, along each axis
_ROUNDS = 30  # of the coupled minimisations
_STEPS = 8  # on the total variation in each of them
_LOOSE, _TIGHT = (
    0.01,
    10.0,
)  # pull between the two disparities in the first and the last round, times 1 / range²
_STEP = 0.35  # of primal and dual: its square times 8, the norm of the gradient squared, is below 1
_EDGE = 0.04  # change of light at which the total variation counts half


def find_disparity(low: Planes, place: tuple[int, int], factor: int, params: HeberParams) -> Plane:
    """Return the disparity of the view at `place`, high-resolution pixels between adjacent views.

    Parameters
    ----------
    low
        Luma of the low-resolution views (v, u, y, x).
    """
    reach = params.disparity[0] / factor, params.disparity[1] / factor
    volume, step = sweep(low, place, reach, params)
    value = smooth(volume, reach[0], step, low[place], params.sweep_weight)
    return np.asarray(value * factor, np.float32)


def sweep(
    low: Planes, place: tuple[int, int], reach: tuple[float, float], params: HeberParams
) -> tuple[Planes, float]:
    """Return costs (d, y, x) of the disparities from reach[0] to reach[1], and the step between them.

    The cost is the mean of |warped view - reference|, averaged over a small window, over the views on that side of the
    reference (left, right, above, below) where it is the least: a thing that hides a point hides it on one side.
    """
    steps = max(2, math.ceil((reach[1] - reach[0]) / params.step))
    shifts = np.linspace(*reach, steps + 1)
    reference = np.ascontiguousarray(low[place])
    average = _window_map(reference.shape)
    volume = np.empty((shifts.size, *reference.shape), np.float32)
    sums = np.empty((2, 4, *reference.shape), np.float32)
    mean = np.empty_like(sums)
    others = [other for other in window_of(low.shape[:2], place, params.span) if other != place]
    for cost, shift in zip(volume, shifts, strict=True):
        sums[:] = 0
        for v, u in others:
            down, right = v - place[0], u - place[1]
            sides = np.array([right < 0, right > 0, down < 0, down > 0])
            kernels.add_differences(
                reference, low[v, u], -down * shift, -right * shift, _LIMIT, sides, sums[0], sums[1]
            )
        for index in np.ndindex(2, 4):
            average.apply(sums[index], out=mean[index])
        kernels.best_side(mean[0], mean[1], _LIMIT, cost)
    return volume, float(shifts[1] - shifts[0])


def smooth(volume: Planes, first: float, step: float, light: Plane, weight: float) -> Plane:
    """Minimise sum g |grad d| + weight sum cost(d), about; g is less where the light changes.

    d is split in two that a quadratic term draws together, tighter and tighter (Steinbruecker, Pock, Cremers, ICCV
    2009): one is found by looking at every disparity, the other by the primal-dual algorithm of Chambolle and Pock.
    """
    last = first + step * (volume.shape[0] - 1)
    value = np.zeros(volume.shape[1:], np.float32)
    chosen, ahead, force = np.empty_like(value), np.empty_like(value), np.zeros_like(value)
    kernels.couple(volume, first, step, value, 0.0, chosen)
    value[:] = chosen
    ahead[:] = chosen
    down, right, pace = np.zeros_like(value), np.zeros_like(value), np.full_like(value, _STEP)
    slope = np.hypot(*np.gradient(light)) if min(light.shape) > 1 else np.zeros_like(light)
    limit = np.ascontiguousarray(1 / (1 + (slope / _EDGE) ** 2), np.float32)
    for pull in np.geomspace(_LOOSE, _TIGHT, _ROUNDS):
        for _ in range(_STEPS):
            kernels.ascend(ahead, limit, _STEP, down, right)
            kernels.descend(force, pace, down, right, chosen, pull, first, last, value, ahead)
        kernels.couple(volume, first, step, value, pull / (2 * weight), chosen)
    return chosen


def _window_map(size: tuple[int, ...]) -> SeparableMap:
    """Return the average over a small window, of images of that size."""
    axes = []
    for length in size:
        index = np.add.outer(np.arange(length), np.arange(len(_WINDOW)) - len(_WINDOW) // 2)
        axes.append(Taps.from_windows(index, np.tile(_WINDOW, (length, 1)), length, "replicate"))
    return SeparableMap(*axes)
