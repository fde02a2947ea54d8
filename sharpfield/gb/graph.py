"""The regularization graph: mutual edges between pixels of neighbouring views, and its Laplacian (eq. 8, 9, 13)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sharpfield.gb import kernels, operator_kernels
from sharpfield.gb.matches import (
    Pair,
    best_matches,
    code_bits,
    kept_matches,
    neighbouring_pairs,
    pad_views,
    search_offsets,
)
from sharpfield.gb.params import GBParams
from sharpfield.parallel import Scratch, Workers
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

    def both_ways(self, pair: Pair) -> tuple[Edges, Edges]:
        """Return the edges of the first view of a pair to the second, and back."""
        forward, backward = (
            next(edges for edges in self.edges[view] if edges.source == other)
            for view, other in ((pair.first, pair.second), (pair.second, pair.first))
        )
        return forward, backward

    def add_laplacian(
        self, views: NDArray[np.float32], view: int, scale: float, result: NDArray[np.float32]
    ) -> None:
        """Add scale * (L u) of one view: sum over j of W(i, j) (u(i) - u(j))."""
        for edges in self.edges[view]:
            operator_kernels.laplacian_add(
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
    replaced: Graph | None = None,
) -> Graph:
    """Build the graph on an estimate of the high-resolution views (n, y, x) (section V-B).

    Weights to the eight neighbouring views (eq. 13), the best kept, and of those the ones that both ends kept.

    Parameters
    ----------
    replaced
        A graph of the same views and window that nobody needs any more: the new one is written over it.
    """
    padded = pad_views(views, params.radius)
    pairs = neighbouring_pairs(grid)
    keys = Scratch((2, 4, *views.shape[1:]), np.int32)
    done = 0

    def edges_of(pair: Pair) -> tuple[Edges, Edges]:
        nonlocal done
        both = _room(pair, views.shape[1:], params) if replaced is None else replaced.both_ways(pair)
        with keys.lent() as room:
            _find_mutual_edges(padded, pair, params, room, *both)
        done += 1
        progress(Progress("matching patches", done / len(pairs)))
        return both

    edges: list[list[Edges]] = [[] for _ in range(views.shape[0])]
    for pair, (forward, backward) in zip(pairs, workers.map(edges_of, pairs), strict=True):
        edges[pair.first].append(forward)
        edges[pair.second].append(backward)
    return Graph(edges)


def _room(pair: Pair, size: tuple[int, ...], params: GBParams) -> tuple[Edges, Edges]:
    """Return edges of both views of a pair that are yet to be found."""
    offset_y, offset_x = search_offsets(pair.down, pair.right, params)
    step = offset_y * size[1] + offset_x
    shape = (kept_matches(pair), *size)
    code_type = np.uint8 if step.size <= 256 else np.uint16
    forward, backward = (
        Edges(source, pair.adjacent, np.empty(shape, code_type), np.empty(shape, np.float32), offsets)
        for source, offsets in ((pair.second, step), (pair.first, -step))
    )
    return forward, backward


def _find_mutual_edges(
    padded: NDArray[np.float32],
    pair: Pair,
    params: GBParams,
    keys: NDArray[np.int32],
    forward: Edges,
    backward: Edges,
) -> None:
    """Find the edges between the views of a pair, into `forward` and `backward`; `keys` is room for the matches."""
    offset_y, offset_x = search_offsets(pair.down, pair.right, params)
    kernels.mutual_edges(
        *best_matches(padded, pair, params, keys),
        offset_y,
        offset_x,
        code_bits(offset_y.size),
        1 / params.sigma**2,
        forward.code,
        forward.weight,
        backward.code,
        backward.weight,
    )
