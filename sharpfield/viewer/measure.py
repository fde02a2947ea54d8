"""What the page knows beside the views: the range of the focus, PSNR of every view, error maps, how it was made."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpfield import metrics
from sharpfield.geometry import estimate_geometry
from sharpfield.lightfield import LightField
from sharpfield.parallel import Workers

# an error of this much of the white level is the last that the error map tells apart
LARGEST_ERROR = 0.25

_BORDER = 15  # pixels that the paper leaves out of a PSNR
_ROOM = 0.5  # pixels of disparity beyond what was measured, so that both ends can be seen to blur
_UNKNOWN = (-2.0, 2.0)  # pixels of disparity where nothing can be measured


@dataclass(frozen=True, eq=False)
class Scored:
    """PSNR that was measured before a page is made.

    Parameters
    ----------
    psnr
        Of every view (v, u) of every light field, in the order of the page; None where it is not known.
    how
        On what it was measured, in words.
    """

    psnr: Sequence[NDArray[np.float64] | None]
    how: str


@dataclass(frozen=True)
class Focus:
    """Range of the focus slider and where it starts: pixels of disparity between adjacent views."""

    low: float
    high: float
    start: float


def focus_range(lf: LightField, scale: float, given: tuple[float, float] | None, workers: Workers) -> Focus:
    """Return the range of disparities to focus on: as given, or measured on the views.

    The start is the median: what most of the picture has stays sharp while the viewpoint moves.

    Parameters
    ----------
    lf
        What is measured.
    scale
        How many pixels of the page's largest views one of its pixels is.
    given
        The range, in pixels of the largest views; measured when None.
    workers
        Threads.
    """
    found = estimate_geometry(lf, workers=workers)
    middles = [one.p50 for one in (found.horizontal, found.vertical) if one is not None]
    middle = scale * sum(middles) / len(middles) if middles else 0.0
    if given is not None:
        low, high = given
    elif found.range is not None:
        low, high = scale * found.range[0] - _ROOM, scale * found.range[1] + _ROOM
        low, high = math.floor(10 * low) / 10, math.ceil(10 * high) / 10
    else:
        low, high = _UNKNOWN
    return Focus(low, high, round(min(max(middle, low), high), 2))


def psnr_of_views(lf: LightField, truth: LightField) -> NDArray[np.float64]:
    """Return the PSNR (dB) of every view's luma as the paper measures it; tiny views keep a smaller border."""
    return metrics.psnr(_like(lf, truth), truth, border=_border(lf))


def measured_how(lf: LightField) -> str:
    """Say on what `psnr_of_views` measures."""
    return how_measured("L", _border(lf))


def how_measured(luma: str, border: int) -> str:
    """Say on what a PSNR was measured."""
    words = {"L": "luma", "Y601": "BT.601 luma"}.get(luma, luma)
    return f"{words}, {border} pixels of border left out" if border else f"{words}, the whole views"


def _border(lf: LightField) -> int:
    return min(_BORDER, (min(lf.size) - 1) // 4)


def error_codes(view: NDArray[np.float32], truth: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Return the mean absolute difference over the channels as 255 sqrt(min(e / LARGEST_ERROR, 1)).

    The root keeps small errors apart: what the eye compares is near zero.
    """
    error = np.abs(_as_color(view, truth) - _as_color(truth, view)).mean(axis=-1)
    code = 255 * np.sqrt(np.minimum(error / LARGEST_ERROR, 1))
    return np.asarray(np.floor(code + 0.5), np.uint8)


def facts(lf: LightField, psnr: NDArray[np.float64] | None) -> list[tuple[str, str]]:
    """Return what is known of a light field, as names and words."""
    (rows, columns), (height, width) = lf.grid, lf.size
    found = [
        ("Views", f"{rows} × {columns}, {width} × {height} pixels" + ("" if lf.channels == 3 else ", grey"))
    ]
    made = lf.metadata.get("upscale")
    if isinstance(made, Mapping):
        found += _how_made(made)
    if psnr is not None:
        finite = psnr[np.isfinite(psnr)]
        mean = f"{psnr.mean():.2f} dB, variance {finite.var() if finite.size else 0:.2f}"
        v, u = np.unravel_index(int(psnr.argmin()), psnr.shape)
        found += [("PSNR, mean", mean), ("PSNR, worst", f"{psnr.min():.2f} dB, view ({v}, {u})")]
    return found


def _how_made(made: Mapping[str, Any]) -> list[tuple[str, str]]:
    words = {
        "method": "Method",
        "preset": "Preset",
        "factor": "Factor",
        "camera": "Camera",
        "chroma": "Color",
    }
    found = [(title, str(made[key])) for key, title in words.items() if key in made]
    options = made.get("options")
    if isinstance(options, Mapping) and options:
        found.append(("Options", ", ".join(f"{name} {_value(value)}" for name, value in options.items())))
    search = made.get("search")
    if isinstance(search, Mapping) and search.get("auto") and "window" in search:
        found.append(("Search", f"{_value(search['window'])} px, from the disparity measured"))
    if isinstance(made.get("seconds"), int | float):
        found.append(("Time", f"{made['seconds']:.1f} s"))
    return found


def seconds_taken(lf: LightField) -> float | None:
    """Return how long it took to make a light field, where that is known."""
    made = lf.metadata.get("upscale")
    seconds = made.get("seconds") if isinstance(made, Mapping) else None
    return round(float(seconds), 1) if isinstance(seconds, int | float) else None


def _value(value: Any) -> str:
    return " to ".join(map(str, value)) if isinstance(value, list | tuple) and len(value) == 2 else str(value)


def _like(lf: LightField, other: LightField) -> LightField:
    """Return grey views as R = G = B where the other has colors."""
    if lf.channels == other.channels or lf.channels == 3:
        return lf
    return lf.with_views(np.repeat(lf.views, 3, axis=-1))


def _as_color(view: NDArray[np.float32], other: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.repeat(view, 3, axis=-1) if view.shape[-1] < other.shape[-1] else view
