"""The whole of `mitra`: the disparity of every patch, its estimate under that disparity's prior, the average."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from sharpfield.methods.mitra import kernels
from sharpfield.methods.mitra.params import MitraParams
from sharpfield.methods.mitra.prior import DisparityPrior, PatchShape
from sharpfield.methods.mitra.store import subspaces
from sharpfield.observe import Camera
from sharpfield.parallel import Workers
from sharpfield.progress import Progress, ProgressCallback, part

Planes = NDArray[np.float32]

_PRIORS = 0.05  # part of the time that the priors take, about
_CHOOSING = 0.5  # of a window of views
_BATCH = 1024  # patches at a time


def run(
    low: NDArray[np.float32],
    camera: Camera,
    options: MitraParams,
    workers: Workers,
    progress: ProgressCallback,
) -> NDArray[np.float32]:
    """Raise luma (v, u, y, x) in [0, 1] to `camera.factor` times its size, patch by patch of all views."""
    size = low.shape[2:]
    # a view that is smaller than a patch is made as large
    missing = [(0, max(options.patch_side - n, 0)) for n in size]
    low = np.pad(np.asarray(low, np.float32), [(0, 0), (0, 0), *missing], mode="edge")
    a = camera.factor
    rows, columns = low.shape[:2]
    views = min(rows, options.patch_views), min(columns, options.patch_views)
    shape = PatchShape(views, options.patch_side, camera)
    disparities = candidates(options)
    told = part(progress, 0, _PRIORS)
    bases = subspaces(shape, disparities, min(options.subspace_rank, shape.samples // 2), workers, told)
    bases = padded(padded(bases, 1, 2), 2, 4)
    priors = [DisparityPrior(shape, disparity) for disparity in disparities]
    high = np.zeros((rows, columns, low.shape[2] * a, low.shape[3] * a), np.float32)
    weight = np.zeros(low.shape, np.float32)
    windows = [(v, u) for v in starts(rows, views[0]) for u in starts(columns, views[1])]
    for number, (v, u) in enumerate(windows):
        begin, end = (_PRIORS + (1 - _PRIORS) * n / len(windows) for n in (number, number + 1))
        told = part(progress, begin, end)
        place = np.s_[v : v + views[0], u : u + views[1]]
        seen = np.ascontiguousarray(low[place])
        patches = choose(seen, bases, options, workers, part(told, 0, _CHOOSING))
        _estimate(
            seen, patches, priors, options.noise_variance, workers, part(told, _CHOOSING, 1), high[place]
        )
        total = np.zeros(low.shape[2:], np.float32)
        kernels.add_weights(patches.weight, patches.y, patches.x, options.patch_side, total)
        weight[place] += total

    def average(place: tuple[int, ...]) -> None:
        high[place] /= weight[place].repeat(a, axis=0).repeat(a, axis=1)

    workers.map(average, np.ndindex(rows, columns))
    return np.ascontiguousarray(high[:, :, : size[0] * a, : size[1] * a])


def candidates(options: MitraParams) -> list[float]:
    """Return the disparities that have a prior, the small ones first: of equally good ones the first is taken."""
    low, high = options.disparity
    steps = max(1, round((high - low) / options.disparity_step))
    return sorted(np.round(np.linspace(low, high, steps + 1), 6).tolist(), key=lambda d: (abs(d), d))


def starts(length: int, window: int, stride: int | None = None) -> list[int]:
    """Return where windows begin that cover a length; those of views share two of them with the next, or more."""
    if stride is None:
        number = -(-(length - window) // max(window - 2, 1))
        return [round(i * (length - window) / number) for i in range(number + 1)] if number else [0]
    return sorted({*range(0, length - window, stride), length - window})


@dataclass(frozen=True, eq=False)
class Patches:
    """Where patches begin in the low resolution, which of the disparities each has, how much it counts."""

    y: NDArray[np.int64]
    x: NDArray[np.int64]
    disparity: NDArray[np.int64]
    weight: NDArray[np.float32]


def choose(
    low: Planes, bases: Planes, options: MitraParams, workers: Workers, progress: ProgressCallback
) -> Patches:
    """Return the patches of views (v, u, y, x), each with the disparity whose subspace explains it best."""
    side, stride = options.patch_side, options.patch_stride
    at_y, at_x = (np.array(starts(n, side, stride)) for n in low.shape[2:])
    y, x = (np.ascontiguousarray(each.ravel()) for each in np.meshgrid(at_y, at_x, indexing="ij"))
    best, weight = np.empty(y.size, np.int64), np.empty(y.size, np.float32)
    batches = list(_batches(np.arange(y.size)))
    unit = options.misfit**2 * low.shape[0] * low.shape[1] * side**2
    done = count(1)

    def one(batch: NDArray[np.int64]) -> None:
        columns, _, energy = _columns(low, y[batch], x[batch], side, bases.shape[2])
        held, here = np.empty(batch.size, np.float32), slice(batch[0], batch[-1] + 1)
        # what a subspace leaves has the energy of the patch without that of its projection
        kernels.explain_best(bases, columns, batch.size, best[here], held)
        weight[here] = 1 / (1 + np.maximum(energy - held, 0) / np.float32(unit))
        progress(Progress("choosing disparities", next(done) / len(batches)))

    workers.map(one, batches)
    return Patches(y, x, best, weight)


def _estimate(
    low: Planes,
    patches: Patches,
    priors: list[DisparityPrior],
    noise: float,
    workers: Workers,
    progress: ProgressCallback,
    high: Planes,
) -> None:
    """Add the estimates of all patches to `high`."""
    shape, done = priors[0].shape, 0
    for number, prior in enumerate(priors):
        chosen = np.flatnonzero(patches.disparity == number)
        if not chosen.size:
            continue
        # one matrix at a time: all of them would fill the memory at large factors
        matrix = padded(prior.estimator(noise), 2, 4)
        for batch in _batches(chosen):
            _add(matrix, low, patches, batch, shape, workers, high)
            done += batch.size
            progress(Progress("estimating patches", done / patches.y.size))


def _add(
    matrix: Planes,
    low: Planes,
    patches: Patches,
    batch: NDArray[np.int64],
    shape: PatchShape,
    workers: Workers,
    high: Planes,
) -> None:
    """Add the estimates of a batch of patches of one disparity; each view is written by one task."""
    a, columns_of_views = shape.camera.factor, shape.views[1]
    y, x, weight = patches.y[batch], patches.x[batch], patches.weight[batch]
    columns, mean, _ = _columns(low, y, x, shape.side, matrix.shape[2])
    high_y, high_x = y * a, x * a

    def one(view: int) -> None:
        place = divmod(view, columns_of_views)
        kernels.add_estimates(
            matrix[view], columns, mean, weight, high_y, high_x, shape.side * a, high[place]
        )

    workers.map(one, range(len(matrix)))


def _columns(
    low: Planes, y: NDArray[np.int64], x: NDArray[np.int64], side: int, rows: int
) -> tuple[Planes, Planes, Planes]:
    """Return patches as columns without their mean, their mean, and the energy of what is left."""
    columns = np.empty((rows, y.size), np.float32)
    mean, energy = np.empty((2, y.size), np.float32)
    kernels.gather(low, y, x, side, columns, mean, energy)
    return columns, mean, energy


def _batches(numbers: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    for start in range(0, numbers.size, _BATCH):
        yield numbers[start : start + _BATCH]


def padded(values: Planes, axis: int, multiple: int) -> Planes:
    """Return an array filled up with 0 to a multiple along an axis, as the kernels want it."""
    widths = [(0, -values.shape[axis] % multiple if n == axis else 0) for n in range(values.ndim)]
    return np.ascontiguousarray(np.pad(values, widths))
