"""Solvers of quadratic problems that are known only by what they do to a vector.

Vectors are float32 arrays of any shape, split along their first axis over the threads; sums are in double precision
and added in the order of that axis, so any number of threads gives the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sharpfield.kernels import add_scaled_dot, descend, dot, scale_and_add
from sharpfield.parallel import Workers

Vector = NDArray[np.float32]
# apply(x, out) writes P x into out
Apply = Callable[[Vector, Vector], None]
# told after every proximal step: the part of the work that is done, about
Report = Callable[[float], None]


@dataclass(frozen=True)
class Solution:
    """What a solver found.

    Parameters
    ----------
    x
        The solution.
    iterations
        Steps of conjugate gradient that it took.
    residual
        Of conjugate gradient: ||b - A x|| / ||b|| at the end (by its recurrence). Of the proximal point
        algorithm: the root mean square of the gradient.
    converged
        Whether the tolerance was met, rather than the limit of steps.
    steps
        Proximal steps (1 for plain conjugate gradient).
    """

    x: Vector
    iterations: int
    residual: float
    converged: bool
    steps: int = 1


class Room:
    """The vectors that conjugate gradient works in, for one who calls it many times.

    Each new vector would be memory that the system has to clear first.

    Parameters
    ----------
    like
        A vector of the same shape; not changed.
    """

    def __init__(self, like: Vector) -> None:
        self.x, self.image, self.residual, self.direction = (
            np.empty(like.shape, np.float32) for _ in range(4)
        )


def conjugate_gradient(
    apply: Apply,
    right_side: Vector,
    start: Vector,
    *,
    shift: float = 0.0,
    tolerance: float = 1e-6,
    iterations: int = 100,
    least: int = 0,
    workers: Workers | None = None,
    room: Room | None = None,
) -> Solution:
    """Solve (A + shift I) x = b for a symmetric positive definite A + shift I, from `start`.

    Stops when the residual's norm is at most `tolerance` times that of b (but not before `least` steps), or after
    `iterations` steps.

    Parameters
    ----------
    apply
        apply(x, out) writes A x into out.
    right_side
        b; not changed.
    start
        The first x; not changed.
    room
        What to work in; `room.x` is the solution afterwards. Made when None.
    """
    workers = workers or Workers(1)
    parts = range(start.shape[0])
    room = room or Room(start)
    x, image, residual, direction = room.x, room.image, room.residual, room.direction
    workers.map(lambda i: np.copyto(x[i], start[i]), parts)
    apply(x, image)

    def first_residual(i: int) -> None:
        np.subtract(right_side[i], image[i], out=residual[i])
        if shift:
            residual[i] -= np.float32(shift) * x[i]
        direction[i] = residual[i]

    workers.map(first_residual, parts)
    xs, residuals, directions, images = (_rows(a) for a in (x, residual, direction, image))
    scale = math.sqrt(_norm2(_rows(np.ascontiguousarray(right_side)), workers)) or 1.0
    norm2 = _norm2(residuals, workers)
    done = 0
    while done < iterations and (math.sqrt(norm2) > tolerance * scale or (done < least and norm2 > 0)):
        apply(direction, image)
        curvature = sum(workers.map(lambda i: add_scaled_dot(images[i], directions[i], shift), parts))
        if not curvature > 0:  # rounding has used the residual up, or A is not positive definite
            break
        step = norm2 / curvature
        new_norm2 = sum(
            workers.map(lambda i: descend(xs[i], residuals[i], directions[i], images[i], step), parts)  # noqa: B023
        )
        ratio = new_norm2 / norm2
        workers.map(lambda i: scale_and_add(directions[i], residuals[i], ratio), parts)  # noqa: B023
        norm2 = new_norm2
        done += 1
    relative = math.sqrt(norm2) / scale
    return Solution(x, done, relative, relative <= tolerance)


def proximal_point(
    apply: Apply,
    linear: Vector,
    start: Vector,
    *,
    beta: float,
    growth: float = 1.0,
    steps: int,
    tolerance: float,
    cg_tolerance: float,
    cg_iterations: int,
    workers: Workers | None = None,
    report: Report | None = None,
) -> Solution:
    """Minimise xᵀ P x / 2 + qᵀ x by the proximal point algorithm (paper, section V-C, Algorithm 1, lines 7-11).

    Each step solves (P + I / β) z' = z / β - q by conjugate gradient from z, until the root mean square of
    (z' - z) / β, which is the gradient at z', falls below `tolerance`, or `steps` are done. P may be singular. Where
    the steps stop is part of the method: a regularization that the exact minimiser lacks.

    Parameters
    ----------
    apply
        apply(x, out) writes P x into out.
    linear
        q.
    growth
        What β is multiplied by after each step, at most: it grows no further than to where the gradient should
        meet the tolerance. With 1 it stays, as in the paper.
    start
        The first z.
    """
    workers = workers or Workers(1)
    z = start
    total = 0
    gradient = math.inf
    elapsed = 0.0
    last = (math.inf, 0.0)
    done = 0
    right_side = np.empty_like(linear)
    room = Room(start)

    def form_right_side(i: int) -> None:
        np.multiply(z[i], np.float32(1 / beta), out=right_side[i])
        right_side[i] -= linear[i]

    def squared_change(i: int) -> float:
        difference = np.ascontiguousarray(new.x[i] - z[i]).reshape(-1)
        return float(dot(difference, difference))

    def remaining(gradient: float, elapsed: float) -> float:
        # the gradient falls about as a power of the sum of all β: what of it is left until it meets the tolerance
        if not (last[0] > gradient > tolerance and elapsed > last[1] > 0):
            return math.inf
        power = math.log(last[0] / gradient) / math.log1p((elapsed - last[1]) / last[1])
        # a gradient that hardly falls would take more than a float can hold
        times = math.exp(min(math.log(gradient / tolerance) / max(power, 1e-9), 300.0))
        return max(elapsed * (times - 1), beta / 8)

    while done < steps and gradient >= tolerance:
        workers.map(form_right_side, range(len(z)))
        new = conjugate_gradient(
            apply,
            right_side,
            z,
            shift=1 / beta,
            tolerance=cg_tolerance,
            iterations=cg_iterations,
            least=1,  # without a step there would be no gradient to stop by
            workers=workers,
            room=room,
        )
        gradient = math.sqrt(sum(workers.map(squared_change, range(len(z)))) / z.size) / beta
        # the next step is taken from here, in what the last one was taken from
        z, room.x = new.x, np.empty_like(new.x) if z is start else z
        elapsed += beta
        beta = min(beta * growth, remaining(gradient, elapsed)) if growth > 1 else beta
        last = gradient, elapsed
        total += new.iterations
        done += 1
        if report is not None:
            # the gradient shrinks about geometrically: its logarithm tells how far the way is
            way = math.log(max(gradient, tolerance) / 0.02) / math.log(min(tolerance, 0.01) / 0.02)
            report(max(done / steps, min(max(way, 0.0), 1.0)))
    return Solution(z, total, gradient, gradient < tolerance, done)


def _rows(array: Vector) -> Vector:
    return array.reshape(array.shape[0], -1)


def _norm2(rows: Vector, workers: Workers) -> float:
    return sum(workers.map(lambda i: float(dot(rows[i], rows[i])), range(len(rows))))
