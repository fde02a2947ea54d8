"""The regularization graph: mutual edges between pixels of neighbouring views, and its Laplacian (eq. 8, 9, 13)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sharpfield.gb import kernels
from sharpfield.gb.matches import Pair, best_matches, code_bits, neighbouring_pairs, pad_views, search_offsets
from sharpfield.gb.params import GBParams
from sharpfield.parallel import Workers
from sharpfield.progress import Progress, ProgressCallback, silent


@dataclass(frozen=True)
class Edges:
    """The edges of all pixels of one view to one neighbouring view.

    Parameters
    ----------
    source
        Number of the neighbouring view.
    adjacent
        Whether it is in 𝒩⁺.
    code
        (slot, y, x): which displacement an edge takes.
    weight
        (slot, y, x): W(i, j); 0 where the slot holds no mutual edge.
    offsets
        Displacement of each code, as a step in the flattened view.
    """

    source: int
    adjacent: bool
    code: NDArray[np.unsignedinteger]
    weight: NDArray[np.float32]
    offsets: NDArray[np.int64]


@dataclass(frozen=True)
class Graph:
    """W of eq. 8: `edges[k]` lists the edges of view k to each of its neighbours; W is symmetric.

    Every edge is stored at both ends, so that a view's part of L u is a sum over its own lists and has one writer.
    """

    edges: list[list[Edges]]

    def add_laplacian(
        self, views: NDArray[np.float32], view: int, scale: float, result: NDArray[np.float32]
    ) -> None:
        """Add scale * (L u) of one view: sum over j of W(i, j) (u(i) - u(j))."""
        for edges in self.edges[view]:
            kernels.laplacian_add(
                views[view], views[edges.source], edges.code, edges.weight, edges.offsets, scale, result
            )

    def energy(self, views: NDArray[np.float32]) -> float:
        """Return F₃ = uᵀ L u = 1/2 sum of W(i, j) (u(i) - u(j))² (eq. 9)."""
        total = 0.0
        for view in range(views.shape[0]):
            image = np.zeros_like(views[view])
            self.add_laplacian(views, view, 1.0, image)
            total += float(np.vdot(views[view].astype(np.float64), image))
        return total


def build_graph(
    views: NDArray[np.float32],
    grid: tuple[int, int],
    params: GBParams,
    workers: Workers,
    progress: ProgressCallback = silent,
) -> Graph:
    """Build the graph on an estimate of the high-resolution views (n, y, x) (section V-B).

    Weights to the eight neighbouring views (eq. 13), the best kept, and of those the ones that both ends kept.
    """
    padded = pad_views(views, params.radius)
    pairs = neighbouring_pairs(grid)
    done = 0

    def edges_of(pair: Pair) -> tuple[Edges, Edges]:
        nonlocal done
        both = _mutual_edges(padded, pair, params)
        done += 1
        progress(Progress("matching patches", done / len(pairs)))
        return both

    edges: list[list[Edges]] = [[] for _ in range(views.shape[0])]
    for pair, (forward, backward) in zip(pairs, workers.map(edges_of, pairs), strict=True):
        edges[pair.first].append(forward)
        edges[pair.second].append(backward)
    return Graph(edges)


def _mutual_edges(padded: NDArray[np.float32], pair: Pair, params: GBParams) -> tuple[Edges, Edges]:
    best_first, best_second = best_matches(padded, pair, params)
    offset_y, offset_x = search_offsets(pair.down, pair.right, params)
    code_type = np.uint8 if offset_y.size <= 256 else np.uint16
    code_first, code_second = np.empty(best_first.shape, code_type), np.empty(best_first.shape, code_type)
    weight_first = np.empty(best_first.shape, np.float32)
    weight_second = np.empty_like(weight_first)
    kernels.mutual_edges(
        best_first,
        best_second,
        offset_y,
        offset_x,
        code_bits(offset_y.size),
        1 / params.sigma**2,
        code_first,
        weight_first,
        code_second,
        weight_second,
    )
    flat = offset_y * best_first.shape[2] + offset_x
    return (
        Edges(pair.second, pair.adjacent, code_first, weight_first, flat),
        Edges(pair.first, pair.adjacent, code_second, weight_second, -flat),
    )
