"""The stack of one reference view at high resolution: a column that all views share, low rank beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sharpfield.methods.heber import kernels
from sharpfield.methods.heber.params import HeberParams, window_of
from sharpfield.resample import SeparableMap, Taps

Plane = NDArray[np.float32]
Planes = NDArray[np.float32]

_LEAST_MASS = 1e-3  # pixels that no sample looks at stay as they are
# of the dual field; the primal steps, one for every pixel, follow from it and from the data term's curvature
_DUAL_STEP = 0.5


@dataclass(frozen=True, eq=False)
class Warped:
    """A view as the reference sees it.

    Parameters
    ----------
    samples, disparity
        What its samples show, and their disparities in high-resolution pixels.
    weight
        m, how much each of them counts.
    steps
        How far the view is from the reference, (down, right) in steps of the grid.
    factor
        Pixels of the high resolution in one of the low.
    """

    samples: Plane
    disparity: Plane
    weight: Plane
    steps: tuple[float, float]
    factor: int

    def spread(self, seen: Plane, threshold: float, total: Plane, mass: Plane) -> None:
        """Add what the samples differ by from the blurred image `seen`, less the sparse part, and its curvature."""
        kernels.spread_differences(
            self.samples, self.disparity, self.weight, *self.steps, self.factor, seen, threshold, total, mass
        )


def warp_views(
    low: Planes, disparity: Planes, place: tuple[int, int], factor: int, params: HeberParams
) -> list[Warped]:
    """Return the views that the one at `place` is stacked with, itself included, as it sees them."""
    warped = []
    for other in window_of(low.shape[:2], place, params.span):
        down, right = float(other[0] - place[0]), float(other[1] - place[1])
        nearness = 1 / (1 + (down * down + right * right) / params.stack_distance**2)
        weight = np.full(low.shape[2:], nearness, np.float32)
        if other != place:
            kernels.trust(
                disparity[other], disparity[place], down, right, factor, params.stack_agreement, weight
            )
        warped.append(Warped(low[other], disparity[other], weight, (down, right), factor))
    return warped


@dataclass(frozen=True, eq=False)
class LowRank:
    """A matrix of images as columns, M = left right.

    Parameters
    ----------
    left
        (k, Y, X), k its rank.
    right
        (k, J), J columns.
    """

    left: Planes
    right: NDArray[np.float32]

    @classmethod
    def nothing(cls, size: tuple[int, ...], columns: int) -> LowRank:
        """Return the matrix of rank 0."""
        return cls(np.zeros((0, *size), np.float32), np.zeros((0, columns), np.float32))

    @property
    def rank(self) -> int:
        """How many singular values it has."""
        return self.left.shape[0]

    def add_column(self, number: int, out: Plane) -> None:
        """Do out += column."""
        if self.rank:
            kernels.mix(np.ascontiguousarray(self.right[:, number]), self.left, out)

    def mapped(self, blur: SeparableMap) -> LowRank:
        """Return the matrix with every column blurred."""
        return LowRank(blur.stack(self.left), self.right)


def shrink_singular_values(columns: Planes, threshold: float) -> LowRank:
    """Solve argmin over M of threshold ||M||_* + ||M - columns||² / 2: every singular value less the threshold, or 0.

    The columns are few and long, so their singular values are had from the products of every two of them.

    Parameters
    ----------
    columns
        (J, Y, X).
    threshold
        Above 0.
    """
    values, vectors = np.linalg.eigh(kernels.gram(columns.reshape(columns.shape[0], -1)))
    singular = np.sqrt(np.maximum(values, 0))
    kept = singular > threshold
    right = np.ascontiguousarray(vectors[:, kept].T, np.float32)
    gain = 1 - threshold / singular[kept]
    left = np.zeros((right.shape[0], *columns.shape[1:]), np.float32)
    for plane, row, g in zip(left, right, gain, strict=True):
        kernels.mix((g * row).astype(np.float32), columns, plane)
    return LowRank(left, right)


@dataclass(frozen=True, eq=False)
class Solution:
    """The stack L = shared 1ᵀ + beside."""

    shared: Plane
    beside: LowRank

    def column(self, number: int) -> Plane:
        """Return a column of the stack, within [0, 1]."""
        image = self.shared.copy()
        self.beside.add_column(number, image)
        return np.clip(image, 0, 1, out=image)


def solve(
    views: Sequence[Warped], start: Plane, blur: SeparableMap, params: HeberParams, rounds: int | None = None
) -> Solution:
    """Minimise θ ||M||_* + δ Σ m |s| + ½ Σ m (P B (u + mⱼ) + s - v)² + α TV(u) over 0 <= u <= 1, M and s, about.

    For given images s is a soft threshold of the differences. The rest is what each round does: the differences are
    spread back; M takes a step of proximal gradient (singular value thresholding), u one whose metric is the mass of
    the samples about every pixel, so that all views together move it at once; u's runs ahead as in FISTA.

    Parameters
    ----------
    views
        The views of the stack.
    start
        First guess of the shared column.
    blur
        B, the camera's blur at every high-resolution pixel.
    rounds
        Instead of those of the options.
    """
    size, samples = start.shape, views[0].samples.size
    threshold = params.rank_weight * params.sparse_threshold * math.sqrt(samples) / views[0].factor
    shared = SharedColumn(np.clip(start, 0, 1), blur, params.stack_tv_weight)
    beside = LowRank.nothing(size, len(views))
    columns = np.empty((len(views), *size), np.float32)
    own, total, mass = (np.empty(size, np.float32) for _ in range(3))
    for _ in range(params.stack_rounds if rounds is None else rounds):
        seen, seen_beside = blur.apply(shared.run_ahead()), beside.mapped(blur)
        total[:] = 0
        mass[:] = 0
        for number, (view, column) in enumerate(zip(views, columns, strict=True)):
            explained = seen.copy()
            seen_beside.add_column(number, explained)
            own[:] = 0
            view.spread(explained, params.sparse_threshold, own, mass)
            total += own
            blur.adjoint(own, out=column)
            beside.add_column(number, column)
        del seen_beside  # as large as M: it makes room for the next one
        beside = shrink_singular_values(columns, threshold)
        np.maximum(mass, np.float32(_LEAST_MASS), out=mass)
        total /= mass
        total += seen
        shared.draw_to(total, mass, params.tv_steps)
    return Solution(shared.image, beside)


class SharedColumn:
    """u, what all views share, with the state of its minimisation.

    Parameters
    ----------
    image
        First guess.
    blur
        B.
    tv_weight
        α.
    """

    def __init__(self, image: Plane, blur: SeparableMap, tv_weight: float) -> None:
        self.image = image
        self._before = image.copy()
        self._momentum = 1.0
        self._blur = blur
        tables = (Taps(taps.index, np.abs(taps.weight), taps.n_in) for taps in (blur.y, blur.x))
        self._bound = SeparableMap(*tables)
        self._sums = self._bound.apply(np.ones_like(image))
        self._down, self._right = np.zeros_like(image), np.zeros_like(image)
        self._limit = np.full_like(image, tv_weight)
        self._zero = np.zeros_like(image)

    def run_ahead(self) -> Plane:
        """Return the image, a little further the way that it went (Beck and Teboulle's FISTA)."""
        following = (1 + math.sqrt(1 + 4 * self._momentum**2)) / 2
        ahead = self.image + np.float32((self._momentum - 1) / following) * (self.image - self._before)
        self._before[:] = self.image
        self._momentum = following
        return ahead

    def draw_to(self, target: Plane, mass: Plane, steps: int) -> None:
        """Take steps on ½ Σ mass (B u - target)² + α TV(u): primal-dual ones, with a pace for every pixel (Condat)."""
        pace = 1 / (self._bound.adjoint(mass * self._sums) + np.float32(8 * _DUAL_STEP))
        ahead, force = self.image.copy(), np.empty_like(self.image)
        for _ in range(steps):
            off = self._blur.apply(self.image)
            off -= target
            off *= mass
            self._blur.adjoint(off, out=force)
            kernels.ascend(ahead, self._limit, _DUAL_STEP, self._down, self._right)
            kernels.descend(
                force, pace, self._down, self._right, self._zero, 0.0, 0.0, 1.0, self.image, ahead
            )
