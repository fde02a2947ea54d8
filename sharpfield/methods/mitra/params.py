"""The options of `mitra`, what it needs for a light field, and the method as the catalogue knows it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sharpfield.contract import Method, Need, Run
from sharpfield.errors import InputError, OptionError

# views that a patch spans, at least, in both directions of the grid
_LEAST_VIEWS = 3
_LEAST_SIDE = 8
# matrices, and the patches at work: much the same for every light field (factor 4, patches of 5x5 views)
_FIXED_BYTES = 60e6
_MANY_PIXELS = 2e7  # of all views; a tile that is planned for 2 GB has more


def _option(default: Any, text: str) -> Any:
    """Declare a field whose text the command line shows."""
    return field(default=default, metadata={"help": text})


@dataclass(frozen=True)
class MitraParams:
    """Options of `mitra`.

    Parameters
    ----------
    disparity
        Smallest and largest disparity between adjacent views that has a prior, in high-resolution pixels.
    disparity_step
        From one disparity to the next, high-resolution pixels.
    patch_side
        Side of a patch in a view, low-resolution pixels.
    patch_views
        Rows and columns of views that a patch spans, at most.
    patch_stride
        From one patch to the next, low-resolution pixels.
    subspace_rank
        Dimensions of the subspace of a disparity.
    noise_variance
        σ², as a part of the variance of a pixel of the prior.
    misfit
        What the subspace leaves of a sample, root mean square, at which a patch counts half in the average. A large
        one (1000, say) gives the plain average of the publication.
    """

    disparity: tuple[int, int] = _option((-6, 6), "range LO:HI between adjacent views, HR pixels")
    disparity_step: float = _option(0.2, "from one disparity to the next, HR pixels")
    patch_side: int = _option(4, "side of a patch in a view, LR pixels")
    patch_views: int = _option(5, "rows and columns of views that a patch spans, at most")
    patch_stride: int = _option(1, "from one patch to the next, LR pixels")
    subspace_rank: int = _option(24, "dimensions of the subspace of a disparity")
    noise_variance: float = _option(0.003, "variance of the noise, as a part of the prior's")
    misfit: float = _option(0.003, "what the subspace leaves of a patch that counts half in the average")

    def __post_init__(self) -> None:
        low, high = self.disparity
        if not (isinstance(low, int) and isinstance(high, int)):
            raise OptionError(f"disparity takes two whole numbers LO:HI, not {low!r}:{high!r}")
        if low >= high:
            raise OptionError(f"disparity LO:HI needs LO < HI, not {low}:{high}; did you mean {high}:{low}?")
        if not 0.05 <= self.disparity_step <= 1:
            raise OptionError(
                f"disparity_step is from 0.05 to 1 high-resolution pixel, not {self.disparity_step}"
            )
        for name, least, most in (("patch_side", 2, 8), ("patch_views", 3, 9)):
            value = getattr(self, name)
            if not (isinstance(value, int) and least <= value <= most):
                raise OptionError(f"{name} is a whole number from {least} to {most}, not {value}")
        if not (isinstance(self.patch_stride, int) and 1 <= self.patch_stride <= self.patch_side):
            raise OptionError(
                f"patch_stride is from 1 to the patch's {self.patch_side} pixels, not {self.patch_stride}"
            )
        if not (isinstance(self.subspace_rank, int) and self.subspace_rank >= 1):
            raise OptionError(f"subspace_rank must be at least 1, not {self.subspace_rank}")
        if not 0 < self.noise_variance < 1:
            raise OptionError(
                f"noise_variance must be between 0 and 1 (the variance of the prior), not {self.noise_variance}"
            )
        if not 0 < self.misfit < float("inf"):
            raise OptionError(f"misfit must be greater than 0, not {self.misfit}")


def plan(options: Any, grid: tuple[int, int], size_hr: tuple[int, int]) -> Need:
    """Tell what the method needs for a light field of that grid and high-resolution size."""
    params: MitraParams = options
    if min(grid) < _LEAST_VIEWS:
        raise InputError(
            f"mitra's patches span at least {_LEAST_VIEWS}x{_LEAST_VIEWS} views; {grid[0]}x{grid[1]} are too few; "
            "take more views, or the method bicubic"
        )
    if min(size_hr) < _LEAST_SIDE:
        raise InputError(
            f"views of {size_hr[1]}x{size_hr[0]} (after super-resolution) are too small for mitra; at least "
            f"{_LEAST_SIDE} pixels a side are needed"
        )
    pixels = min(grid[0] * grid[1] * size_hr[0] * size_hr[1], _MANY_PIXELS)
    # a pixel takes part in patches alone: 8 low-resolution pixels of any factor
    return Need(params, halo=2 * params.patch_side * 8, bytes_per_pixel=8 + min(_FIXED_BYTES / pixels, 500))


def _load() -> Run:
    from sharpfield.methods.mitra.method import run

    return run


mitra = Method(
    name="mitra",
    title="light field patches, one Gaussian prior for each disparity",
    reference="Mitra & Veeraraghavan, Light field denoising, light field superresolution and stereo camera based "
    "refocussing using a GMM light field patch prior, CVPR workshops 2012",
    options=lambda: MitraParams,
    load=_load,
    plan=plan,
)
