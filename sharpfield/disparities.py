"""Disparity maps of all views of a light field, and how far single views stand off: what `sharp` measures, for people.

The views' translations come from the central window of the views, the maps from a sweep of sheared views
(`sharp/disparity/`), tile by tile where the light field is large. All in pixels of the views.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sharpfield.color import to_luma_chroma
from sharpfield.errors import InputError, OptionError
from sharpfield.geometry import Geometry, choose_search, estimate_geometry
from sharpfield.geometry.window import FARTHEST, TRUSTED
from sharpfield.io.maps import choose_output, write_maps
from sharpfield.lightfield import LightField, require_light_field
from sharpfield.parallel import Workers
from sharpfield.progress import Progress, ProgressCallback, part, silent
from sharpfield.sharp.calibrate import Placement, calibrate
from sharpfield.sharp.confidence import noise_of
from sharpfield.sharp.disparity import Window, blurred, sweep
from sharpfield.sharp.params import SharpParams
from sharpfield.tiles import Tiling, budget_tiling
from sharpfield.upscaling import AUTO, parse_memory

Maps = NDArray[np.float32]
Views = NDArray[np.float32]
View = tuple[int, int]
Item = TypeVar("Item")
Result = TypeVar("Result")

_SMALLEST = 8  # side of a view
_CENTRAL = 384  # side of the window in which translations are measured
_FEWEST_VIEWS = 3  # of two views nobody can tell which one stands off
_AROUND = 0.5  # pixels around a measured range
_REACH = 2  # steps of the grid between views that the sweep compares
_SEEN_AROUND = (
    12  # pixels around a point that its disparity depends on, besides: blur, guided filter, interpolation
)
_BASE_BYTES = 250e6  # the program, before any pixel
_LEAST_WORKING_PART = 0.25  # of the memory budget
_BYTES_A_PIXEL = 48  # of the sweep, for a pixel of a tile of every view
_CALIBRATING, _SWEEPING = 0.1, 0.15  # where these begin, for the progress bar alone


@dataclass(frozen=True, eq=False)
class Calibration:
    """How far every view stands from where the grid says it does.

    Parameters
    ----------
    translation
        (v, u, 2): how far down and right the picture of a view is moved, pixels. What all views have in common is
        not in it: where all but the middle one are moved alike, it is the middle one that is off.
    """

    translation: NDArray[np.float64]

    @property
    def distance(self) -> NDArray[np.float64]:
        """Length of each view's translation (v, u)."""
        return np.asarray(np.hypot(self.translation[..., 0], self.translation[..., 1]))

    @property
    def largest(self) -> float:
        """Length of the largest translation."""
        return float(self.distance.max())

    @property
    def view(self) -> View:
        """The view of the largest translation."""
        v, u = np.unravel_index(int(self.distance.argmax()), self.distance.shape)
        return int(v), int(u)

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "largest": round(self.largest, 4),
            "view": list(self.view),
            "median": round(float(np.median(self.distance)), 4),
            "translation": np.round(self.translation, 4).tolist(),
        }


