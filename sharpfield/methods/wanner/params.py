"""The options of `wanner`, what it needs for a light field, and the method as the catalogue knows it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sharpfield.contract import Method, Need, Run
from sharpfield.errors import InputError, OptionError

# views that are solved at a time, at most: what bounds memory on machines of many processors
AT_ONCE = 8

# views that a structure tensor looks at, at least, along one direction of the grid
_LEAST_VIEWS = 3
_LEAST_SIDE = 8
# the normal equations of a view (25 products), twelve vectors of its size
_BYTES_A_VIEW = 4 * (25 + 12)


def _option(default: Any, text: str) -> Any:
    """Declare a field whose text the command line shows."""
    return field(default=default, metadata={"help": text})


@dataclass(frozen=True)
class WannerParams:
    """Options of `wanner`.

    Parameters
    ----------
    disparity
        Smallest and largest disparity between adjacent views, in high-resolution pixels; what lies outside is an
        outlier.
    tv_weight
        λ, the weight of the total variation of a view.
    agreement
        Difference of two disparities at which a sample counts half, high-resolution pixels.
    contrast
        Difference of light at which a sample counts half.
    stretch
        Change of the distance between neighbouring samples, as a part of it, at which a sample counts half.
    reach
        How many steps of the grid away a view may be to be projected into another, along either axis.
    shear
        Step between the shears of an epipolar image, in pixels of the low resolution.
    inner_scale
        Standard deviation of the blur of the views before derivatives are taken, low-resolution pixels.
    outer_scale
        Standard deviation of the average of the tensors, low-resolution pixels.
    disparity_weight
        Weight of a coherent disparity against the total variation of the disparities.
    fista_steps
        Steps of FISTA.
    dual_steps
        Steps on the dual field of the total variation in each of them.
    """

    disparity: tuple[int, int] = _option((-6, 6), "range LO:HI between adjacent views, HR pixels")
    tv_weight: float = _option(0.003, "weight λ of the total variation of a view")
    agreement: float = _option(0.2, "difference of disparities at which a sample counts half, HR pixels")
    contrast: float = _option(0.03, "difference of light at which a sample counts half")
    stretch: float = _option(0.1, "stretch of the warp at which a sample counts half")
    reach: int = _option(4, "how many steps of the grid away a view may be")
    shear: float = _option(0.0625, "step between shears of an epipolar image, LR pixels")
    inner_scale: float = _option(0.6, "blur before derivatives are taken, LR pixels")
    outer_scale: float = _option(1.0, "averaging of structure tensors, LR pixels")
    disparity_weight: float = _option(1.0, "weight of a disparity against the total variation of the map")
    fista_steps: int = _option(40, "steps of FISTA")
    dual_steps: int = _option(3, "steps on the dual field in each of them")

    def __post_init__(self) -> None:
        low, high = self.disparity
        if not (isinstance(low, int) and isinstance(high, int)):
            raise OptionError(f"disparity takes two whole numbers LO:HI, not {low!r}:{high!r}")
        if low >= high:
            meant = f"{high}:{low}" if low > high else f"{low - 1}:{high + 1}"
            raise OptionError(f"disparity LO:HI needs LO < HI, not {low}:{high}; did you mean {meant}?")
        for name in ("agreement", "contrast", "stretch", "inner_scale", "outer_scale", "disparity_weight"):
            if not getattr(self, name) > 0:
                raise OptionError(f"{name} must be greater than 0, not {getattr(self, name)}")
        if not self.tv_weight >= 0:
            raise OptionError(f"tv_weight must be 0 or greater, not {self.tv_weight}")
        if not 1 / 256 <= self.shear <= 1:
            raise OptionError(f"shear is from 1/256 to 1 low-resolution pixel, not {self.shear}")
        for name in ("reach", "fista_steps", "dual_steps"):
            if getattr(self, name) < 1:
                raise OptionError(f"{name} must be at least 1, not {getattr(self, name)}")


def plan(options: Any, grid: tuple[int, int], size_hr: tuple[int, int]) -> Need:
    """Tell what the method needs for a light field of that grid and high-resolution size."""
    params: WannerParams = options
    if max(grid) < _LEAST_VIEWS:
        raise InputError(
            f"wanner reads disparities off rows or columns of at least {_LEAST_VIEWS} views; {grid[0]}x{grid[1]} are "
            "too few; take more views, or the method bicubic"
        )
    if min(size_hr) < _LEAST_SIDE:
        raise InputError(
            f"views of {size_hr[1]}x{size_hr[0]} (after super-resolution) are too small for wanner; at least "
            f"{_LEAST_SIDE} pixels a side are needed"
        )
    views = grid[0] * grid[1]
    farthest = max(abs(bound) for bound in params.disparity) * min(params.reach, max(grid) - 1)
    # result and low-resolution maps of all views; beside them the views that are being solved
    bytes_per_pixel = 14 + min(AT_ONCE, views) * _BYTES_A_VIEW / views
    return Need(params, halo=farthest + 24, bytes_per_pixel=bytes_per_pixel)


def _load() -> Run:
    from sharpfield.methods.wanner.method import run

    return run


wanner = Method(
    name="wanner",
    title="disparities from epipolar images, all views projected into each, total variation",
    reference="Wanner & Goldluecke, Spatial and angular variational super-resolution of 4D light fields, ECCV 2012",
    options=lambda: WannerParams,
    load=_load,
    plan=plan,
)
