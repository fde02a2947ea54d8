"""Speed of the parts of GB-SQ on one sub-light-field, and of one solver iteration next to a triad."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from benchmarks.common import best_of, truth_and_low
from sharpfield.color import luma
from sharpfield.gb.graph import build_graph
from sharpfield.gb.matches import Pair, best_matches, neighbouring_pairs, pad_views
from sharpfield.gb.params import GBParams
from sharpfield.gb.problem import Problem
from sharpfield.gb.warp import SquareWarp, square_warps
from sharpfield.interpolate import interpolate
from sharpfield.observe import Camera
from sharpfield.parallel import Scratch, Workers
from sharpfield.solver import conjugate_gradient

_SIDE = 400  # high-resolution pixels: the working set is far larger than any cache


@njit(nogil=True, cache=True)
def triad(a: NDArray[np.float32], b: NDArray[np.float32], c: NDArray[np.float32]) -> None:
    """a = b + 3 c: three streams, the measure of what the memory can do."""
    for i in range(a.shape[0]):
        a[i] = b[i] + np.float32(3) * c[i]


def main() -> None:
    params = GBParams()
    low = luma(truth_and_low("hciold_buddha", 2)[1].views)[:, :, 60 : 60 + _SIDE // 2, 60 : 60 + _SIDE // 2]
    v = np.ascontiguousarray(low).reshape(-1, _SIDE // 2, _SIDE // 2)
    camera = Camera(2).map((_SIDE, _SIDE))
    with Workers() as workers:
        u = interpolate(v, 2, "bilinear", workers)
        padded, pairs = pad_views(u, params.radius), neighbouring_pairs((5, 5))
        keys = Scratch((2, 4, _SIDE, _SIDE), np.int32)

        def match(pair: Pair) -> None:
            with keys.lent() as room:
                best_matches(padded, pair, params, room)

        matching = best_of(5, lambda: workers.map(match, pairs))
        comparisons = sum(params.window ** (1 if pair.adjacent else 2) for pair in pairs) * _SIDE * _SIDE
        building = best_of(3, lambda: build_graph(u, (5, 5), params, workers))
        graph = build_graph(u, (5, 5), params, workers)
        warping = best_of(3, lambda: square_warps(u, (5, 5), params, camera, workers))
        warps = square_warps(u, (5, 5), params, camera, workers)
        problem = Problem(v, camera, warps, graph, params, workers)
        q = problem.linear()
        ten = best_of(
            5,
            lambda: conjugate_gradient(
                problem.apply, -q, u, shift=0.1, tolerance=0, iterations=10, workers=workers
            ),
        )
        none = best_of(
            5,
            lambda: conjugate_gradient(
                problem.apply, -q, u, shift=0.1, tolerance=0, iterations=0, workers=workers
            ),
        )
        iteration = (ten - none) / 10
        moved = _bytes_of_an_iteration(problem, u)
        streams = [np.ones(int(moved / 12 / workers.threads), np.float32) for _ in range(3 * workers.threads)]
        parts = [streams[3 * i : 3 * i + 3] for i in range(workers.threads)]
        streaming = best_of(5, lambda: workers.map(lambda part: triad(*part), parts))
    pixels = u.size
    print(f"5x5 views of {_SIDE}x{_SIDE} HR pixels, W = {params.window}, {workers.threads} threads")
    print(f"match kernel       {comparisons / matching / 1e9:8.2f} G patch comparisons a second")
    print(
        f"graph              {1e9 * building / pixels:8.1f} ns a pixel (matching {1e9 * matching / pixels:.1f})"
    )
    print(f"square constraint  {1e9 * warping / pixels:8.1f} ns a pixel")
    print(f"CG iteration       {1e9 * iteration / pixels:8.1f} ns a pixel, {iteration * 1e3:.1f} ms")
    print(f"bytes it must move {moved / pixels:8.1f} a pixel, {moved / 1e6:.0f} MB")
    print(f"triad, same bytes  {1e9 * streaming / pixels:8.1f} ns a pixel, {streaming * 1e3:.1f} ms")
    print(f"iteration / triad  {iteration / streaming:8.2f}")


def _bytes_of_an_iteration(problem: Problem, u: NDArray[np.float32]) -> float:
    """Count every stored array that an iteration reads or writes, once a pass."""
    edges = sum(e.code.nbytes + e.weight.nbytes for view in problem.graph.edges for e in view)
    warps = 0
    for view in problem.warps:
        for warp in view:
            assert isinstance(warp, SquareWarp)
            # forward and adjoint each read the rows of F
            warps += 2 * (warp.code.nbytes + warp.weight.nbytes) + warp.mask.nbytes
    vectors = 14 * u.nbytes  # P d and the three updates of conjugate gradient
    return edges + warps + vectors
