"""GBParams: every number of the paper's section VII, validated once, with the paper's schedule as a preset."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from sharpfield.contract import Need
from sharpfield.errors import InputError, OptionError


def _option(default: Any, text: str) -> Any:
    """Declare a field whose text the command line shows."""
    return field(default=default, metadata={"help": text})


@dataclass(frozen=True)
class GBParams:
    """Options of GB-SQ and GB-DR (paper, section VII-A); the class defaults are the preset `fast`.

    Parameters
    ----------
    disparity
        Search window: smallest and largest disparity between adjacent views, in high-resolution pixels. The
        paper's odd window W is (-(W // 2), W // 2).
    patch
        Side of the square patch 𝒫, odd.
    sigma
        σ of eq. 10 and 13, on the plain sum of squares over a patch of intensities in [0, 1].
    data_weight_warp
        λ₂ of eq. 3, the weight of the warping term.
    graph_weight
        λ₃ of eq. 3, the weight of the graph regularizer.
    iterations
        Outer iterations of Algorithm 1: graph and warps are built anew in each.
    start
        Interpolation that gives the first estimate.
    beta
        β, the step of the proximal point algorithm.
    beta_growth
        What β is multiplied by, at most, after each proximal step; 1 in the paper.
    proximal_steps
        At most so many proximal steps in an outer iteration.
    proximal_tolerance
        Stop when the root mean square of the gradient, which is a proximal step's change over β, falls below this.
    cg_tolerance
        Conjugate gradient stops when its residual falls below this part of the right side.
    cg_iterations
        At most so many conjugate gradient steps in a proximal step.
    """

    disparity: tuple[int, int] = _option((-6, 6), "search window LO:HI between adjacent views, HR pixels")
    patch: int = _option(7, "side of a patch, odd")
    sigma: float = _option(0.7229, "similarity scale σ (eq. 10, 13)")
    data_weight_warp: float = _option(0.2, "weight λ₂ of the warping term")
    graph_weight: float = _option(0.0055, "weight λ₃ of the graph regularizer")
    iterations: int = _option(2, "outer iterations of Algorithm 1")
    start: str = _option("bilinear", "first estimate: bilinear or bicubic")
    beta: float = _option(10.0, "step β of the proximal point algorithm")
    beta_growth: float = _option(2.0, "factor by which β grows after each proximal step")
    proximal_steps: int = _option(20, "proximal steps an outer iteration, at most")
    proximal_tolerance: float = _option(1e-4, "stop when the gradient (RMS) falls below this")
    cg_tolerance: float = _option(2e-4, "relative residual at which conjugate gradient stops")
    cg_iterations: int = _option(30, "conjugate gradient steps a proximal step, at most")

    def __post_init__(self) -> None:
        low, high = self.disparity
        if not (isinstance(low, int) and isinstance(high, int)):
            raise OptionError(f"disparity takes two whole numbers LO:HI, not {low!r}:{high!r}")
        if low >= high:
            meant = f"{high}:{low}" if low > high else f"{low - 1}:{high + 1}"
            raise OptionError(f"disparity LO:HI needs LO < HI, not {low}:{high}; did you mean {meant}?")
        if high - low > 254:
            raise OptionError(
                f"disparity {low}:{high} spans {high - low + 1} pixels; at most 255 can be searched"
            )
        if self.patch < 1 or self.patch % 2 == 0 or self.patch > 31:
            raise OptionError(f"patch is an odd number from 1 to 31, not {self.patch}")
        for name in ("sigma", "beta", "proximal_tolerance", "cg_tolerance"):
            if not getattr(self, name) > 0:
                raise OptionError(f"{name} must be greater than 0, not {getattr(self, name)}")
        if not self.beta_growth >= 1:
            raise OptionError(f"beta_growth must be at least 1, not {self.beta_growth}")
        for name in ("data_weight_warp", "graph_weight"):
            if not getattr(self, name) >= 0:
                raise OptionError(f"{name} must be 0 or greater, not {getattr(self, name)}")
        for name in ("iterations", "proximal_steps", "cg_iterations"):
            if getattr(self, name) < 1:
                raise OptionError(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.start not in ("bilinear", "bicubic"):
            raise OptionError(f"start is bilinear or bicubic, not {self.start!r}")

    @property
    def window(self) -> int:
        """W: how many whole disparities the window holds."""
        return self.disparity[1] - self.disparity[0] + 1

    @property
    def radius(self) -> int:
        """Pixels from the center of a patch to its border."""
        return self.patch // 2

    @property
    def reach(self) -> int:
        """How far from a pixel its matches can lie, in pixels."""
        return max(abs(self.disparity[0]), abs(self.disparity[1]))


# `fast` takes a few growing steps to where the gradient is as small as where the paper's schedule stops; the paper's
# own schedule takes dozens of steps with beta = 1
PRESETS: dict[str, dict[str, Any]] = {
    "fast": {},
    "paper": {
        "beta": 1.0,
        "beta_growth": 1.0,
        "proximal_steps": 200,
        "proximal_tolerance": 1e-4,
        "cg_tolerance": 1e-6,
        "cg_iterations": 20,
    },
}

# where a light field is done in blocks that know nothing of each other: the same steps in each, about as far as `fast`
# goes, since a block of flat walls would stop earlier than one of foliage
EVEN: dict[str, Any] = {"beta": 7.0, "proximal_steps": 3, "proximal_tolerance": 1e-9}


def plan(params: GBParams, grid: tuple[int, int], size_hr: tuple[int, int], *, direct: bool = False) -> Need:
    """Tell what GB needs for a light field of that grid and high-resolution size.

    Views smaller than the window cannot hold its matches: the window shrinks to what they can. Views smaller than
    a patch are refused.
    """
    smallest = min(size_hr)
    if grid[0] * grid[1] == 1:
        raise InputError(
            "one view is no light field: GB needs neighbouring views; use the method bicubic, or give the whole grid"
        )
    if smallest < params.patch:
        raise InputError(
            f"views of {size_hr[1]}x{size_hr[0]} (after super-resolution) are smaller than a patch; "
            f"at least {params.patch} pixels a side are needed, or a smaller --patch"
        )
    low, high = max(params.disparity[0], 1 - smallest), min(params.disparity[1], smallest - 1)
    notes: tuple[str, ...] = ()
    if low >= high:
        raise OptionError(
            f"disparity {params.disparity[0]}:{params.disparity[1]} leads out of views of {size_hr[1]}x{size_hr[0]}"
        )
    if (low, high) != params.disparity:
        notes = (
            f"search window {params.disparity[0]}:{params.disparity[1]} shrunk to {low}:{high}, all that views of "
            f"{size_hr[1]}x{size_hr[0]} hold",
        )
        params = replace(params, disparity=(low, high))
    rows, columns = grid
    adjacent = 2 * (rows * (columns - 1) + columns * (rows - 1))
    diagonal = 4 * (rows - 1) * (columns - 1)
    code = 1 if params.window**2 <= 256 else 2
    # two kept edges along a row or column (one-byte codes), four towards a corner
    graph = adjacent * 2 * (4 + 1) + diagonal * 4 * (4 + code)
    warps = 4 * (adjacent + diagonal) if direct else 5 * adjacent
    vectors = 8 * 4
    return Need(params, notes, 3 * params.reach, vectors + (graph + warps) / (rows * columns))
