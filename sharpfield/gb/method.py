"""Algorithm 1: graph-based light field super-resolution of the luma of one (sub-)light-field."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sharpfield.errors import InputError
from sharpfield.gb.graph import Graph, build_graph
from sharpfield.gb.params import GBParams
from sharpfield.gb.problem import Problem
from sharpfield.gb.warp import direct_warps, square_warps
from sharpfield.interpolate import interpolate
from sharpfield.observe import Camera
from sharpfield.parallel import Workers
from sharpfield.progress import Progress, ProgressCallback, part, silent
from sharpfield.resample import SeparableMap
from sharpfield.solver import proximal_point

Variant = Literal["square", "direct"]

# for the progress bar alone: the graph's part of an outer iteration's time, the warps' part of what is left
_MATCHING, _WARPING = 0.30, 0.10


def super_resolve(
    low: NDArray[np.float32],
    camera: Camera,
    params: GBParams,
    workers: Workers,
    progress: ProgressCallback = silent,
    *,
    variant: Variant = "square",
) -> NDArray[np.float32]:
    """Algorithm 1: luma (v, u, y, x) in [0, 1] to luma `camera.factor` times as large.

    Parameters
    ----------
    low
        Luma of the low-resolution views.
    camera
        The camera that made them, S B of eq. 4.
    params
        Numbers of section VII-A.
    variant
        `square` for GB-SQ, `direct` for GB-DR.
    """
    grid = (low.shape[0], low.shape[1])
    if grid == (1, 1):
        raise InputError("one view is no light field: GB needs neighbouring views; use bicubic instead")
    v = np.ascontiguousarray(low, np.float32).reshape(-1, *low.shape[2:])
    u = interpolate(v, camera.factor, params.start, workers)
    np.clip(u, 0, 1, out=u)
    seen = camera.map((u.shape[1], u.shape[2]))
    graph = None
    for iteration in range(params.iterations):
        step = part(progress, iteration / params.iterations, (iteration + 1) / params.iterations)
        graph = build_graph(u, grid, params, workers, part(step, 0, _MATCHING), replaced=graph)
        u = _improve(u, v, grid, graph, seen, params, variant, workers, part(step, _MATCHING, 1))
    progress(Progress("solved", 1))
    return u.reshape(*grid, *u.shape[1:])


def _improve(
    u: NDArray[np.float32],
    v: NDArray[np.float32],
    grid: tuple[int, int],
    graph: Graph,
    camera: SeparableMap,
    params: GBParams,
    variant: Variant,
    workers: Workers,
    progress: ProgressCallback,
) -> NDArray[np.float32]:
    """Minimise the quadratic that the graph and the warps of the estimate u make."""
    if variant == "square":
        warps = square_warps(u, grid, params, camera, workers, part(progress, 0, _WARPING))
    else:
        warps = direct_warps(graph, camera, workers)
    problem = Problem(v, camera, warps, graph, params, workers)
    solving = part(progress, _WARPING, 1)
    solution = proximal_point(
        problem.apply,
        problem.linear(),
        u,
        beta=params.beta,
        growth=params.beta_growth,
        steps=params.proximal_steps,
        tolerance=params.proximal_tolerance,
        cg_tolerance=params.cg_tolerance,
        cg_iterations=params.cg_iterations,
        workers=workers,
        report=lambda done: solving(Progress("solving", done)),
    )
    return np.clip(solution.x, 0, 1, out=solution.x)


def run_square(
    low: NDArray[np.float32], camera: Camera, options: GBParams, workers: Workers, progress: ProgressCallback
) -> NDArray[np.float32]:
    """GB-SQ: warps from the square constraint (section V-A)."""
    return super_resolve(low, camera, options, workers, progress, variant="square")


def run_direct(
    low: NDArray[np.float32], camera: Camera, options: GBParams, workers: Workers, progress: ProgressCallback
) -> NDArray[np.float32]:
    """GB-DR: warps taken directly from the graph (end of section V-B)."""
    return super_resolve(low, camera, options, workers, progress, variant="direct")
