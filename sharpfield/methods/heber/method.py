"""The whole of `heber`: the disparity of every view, then every view as the reference of a stack."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import numpy as np
from numpy.typing import NDArray

from sharpfield.interpolate import interpolate
from sharpfield.methods.heber.disparity import find_disparity
from sharpfield.methods.heber.low_rank import solve, warp_views
from sharpfield.methods.heber.params import AT_ONCE, HeberParams, window_of
from sharpfield.observe import Camera
from sharpfield.parallel import Workers
from sharpfield.progress import Progress, ProgressCallback

_SWEEPING = 0.15  # part of the time that the disparities take, about

Planes = NDArray[np.float32]
Place = tuple[int, int]


def run(
    low: Planes, camera: Camera, options: HeberParams, workers: Workers, progress: ProgressCallback
) -> Planes:
    """Raise luma (v, u, y, x) in [0, 1] to `camera.factor` times its size: each view in turn is the reference."""
    low = np.ascontiguousarray(low, np.float32)
    places = [(v, u) for v in range(low.shape[0]) for u in range(low.shape[1])]
    disparity = np.empty_like(low)

    def sweep(place: Place) -> None:
        disparity[place] = find_disparity(low, place, camera.factor, options)

    _for_all(places, sweep, workers, "finding disparities", 0, _SWEEPING, progress)
    size = low.shape[2] * camera.factor, low.shape[3] * camera.factor
    high = np.empty((*low.shape[:2], *size), np.float32)
    blur = camera.dense_map(size)

    def stack(place: Place) -> None:
        views = warp_views(low, disparity, place, camera.factor, options)
        solution = solve(views, interpolate(low[place], camera.factor, "bicubic"), blur, options)
        high[place] = solution.column(window_of(low.shape[:2], place, options.span).index(place))

    _for_all(places, stack, workers, "stacking views", _SWEEPING, 1, progress)
    return high


def _for_all(
    places: list[Place],
    task: Callable[[Place], None],
    workers: Workers,
    stage: str,
    begin: float,
    end: float,
    progress: ProgressCallback,
) -> None:
    """Do a task for every view, few at a time, and tell after each."""
    done = count(1)

    def one(place: Place) -> None:
        task(place)
        progress(Progress(stage, begin + (end - begin) * next(done) / len(places)))

    for first in range(0, len(places), AT_ONCE):
        workers.map(one, places[first : first + AT_ONCE])
