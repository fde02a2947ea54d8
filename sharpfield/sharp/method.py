"""Every view from the samples of all views: noise, places, disparities, then weights and views in stages."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import numpy as np
from numpy.typing import NDArray

from sharpfield.errors import InputError
from sharpfield.interpolate import interpolate
from sharpfield.observe import Camera
from sharpfield.parallel import Workers
from sharpfield.progress import Progress, ProgressCallback, part, silent
from sharpfield.sharp import kernels
from sharpfield.sharp.calibrate import Placement, calibrate
from sharpfield.sharp.confidence import Confidence, Samples, noise_between, noise_of
from sharpfield.sharp.disparity import blurred, moved, sweep
from sharpfield.sharp.params import SharpParams
from sharpfield.sharp.problem import Prior, blocks, normal_equations, problem_at
from sharpfield.solver import conjugate_gradient

Views = NDArray[np.float32]

_SWEEPING = 0.2  # part of the time that the first disparities take, for the progress bar alone
_COMPARED = 2  # steps of the grid between views whose residuals move a disparity


def find_samples(
    low: Views, factor: int, options: SharpParams, workers: Workers, progress: ProgressCallback = silent
) -> Samples:
    """Return the samples of all views with their disparities and places.

    Parameters
    ----------
    low
        Luma (v, u, y, x) in [0, 1].
    factor
        High-resolution pixels in a low-resolution one: `options.disparity` and the disparities are in those.
    """
    grid = (low.shape[0], low.shape[1])
    views = np.ascontiguousarray(low, np.float32).reshape(-1, *low.shape[2:])
    window = options.disparity[0] / factor, options.disparity[1] / factor
    noise = noise_of(views) if options.noise < 0 else options.noise
    limit = options.limit_at(noise)
    smooth = blurred(views, options.sweep_blur, workers)
    progress(Progress("calibrating views", 0))
    placement, window = calibrate(smooth, Placement.on_grid(grid), window, limit, options.calibrate, workers)
    progress(Progress("sweeping disparities", 0.3))
    disparity = sweep(smooth, placement, window, options.sweep_step, limit, workers)
    if options.noise < 0:
        noise = min(noise, noise_between(smooth, options.sweep_blur, disparity, placement))
    disparity *= np.float32(factor)
    return Samples(views, disparity, placement, factor, noise)


def run(
    low: NDArray[np.float32],
    camera: Camera,
    options: SharpParams,
    workers: Workers,
    progress: ProgressCallback,
) -> NDArray[np.float32]:
    """Raise luma (v, u, y, x) in [0, 1] to `camera.factor` times its size."""
    if low.shape[:2] == (1, 1):
        raise InputError("one view is no light field: sharp needs neighbouring views; use bicubic instead")
    samples = find_samples(low, camera.factor, options, workers, part(progress, 0, _SWEEPING))
    prior = Prior.of(options, samples.noise, camera.factor, len(samples.low))
    u = interpolate(samples.low, camera.factor, "bicubic", workers)
    np.clip(u, 0, 1, out=u)
    blur = camera.dense_map((u.shape[1], u.shape[2]))
    for stage in range(options.stages):
        confidence = Confidence.of_stage(options, stage, samples.noise)
        seen = blur.stack(u, workers)
        if stage:
            samples = refined(samples, seen, confidence, workers)
        begin, end = (1 - (1 - _SWEEPING) * (options.stages - n) / options.stages for n in (stage, stage + 1))
        _improve(
            u, samples, seen, camera, prior, confidence, options, stage, workers, part(progress, begin, end)
        )
    progress(Progress("solved", 1))
    return u.reshape(*low.shape[:2], *u.shape[1:])


def refined(samples: Samples, seen: Views, confidence: Confidence, workers: Workers) -> Samples:
    """Return the samples with disparities one Gauss-Newton step nearer to the least residuals in the other views.

    Parameters
    ----------
    seen
        What the camera sees of the estimate of every view, at every pixel.
    """
    position = samples.placement.position

    def one(view: int) -> Views:
        pull, stiffness = np.zeros_like(samples.low[view]), np.zeros_like(samples.low[view])
        for other in range(len(samples.low)):
            if other == view or np.abs(position[other] - position[view]).max() > _COMPARED + 1e-6:
                continue
            residual = samples.residual(seen[other], other, view)
            weight = samples.weight(residual, other, view, confidence)
            slope = samples.slope(seen[other], other, view, residual)
            kernels.add_steps(residual, slope, weight, pull, stiffness)
        return moved(samples.disparity[view], pull, stiffness)

    disparity = np.stack(workers.map(one, range(len(samples.low))))
    return replace(samples, disparity=disparity)


def _improve(
    u: Views,
    samples: Samples,
    seen: Views,
    camera: Camera,
    prior: Prior,
    confidence: Confidence,
    options: SharpParams,
    stage: int,
    workers: Workers,
    progress: ProgressCallback,
) -> None:
    """Solve every view anew from the samples of all, weighed by how well they fit the estimate u; into u."""
    # the first weights come from an interpolation: fewer views, the near ones, and one round are better then
    heard = options.neighbours if stage else max(options.neighbours // 2, 1)
    rounds = options.prior_rounds if stage else 1
    parts = blocks((u.shape[1], u.shape[2]), camera)
    blurs = {block.size: camera.dense_map(block.size) for block in parts}
    done = count(1)

    def weights_for(view: int) -> dict[int, Views]:
        weights = {view: np.ones(samples.low.shape[1:], np.float32)}
        for other in samples.placement.nearest(view, heard)[1:]:
            residual = samples.residual(seen[view], view, other)
            weights[other] = samples.weight(residual, view, other, confidence)
        return weights

    def one(view: int) -> None:
        weights = weights_for(view)
        solved = np.empty_like(u[view])
        for block in parts:
            stencil, spread = normal_equations(samples, weights, view, block)
            blur = blurs[block.size]
            right_side = blur.adjoint(spread)[np.newaxis]
            x = np.ascontiguousarray(u[view][block.place])[np.newaxis]
            for _ in range(rounds):
                problem = problem_at(x[0], stencil, blur, prior)
                x = conjugate_gradient(
                    lambda image, out: problem.apply(image[0], out[0]),  # noqa: B023
                    right_side,
                    x,
                    tolerance=options.solve_tolerance,
                    iterations=options.solve_steps,
                ).x
            solved[block.kept] = x[0][block.inner]
        np.clip(solved, 0, 1, out=u[view])  # no other view is solved from u itself, only from `seen`
        progress(Progress("solving views", next(done) / len(u)))

    workers.map(one, range(len(u)))
