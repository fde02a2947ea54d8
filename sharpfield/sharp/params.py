"""SharpParams: every number of `sharp`, validated once; what the method needs for a light field."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from sharpfield.contract import Need
from sharpfield.errors import InputError, OptionError

_LEAST_SIDE = 8
_NOISE_LIMIT = 2.0  # deviations of noise by which the limit of the sweep is widened
# estimate of all views and what the camera sees of it; at low resolution, of a quarter of the pixels at most, maps
# of the sweep (six) and of the samples (five). What a view takes that is being solved hardly grows with the views.
_BYTES_A_PIXEL = 4 * 2 + 12


def _option(default: Any, text: str) -> Any:
    """Declare a field whose text the command line shows."""
    return field(default=default, metadata={"help": text})


@dataclass(frozen=True)
class SharpParams:
    """Options of `sharp`.

    Parameters
    ----------
    disparity
        Search window: smallest and largest disparity between adjacent views, in high-resolution pixels.
    stages
        How often weights, disparities and views are made anew.
    first_residual, last_residual
        Scale of the residual at which a sample counts half, in the first stage and in the last; geometric between.
    prior_rounds
        How often the weights of the prior are made anew in a stage.
    bend_weight
        λ of the second differences along rows and columns, a tenth of it along diagonals, at factor 2 for a view of
        which 17 tell; it goes with their number and with 1 / factor².
    bend_knee
        k of the prior: differences beyond it are edges.
    slope_weight
        λ of the first differences, for noise at which the bend weight doubles.
    reference_noise
        Standard deviation of noise at which the weight of the prior doubles; it grows with the square of the noise.
    noise
        Standard deviation of the noise of the views; measured when negative.
    disparity_agreement
        Difference of two disparities at which a sample counts half, high-resolution pixels.
    view_distance
        How fast a view counts less with its distance: 1 / (1 + view_distance steps²).
    neighbours
        How many other views, the nearest, tell about a view.
    calibrate
        Whether small translations of single views are measured and taken into account.
    sweep_step
        Step of the sweep over disparities, low-resolution pixels.
    sweep_blur
        Blur of the views before they are compared, low-resolution pixels: aliasing does not match.
    sweep_limit
        Largest difference of light that counts in a comparison.
    solve_tolerance
        Conjugate gradient stops when its residual falls below this part of the right side.
    solve_steps
        At most so many steps of conjugate gradient a round.
    """

    disparity: tuple[int, int] = _option((-6, 6), "search window LO:HI between adjacent views, HR pixels")
    stages: int = _option(3, "times that weights, disparities and views are made anew")
    first_residual: float = _option(0.04, "residual at which a sample counts half, first stage")
    last_residual: float = _option(0.008, "residual at which a sample counts half, last stage")
    prior_rounds: int = _option(2, "times that the prior's weights are made anew in a stage")
    bend_weight: float = _option(0.02, "weight of second differences")
    bend_knee: float = _option(0.03, "second difference beyond which there is an edge")
    slope_weight: float = _option(0.02, "weight of first differences at the reference noise")
    reference_noise: float = _option(0.0095, "noise at which the prior's weight doubles")
    noise: float = _option(-1.0, "standard deviation of the views' noise (1 is white); negative: measured")
    disparity_agreement: float = _option(
        0.2, "difference of disparities at which a sample counts half, HR pixels"
    )
    view_distance: float = _option(0.0625, "how fast views count less with their distance on the grid")
    neighbours: int = _option(16, "how many other views, the nearest, tell about a view")
    calibrate: bool = _option(True, "measure small translations of single views")
    sweep_step: float = _option(0.05, "step of the sweep over disparities, LR pixels")
    sweep_blur: float = _option(0.8, "blur of the views before they are compared, LR pixels")
    sweep_limit: float = _option(0.05, "largest difference of light that counts in a comparison")
    solve_tolerance: float = _option(1e-5, "relative residual at which conjugate gradient stops")
    solve_steps: int = _option(6, "conjugate gradient steps a round, at most")

    def __post_init__(self) -> None:
        low, high = self.disparity
        if not (isinstance(low, int) and isinstance(high, int)):
            raise OptionError(f"disparity takes two whole numbers LO:HI, not {low!r}:{high!r}")
        if low >= high:
            meant = f"; did you mean {high}:{low}?" if low > high else ""
            raise OptionError(f"disparity LO:HI needs LO < HI, not {low}:{high}{meant}")
        if high - low > 254:
            raise OptionError(
                f"disparity {low}:{high} spans {high - low + 1} pixels; at most 255 can be searched"
            )
        positive = ("first_residual", "last_residual", "bend_knee", "reference_noise", "disparity_agreement")
        for name in (*positive, "sweep_limit", "solve_tolerance"):
            if not getattr(self, name) > 0:
                raise OptionError(f"{name} must be greater than 0, not {getattr(self, name)}")
        for name in ("bend_weight", "slope_weight", "view_distance", "sweep_blur"):
            if not getattr(self, name) >= 0:
                raise OptionError(f"{name} must be 0 or greater, not {getattr(self, name)}")
        for name in ("stages", "prior_rounds", "neighbours", "solve_steps"):
            if getattr(self, name) < 1:
                raise OptionError(f"{name} must be at least 1, not {getattr(self, name)}")
        if not 1 / 256 <= self.sweep_step <= 1:
            raise OptionError(f"sweep_step is from 1/256 to 1 low-resolution pixel, not {self.sweep_step}")
        if not self.noise < 1:
            raise OptionError(f"noise is a part of the white level, below 1, not {self.noise}")

    def limit_at(self, noise: float) -> float:
        """Return the largest difference of light that counts in a comparison of views of that noise."""
        return self.sweep_limit + _NOISE_LIMIT * max(noise - self.reference_noise, 0)


def plan(params: SharpParams, grid: tuple[int, int], size_hr: tuple[int, int]) -> Need:
    """Tell what `sharp` needs for a light field of that grid and high-resolution size."""
    views = grid[0] * grid[1]
    if views == 1:
        raise InputError(
            "one view is no light field: sharp needs neighbouring views; use the method bicubic, or give the whole "
            "grid"
        )
    if min(size_hr) < _LEAST_SIDE:
        raise InputError(
            f"views of {size_hr[1]}x{size_hr[0]} (after super-resolution) are too small for sharp; at least "
            f"{_LEAST_SIDE} pixels a side are needed"
        )
    low, high = max(params.disparity[0], 1 - min(size_hr)), min(params.disparity[1], min(size_hr) - 1)
    given, held = f"{params.disparity[0]}:{params.disparity[1]}", f"{size_hr[1]}x{size_hr[0]}"
    if low >= high:
        raise OptionError(f"disparity {given} leads out of views of {held}")
    notes: tuple[str, ...] = ()
    if (low, high) != params.disparity:
        notes = (f"search window {given} shrunk to {low}:{high}, all that views of {held} hold",)
        params = replace(params, disparity=(low, high))
    reach = max(abs(low), abs(high))
    farthest = reach * min(4, max(grid) - 1)
    # weights of the samples that tell about a view: for as many views as there are threads, eight at most, say
    weights = 8 * (min(params.neighbours, views - 1) + 1) / views
    return Need(params, notes, halo=farthest + 24, bytes_per_pixel=_BYTES_A_PIXEL + weights)
