"""A whole light field: where to search, luma by a method, tile by tile; chroma by interpolation; progress over it."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpfield import catalogue
from sharpfield.color import to_luma_chroma, to_rgb
from sharpfield.contract import Method, Need
from sharpfield.errors import OptionError
from sharpfield.geometry import Search, find_search
from sharpfield.interpolate import interpolate
from sharpfield.lightfield import LightField, require_light_field
from sharpfield.observe import Camera, whole_factor
from sharpfield.parallel import Workers
from sharpfield.progress import Progress, ProgressCallback, part, silent
from sharpfield.tiles import Tiling, budget_tiling, paper_tiling

DEFAULT_MEMORY = "2GB"
DEFAULT_CHROMA = "bicubic"
AUTO = "auto"  # the search window is read off the pixels

# the interpreter, the libraries and the compiled code, before any pixel
_BASE_BYTES = 250e6
# of the budget, what the work on a tile may take at the least
_LEAST_WORKING_PART = 0.25
_UNITS = {
    "": 1,
    "B": 1,
    "KB": 1e3,
    "MB": 1e6,
    "GB": 1e9,
    "TB": 1e12,
    "KIB": 2**10,
    "MIB": 2**20,
    "GIB": 2**30,
}


def upscale(
    lf: LightField,
    factor: int = 2,
    *,
    method: str | None = None,
    preset: str = catalogue.DEFAULT_PRESET,
    disparity: tuple[int, int] | str | Search | None = None,
    camera: str | Camera = "box",
    chroma: str | None = None,
    memory: str | float | None = None,
    threads: int | None = None,
    progress: ProgressCallback | None = None,
    **options: Any,
) -> LightField:
    """Raise the resolution of every view by `factor` (paper, sections IV, V and VII-A).

    Parameters
    ----------
    lf
        Low-resolution light field.
    factor
        Whole number from 2 to 8.
    method
        Name of a method: `sharp`, `gb-sq`, `gb-dr`, `bicubic`, .. (`sharpfield methods` lists them). When None,
        `sharp`; `gb-sq` in the preset `paper`, or where one of its own options is given.
    preset
        `fast`, or `paper` for the paper's own schedule, tiles and bilinear chroma.
    disparity
        Search window (lo, hi) between adjacent views in high-resolution pixels, or `"auto"`, which reads it
        off the pixels; a Search, where that has been done. When None, `"auto"`; the paper's (-6, 6) in the
        preset `paper`.
    camera
        What made the views: `box`, `gaussian:SIGMA`, `bicubic`, or a Camera.
    chroma
        `bicubic` or `bilinear`.
    memory
        Budget, as `"2GB"` or bytes: sets how large the tiles are.
    threads
        How many threads; all processors when None.
    progress
        Called with a Progress now and then; `print` will do.
    options
        Fields of the method's options (for GB those of `GBParams`), over those of the preset.

    Returns
    -------
    LightField
        `factor` times as high and wide; `metadata["upscale"]` records how it was made. With `"auto"`, its notes
        warn when the order of the views looks wrong: GB fails silently then.
    """
    began = time.perf_counter()
    require_light_field(lf)
    factor = whole_factor(factor)
    camera = as_camera(camera, factor)
    method = method or catalogue.default_method(preset, options)
    chosen = catalogue.find(method, factor)
    auto, given = is_auto(disparity, preset), dict(options)
    if disparity is not None and not auto:
        given["disparity"] = as_window(disparity)
    size_hr = (lf.size[0] * factor, lf.size[1] * factor)
    # impossible? say so before measuring anything
    need = chosen.plan(catalogue.make_options(method, preset, given), lf.grid, size_hr)
    chroma = chroma or ("bilinear" if preset == "paper" else DEFAULT_CHROMA)
    if chroma not in ("bilinear", "bicubic"):
        raise OptionError(f"chroma is bilinear or bicubic, not {chroma!r}")
    parse_memory(memory)
    report = progress or silent
    with Workers(threads) as workers:
        search = disparity if isinstance(disparity, Search) and searches(method) else None
        if auto and searches(method):
            report(Progress("measuring disparity", 0))
            search = find_search(lf, factor, workers)
            given["disparity"] = search.window
            need = chosen.plan(catalogue.make_options(method, preset, given), lf.grid, size_hr)
        tiling = plan_tiles(lf, factor, need, preset=preset, memory=memory)
        luma = _upscale_luma(lf, chosen, camera, need, tiling, workers, report)
        views = _compose(lf, luma, factor, chroma, workers)
    warned = search.warnings if search else ()
    notes = (*lf.notes, *warned, *need.notes, *_memory_notes(lf, factor, memory))
    record = {
        "method": method,
        "preset": preset,
        "factor": factor,
        "camera": str(camera),
        "chroma": chroma,
        "options": _plain(need.options),
        "search": search.to_json() if search else None,
        "tiles": len(tiling),
        "seconds": round(time.perf_counter() - began, 3),
    }
    return lf.with_views(views, notes=notes, metadata={**dict(lf.metadata), "upscale": record})


def searches(method: str) -> bool:
    """Whether a method looks for matches within a window of disparities."""
    return "disparity" in {each.name for each in fields(catalogue.find(method).options())}


def is_auto(disparity: tuple[int, int] | str | Search | None, preset: str) -> bool:
    """Whether the window is to be read off the pixels."""
    if disparity is None:
        return preset != "paper"
    return isinstance(disparity, str) and disparity == AUTO


def as_window(disparity: Any) -> tuple[int, int]:
    """Return the search window that was given (which numbers have a meaning, the method says)."""
    if isinstance(disparity, Search):
        return disparity.window
    if isinstance(disparity, str | bytes) or not isinstance(disparity, Sequence) or len(disparity) != 2:
        raise OptionError(f"disparity is 'auto' or two whole numbers (lo, hi), not {disparity!r}")
    return disparity[0], disparity[1]


def as_camera(camera: str | Camera, factor: int) -> Camera:
    """Return the camera that a text names, or the camera itself if it fits the factor."""
    if isinstance(camera, Camera):
        if camera.factor != factor:
            raise OptionError(f"the camera shrinks by {camera.factor}, but the factor asked for is {factor}")
        return camera
    return Camera.parse(camera, factor)


def parse_memory(memory: str | float | None) -> float:
    """Return a memory budget in bytes: `"2GB"`, `"512 MiB"`, or a number of bytes."""
    text = str(DEFAULT_MEMORY if memory is None else memory).strip().upper()
    found = re.fullmatch(r"([0-9]*\.?[0-9]+(?:E\+?[0-9]+)?)\s*([KMGT]?I?B?)", text)
    unit = found and (found[2] if found[2].endswith("B") or not found[2] else found[2] + "B")
    if not found or unit not in _UNITS or not float(found[1]) > 0:
        raise OptionError(f"memory is a size like 2GB or 512MB, not {memory!r}")
    return float(found[1]) * _UNITS[unit]


def plan_tiles(
    lf: LightField, factor: int, need: Need, *, preset: str = "fast", memory: str | float | None = None
) -> Tiling:
    """Return the tiles that `upscale` works in: the paper's, or the fewest that fit the memory budget."""
    budget = parse_memory(memory)
    if preset == "paper":
        return paper_tiling(lf.size, factor)
    # where input and result alone fill the budget, tiny tiles would save little and cost much
    left = max(budget - held_bytes(lf, factor), budget * _LEAST_WORKING_PART)
    fits = left / (need.bytes_per_pixel * lf.grid[0] * lf.grid[1] * factor**2)
    return budget_tiling(lf.size, factor, need.halo, fits)


