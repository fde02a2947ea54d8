"""Where the views stand: positions on the grid, small translations of single views, the range of disparities.

A point that the middle of the grid sees at x is seen by view j at x - pⱼ d + tⱼ, with pⱼ the view's position on the
grid from its middle, d the point's disparity, tⱼ the translation of the view (low-resolution pixels): real gantries
and arrays are off by tenths of a pixel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sharpfield.parallel import Workers
from sharpfield.sharp import kernels
from sharpfield.sharp.disparity import Window, sweep

Views = NDArray[np.float32]
Positions = NDArray[np.float64]

_COARSE = 0.1  # step of the sweeps of the middle view, low-resolution pixels
_MARGIN = 0.3  # around the range that is found, low-resolution pixels
_SWEEPS = 2
_NEWTON_STEPS = 3
_ROBUST = 0.02  # residual at which a pixel counts half
_RIDGE = 1e-6  # a pixel's squared gradient below which nothing is known
_FITTING = 0.06  # residual below which a pixel fits
_TRIED = 4  # views besides the middle one that may stand in for it
_UNSURE = 0.02  # of a translation that is measured, low-resolution pixels
_FARTHEST = 1.0  # translation, low-resolution pixels; more is no calibration
_SMALLEST = 16  # views with a smaller side are not calibrated


@dataclass(frozen=True, eq=False)
class Placement:
    """Positions and translations of views (n, 2), as (y, x), on a grid.

    Parameters
    ----------
    grid
        Rows and columns of views.
    position
        Steps of the grid from its middle.
    translation
        Low-resolution pixels.
    """

    grid: tuple[int, int]
    position: Positions
    translation: Positions

    @classmethod
    def on_grid(cls, grid: tuple[int, int]) -> Placement:
        """Return the places of the views of a grid, none translated."""
        places = np.array(list(np.ndindex(*grid)), np.float64)
        position = places - [(grid[0] - 1) / 2, (grid[1] - 1) / 2]
        return cls(grid, position, np.zeros_like(position))

    @property
    def middle(self) -> int:
        """Number of the view nearest to the middle."""
        return int(np.argmin((self.position**2).sum(axis=1)))

    def step(self, seen_from: int, view: int) -> Positions:
        """Return how far samples of `view` move in `seen_from` for each pixel of disparity."""
        return np.asarray(self.position[view] - self.position[seen_from])

    def offset(self, seen_from: int, view: int) -> Positions:
        """Return how far samples of `view` move in `seen_from` besides, low-resolution pixels."""
        return np.asarray(self.translation[seen_from] - self.translation[view])

    def nearest(self, view: int, count: int) -> list[int]:
        """Return the numbers of the nearest other views, and of the view itself first."""
        apart = ((self.position - self.position[view]) ** 2).sum(axis=1)
        return [int(other) for other in np.argsort(apart, kind="stable")[: count + 1]]


def calibrate(
    low: Views, placement: Placement, window: Window, limit: float, translate: bool, workers: Workers
) -> tuple[Placement, Window]:
    """Return the placement with every view's translation, and the range of disparities that the scene has.

    Each translation by robust Gauss-Newton steps against the middle view (a view beside it, where that fits no other),
    whose disparities are swept anew in between.

    Parameters
    ----------
    low
        Views (n, y, x), blurred as for the sweep.
    window
        Disparities to search, low-resolution pixels.
    limit
        Largest difference of light that counts.
    translate
        Whether to measure translations; else only the range.
    """
    middle, disparity = _reference(low, placement, window, limit, workers)
    translate = translate and min(low.shape[1:]) >= _SMALLEST
    for number in range(_SWEEPS if translate else 1):
        if number:
            disparity = sweep(low, placement, window, _COARSE, limit, workers, only=[middle])[0]
        else:
            least, most = np.percentile(disparity, (0.5, 99.5))
            window = max(window[0], float(least) - _MARGIN), min(window[1], float(most) + _MARGIN)
        if translate:
            placement = _translated(low, placement, middle, disparity, workers)
    return placement, window


def _reference(
    low: Views, placement: Placement, window: Window, limit: float, workers: Workers
) -> tuple[int, Views]:
    """Return the view nearest to the middle that at least half of the others fit, and its disparities.

    A view that is black or of another exposure tells nothing about the others. Where none fits: the middle one.
    """
    found: tuple[int, Views] | None = None
    for view in placement.nearest(placement.middle, _TRIED):
        disparity = sweep(low, placement, window, _COARSE, limit, workers, only=[view])[0]
        found = found or (view, disparity)
        shares = [
            np.mean(np.abs(look[np.isfinite(look)]) < _FITTING)
            for other in range(len(low))
            if other != view
            for look in [_look(low[other], low[view], disparity, -placement.step(view, other), np.zeros(2))]
            if np.isfinite(look).any()
        ]
        if shares and np.median(shares) > 0.5:
            return view, disparity
    assert found is not None  # the middle one is the first that is tried
    return found


def _translated(
    low: Views, placement: Placement, middle: int, disparity: Views, workers: Workers
) -> Placement:
    """Return the placement with translations that bring every view onto the one taken for the middle."""
    flat = np.zeros_like(low[middle])

    def one(view: int) -> Positions:
        moved = placement.translation[view] - placement.translation[middle]
        if view == middle:
            return placement.translation[view]
        step = -(placement.position[view] - placement.position[middle])
        slopes = [np.ascontiguousarray(slope, np.float32) for slope in np.gradient(low[view])]
        for _ in range(_NEWTON_STEPS):
            looks = [
                _look(image, shown, disparity, step, moved)
                for image, shown in ((low[view], low[middle]), (slopes[0], flat), (slopes[1], flat))
            ]
            seen = np.isfinite(looks[0])
            residual, *slope = (look[seen].astype(np.float64) for look in looks)
            weight = 1 / (1 + (residual / _ROBUST) ** 2)
            matrix = np.array([[np.sum(weight * a * b) for b in slope] for a in slope])
            matrix += np.eye(2) * (_RIDGE * max(residual.size, 1))
            right = np.array([np.sum(weight * a * residual) for a in slope])
            moved = np.clip(moved - np.linalg.solve(matrix, right), -_FARTHEST, _FARTHEST)
        return np.asarray(_believed(moved) + placement.translation[middle])

    translation = np.array(workers.map(one, range(len(low))))
    return Placement(placement.grid, placement.position, translation)


def _believed(moved: Positions) -> Positions:
    """Return a translation, the less of it the smaller it is: what errors of disparities make up is kept out."""
    length2 = float(moved @ moved)
    return moved * (length2 / (length2 + _UNSURE**2)) if length2 else moved


def _look(image: Views, shown: Views, disparity: Views, step: Positions, moved: Positions) -> Views:
    """Return the image where the points of the middle view are, less what that shows."""
    found = np.empty_like(shown)
    way = np.float32(step[0]), np.float32(step[1]), np.float32(moved[0]), np.float32(moved[1])
    kernels.sample_residuals(image, shown, disparity, *way, 1, kernels.PHASE_WEIGHTS, found)
    return found
