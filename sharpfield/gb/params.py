"""GBParams: every number of the paper's section VII, validated once, with the paper's schedule as a preset."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sharpfield.errors import OptionError


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
        λ₂ of eq. 4, the weight of the warping term.
    graph_weight
        λ₃ of eq. 4, the weight of the graph regularizer.
    iterations
        Outer iterations of Algorithm 1: graph and warps are built anew in each.
    start
        Interpolation that gives the first estimate.
    beta
        β, the step of the proximal point algorithm.
    proximal_steps
        At most so many proximal steps in an outer iteration.
    proximal_tolerance
        Stop when the root mean square change of a proximal step falls below this.
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
    beta: float = _option(40.0, "step β of the proximal point algorithm")
    proximal_steps: int = _option(1, "proximal steps an outer iteration, at most")
    proximal_tolerance: float = _option(1e-4, "stop when a proximal step changes less than this (RMS)")
    cg_tolerance: float = _option(1e-4, "relative residual at which conjugate gradient stops")
    cg_iterations: int = _option(25, "conjugate gradient steps a proximal step, at most")

    def __post_init__(self) -> None:
        low, high = self.disparity
        if not (isinstance(low, int) and isinstance(high, int)):
            raise OptionError(f"disparity takes two whole numbers LO:HI, not {low!r}:{high!r}")
        if low >= high:
            raise OptionError(f"disparity LO:HI needs LO < HI, not {low}:{high}; did you mean {high}:{low}?")
        if high - low > 254:
            raise OptionError(
                f"disparity {low}:{high} spans {high - low + 1} pixels; at most 255 can be searched"
            )
        if self.patch < 1 or self.patch % 2 == 0 or self.patch > 31:
            raise OptionError(f"patch is an odd number from 1 to 31, not {self.patch}")
        for name in ("sigma", "beta", "proximal_tolerance", "cg_tolerance"):
            if not getattr(self, name) > 0:
                raise OptionError(f"{name} must be greater than 0, not {getattr(self, name)}")
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


# the paper's own schedule: the proximal point algorithm with beta = 1 until it hardly moves
PRESETS: dict[str, dict[str, Any]] = {
    "fast": {},
    "paper": {
        "beta": 1.0,
        "proximal_steps": 200,
        "proximal_tolerance": 1e-4,
        "cg_tolerance": 1e-6,
        "cg_iterations": 20,
    },
}
