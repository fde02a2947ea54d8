"""The problem of one view: normal equations of all samples that tell about it, and the prior; never a matrix.

A = Bᵀ N B + Σ_D λ_D Dᵀ W D, with N = Mᵀ W M the products of the cubic weights of all samples, which couples pixels
within 7 x 7 for every camera; the prior's W are those of the estimate at hand (iteratively reweighted least squares).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sharpfield.observe import Camera
from sharpfield.resample import SeparableMap
from sharpfield.sharp import kernels
from sharpfield.sharp.confidence import Samples, disturbing_part
from sharpfield.sharp.params import SharpParams

Plane = NDArray[np.float32]

_SIDE = 224  # of a block, about
_HALO = 12  # around it, besides what the camera looks at
_VIEWS = 17  # that tell about a view, itself included, for which the prior's weights are given
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
    def of(cls, params: SharpParams, noise: float, factor: int, views: int) -> Prior:
        """Return the prior for views of that noise: λ grows with its variance.

        A sample is spread over factor² pixels, and so is what it weighs against the prior of each; of views that tell
        about one, all weigh.
        """
        spread = (2 / factor) ** 2 * (min(params.neighbours, views - 1) + 1) / _VIEWS
        variance = (disturbing_part(noise) / params.reference_noise) ** 2
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


@dataclass(frozen=True)
class Block:
    """A part of a high-resolution view that is solved at a time, with its surroundings; what is kept of it.

    A view is solved in parts so that the stencil of a part stays in the cache: conjugate gradient reads all of it in
    every step.

    Parameters
    ----------
    rows, columns
        Of the view: first, last + 1.
    inner_rows, inner_columns
        What is kept, of the view.
    """

    rows: tuple[int, int]
    columns: tuple[int, int]
    inner_rows: tuple[int, int]
    inner_columns: tuple[int, int]

    @property
    def size(self) -> tuple[int, int]:
        """Height and width."""
        return self.rows[1] - self.rows[0], self.columns[1] - self.columns[0]

    @property
    def place(self) -> tuple[slice, slice]:
        """The part in the view."""
        return slice(*self.rows), slice(*self.columns)

    @property
    def kept(self) -> tuple[slice, slice]:
        """What is kept, in the view."""
        return slice(*self.inner_rows), slice(*self.inner_columns)

    @property
    def inner(self) -> tuple[slice, slice]:
        """What is kept, in the part."""
        top, left = self.rows[0], self.columns[0]
        return (
            slice(self.inner_rows[0] - top, self.inner_rows[1] - top),
            slice(self.inner_columns[0] - left, self.inner_columns[1] - left),
        )


def blocks(size: tuple[int, int], camera: Camera) -> list[Block]:
    """Return the blocks of a view of that size, row by row."""
    halo = _HALO + int(np.abs(camera.window()[0]).max())
    rows, columns = (_spans(length, halo) for length in size)
    return [Block(row, column, y, x) for row, y in rows for column, x in columns]


def _spans(length: int, halo: int) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    count = max(round(length / _SIDE), 1)
    edges = [round(n * length / count) for n in range(count + 1)]
    return [
        ((max(start - halo, 0), min(stop + halo, length)), (start, stop)) for start, stop in pairwise(edges)
    ]


def normal_equations(
    samples: Samples, weights: Mapping[int, Plane], view: int, block: Block
) -> tuple[NDArray[np.float32], Plane]:
    """Return N (25, y, x) and Mᵀ W v of a block of one view.

    Parameters
    ----------
    samples
        Of all views.
    weights
        How much the samples of the view itself and of others may say about it.
    """
    height, width = block.size
    cells = np.zeros(height * width * kernels.CELL, np.float32)
    right_side = np.zeros(block.size, np.float32)
    for other, weight in weights.items():
        step_y, step_x, from_y, from_x = samples.way(view, other)
        from_y, from_x = from_y - np.float32(block.rows[0]), from_x - np.float32(block.columns[0])
        kernels.add_samples(
            samples.low[other],
            samples.disparity[other],
            weight,
            step_y,
            step_x,
            from_y,
            from_x,
            samples.factor,
            kernels.PHASE_WEIGHTS,
            samples.window(other, (step_y, step_x), (from_y, from_x), block.size),
            cells,
            right_side,
        )
    stencil = np.empty((kernels.STENCIL, *block.size), np.float32)
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
