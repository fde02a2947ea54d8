"""One series of views, one tile: least-squares matches along x to sub-pixels, and polls over their pixels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

Plane = NDArray[np.floating]  # of float32
Mask = NDArray[np.bool_]
Steps = NDArray[np.floating]
Range = tuple[float, float]

WINDOW = 5  # matching window: small enough that outlines stay sharp, large enough for noise
STEP = 0.5  # disparities tried, in pixels between adjacent views; a parabola refines below it
UNSURE = 0.2  # largest standard deviation of a match (pixels) that counts as sure
BLOCK = 16  # neighbouring pixels are one observation, not many: one vote a block
ROUNDING = 1e-6  # squared error of views in 8 bits: less difference than this means nothing


@dataclass(frozen=True)
class Votes:
    """A poll: votes for minus votes against, and how many were cast (with weights: the sum of their squares)."""

    total: int = 0
    count: int = 0

    def __add__(self, other: Votes) -> Votes:
        return Votes(self.total + other.total, self.count + other.count)

    def __neg__(self) -> Votes:
        return Votes(-self.total, self.count)

    def weighted(self, weight: int) -> Votes:
        """Return the poll with votes that count `weight` times."""
        return Votes(weight * self.total, weight * weight * self.count)

    @property
    def z(self) -> float:
        """The majority in standard deviations of a poll of coin tosses, with its sign."""
        return self.total / math.sqrt(self.count) if self.count else 0.0


@dataclass(frozen=True)
class Match:
    """Disparity of every pixel, and what it is worth.

    Parameters
    ----------
    disparity
        Of least cost, in pixels between adjacent views.
    cost
        Mean squared difference left over in the window.
    textured
        There is more detail than rounding.
    precise
        The expected deviation is small: detail outweighs noise.
    sure
        Precise and confirmed: what the percentiles are made of.
    """

    disparity: Plane
    cost: Plane
    textured: Mask
    precise: Mask
    sure: Mask


def detail(plane: Plane) -> Plane:
    """Return a view without its finest and coarsest part: what is left ignores aliasing, gain and vignetting."""
    smooth = ndimage.gaussian_filter(plane, 0.8)
    return smooth - ndimage.uniform_filter(smooth, 15)


def match(planes: dict[int, Plane], searched: Range, directions: int = 1) -> Match:
    """Match views to the middle one (offset 0) along x; a point at x there is at x - k d in the view k steps on.

    A match is sure if its expected deviation is small, the views on either side agree on it, other disparities
    fit clearly worse, it is no end of the searched range, and the point lies inside all the views: those along x
    and, with two `directions` of the grid, those along y.
    """
    middle = planes[0]
    first, last = math.floor(searched[0] / STEP) - 1, math.ceil(searched[1] / STEP) + 1
    steps = np.arange(first, last + 1, dtype=np.float64) * STEP
    sides = [side for side in ([k for k in planes if k < 0], [k for k in planes if k > 0]) if side]
    volumes = [_cost_volume(middle, {k: planes[k] for k in side}, steps) for side in sides]
    if len(sides) == 2:
        (left, _, left_inside, _), (right, _, right_inside, _) = (
            _lowest(volume, steps) for volume in volumes
        )
        confirmed = (np.abs(left - right) < STEP) & left_inside & right_inside
        volumes[0] += volumes[1]
        volumes[0] /= 2
    best, cost, inside, typical = _lowest(volumes[0], steps)
    if len(sides) == 1:  # match back from the nearest of them
        k = min(sides[0], key=abs)
        back = _lowest(_cost_volume(planes[k], {-k: middle}, steps), steps)[0]
        there = np.rint(np.arange(middle.shape[1]) - k * best).astype(np.intp)
        landed = np.take_along_axis(back, np.clip(there, 0, middle.shape[1] - 1), axis=1)
        confirmed = np.abs(landed - best) < STEP
    for axis in (1, 0)[:directions]:
        centre = (middle.shape[axis] - 1) / 2
        from_centre = np.expand_dims(np.arange(middle.shape[axis]) - centre, 1 - axis)
        for k in (min(planes), max(planes)):
            inside &= np.abs(from_centre - k * best) <= centre - WINDOW // 2
    gradient = np.gradient(middle, axis=1)
    energy = ndimage.uniform_filter(gradient * gradient, WINDOW)
    # the variance of a least-squares shift is the noise over the gradient energy
    textured = WINDOW * WINDOW * energy * UNSURE**2 > ROUNDING
    precise = WINDOW * WINDOW * energy * UNSURE**2 > cost + ROUNDING
    return Match(best, cost, textured, precise, precise & confirmed & inside & (cost < typical / 2))


def _cost_volume(middle: Plane, others: dict[int, Plane], steps: Steps) -> Plane:
    """Return the mean squared difference over a window for every disparity tried: (step, y, x)."""
    width = middle.shape[1]
    reach = math.ceil(max(map(abs, others)) * float(np.abs(steps).max())) + 1
    padded = {k: np.pad(plane, ((0, 0), (reach, reach)), mode="edge") for k, plane in others.items()}
    volume = np.empty((len(steps), *middle.shape), dtype=np.float32)
    for cost, step in zip(volume, steps, strict=True):
        squares = np.zeros_like(middle)
        for k, plane in padded.items():
            start = reach - math.ceil(k * step)
            there = plane[:, start : start + width]
            if k * step % 1:  # a half
                there = (there + plane[:, start + 1 : start + 1 + width]) / 2
            difference = middle - there
            squares += difference * difference
        ndimage.uniform_filter(squares / np.float32(len(others)), WINDOW, output=cost)
    return volume


def _lowest(volume: Plane, steps: Steps) -> tuple[Plane, Plane, Mask, Plane]:
    """Return the disparity of least cost by a parabola through three steps, its cost, if inside, the mean cost."""
    best = volume.argmin(axis=0)
    inside = (best > 0) & (best < len(steps) - 1)
    centre = np.clip(best, 1, len(steps) - 2)
    below, here, above = (np.take_along_axis(volume, (centre + i)[np.newaxis], 0)[0] for i in (-1, 0, 1))
    curvature = np.maximum(below - 2 * here + above, np.float32(1e-12))
    offset = np.clip((below - above) / (2 * curvature), -1, 1)
    disparity = (steps[centre] + STEP * offset).astype(np.float32)
    cost = np.maximum(here - (below - above) ** 2 / (8 * curvature), 0)
    return disparity, cost, inside, volume.mean(axis=0)


def direction_votes(right: Plane, wrong: Plane) -> Votes:
    """Vote, block by block, whether views match better (at less cost) in the right direction than in the wrong."""
    # eight times rounding, so that a difference of half is more than rounding
    better, worse = (block_sums(cost + 8 * ROUNDING, BLOCK // 2) for cost in (right, wrong))
    votes = (worse > 1.5 * better).astype(int) - (better > 1.5 * worse)
    return Votes(int(votes.sum()), int(np.count_nonzero(votes)))


def block_votes(votes: NDArray[Any]) -> Votes:
    """Count one vote a block: the side that has more of its pixels."""
    signs = np.sign(block_sums(votes, BLOCK))
    return Votes(int(signs.sum()), int(np.count_nonzero(signs)))


def block_sums(plane: NDArray[Any], block: int) -> NDArray[np.float64]:
    """Return the sum of every whole block x block square of pixels."""
    height, width = (side // block for side in plane.shape)
    whole = plane[: height * block, : width * block].astype(np.float64)
    return whole.reshape(height, block, width, block).sum(axis=(1, 3))