@dataclass(frozen=True, eq=False)
class DisparityMaps:
    """How far the points of each view move between adjacent views; `numpy.asarray(maps)` is the array.

    Parameters
    ----------
    disparity
        float32 (v, u, y, x), pixels of the views; larger is nearer. (1, 1, y, x) where one view was asked for.
    grid
        Rows and columns of views of the light field.
    view
        Row and column of the one view that was asked for; None for all.
    window
        Least and largest disparity that was looked for.
    calibration
        Translations of the views that were taken into account; None where they could not be measured.
    notes
        What makes the maps doubtful, in words.
    """

    disparity: Maps
    grid: tuple[int, int]
    view: View | None
    window: Window
    calibration: Calibration | None
    notes: tuple[str, ...] = ()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the disparities as an array."""
        made = self.disparity if dtype is None else self.disparity.astype(dtype, copy=False)
        return made.copy() if copy else made

    def to_json(self) -> dict[str, Any]:
        """Return what is known of the maps as plain values."""
        low, middle, high = (round(float(each), 4) for each in np.percentile(self.disparity, (0.5, 50, 99.5)))
        return {
            "quantity": "disparity between adjacent views in pixels, larger is nearer",
            "grid": list(self.grid),
            "size": list(self.disparity.shape[2:]),
            "view": None if self.view is None else list(self.view),
            "window": [round(each, 4) for each in self.window],
            "range": [low, high],
            "median": middle,
            "calibration": None if self.calibration is None else self.calibration.to_json(),
            "notes": list(self.notes),
        }

    def write(
        self, path: str | Path, *, picture: str | None = None, overwrite: bool = False
    ) -> dict[str, Any]:
        """Write the maps, whole or not at all, and return the record that goes with them.

        Parameters
        ----------
        path
            Ends in .npz, or .zip; or .pfm, .png for the map of one view; else it is a folder.
        picture
            `pfm` (when None) or `png` (16 bits, with its scale in a JSON text), in a folder or zip.
        overwrite
            Replace what is there.
        """
        output = choose_output(path, single=self.view is not None, picture=picture, overwrite=overwrite)
        arrays = {"grid": np.array(self.grid), "window": np.array(self.window)}
        if self.view is not None:
            arrays["view"] = np.array(self.view)
        if self.calibration is not None:
            arrays["translation"] = self.calibration.translation
        return write_maps(output, self.disparity, self.to_json(), arrays)


def depth(
    lf: LightField,
    disparity: tuple[float, float] | str = AUTO,
    threads: int | None = None,
    progress: ProgressCallback | None = None,
    *,
    view: View | None = None,
    memory: str | float | None = None,
) -> DisparityMaps:
    """d(x) = argmin_d mean_j min(|s_i - s_j|, limit)(x), s_j(x) = v_j(x - p_j d + t_j): a map for each view i.

    The disparities that the method `sharp` begins with, at the resolution of the views: all views are sheared to
    each disparity d of a sweep, compared, and the cost is smoothed by a guided filter; t_j are the translations of
    single views, measured before.

    Parameters
    ----------
    lf
        The views; two at least, on any grid.
    disparity
        Least and largest disparity to look for, pixels between adjacent views; `"auto"` reads them off the pixels.
    threads
        How many threads; all processors when None. The result is the same.
    progress
        Called with a Progress now and then.
    view
        Row and column of the only view whose map is wanted (its time is far less than that of all).
    memory
        Budget, as `"2GB"` or bytes: sets how large the tiles are.
    """
    require_light_field(lf)
    auto = isinstance(disparity, str) and disparity == AUTO
    window = None if auto else as_window(disparity, lf.size)
    if lf.grid == (1, 1):
        raise InputError("one view has no disparity: depth needs neighbouring views; give the whole grid")
    if min(lf.size) < _SMALLEST:
        raise InputError(
            f"views of {lf.size[1]}x{lf.size[0]} are too small for disparities; {_SMALLEST} pixels a side are needed"
        )
    number = None if view is None else view_number(view, lf.grid)
    budget, report = parse_memory(memory), progress or silent
    notes: tuple[str, ...] = ()
    with Workers(threads) as workers:
        measured = None
        if window is None:
            report(Progress("measuring disparity", 0))
            geometry = estimate_geometry(lf, max_disparity=FARTHEST, workers=workers)
            search, measured = choose_search(geometry, 1, lf.size), geometry.range
            farthest = min(lf.size) / 3
            window = max(search.window[0], -farthest), min(search.window[1], farthest)
            notes = search.warnings
            if search.measured is None:
                notes = (*notes, f"{search.reason}; the disparities are hardly more than guesses")
        report(Progress("calibrating views", _CALIBRATING))
        placement, found, limit = _place(lf, window, workers)
        if auto:
            # the central window may miss what stands at the sides, and the matches what has little texture
            low, high = found if measured is None else (measured[0] - _AROUND, measured[1] + _AROUND)
            window = max(min(found[0], low), window[0]), min(max(found[1], high), window[1])
        tiling = plan_depth_tiles(lf, window, budget, lf.grid if number is None else (1, 1))
        sweeping = part(report, _SWEEPING, 1)
        maps = _sweep_tiles(lf, placement, window, limit, number, tiling, workers, sweeping)
    report(Progress("disparities found", 1))
    return DisparityMaps(maps, lf.grid, view, window, _calibration(placement), notes)


def find_calibration(lf: LightField, geometry: Geometry, workers: Workers) -> Calibration | None:
    """Measure how far single views stand off; None where that cannot be done, never an error.

    Parameters
    ----------
    geometry
        What `estimate_geometry` said of these views: the disparities, and whether their order is right.
    """
    if geometry.range is None or geometry.flags or geometry.confidence < TRUSTED:
        return None
    try:
        window = geometry.range[0] - _AROUND, geometry.range[1] + _AROUND
        return _calibration(_place(lf, window, workers)[0])
    except (np.linalg.LinAlgError, MemoryError):
        return None


def as_window(disparity: Any, size: tuple[int, int]) -> Window:
    """Return least and largest disparity as two floats, or say what is wrong with them."""
    try:
        low, high = (float(each) for each in disparity)
    except (TypeError, ValueError):
        raise OptionError(f"disparity is 'auto' or two numbers (lo, hi), not {disparity!r}") from None
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        meant = f"; did you mean {high:g}:{low:g}?" if low > high else ""
        raise OptionError(f"disparity LO:HI needs LO < HI, not {low:g}:{high:g}{meant}")
    if max(-low, high) >= min(size):
        raise OptionError(
            f"disparity {low:g}:{high:g} moves points out of views of {size[1]}x{size[0]} pixels; narrow it"
        )
    return low, high


def view_number(view: View, grid: tuple[int, int]) -> int:
    """Return the number of a view in the order of the grid, or say that there is no such view."""
    v, u = view
    if not (0 <= v < grid[0] and 0 <= u < grid[1]):
        raise OptionError(
            f"there is no view {v},{u} (row, column) in a grid of {grid[0]}x{grid[1]}; they are numbered from 0"
        )
    return int(v) * grid[1] + int(u)


def _place(lf: LightField, window: Window, workers: Workers) -> tuple[Placement, Window, float]:
    """Return where the views stand, the disparities, and the largest difference of light that counts.

    All measured on the central window of the views; what noise explains widens the last.
    """
    inner = []
    for side in lf.size:
        start = max((side - _CENTRAL) // 2, 0)
        inner.append(slice(start, start + min(side, _CENTRAL)))
    low = _luma(lf, (inner[0], inner[1]), workers)
    params = SharpParams()
    limit = params.limit_at(noise_of(low))
    smooth = blurred(low, params.sweep_blur, workers)
    grid = Placement.on_grid(lf.grid)
    placement, window = calibrate(smooth, grid, window, limit, params.calibrate, workers)
    return _on_average_on_grid(placement), window, limit


def _on_average_on_grid(placement: Placement) -> Placement:
    """Return the placement without what no pixel can tell from other disparities: t_j = a + c p_j.

    Were all views moved so, every disparity would be less by c. The views are taken to stand on the grid but for
    single ones: a is the median of the translations, c that of what each says of it.
    """
    moved = placement.translation - np.median(placement.translation, axis=0)
    square = (placement.position**2).sum(axis=1)
    told = square > 0
    common = np.median((placement.position * moved).sum(axis=1)[told] / square[told])
    return Placement(placement.grid, placement.position, moved - common * placement.position)


def _calibration(placement: Placement) -> Calibration | None:
    """Return the translations; None where none were measured."""
    moved = placement.translation
    if len(moved) < _FEWEST_VIEWS or not (np.isfinite(moved).all() and moved.any()):
        return None
    return Calibration(moved.reshape(*placement.grid, 2))


def _luma(lf: LightField, window: tuple[slice, slice], workers: Workers) -> Views:
    """Return the luma (n, y, x) of a window of every view."""

    def one(place: tuple[int, ...]) -> Views:
        return to_luma_chroma(lf.views[place][window])[0]

    return np.stack(workers.map(one, np.ndindex(*lf.grid)))


def _sweep_tiles(
    lf: LightField,
    placement: Placement,
    window: Window,
    limit: float,
    only: int | None,
    tiling: Tiling,
    workers: Workers,
    progress: ProgressCallback,
) -> Maps:
    """Return the maps (v, u, y, x), or (1, 1, y, x) of the view `only`, tile by tile."""
    params = SharpParams()
    grid, wanted = (lf.grid, None) if only is None else ((1, 1), [only])
    merged = np.zeros((*grid, *lf.size), np.float32)
    works = 2 * (max(math.ceil((window[1] - window[0]) / params.sweep_step), 2) + 1)
    done = 0
    for tile in tiling:
        begin, done = done, done + tile.pixels
        told = _Reporting(workers, part(progress, begin / tiling.pixels, done / tiling.pixels), works)
        inside = slice(tile.y.start, tile.y.stop), slice(tile.x.start, tile.x.stop)
        smooth = blurred(_luma(lf, inside, workers), params.sweep_blur, workers)
        found = sweep(smooth, placement, window, params.sweep_step, limit, told, wanted)
        tile.add(found.reshape(*grid, *found.shape[1:]), merged)
    return merged


def plan_depth_tiles(lf: LightField, window: Window, budget: float, mapped: tuple[int, int]) -> Tiling:
    """Return the fewest tiles that keep the work within a budget of bytes.

    A disparity depends on the pixels around it that the views two steps away show, and a few more; the halo is a
    third larger, since tiles are blended a quarter of it beyond their seams.

    Parameters
    ----------
    mapped
        Rows and columns of maps.
    """
    pixels, views = lf.size[0] * lf.size[1], lf.grid[0] * lf.grid[1]
    held = _BASE_BYTES + 4.0 * pixels * (views * lf.channels + mapped[0] * mapped[1])
    left = max(budget - held, budget * _LEAST_WORKING_PART)
    halo = math.ceil((_REACH * max(abs(each) for each in window) + _SEEN_AROUND) * 4 / 3)
    return budget_tiling(lf.size, 1, halo, left / (_BYTES_A_PIXEL * views), smallest=64)


class _Reporting(Workers):
    """The threads of others, that report after every work they were given: a sweep is silent itself."""

    def __init__(self, workers: Workers, progress: ProgressCallback, works: int) -> None:
        super().__init__(workers.threads)
        self._workers, self._progress, self._works, self._done = workers, progress, works, 0

    def map(self, task: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """Run `task` on every item and report."""
        results = self._workers.map(task, items)
        self._done += 1
        self._progress(Progress("sweeping disparities", min(self._done / self._works, 1.0)))
        return results
