"""Disparity of every view: structure tensors of sheared epipolar images, horizontal and vertical, then TV."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from sharpfield.methods.wanner import kernels
from sharpfield.methods.wanner.params import WannerParams
from sharpfield.methods.wanner.variational import denoise
from sharpfield.parallel import Workers
from sharpfield.progress import Progress, ProgressCallback, silent
from sharpfield.resample import gaussian_map

Planes = NDArray[np.float32]

_REACH = 4  # views on either side that an epipolar image shows, at most
_ALONG = 3.0  # standard deviation of the average over views, in steps of the grid
# squared differences of light: what rounding to 8 bits and noise of a camera make. Below, nothing is coherent
_NOISE = 1e-6


@dataclass(frozen=True, eq=False)
class Disparities:
    """Disparity of every sample of every view.

    Parameters
    ----------
    value
        (v, u, y, x), high-resolution pixels between adjacent views.
    coherence
        In [0, 1], how sure the structure tensor was of it.
    """

    value: Planes
    coherence: Planes


def find_disparities(
    low: Planes, factor: int, params: WannerParams, workers: Workers, progress: ProgressCallback = silent
) -> Disparities:
    """Return the disparities of luma (v, u, y, x), smoothed and filled.

    Parameters
    ----------
    low
        Luma of the low-resolution views.
    factor
        Pixels of the high resolution in one of the low, in whose units the range is given and the result is.
    """
    window = params.disparity[0] / factor, params.disparity[1] / factor
    smooth = gaussian_map(low.shape[2:], params.inner_scale).stack(low, workers)
    found = Disparities(np.full(low.shape, np.clip(0, *window), np.float32), np.zeros(low.shape, np.float32))
    steps = (
        sum(low.shape[0] * low.shape[1] * (low.shape[axis] >= 3) for axis in (0, 1))
        + low.shape[0] * low.shape[1]
    )
    done = count(1)

    def tell() -> None:
        progress(Progress("reading epipolar images", next(done) / steps))

    if low.shape[1] >= 3:
        _read_rows(smooth, window, params, found, workers, tell)
    if low.shape[0] >= 3:
        # columns of views are rows of the transposed light field
        turned = np.ascontiguousarray(smooth.transpose(1, 0, 3, 2))
        vertical = Disparities(np.zeros_like(turned), np.zeros_like(turned))
        _read_rows(turned, window, params, vertical, workers, tell)
        _merge(found, vertical)
    value, coherence = found.value, found.coherence

    def finish(place: tuple[int, ...]) -> None:
        value[place] = denoise(value[place], coherence[place], params.disparity_weight)
        value[place] *= factor
        tell()

    workers.map(finish, np.ndindex(*low.shape[:2]))
    return found


def _read_rows(
    views: Planes,
    window: tuple[float, float],
    params: WannerParams,
    found: Disparities,
    workers: Workers,
    tell: Callable[[], None],
) -> None:
    """Write disparity and coherence from the epipolar images of the rows of views."""
    steps = max(1, math.ceil((window[1] - window[0]) / params.shear))
    shears = np.linspace(*window, steps + 1)
    average = gaussian_map(views.shape[2:], params.outer_scale)

    def one(place: tuple[int, ...]) -> None:
        v, u = place
        first, last = max(0, u - _REACH), min(views.shape[1] - 1, u + _REACH)
        middles = np.arange(first, last) + 0.5 - u
        weight = np.exp(-(middles**2) / (2 * _ALONG**2))
        weight = (weight / weight.sum()).astype(np.float32)
        raw = np.empty((3, *views.shape[2:]), np.float32)
        xx, xk, kk = tensor = np.empty_like(raw)
        for shear in shears:
            kernels.epipolar_tensor(views[v], u, first, last, shear, weight, *raw)
            for plane, mean in zip(raw, tensor, strict=True):
                average.apply(plane, out=mean)
            kernels.keep_most_coherent(
                xx, xk, kk, shear, *window, _NOISE, params.shear, found.value[place], found.coherence[place]
            )
        tell()

    workers.map(one, np.ndindex(*views.shape[:2]))


def _merge(found: Disparities, vertical: Disparities) -> None:
    """Take the vertical disparity where it is the more coherent one."""
    for v, u in np.ndindex(*found.value.shape[:2]):
        other = vertical.coherence[u, v].T
        better = other > found.coherence[v, u]
        np.copyto(found.value[v, u], vertical.value[u, v].T, where=better)
        np.copyto(found.coherence[v, u], other, where=better)
