"""The warping matrices F: the square constraint (SQ) and the graph's own rows (DR), and their masks (eq. 11, 12)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sharpfield.gb import kernels, operator_kernels
from sharpfield.gb.graph import Edges, Graph
from sharpfield.gb.matches import adjacent_views, pad_views
from sharpfield.gb.params import GBParams
from sharpfield.parallel import Scratch, Workers
from sharpfield.progress import Progress, ProgressCallback, silent
from sharpfield.resample import SeparableMap, Taps

LowMask = Callable[[NDArray[np.float32]], NDArray[np.float32]]


class Warp(Protocol):
    """F from one view (the source) to a neighbouring one (the target), and the mask H of its use.

    Row i of F computes the target's pixel i as a convex combination of pixels of the source.
    """

    @property
    def source(self) -> int:
        """Number of the view that is warped."""

    @property
    def target(self) -> int:
        """Number of the view that it becomes."""

    @property
    def mask(self) -> NDArray[np.float32]:
        """H: 1 for a low-resolution sample all of whose pixels have a row in F, else 0."""

    def apply(self, view: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return F u: the target view as the source shows it."""

    def adjoint_add(self, view: NDArray[np.float32], result: NDArray[np.float32]) -> None:
        """Add Fᵀ of an image of the target to an image of the source."""


@dataclass(frozen=True)
class SquareWarp:
    """A warp of GB-SQ: row i is w u(j₁) + (1 - w) u(j₂), the disparities of j₁ and j₂ being δ and δ + 1.

    Parameters
    ----------
    code
        δ less the window's lowest disparity (y, x); the same array for all warps to one target.
    weight
        w (y, x).
    offsets
        Displacement of each code, as a step in the flattened view.
    """

    source: int
    target: int
    code: NDArray[np.uint8]
    weight: NDArray[np.float32]
    offsets: NDArray[np.int64]
    mask: NDArray[np.float32]

    def apply(self, view: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return F u."""
        result = np.empty_like(view)
        operator_kernels.square_forward(view, self.code, self.weight, self.offsets, result)
        return result

    def adjoint_add(self, view: NDArray[np.float32], result: NDArray[np.float32]) -> None:
        """Add Fᵀ of an image to `result`."""
        operator_kernels.square_adjoint_add(view, self.code, self.weight, self.offsets, result)


@dataclass(frozen=True)
class DirectWarp:
    """A warp of GB-DR: the target's edges in the graph, each row divided by its sum.

    Parameters
    ----------
    edges
        The target's edges to the source.
    scale
        1 / (sum of a pixel's weights) (y, x); 0 where it has no edge.
    """

    target: int
    edges: Edges
    scale: NDArray[np.float32]
    mask: NDArray[np.float32]

    @property
    def source(self) -> int:
        """Number of the view that is warped."""
        return self.edges.source

    def apply(self, view: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return F u."""
        result = np.empty_like(view)
        operator_kernels.edges_forward(
            view, self.edges.code, self.edges.weight, self.scale, self.edges.offsets, result
        )
        return result

    def adjoint_add(self, view: NDArray[np.float32], result: NDArray[np.float32]) -> None:
        """Add Fᵀ of an image to `result`."""
        operator_kernels.edges_adjoint_add(
            view, self.edges.code, self.edges.weight, self.scale, self.edges.offsets, result
        )


def square_warps(
    views: NDArray[np.float32],
    grid: tuple[int, int],
    params: GBParams,
    camera: SeparableMap,
    workers: Workers,
    progress: ProgressCallback = silent,
) -> list[list[Warp]]:
    """Build the warps of GB-SQ on views (n, y, x): eq. 11 and 12; returns the warps from each view.

    One δ* a pixel puts its projections on all four adjacent views between two pixels each, on the edges of one
    square; the two are weighed by their similarity (eq. 10) to the pixel.
    """
    padded = pad_views(views, params.radius)
    low, window = params.disparity[0], params.window
    lowered = _mask_of(camera)
    rows_missing = Scratch((4, *views.shape[1:]), np.float32)
    done = 0

    def warps_to(target: int) -> list[Warp]:
        nonlocal done
        adjacent = adjacent_views(grid, target)
        code = np.empty(views.shape[1:], np.uint8)
        weight = np.empty((len(adjacent), *views.shape[1:]), np.float32)
        with rows_missing.lent() as room:
            missing = room[: len(adjacent)]
            kernels.square_constraint(
                padded,
                target,
                np.array(adjacent),
                params.patch,
                low,
                window,
                1 / params.sigma**2,
                code,
                weight,
                missing,
            )
            masks = [lowered(each) for each in missing]
        disparities = np.arange(low, low + window)
        done += 1
        progress(Progress("square constraint", done / len(views)))
        return [
            SquareWarp(
                source,
                target,
                code,
                weight[m],
                -(down * views.shape[2] + right) * disparities,
                masks[m],
            )
            for m, (source, down, right) in enumerate(adjacent)
        ]

    return _by_source(workers.map(warps_to, range(len(views))), len(views))


def direct_warps(graph: Graph, camera: SeparableMap, workers: Workers) -> list[list[Warp]]:
    """Build the warps of GB-DR: the graph's own edges, each row normalised to sum to 1 (end of section V-B).

    They lead to all eight neighbouring views, as the edges do. The paper restricts 𝒩ₖ⁺ to four when it builds the
    warps of GB-SQ; its figures for GB-DR come out with eight (docs/method.md).
    """
    lowered = _mask_of(camera)

    def warps_to(target: int) -> list[Warp]:
        warps: list[Warp] = []
        for edges in graph.edges[target]:
            scale = np.empty(edges.weight.shape[1:], np.float32)
            operator_kernels.row_scales(edges.weight, scale)
            warps.append(DirectWarp(target, edges, scale, lowered((scale == 0).astype(np.float32))))
        return warps

    count = len(graph.edges)
    return _by_source(workers.map(warps_to, range(count)), count)


def _by_source(warps_to: list[list[Warp]], count: int) -> list[list[Warp]]:
    """Order warps by the view they read: Fᵀ adds to that view, which so has one writer."""
    warps_from: list[list[Warp]] = [[] for _ in range(count)]
    for warps in warps_to:
        for warp in warps:
            warps_from[warp.source].append(warp)
    return warps_from


def _mask_of(camera: SeparableMap) -> LowMask:
    """Return the function from pixels without a row to H: a sample counts if the camera sees no such pixel."""
    sees = SeparableMap(_support(camera.y), _support(camera.x))

    def mask(missing: NDArray[np.float32]) -> NDArray[np.float32]:
        if not missing.any():
            return np.ones(sees.size_out, np.float32)
        return (sees.apply(missing) == 0).astype(np.float32)

    return mask


def _support(taps: Taps) -> Taps:
    """Return the taps with weight 1 wherever the camera looks at all (bicubic taps have both signs)."""
    return Taps(taps.index, (taps.weight != 0).astype(np.float32), taps.n_in)