def held_bytes(lf: LightField, factor: int) -> float:
    """Return the memory that is in use all the time: the program, and views and luma at both resolutions."""
    pixels = lf.size[0] * lf.size[1] * lf.grid[0] * lf.grid[1]
    return _BASE_BYTES + 4.0 * pixels * (lf.channels + 1) * (1 + factor**2)


def _memory_notes(lf: LightField, factor: int, memory: str | float | None) -> tuple[str, ...]:
    budget, held = parse_memory(memory), held_bytes(lf, factor)
    if held <= budget * (1 - _LEAST_WORKING_PART):
        return ()
    total = held + budget * _LEAST_WORKING_PART
    return (
        f"views and result alone take {held / 1e9:.1f} GB: expect about {total / 1e9:.1f} GB rather than the "
        f"budget of {budget / 1e9:.1f} GB; give --memory more, or upscale a part (--crop, --views)",
    )


def _upscale_luma(
    lf: LightField,
    method: Method,
    camera: Camera,
    need: Need,
    tiling: Tiling,
    workers: Workers,
    progress: ProgressCallback,
) -> NDArray[np.float32]:
    run = method.load()
    low = np.empty((*lf.grid, *lf.size), np.float32)
    for place in np.ndindex(*lf.grid):
        low[place] = to_luma_chroma(lf.views[place])[0]
    if len(tiling) == 1:
        return run(low, camera, need.options, workers, progress)
    high = np.zeros((*lf.grid, lf.size[0] * camera.factor, lf.size[1] * camera.factor), np.float32)
    done = 0
    for number, tile in enumerate(tiling, 1):
        begin, done = done, done + tile.pixels
        told = part(
            progress, begin / tiling.pixels, done / tiling.pixels, f"tile {number} of {len(tiling)}: "
        )
        tile.add(run(np.ascontiguousarray(tile.cut(low)), camera, need.options, workers, told), high)
    return high


def _compose(
    lf: LightField, luma: NDArray[np.float32], factor: int, chroma: str, workers: Workers
) -> NDArray[np.float32]:
    """Return the views: high-resolution luma, interpolated chroma."""
    views = np.empty((*luma.shape, lf.channels), np.float32)

    def compose(place: tuple[int, ...]) -> None:
        colors = to_luma_chroma(lf.views[place])[1]
        if colors is not None:
            planes = np.ascontiguousarray(np.moveaxis(colors, -1, 0))
            colors = np.moveaxis(interpolate(planes, factor, chroma), 0, -1)
        np.clip(to_rgb(luma[place], colors), 0, 1, out=views[place])

    workers.map(compose, np.ndindex(*lf.grid))
    views.flags.writeable = False
    return views


def _plain(options: Any) -> Mapping[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in vars(options).items()}
