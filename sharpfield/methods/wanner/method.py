"""The whole of `wanner`: disparities of all views, then one convex problem for each of them."""

from __future__ import annotations

from itertools import count

import numpy as np
from numpy.typing import NDArray

from sharpfield.interpolate import interpolate
from sharpfield.methods.wanner.disparity import find_disparities
from sharpfield.methods.wanner.params import AT_ONCE, WannerParams
from sharpfield.methods.wanner.projection import normal_equations
from sharpfield.methods.wanner.variational import solve
from sharpfield.observe import Camera
from sharpfield.parallel import Workers
from sharpfield.progress import Progress, ProgressCallback, part

_READING = 0.2  # part of the time that the disparities take, about


def run(
    low: NDArray[np.float32],
    camera: Camera,
    options: WannerParams,
    workers: Workers,
    progress: ProgressCallback,
) -> NDArray[np.float32]:
    """Raise luma (v, u, y, x) in [0, 1] to `camera.factor` times its size, view by view from all views."""
    low = np.ascontiguousarray(low, np.float32)
    grid, (height, width) = low.shape[:2], low.shape[2:]
    disparity = find_disparities(low, camera.factor, options, workers, part(progress, 0, _READING)).value
    blur = camera.dense_map((height * camera.factor, width * camera.factor))
    high = np.empty((*grid, *blur.size_in), np.float32)
    done = count(1)

    def one(place: tuple[int, int]) -> None:
        equations = normal_equations(low, disparity, place, camera, blur, options)
        start = interpolate(low[place], camera.factor, "bicubic")
        high[place] = solve(equations, start, options.tv_weight, options.fista_steps, options.dual_steps)
        solved = next(done) / (grid[0] * grid[1])
        progress(Progress("solving views", _READING + (1 - _READING) * solved))

    places = [(v, u) for v in range(grid[0]) for u in range(grid[1])]
    for start in range(0, len(places), AT_ONCE):
        workers.map(one, places[start : start + AT_ONCE])
    return high
