"""The search window that `upscale` takes by itself, and what it has to warn of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sharpfield.geometry.diagnosis import DEFAULT_WINDOW, Geometry, disparity_window, estimate_geometry
from sharpfield.lightfield import LightField
from sharpfield.parallel import Workers

PAD = 3  # pixels around the measured range; docs/performance.md has what the windows do
TRUSTED = 0.5  # a range that a smaller share of the textured pixels confirms may not be all there is
FARTHEST = 16.0  # largest disparity that is looked for, in pixels between adjacent views of the input
WIDEST = 127  # methods number the disparities of a window in one byte


@dataclass(frozen=True)
class Search:
    """Where matches are to be sought, and why there.

    Parameters
    ----------
    window
        Smallest and largest disparity between adjacent views, in high-resolution pixels.
    measured
        What was measured, in low-resolution pixels; None where nothing could be.
    reason
        How the window came about, in words.
    warnings
        What makes a result doubtful, with what sets it right.
    auto
        Whether the window was read off the pixels; else it was given.
    flags
        Command-line flags that set the order of the views right; none where it is.
    """

    window: tuple[int, int]
    measured: tuple[float, float] | None
    reason: str
    warnings: tuple[str, ...] = ()
    auto: bool = True
    flags: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "auto": self.auto,
            "window": list(self.window),
            "measured": None if self.measured is None else [round(one, 3) for one in self.measured],
            "reason": self.reason,
            "warnings": list(self.warnings),
        }


def find_search(
    lf: LightField, factor: int, workers: Workers | None = None, *, given: tuple[int, int] | None = None
) -> Search:
    """Measure low-resolution views and return where to search in them, enlarged by `factor`.

    Parameters
    ----------
    lf
        The views, in the order in which they will be used.
    factor
        By how much they will be enlarged.
    workers
        Threads; the caller's own when None.
    given
        A window to be kept; what there is to warn of is measured all the same.
    """
    geometry = estimate_geometry(lf, max_disparity=FARTHEST, workers=workers)
    return choose_search(geometry, factor, lf.size, given=given)


def choose_search(
    geometry: Geometry,
    factor: int,
    size: tuple[int, int],
    *,
    given: tuple[int, int] | None = None,
) -> Search:
    """Return the measured range of views of that size, enlarged and padded.

    Where little is sure, it is at least the paper's window; where that little is spread over half of the range that
    was looked through, it is chance (two views of noise do so) and counts for nothing.
    """
    unsure = geometry.confidence < TRUSTED
    searched = min(FARTHEST, min(size) / 3)  # on either side of 0, as in survey.py
    if geometry.range and unsure and geometry.range[1] - geometry.range[0] > searched:
        geometry = Geometry(sentence="the views hardly match one another")
    warnings = order_warnings(geometry)
    if given is not None:
        return Search(given, geometry.range, "given", warnings, auto=False, flags=geometry.flags)
    low, high = disparity_window(geometry, factor, PAD)
    if geometry.range is None:
        return Search((low, high), None, geometry.sentence, warnings, flags=geometry.flags)
    reason = f"measured {geometry.range[0]:.1f} .. {geometry.range[1]:.1f} pixels between views of the input"
    if unsure:
        low, high = min(low, DEFAULT_WINDOW[0]), max(high, DEFAULT_WINDOW[1])
        reason += ", not everywhere surely"
    if max(-geometry.range[0], geometry.range[1]) > 0.95 * FARTHEST:
        limit = f"disparity reaches the {FARTHEST:g} pixels that were looked for"
        warnings = (*warnings, f"{limit}; if there is more, say --disparity LO:HI")
    window = max(low, -WIDEST), min(high, WIDEST)
    return Search(window, geometry.range, reason, warnings, flags=geometry.flags)


def order_warnings(geometry: Geometry) -> tuple[str, ...]:
    """Return a warning where the order of the views looks wrong: matches are then sought on the wrong side."""
    if not geometry.flags:
        return ()
    return (f"{geometry.sentence}; as they are, the views hardly help each other and the result is poor",)
