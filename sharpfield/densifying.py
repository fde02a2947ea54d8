"""Views between views: X = mean(views) + F(views), by the angular networks of Yoon et al., for two views or four.

Y. Yoon, H.-G. Jeon, D. Yoo, J.-Y. Lee and I. S. Kweon, Light-field image super-resolution using convolutional neural
network, IEEE SPL 2017: min over the weights of the mean of |F(views) - X|², X the true view between. Three networks of
layers 9-5-5 with 64 and 32 filters, one for a horizontal pair, one for a vertical pair, one for four views; the second
and third layers are the same in all three. Departures, each with its reason:

- Weights are ours (docs/models.md), learned from light fields rendered of photographs; at last, the error of a piece is
  weighed by that of averaging, so that pieces that hardly move count as well.
- The weights are bound by symmetry: turning or mirroring a light field turns or mirrors what comes out. So the network
  for a vertical pair is that for a horizontal one, transposed, and an eighth of the weights is free to be learned.
- F is what is to be added to the mean of the views, and 0 where they are flat (the publication's F is the view itself):
  the networks begin at averaging, and light added to all views is added to the view between.
- Each colour channel goes through the network (the publication's work on luma): interpolated chroma would show ghosts.
- Views are first shifted by whole pixels where that brings disparities into the range that was learned; the
  publication's light fields, of a lenslet camera, have none beyond.
- At the border the views are repeated, where the publication leaves it out.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpfield.errors import InputError, OptionError
from sharpfield.geometry import estimate_geometry, order_warnings
from sharpfield.lightfield import LightField
from sharpfield.methods.network.network import shipped
from sharpfield.parallel import Workers
from sharpfield.progress import Progress, ProgressCallback, part, silent

LEARNED = 4.0  # largest disparity between adjacent views, in pixels, that the networks have seen
_SMALLEST = 17  # pixels that the networks look at, along each axis
_TRUSTED = 0.5  # share of the textured pixels that must confirm a range before views are shifted by it

View = NDArray[np.float32]
Place = tuple[int, int]


@dataclass(frozen=True)
class Depth:
    """How far points move between the views, and what is done about it.

    Parameters
    ----------
    measured
        Range of the disparity between adjacent views, in pixels; None where nothing could be measured.
    shift
        Whole pixels by which the two views of a pair are moved towards each other, each: 2 of disparity.
    warnings
        What makes the result doubtful, in words.
    """

    measured: tuple[float, float] | None = None
    shift: int = 0
    warnings: tuple[str, ...] = ()


def find_depth(
    lf: LightField, disparity: tuple[float, float] | str | None = None, workers: Workers | None = None
) -> Depth:
    """Measure the disparity between adjacent views, or take the range given, and return what to do about it."""
    _check(lf)
    if disparity is None or (isinstance(disparity, str) and disparity == "auto"):
        geometry = estimate_geometry(lf, workers=workers)
        warnings = order_warnings(geometry)
        if geometry.range is None or geometry.confidence < _TRUSTED:
            return Depth(None, 0, warnings)
        low, high = geometry.range
        measured = "measured disparities reach from {:.1f} to {:.1f} pixels"
    else:
        low, high = _range(disparity)
        warnings, measured = (), "disparities from {:g} to {:g} pixels"
    shift = whole_shift(low, high)
    beyond = max(2 * shift - LEARNED - low, high - 2 * shift - LEARNED)
    if beyond > 0:
        where = measured.format(low, high)
        warnings += (
            f"{where} between adjacent views, the networks have learned {2 * LEARNED:g} pixels of range: what moves "
            "farther comes out double or blurred",
        )
    return Depth((low, high), shift, warnings)


def whole_shift(low: float, high: float) -> int:
    """Return the smallest whole shift k that brings low - 2 k .. high - 2 k into -LEARNED .. LEARNED.

    Where the range is wider than that, the shift that centres it.
    """
    least, most = math.ceil((high - LEARNED) / 2), math.floor((low + LEARNED) / 2)
    if least > most:
        return round((low + high) / 4)
    return min(max(0, least), most)


def densify(
    lf: LightField,
    *,
    disparity: tuple[float, float] | str | Depth | None = None,
    threads: int | None = None,
    progress: ProgressCallback | None = None,
) -> LightField:
    """Return a light field with a view between every two and every four: v x u views become (2v-1) x (2u-1).

    Yoon et al. 2017, the angular networks. Views that were there are kept, to the bit.

    Parameters
    ----------
    lf
        At least two views, of 17x17 pixels or more. One row or one column becomes denser along itself.
    disparity
        Range (lo, hi) between adjacent views, in pixels, or `"auto"` (as when None), which reads it off the pixels; a
        Depth, where that has been done.
    threads
        How many threads; all processors when None. The result is the same.
    progress
        Called with a Progress now and then; `print` will do.

    Returns
    -------
    LightField
        `metadata["densify"]` records how it was made; its notes warn where disparities are larger than the networks
        have learned, or where the order of the views looks wrong.
    """
    began = time.perf_counter()
    _check(lf)
    report = progress or silent
    with Workers(threads) as workers:
        if isinstance(disparity, Depth):
            depth = disparity
        else:
            if disparity is None or isinstance(disparity, str):
                report(Progress("measuring disparity", 0))
            depth = find_depth(lf, disparity, workers)
        views = _dense(lf, depth.shift, workers, part(report, 0.02, 1))
    record = {
        "grid": list(lf.grid),
        "disparity": None if depth.measured is None else [round(each, 3) for each in depth.measured],
        "shift": depth.shift,
        "seconds": round(time.perf_counter() - began, 3),
    }
    return lf.with_views(
        views, notes=(*lf.notes, *depth.warnings), metadata={**dict(lf.metadata), "densify": record}
    )


def _check(lf: LightField) -> None:
    if lf.grid == (1, 1):
        raise InputError(f"{lf.name}: a single view has no views between; two or more are needed")
    if min(lf.size) < _SMALLEST:
        raise InputError(
            f"{lf.name}: views of {lf.size[1]}x{lf.size[0]} pixels are too small; "
            f"the networks look at {_SMALLEST}x{_SMALLEST}"
        )


def _range(disparity: Any) -> tuple[float, float]:
    given: Any = disparity
    if not isinstance(given, Sequence) or isinstance(given, str | bytes) or len(given) != 2:
        raise OptionError(f"disparity is 'auto' or two numbers (lo, hi), not {disparity!r}")
    low, high = given
    if not all(isinstance(n, Real) and math.isfinite(n) for n in (low, high)) or not low <= high:
        raise OptionError(f"disparity is a range (lo, hi) of numbers with lo <= hi, not {disparity!r}")
    return float(low), float(high)


def _dense(lf: LightField, shift: int, workers: Workers, progress: ProgressCallback) -> View:
    rows, columns = (2 * n - 1 for n in lf.grid)
    views = np.empty((rows, columns, *lf.size, lf.channels), np.float32)
    views[::2, ::2] = lf.views
    places = [place for place in np.ndindex(rows, columns) if place[0] % 2 or place[1] % 2]
    for number, place in enumerate(places):
        told = part(progress, number / len(places), (number + 1) / len(places))
        views[place] = np.clip(_between(lf, place, shift, workers, told), 0, 1)
    views.flags.writeable = False
    return views


def _between(lf: LightField, place: Place, shift: int, workers: Workers, progress: ProgressCallback) -> View:
    """Return the view (y, x, c) at a place of the dense grid, of the two or four around it."""
    # how far the neighbours are, down and right, in views of the dense grid
    down, right = place[0] % 2, place[1] % 2
    around = [(a, b) for a in sorted({-down, down}) for b in sorted({-right, right})]
    moved = [
        _moved(lf.views[(place[0] + a) // 2, (place[1] + b) // 2], -a * shift, -b * shift) for a, b in around
    ]
    channels = range(lf.channels)
    planes = [np.stack([view[..., c] for view in moved]) for c in channels]
    found = np.empty((lf.channels, *lf.size), np.float32)
    out = [found[c] for c in channels]
    if not right:  # the network is for horizontal pairs
        planes, out = [each.swapaxes(1, 2) for each in planes], [each.T for each in out]
    network = shipped("angular-four" if down and right else "angular-pair")
    network.run(planes, out, workers, progress, f"view {place[0] + 1}, {place[1] + 1}")
    return np.moveaxis(found, 0, -1) + np.mean(moved, axis=0)


def _moved(view: View, down: int, right: int) -> View:
    """Return view(y + down, x + right); the border is repeated."""
    if not (down or right):
        return view
    height, width = view.shape[:2]
    y, x = np.clip(np.arange(height) + down, 0, height - 1), np.clip(np.arange(width) + right, 0, width - 1)
    return view[y[:, np.newaxis], x]
