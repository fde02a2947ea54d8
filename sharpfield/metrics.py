"""Scores of a result against the truth: PSNR and SSIM of every view, then mean, variance and worst view.

The protocol of the paper's tables is the default: peak 1, luma L before any 8-bit rounding, a 15-pixel border
removed, one figure a view; never pooled over views.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import correlate1d

from sharpfield import color
from sharpfield.errors import InputError, OptionError
from sharpfield.lightfield import LightField

Scored = LightField | NDArray[Any]
PerView = NDArray[np.float64]

_WINDOW = 11  # Wang et al. 2004: 11 x 11 taps of a Gaussian of 1.5 pixels
_SIGMA = 1.5


@dataclass(frozen=True, eq=False)
class Scores:
    """PSNR (dB) and SSIM of every view (v, u).

    A view equal to the truth has an infinite PSNR: then the mean is infinite as well, and the variance is that
    of the other views.
    """

    psnr: PerView
    ssim: PerView

    @property
    def psnr_mean(self) -> float:
        """Mean over the views of their PSNR in dB."""
        return float(self.psnr.mean())

    @property
    def psnr_variance(self) -> float:
        """Population variance over the views of their PSNR, in dB²."""
        return _variance(self.psnr)

    @property
    def psnr_worst(self) -> tuple[float, tuple[int, int]]:
        """The smallest PSNR and the view (v, u) that has it."""
        return _worst(self.psnr)

    @property
    def ssim_mean(self) -> float:
        """Mean over the views of their SSIM."""
        return float(self.ssim.mean())

    @property
    def ssim_variance(self) -> float:
        """Population variance over the views of their SSIM."""
        return _variance(self.ssim)

    @property
    def ssim_worst(self) -> tuple[float, tuple[int, int]]:
        """The smallest SSIM and the view (v, u) that has it."""
        return _worst(self.ssim)

    def to_json(self) -> dict[str, Any]:
        """Return what `json.dumps` takes; an infinite PSNR is the string "inf", for JSON has no infinity."""
        report: dict[str, Any] = {}
        for name, views in (("psnr", self.psnr), ("ssim", self.ssim)):
            value, (v, u) = _worst(views)
            report[name] = {
                "mean": _jsonable(float(views.mean())),
                "variance": _variance(views),
                "worst": {"value": _jsonable(value), "view": [v, u]},
                "views": [[_jsonable(float(one)) for one in row] for row in views],
            }
        return report


def psnr(result: Scored, truth: Scored, *, border: int = 15, luma: str = "L", peak: float = 1.0) -> PerView:
    """10 log10(peak² / mean squared error) of every view's luma, in dB.

    Parameters
    ----------
    result, truth
        Light fields, or arrays (v, u, y, x, c) or (v, u, y, x); uint8 and uint16 count as [0, 1].
    border
        How many pixels to leave out on each side.
    luma
        `L` (the paper's) or `Y601` (BT.601 studio range); grey counts as R = G = B.
    peak
        The white level.

    Returns
    -------
    psnr
        Array (v, u) float64; infinite where the views are equal.
    """
    if not (math.isfinite(peak) and peak > 0):
        raise OptionError(f"peak must be above 0, not {peak!r}")
    scores = np.empty(_checked(result, truth, border, luma, smallest=1))
    for place, ours, theirs in _luma_pairs(result, truth, border, luma):
        error = float(np.mean(np.square(ours - theirs)))
        scores[place] = 10 * math.log10(peak * peak / error) if error > 0 else math.inf
    return scores


def ssim(
    result: Scored, truth: Scored, *, border: int = 15, luma: str = "L", data_range: float = 1.0
) -> PerView:
    """Structural similarity of every view's luma (Wang et al. 2004, eq. 13), averaged over the view.

    The window is a Gaussian of 1.5 pixels cut to 11 x 11 taps, the moments are the weighted population ones, and
    only windows that lie inside the image count: as scikit-image with `gaussian_weights=True, sigma=1.5,
    use_sample_covariance=False`.

    Parameters
    ----------
    result, truth, border, luma
        As for `psnr`.
    data_range
        L in the constants (0.01 L)² and (0.03 L)²: 1 for [0, 1]; some benchmarks say 2.

    Returns
    -------
    ssim
        Array (v, u) float64; 1 where the views are equal.
    """
    if not (math.isfinite(data_range) and data_range > 0):
        raise OptionError(f"data_range must be above 0, not {data_range!r}")
    scores = np.empty(_checked(result, truth, border, luma, smallest=_WINDOW))
    for place, ours, theirs in _luma_pairs(result, truth, border, luma):
        scores[place] = _ssim_of_planes(ours, theirs, data_range)
    return scores


def evaluate(result: Scored, truth: Scored, *, border: int = 15, luma: str = "L") -> Scores:
    """Return the PSNR and the SSIM of every view; see `psnr` and `ssim`."""
    return Scores(
        psnr(result, truth, border=border, luma=luma), ssim(result, truth, border=border, luma=luma)
    )


def _ssim_of_planes(a: NDArray[np.float64], b: NDArray[np.float64], data_range: float) -> float:
    c1, c2 = (0.01 * data_range) ** 2, (0.03 * data_range) ** 2
    mean_a, mean_b = _weighted(a), _weighted(b)
    variance_a = _weighted(a * a) - mean_a * mean_a
    variance_b = _weighted(b * b) - mean_b * mean_b
    covariance = _weighted(a * b) - mean_a * mean_b
    similarity = (2 * mean_a * mean_b + c1) * (2 * covariance + c2)
    similarity /= (mean_a**2 + mean_b**2 + c1) * (variance_a + variance_b + c2)
    return float(similarity.mean())


def _weighted(plane: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the Gaussian-weighted mean in every window that lies inside the plane."""
    reach = _WINDOW // 2
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / _SIGMA) ** 2)
    weights /= weights.sum()
    rows = correlate1d(plane, weights, axis=0)[reach:-reach]
    return np.asarray(correlate1d(rows, weights, axis=1)[:, reach:-reach])


