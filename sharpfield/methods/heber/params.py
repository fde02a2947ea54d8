"""The options of `heber`, what it needs for a light field, and the method as the catalogue knows it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from sharpfield.contract import Method, Need, Run
from sharpfield.errors import InputError, OptionError

# views that are at work at a time, at most: what bounds memory on machines of many processors
AT_ONCE = 4

_LEAST_SIDE = 8  # of a high-resolution view
_REST = 24  # planes of a view at work beside those of its stack
_BORDER = 24  # how far smoothing carries, HR pixels


def _shown(default: Any, text: str) -> Any:
    """Declare an option with its line in the command's help."""
    return field(default=default, metadata={"help": text})


@dataclass(frozen=True)
class HeberParams:
    """Options of `heber`.

    Parameters
    ----------
    disparity
        Smallest and largest disparity between adjacent views, in high-resolution pixels; no other is looked at.
    rank_weight
        θ, the weight of the nuclear norm: singular values below it are noise. In units of δ √n / a, n the samples of
        a view and a the factor: about what differences of δ in all samples, of random signs, would reach.
    sparse_threshold
        δ, the difference of light beyond which a difference is sparse.
    stack_tv_weight
        α, the weight of the total variation of the shared column.
    span
        Side of the window of views that a reference is stacked with.
    stack_distance
        How many steps of the grid away a view counts half.
    stack_agreement
        How far apart two disparities may place a sample in the reference, for it to count half; high-resolution pixels.
    step
        Step between the disparities of the sweep, low-resolution pixels.
    sweep_weight
        Weight of the costs of the sweep against the total variation of the disparities.
    stack_rounds
        How often the differences of all views are spread.
    tv_steps
        Steps on the shared column and its total variation in each round.
    """

    disparity: tuple[int, int] = _shown((-6, 6), "range LO:HI between adjacent views, HR pixels")
    rank_weight: float = _shown(0.1, "weight of the nuclear norm, in units of what noise would reach")
    sparse_threshold: float = _shown(0.02, "difference of light beyond which it is sparse")
    stack_tv_weight: float = _shown(0.001, "weight of the total variation of the shared column")
    span: int = _shown(5, "side of the window of views that are stacked")
    stack_distance: float = _shown(3.0, "steps of the grid at which a view counts half")
    stack_agreement: float = _shown(0.5, "error of a warp at which a sample counts half, HR pixels")
    step: float = _shown(0.125, "step between the disparities of the sweep, LR pixels")
    sweep_weight: float = _shown(20.0, "weight of the sweep's costs against the total variation of the map")
    stack_rounds: int = _shown(14, "how often the differences of all views are spread")
    tv_steps: int = _shown(8, "steps on the shared column in each round")

    def __post_init__(self) -> None:
        low, high = self.disparity
        if not all(isinstance(bound, int) for bound in (low, high)):
            raise OptionError(f"disparity is two whole numbers LO:HI, not {low!r}:{high!r}")
        if low >= high:
            raise OptionError(f"disparity needs LO below HI; {low}:{high} is empty, try {high}:{low}")
        positive = ("rank_weight", "sparse_threshold", "stack_distance", "stack_agreement", "sweep_weight")
        for name, least in [*((name, "above 0") for name in positive), ("stack_tv_weight", "at least 0")]:
            value = getattr(self, name)
            if not (math.isfinite(value) and (value > 0 or (value == 0 and name == "stack_tv_weight"))):
                raise OptionError(f"{name} must be a number {least}, not {value}")
        if not 1 / 64 <= self.step <= 1:
            raise OptionError(f"step must be from 1/64 to 1 low-resolution pixel, not {self.step}")
        for name, fewest in (("span", 3), ("stack_rounds", 1), ("tv_steps", 1)):
            if getattr(self, name) < fewest:
                raise OptionError(f"{name} must be {fewest} or more, not {getattr(self, name)}")


def window_of(grid: tuple[int, ...], place: tuple[int, int], span: int) -> list[tuple[int, int]]:
    """Return the span x span views around a place, moved inwards where the grid ends; all, where it is smaller."""
    sides = []
    for length, middle in zip(grid, place, strict=True):
        side = min(span, length)
        first = min(max(middle - side // 2, 0), length - side)
        sides.append(range(first, first + side))
    return [(v, u) for v in sides[0] for u in sides[1]]


def plan(options: Any, grid: tuple[int, int], size_hr: tuple[int, int]) -> Need:
    """Tell what the method needs for a light field of that grid and high-resolution size."""
    params: HeberParams = options
    if min(grid) < 3:
        raise InputError(
            f"heber stacks views from all sides and needs a grid of at least 3x3 views, not {grid[0]}x{grid[1]}; take "
            "more views, or the method bicubic"
        )
    if min(size_hr) < _LEAST_SIDE:
        raise InputError(
            f"heber needs views of at least {_LEAST_SIDE} pixels a side after super-resolution, not "
            f"{size_hr[1]}x{size_hr[0]}; take larger views, or the method bicubic"
        )
    views = grid[0] * grid[1]
    stacked = min(params.span, grid[0]) * min(params.span, grid[1])
    farthest = max(map(abs, params.disparity)) * (min(params.span, max(grid)) - 1)
    # at work on a view: its stack, the weights of its samples (a quarter), and M, of full rank at the worst, before and
    # after a step; or, before that, the costs of the sweep (at low resolution: a quarter, and half as many steps)
    stack = stacked * 3.25 + _REST
    costs = ((params.disparity[1] - params.disparity[0]) / (2 * params.step) + _REST) / 4
    return Need(
        params,
        halo=farthest + _BORDER,
        bytes_per_pixel=4 * (2 + min(AT_ONCE, views) * max(stack, costs) / views),
    )


def _load() -> Run:
    from sharpfield.methods.heber.method import run

    return run


heber = Method(
    name="heber",
    title="views warped to each in turn as a stack of low rank plus sparse, at high resolution",
    reference="Heber & Pock, Shape from light field meets robust PCA, ECCV 2014",
    options=lambda: HeberParams,
    load=_load,
    plan=plan,
)
