"""`sharpfield info`: what is at a path, in which order and how deep, and what upscale would make of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sharpfield import catalogue
from sharpfield.cli.console import Voice, by, data_size, facts
from sharpfield.cli.options import Reading, Threads, with_groups
from sharpfield.errors import SharpfieldError
from sharpfield.progress import Progress, part

if TYPE_CHECKING:
    from sharpfield.disparities import Calibration
    from sharpfield.geometry import Geometry
    from sharpfield.lightfield import LightField

_FACTORS = (2, 3)
_METADATA_SHOWN = 60  # characters of one entry


def _info(
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="A light field: a folder of its views, or a file.")
    ],
    *,
    threads: Threads = None,
    reading: Reading,
    voice: Voice,
) -> None:
    """Tell what a light field is: grid, size, disparity and order of its views, and what upscale would make of it.

    Disparity is how far a point of the scene moves from one view to the next, in pixels; upscale searches a little
    farther than that, in pixels of its result. The order of the views is read off the pixels, too: where it is
    stored reversed, the result is poor. Calibration is how far single views stand from where the grid says.
    """
    from sharpfield.disparities import find_calibration
    from sharpfield.geometry import estimate_geometry
    from sharpfield.parallel import Workers

    with voice.progress() as progress, Workers(threads) as workers:
        lf = reading.read(path, Voice(quiet=True), part(progress, 0, 0.5), threads)
        progress(Progress("measuring disparity", 0.5))
        geometry = estimate_geometry(lf, workers=workers)
        progress(Progress("calibrating views", 0.8))
        calibration = find_calibration(lf, geometry, workers)
    plans = [_plan(lf, geometry, factor) for factor in _FACTORS]
    order = " ".join(filter(None, (geometry.sentence, reading.in_all(geometry.flags))))
    record = _record(path, lf, geometry, plans)
    record["calibration"] = None if calibration is None else calibration.to_json()
    voice.result(_text(path, lf, geometry, calibration, plans, order), record)


def _plan(lf: LightField, geometry: Geometry, factor: int) -> dict[str, Any]:
    """Return what upscale would make of a light field: its size, its window, its tiles, the bytes it takes."""
    from sharpfield.geometry import choose_search
    from sharpfield.upscaling import plan_tiles

    size, views = (lf.size[0] * factor, lf.size[1] * factor), lf.grid[0] * lf.grid[1]
    pixels = views * size[0] * size[1]
    window = choose_search(geometry, factor, lf.size).window
    plan: dict[str, Any] = {
        "factor": factor,
        "size": size,
        "megapixels": round(pixels / 1e6, 2),
        "result_bytes": 4 * pixels * lf.channels,
        "disparity": window,
    }
    name = catalogue.DEFAULT_METHOD
    try:
        options = catalogue.make_options(name, given={"disparity": window})
        need = catalogue.find(name).plan(options, lf.grid, size)
        tiles = plan_tiles(lf, factor, need)
    except SharpfieldError as error:
        return plan | {"impossible": str(error)}
    # color and luma of the input and of the result are there all the time; one tile's work beside them
    held = 4 * (lf.channels + 1) * (pixels + views * lf.size[0] * lf.size[1])
    work = need.bytes_per_pixel * views * max(tile.pixels for tile in tiles) * factor**2
    return plan | {"tiles": len(tiles), "memory_bytes": round(held + work)}


def _text(
    path: Path,
    lf: LightField,
    geometry: Geometry,
    calibration: Calibration | None,
    plans: list[dict[str, Any]],
    order: str,
) -> str:
    (rows, columns), pixels = lf.grid, lf.views.size / lf.channels
    colors = {1: "grey", 3: "RGB"}[lf.channels]
    lines = [
        ("views", f"{rows} x {columns} (rows x columns)"),
        ("size", f"{by(lf.size)} pixels, {colors}, {'float' if lf.bits == 32 else f'{lf.bits} bits'}"),
        ("in all", f"{pixels / 1e6:.1f} megapixels, {data_size(lf.views.nbytes)} in memory"),
        *(("disparity" if not n else "", text) for n, text in enumerate(_disparity(geometry))),
        ("order", order),
        ("calibration", _calibrated(calibration)),
        *(("note" if not n else "", text) for n, text in enumerate(lf.notes)),
        *(("metadata" if not n else "", text) for n, text in enumerate(_metadata(lf))),
    ]
    lines += [("upscale" if not n else "", _planned(plan)) for n, plan in enumerate(plans)]
    return f"{path}\n{facts([line for line in lines if line[1]])}"


def _planned(plan: dict[str, Any]) -> str:
    if "impossible" in plan:
        return f"x{plan['factor']}: {plan['impossible']}"
    low, high = plan["disparity"]
    return (
        f"x{plan['factor']}: {by(plan['size'])} a view, {plan['megapixels']:.1f} megapixels, "
        f"takes some {data_size(plan['memory_bytes'])} of memory, searches disparities {low}:{high}"
    )


def _disparity(geometry: Geometry) -> list[str]:
    if geometry.range is None:
        return ["not measured"]
    named = (("horizontal", geometry.horizontal), ("vertical", geometry.vertical))
    low, high = geometry.range
    each = ", ".join(f"{name} {one.p0_5:.1f} .. {one.p99_5:.1f}" for name, one in named if one is not None)
    return [f"{low:.1f} .. {high:.1f} pixels between adjacent views ({each})"]


def _calibrated(calibration: Calibration | None) -> str:
    if calibration is None:
        return "not measured"
    v, u = calibration.view
    return f"single views are off by up to {calibration.largest:.2f} pixels (row {v}, column {u})"


def _metadata(lf: LightField) -> list[str]:
    texts = (f"{key}: {value}" for key, value in lf.metadata.items())
    return [text if len(text) <= _METADATA_SHOWN else f"{text[: _METADATA_SHOWN - 3]}..." for text in texts]


def _record(path: Path, lf: LightField, geometry: Geometry, plans: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "path": str(path),
        "name": lf.name,
        "grid": lf.grid,
        "size": lf.size,
        "channels": lf.channels,
        "bits": lf.bits,
        "megapixels": round(lf.views.size / lf.channels / 1e6, 3),
        "notes": lf.notes,
        "metadata": dict(lf.metadata),
        "geometry": geometry.to_json(),
        "upscale": plans,
    }


command = with_groups(_info, reading=(Reading, "Reading"), voice=(Voice, "Talking"))