def _checked(result: Scored, truth: Scored, border: int, luma: str, smallest: int) -> tuple[int, int]:
    """Return the grid that both have, or say how they differ."""
    if isinstance(border, bool) or not isinstance(border, (int, np.integer)) or border < 0:
        raise OptionError(f"border must be a whole number of pixels of at least 0, not {border!r}")
    if luma not in ("L", "Y601"):
        raise OptionError(f"luma is 'L' (the paper's) or 'Y601' (BT.601 studio range), not {luma!r}")
    ours, theirs = _shape(result, "result"), _shape(truth, "truth")
    for what, axes, cure in (
        ("grids of views", slice(0, 2), "choose the same views of both"),
        ("views", slice(2, 4), "crop both to the same pixels"),
        ("numbers of channels", slice(4, 5), "convert one of them"),
    ):
        if ours[axes] != theirs[axes]:
            sizes = " and ".join("x".join(map(str, shape[axes])) for shape in (ours, theirs))
            raise InputError(f"result and truth have different {what}, {sizes}; {cure}")
    height, width = ours[2:4]
    if min(height, width) - 2 * border < smallest:
        raise InputError(
            f"views of {width}x{height} leave less than {smallest}x{smallest} pixels inside a border of {border}; "
            f"take a smaller border"
        )
    return ours[0], ours[1]


def _shape(scored: Scored, role: str) -> tuple[int, ...]:
    """Return (v, u, y, x, c)."""
    if isinstance(scored, LightField):
        return scored.views.shape
    array = np.asarray(scored)
    shape = array.shape if array.ndim == 5 else (*array.shape, 1)
    if len(shape) != 5 or shape[4] not in (1, 3):
        raise InputError(
            f"{role}: a light field has the axes (v, u, y, x, c) or (v, u, y, x), not {array.shape}"
        )
    if 0 in shape:
        raise InputError(f"{role}: the array is empty, shape {array.shape}")
    if array.dtype not in (np.uint8, np.uint16) and not np.issubdtype(array.dtype, np.floating):
        raise InputError(f"{role}: values are uint8, uint16 or float, not {array.dtype}")
    return shape


def _luma_pairs(
    result: Scored, truth: Scored, border: int, luma: str
) -> Iterator[tuple[tuple[int, int], NDArray[np.float64], NDArray[np.float64]]]:
    """Yield view by view, so that no copy of a whole light field is made."""
    rows, columns = _shape(result, "result")[:2]
    for v, u in np.ndindex(rows, columns):
        ours, theirs = (
            _luma_inside(scored, role, (v, u), border, luma)
            for scored, role in ((result, "result"), (truth, "truth"))
        )
        yield (v, u), ours, theirs


def _luma_inside(
    scored: Scored, role: str, place: tuple[int, int], border: int, luma: str
) -> NDArray[np.float64]:
    view = scored.views[place] if isinstance(scored, LightField) else np.asarray(scored)[place]
    if view.ndim == 2:
        view = view[..., np.newaxis]
    view = view[border : view.shape[0] - border, border : view.shape[1] - border]
    if view.dtype in (np.uint8, np.uint16):
        view = view / np.float32(np.iinfo(view.dtype).max)
    plane = color.luma(view, luma).astype(np.float64)
    # not clipped: a method that leaves [0, 1] is measured as it is
    if not np.isfinite(plane).all():
        raise InputError(
            f"{role}: view {place} holds NaN or infinite values; replace them before (numpy.nan_to_num)"
        )
    return plane


def _variance(views: PerView) -> float:
    finite = views[np.isfinite(views)]
    return float(finite.var()) if finite.size else 0.0


def _worst(views: PerView) -> tuple[float, tuple[int, int]]:
    v, u = np.unravel_index(int(views.argmin()), views.shape)
    return float(views[v, u]), (int(v), int(u))


def _jsonable(value: float) -> float | str:
    return value if math.isfinite(value) else "inf"
