"""`sharpfield upscale`: the main job, from a light field on disk to one of higher resolution on disk."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sharpfield import catalogue
from sharpfield.cli.console import Voice, by, duration
from sharpfield.cli.options import (
    CameraText,
    FactorText,
    Reading,
    Threads,
    Writing,
    parse_camera,
    parse_range,
    tidy,
    with_groups,
    with_method_options,
)
from sharpfield.cli.stores import Scaling, upscale_into_store
from sharpfield.progress import Progress, part

if TYPE_CHECKING:
    from sharpfield.geometry import Search
    from sharpfield.lightfield import LightField


def _upscale(
    source: Annotated[
        Path, typer.Argument(metavar="IN", help="A light field: a folder of its views, or a file.")
    ],
    out: Annotated[
        Path | None,
        typer.Argument(metavar="OUT", help="Where the result goes; beside IN, as IN-x2, when not given."),
    ] = None,
    *,
    factor: FactorText = "2",
    method: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"One of those that sharpfield methods lists. When not given: {catalogue.DEFAULT_METHOD}, or "
            f"{catalogue.PAPER_METHOD} with --preset paper or its options, or into a store.",
        ),
    ] = None,
    preset: Annotated[
        str, typer.Option(metavar="fast|paper", help="The fast schedule, or the paper's, to the letter.")
    ] = catalogue.DEFAULT_PRESET,
    disparity: Annotated[
        str | None,
        typer.Option(
            metavar="auto|LO:HI",
            help="Disparities to search between adjacent views, in pixels of the result: auto (when not given) reads "
            "them off the input, -6:6 is the paper's window and the one of its preset.",
        ),
    ] = None,
    camera: CameraText = "box",
    chroma: Annotated[
        str | None,
        typer.Option(metavar="KIND", help="Interpolation of the colors: bicubic (the paper: bilinear)."),
    ] = None,
    memory: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Memory to work in, as in 2GB; decides the tiles.")
    ] = None,
    threads: Threads = None,
    reading: Reading,
    writing: Writing,
    scaling: Scaling,
    voice: Voice,
    options: dict[str, Any],
) -> None:
    """Raise the resolution of every view of a light field, 2 to 8 times.

    The result is a folder of views, or a file when OUT has the ending of one (.h5, .npz, .zip). Choose the camera
    that made the input when you know it: a box (the pixels of a sensor) is the usual one, bicubic is what image
    programs shrink with.

    With an OUT that ends in .zarr the work goes from disk to disk, block by block: of any size, on as many machines
    as there are, and the same command again goes on where a run has died. IN may be a folder of light fields then.
    """
    seen_by = parse_camera(camera, factor)
    window = parse_range(disparity) if disparity not in (None, "auto") else None
    target = tidy(out or beside(source, seen_by.factor))
    stored = scaling.applies(target, reading, writing)
    method = method or (catalogue.PAPER_METHOD if stored else catalogue.default_method(preset, options))
    # asked for wrongly? say so before reading
    catalogue.find(method, seen_by.factor)
    made = catalogue.make_options(method, preset, {**options, **({"disparity": window} if window else {})})
    if stored:
        asked = {"factor": seen_by.factor, "method": method, "preset": preset}
        asked["disparity"] = disparity if disparity == "auto" else window
        asked |= {"camera": seen_by, "chroma": chroma, "memory": memory, "threads": threads, **options}
        upscale_into_store(source, target, scaling, writing, voice, **asked)
        return
    writing.check(target, source)
    from sharpfield.upscaling import is_auto, upscale

    if window is None and not is_auto(disparity, preset):
        window = getattr(made, "disparity", None)
    started = time.perf_counter()
    with voice.progress() as progress:
        low = reading.read(source, voice, part(progress, 0, 0.03), threads)
        writing.rehearse(low, target)
        search = None
        if hasattr(made, "disparity"):
            progress(Progress("measuring disparity", 0.03))
            search = _search(low, seen_by.factor, window, threads, voice, reading)
        high = upscale(
            low,
            seen_by.factor,
            method=method,
            preset=preset,
            disparity=search,
            camera=seen_by,
            chroma=chroma,
            memory=memory,
            threads=threads,
            progress=part(progress, 0.03, 0.95),
            **options,
        )
        said = (*low.notes, *(search.warnings if search else ()))
        voice.note(*(text for text in high.notes if text not in said))
        writing.write(high, target, part(progress, 0.95, 1), threads)
    seconds = time.perf_counter() - started
    record = {
        "input": str(source),
        "output": str(target),
        "grid": high.grid,
        "size_in": low.size,
        "size": high.size,
        "seconds": round(seconds, 3),
        "notes": high.notes,
        "upscale": dict(high.metadata.get("upscale", {})),
    }
    if voice.json:
        voice.result("", record)
    voice.done(
        f"{target}: {high.grid[0]} x {high.grid[1]} views of {by(high.size)} (from {by(low.size)}), "
        f"{method}, {duration(seconds)}"
    )


def _search(
    low: LightField,
    factor: int,
    window: tuple[int, int] | None,
    threads: int | None,
    voice: Voice,
    reading: Reading,
) -> Search:
    """Find where to search, or take the window that was given, and say what a person should know before the work."""
    from sharpfield.geometry import find_search
    from sharpfield.parallel import Workers

    with Workers(threads) as workers:
        search = find_search(low, factor, workers, given=window)
    if in_all := reading.in_all(search.flags):
        order, *others = search.warnings
        search = replace(search, warnings=(f"{order} ({in_all})", *others))
    if search.auto:
        voice.note(f"searching disparities {search.window[0]}:{search.window[1]} ({search.reason})")
    voice.warn(*search.warnings)
    return search


def beside(source: Path, factor: int) -> Path:
    """Return the path beside the input that says what was done: knights/ -> knights-x2/."""
    whole = source.resolve()
    stem = re.sub(r"\.(zip|h5|hdf5|mat|npz|zarr|png|tiff?|jpe?g|bmp)$", "", whole.name, flags=re.IGNORECASE)
    if not stem:
        stem = "light-field"
    # what was a Zarr store may be too large to be anything else
    target = whole.with_name(f"{stem}-x{factor}{'.zarr' if whole.suffix.lower() == '.zarr' else ''}")
    return source.parent / target.name if source.name not in ("", "..") else target


command = with_groups(
    with_method_options(_upscale),
    reading=(Reading, "Reading"),
    writing=(Writing, "Writing"),
    scaling=(Scaling, "Larger than memory: when OUT ends in .zarr"),
    voice=(Voice, "Talking"),
)
