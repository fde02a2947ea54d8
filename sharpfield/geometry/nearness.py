"""Which of two surfaces is nearer, where they meet: whether larger disparity is nearer, as it should be.

Two observations, each a vote a pixel: +1 if the surface of larger disparity behaves as the nearer one, -1 if
the other one does, 0 elsewhere. Both look at places where the disparity jumps along x.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from sharpfield.geometry.matching import ROUNDING, Match, Plane, Votes, block_votes

OUTLINE = 10  # distance from an edge (pixels) at which the surfaces on its two sides are looked up
SPAN = 9  # how far from a jump (pixels) the boundary is sought; less than OUTLINE
FEW_ROWS = (-1, 0, 1)  # a boundary is located from so many rows at once
HIDDEN_WEIGHT = 2  # votes of hidden strips are right more often than those of edges

PixelVotes = NDArray[np.int8]


def nearness_votes(planes: dict[int, Plane], found: Match, inner: tuple[slice, slice]) -> Votes:
    """Poll both observations over the inner part of a tile, one vote a block."""
    if not found.sure.any() or planes[0].shape[1] <= 2 * OUTLINE + 1:
        return Votes()
    edges, hidden = edge_votes(planes[0], found), hidden_votes(planes, found)
    return block_votes(edges[inner]) + block_votes(hidden[inner]).weighted(HIDDEN_WEIGHT)


def edge_votes(plane: Plane, found: Match) -> PixelVotes:
    """Vote by the motion of edges: the outline of a near object moves with it, whatever lies behind.

    So where the two sides of a strong edge differ in disparity, the edge's own disparity is the nearer side's.
    """
    votes = np.zeros(plane.shape, dtype=np.int8)
    width = plane.shape[1]
    gradient = ndimage.uniform_filter1d(np.abs(np.gradient(plane, axis=1)), 3, axis=0)
    strongest = ndimage.maximum_filter1d(gradient, 2 * OUTLINE + 1, axis=1)
    edge = (gradient >= 0.7 * strongest) & (gradient > 2 * np.median(gradient)) & found.precise
    here, left, right = (slice(OUTLINE + at, width - OUTLINE + at) for at in (0, -OUTLINE, OUTLINE))
    jump = found.disparity[:, right] - found.disparity[:, left]
    clear = edge[:, here] & found.precise[:, left] & found.precise[:, right]
    clear &= np.abs(jump) > max(0.2, 0.1 * _spread(found))
    # where the edge's disparity lies between the two: at 0 it moves with the left side, at 1 with the right
    place = (found.disparity[:, here] - found.disparity[:, left]) / np.where(clear, jump, 1)
    side = (np.abs(place - 1) < 0.3).astype(np.int8) - (np.abs(place) < 0.3)
    votes[:, here] = np.where(clear, side * np.sign(jump), 0)
    return votes


def hidden_votes(planes: dict[int, Plane], found: Match) -> PixelVotes:
    """Vote by what is hidden: of two surfaces that overlap in a view, the farther one loses a strip.

    Where disparity rises along x, the two come apart in the views to the left and overlap in those to the
    right; where it falls, the other way round. The view in which they come apart shows both, so it locates the
    boundary; the strip beside it that is missing from the other view belongs to the farther surface.
    """
    middle = planes[0]
    votes = np.zeros(middle.shape, dtype=np.int8)
    reach = min(max(planes), -min(planes))
    if reach < 1:  # views on one side only
        return votes
    for sign in (1, -1):
        y, x, before, beyond = _jumps(found, sign, 1.5 / reach)
        apart, overlapping = -sign * reach, sign * reach
        cost = [
            _misfit(middle, planes[k], k, (y, x), disparity)
            for k in (apart, overlapping)
            for disparity in (before, beyond)
        ]
        # running sums from the left: the misfit of all pixels before a boundary, for every boundary
        before_apart, beyond_apart, before_over, beyond_over = (
            np.pad(np.cumsum(one, axis=1), ((0, 0), (1, 0))) for one in cost
        )
        misfit = before_apart + beyond_apart[:, -1:] - beyond_apart
        boundary = misfit.argmin(axis=1)
        strip = np.clip(np.rint(reach * np.abs(beyond - before)).astype(int), 1, SPAN)
        each = np.arange(len(x))
        start, end = np.maximum(boundary - strip, 0), np.minimum(boundary + strip, 2 * SPAN + 1)
        lost_before = (before_over[each, boundary] - before_over[each, start]) / strip
        lost_beyond = (beyond_over[each, end] - beyond_over[each, boundary]) / strip
        more, less = np.maximum(lost_before, lost_beyond), np.minimum(lost_before, lost_beyond)
        noise = misfit.min(axis=1) / (2 * SPAN + 1) + 2 * ROUNDING
        clear = (end - start == 2 * strip) & (more > 3 * noise) & (more > 4 * less)
        votes[y[clear], x[clear]] = np.where(lost_before > lost_beyond, sign, -sign)[clear]
    return votes


def _jumps(found: Match, sign: int, least: float) -> tuple[NDArray[Any], ...]:
    """Return (y, x) after which disparity rises (sign 1) or falls (-1), and the disparities before and beyond."""
    width = found.disparity.shape[1]
    here, after, left, right = (
        slice(OUTLINE + at, width - 1 - OUTLINE + at) for at in (0, 1, -OUTLINE, OUTLINE)
    )
    before, beyond = found.disparity[:, left], found.disparity[:, right]
    halfway = (before + beyond) / 2
    jumps = sign * (found.disparity[:, here] - halfway) < 0
    jumps &= sign * (found.disparity[:, after] - halfway) >= 0
    jumps &= sign * (beyond - before) > max(least, 0.1 * _spread(found))
    jumps &= found.precise[:, left] & found.precise[:, right]
    jumps[: FEW_ROWS[-1]] = jumps[FEW_ROWS[0] :] = False
    y, x = np.nonzero(jumps)
    return y, x + OUTLINE, before[y, x], beyond[y, x]


def _misfit(
    middle: Plane, plane: Plane, k: int, at: tuple[NDArray[Any], NDArray[Any]], disparity: NDArray[Any]
) -> NDArray[np.floating]:
    """Return squared differences to the view k steps on, were all pixels around (y, x) of one disparity."""
    y, x = at
    columns = x[:, np.newaxis] + np.arange(-SPAN, SPAN + 1)
    there = np.clip(columns - k * disparity[:, np.newaxis], 0, plane.shape[1] - 1.001)
    first = there.astype(int)
    share = there - first
    squares = np.zeros(columns.shape)
    for offset in FEW_ROWS:
        row = (y + offset)[:, np.newaxis]
        seen = (1 - share) * plane[row, first] + share * plane[row, first + 1]
        squares += (middle[row, columns] - seen) ** 2
    return squares / len(FEW_ROWS)


def _spread(found: Match) -> float:
    low, high = np.percentile(found.disparity[found.sure], (1, 99))
    return float(high - low)
