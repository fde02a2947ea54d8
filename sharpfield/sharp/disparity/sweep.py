"""Disparity of every view: a sweep over sheared views, refined on the residuals of an estimate.

For every disparity d of the sweep all views are sheared, sⱼ(x) = vⱼ(x - pⱼ d + tⱼ), so that what has that disparity
coincides. A view's cost is the mean over the views within two steps of min(|sᵢ - sⱼ|, limit), smoothed by a guided
filter (He, Sun and Tang, 2010) whose guide is the view; the least cost wins, between the steps by a parabola.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sharpfield.observe import keys_cubic
from sharpfield.parallel import Workers
from sharpfield.resample import gaussian_map
from sharpfield.sharp.disparity import kernels

Views = NDArray[np.float32]
Window = tuple[float, float]

_REACH = 2  # steps of the grid between views that are compared
_RADIUS = 2  # of the guided filter
_EPSILON = 1e-4  # its ε: contrast (squared) below which it averages
_ALIKE = 0.3  # difference of disparities at which a neighbour counts half in the refinement
_FARTHEST = 0.1  # move of a disparity in one refinement, at most
_FLAT = 2e-3  # squared change of light a pixel of disparity, below which nothing is known
_UNKNOWN = np.float32(1e9)


class Placed(Protocol):
    """Where views stand: positions (n, 2) on the grid and translations (n, 2), low-resolution pixels."""

    @property
    def position(self) -> NDArray[np.float64]:
        """Steps of the grid from its middle."""

    @property
    def translation(self) -> NDArray[np.float64]:
        """Low-resolution pixels."""


def blurred(views: Views, sigma: float, workers: Workers) -> Views:
    """Return the views blurred by a Gaussian: what is aliased in two views does not match."""
    if sigma == 0:
        return views
    return gaussian_map(views.shape[1:], sigma, cut=4).stack(views, workers)


def sweep(
    views: Views,
    placed: Placed,
    window: Window,
    step: float,
    limit: float,
    workers: Workers,
    only: Sequence[int] | None = None,
) -> Views:
    """Return the disparities (n, y, x) of the views `only` (all when None), in pixels of the views.

    Parameters
    ----------
    views
        Luma (n, y, x).
    window
        Least and largest disparity.
    step
        Between two slices of the sweep.
    limit
        Difference of light beyond which nothing more is learned.
    """
    wanted = list(range(len(views))) if only is None else list(only)
    count = max(math.ceil((window[1] - window[0]) / step), 2) + 1
    slices = np.asarray(window[0] + step * np.arange(count), np.float64)
    pairs = _pairs(placed.position, set(wanted))
    shown = sorted({view for pair in pairs for view in pair})
    height, width = views.shape[1:]
    farthest = np.abs(placed.position).max() * np.abs(slices).max() + np.abs(placed.translation).max()
    margin = math.ceil(farthest) + 2
    size = height + 2 * margin, width + 2 * margin
    sheared, cost = (np.zeros((len(views), *size), np.float32) for _ in range(2))
    best = {view: _Best((height, width)) for view in wanted}

    def shear(view: int) -> None:
        move = -margin - placed.position[view] * d + placed.translation[view]
        _shift(views[view], move, sheared[view])

    def compare(view: int) -> None:
        # every view sums its own cost, though each pair is so compared twice: one writer, any number of threads
        total = cost[view]
        total[:] = 0
        count = np.zeros(size, np.float32)
        for other in partners[view]:
            top, bottom, left, right = _shared(inside[view], inside[other])
            kernels.add_differences(
                sheared[view], sheared[other], top, bottom, left, right, limit, total, count
            )
        kernels.mean_cost(total, count, limit)
        smooth = _guided(sheared[view], total)
        back = np.empty((height, width), np.float32)
        _shift(smooth, margin + placed.position[view] * d - placed.translation[view], back)
        best[view].keep(back, number)

    partners: dict[int, list[int]] = {view: [] for view in wanted}
    for first, second in pairs:
        for view, other in ((first, second), (second, first)):
            if view in partners:
                partners[view].append(other)
    for number, d in enumerate(slices):  # noqa: B007
        workers.map(shear, shown)
        inside = {
            view: _inside(
                -margin - placed.position[view] * d + placed.translation[view], views.shape[1:], size
            )
            for view in shown
        }
        workers.map(compare, wanted)
    return np.stack([best[view].disparity(slices) for view in wanted])


def _pairs(position: NDArray[np.float64], wanted: set[int]) -> list[tuple[int, int]]:
    """Return the pairs of views within reach of each other of which one is wanted."""
    return [
        (first, second)
        for first in range(len(position))
        for second in range(first + 1, len(position))
        if np.abs(position[first] - position[second]).max() <= _REACH + 1e-6 and {first, second} & wanted
    ]


def _shift(view: Views, move: NDArray[np.float64], out: Views) -> None:
    """Write the view at every pixel plus `move` (y, x), cubic between pixels."""
    whole = np.floor(move)
    weights = keys_cubic(np.arange(-1, 3) - (move - whole)[:, np.newaxis]).astype(np.float32)
    kernels.shift_view(view, int(whole[0]), int(whole[1]), weights[0], weights[1], out)


def _inside(
    move: NDArray[np.float64], size: tuple[int, ...], sheared: tuple[int, int]
) -> tuple[int, int, int, int]:
    """Return the rectangle of a sheared view that it really saw: top, bottom, left, right."""
    first = [max(0, math.ceil(-one)) for one in move]
    last = [min(n, math.floor(side - 1 - one) + 1) for one, side, n in zip(move, size, sheared, strict=True)]
    return first[0], last[0], first[1], last[1]


def _shared(a: tuple[int, int, int, int], b: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    return max(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), min(a[3], b[3])


def _guided(guide: Views, cost: Views) -> Views:
    """Return the cost smoothed by a guided filter."""
    square, product = np.empty_like(guide), np.empty_like(guide)
    kernels.guided_products(guide, cost, square, product)
    slope, level = np.empty_like(guide), np.empty_like(guide)
    kernels.guided_line(_box(guide), _box(cost), _box(square), _box(product), _EPSILON, slope, level)
    smooth = _box(slope)
    smooth *= guide
    smooth += _box(level)
    return smooth


def _box(plane: Views) -> Views:
    mean = np.empty_like(plane)
    kernels.box_mean(plane, _RADIUS, mean)
    return mean


class _Best:
    """The least cost of every pixel so far, and the costs beside it."""

    def __init__(self, size: tuple[int, int]) -> None:
        self.before, self.cost, self.at_before, self.at_after = (
            np.full(size, _UNKNOWN, np.float32) for _ in range(4)
        )
        self.number = np.full(size, -2, np.float32)

    def keep(self, cost: Views, number: int) -> None:
        kernels.keep_best(cost, number, self.before, self.cost, self.number, self.at_before, self.at_after)

    def disparity(self, slices: NDArray[np.float64]) -> Views:
        """Return the disparity of the least cost, between the slices by a parabola."""
        bend = self.at_before - 2 * self.cost + self.at_after
        known = (bend > 1e-9) & (self.at_before < 1e8) & (self.at_after < 1e8)
        rest = np.where(known, 0.5 * (self.at_before - self.at_after) / np.where(known, bend, 1), 0)
        step = slices[1] - slices[0]
        return np.asarray(slices[0] + (self.number + np.clip(rest, -0.5, 0.5)) * step, np.float32)


def moved(disparity: Views, pull: Views, stiffness: Views) -> Views:
    """Return a disparity map after one Gauss-Newton step: it moves by -Σ pull / Σ stiffness.

    The sums run over the five by five neighbours, as far as their disparities are alike.

    Parameters
    ----------
    disparity
        Of the samples of one view (y, x).
    pull
        Sum over other views of weight x residual x its derivative by the disparity.
    stiffness
        Sum of weight x derivative².
    """
    result = np.empty_like(disparity)
    kernels.pooled_step(disparity, pull, stiffness, _ALIKE, _FLAT, _FARTHEST, result)
    return result
