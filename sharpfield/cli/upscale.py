"""`sharpfield upscale`: the main job, from a light field on disk to one of higher resolution on disk."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Annotated, Any

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
from sharpfield.progress import part


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
        str, typer.Option(metavar="NAME", help="One of those that sharpfield methods lists.")
    ] = catalogue.DEFAULT_METHOD,
    preset: Annotated[
        str, typer.Option(metavar="fast|paper", help="The fast schedule, or the paper's, to the letter.")
    ] = catalogue.DEFAULT_PRESET,
    disparity: Annotated[
        str | None,
        typer.Option(
            metavar="LO:HI",
            help="Disparities to search between adjacent views, in pixels of the result (-6:6 when not given); "
            "sharpfield info tells those of the input.",
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
    window = None if disparity is None else parse_range(disparity)
    given = options if window is None else {**options, "disparity": window}
    catalogue.make_options(method, preset, given)  # asked for wrongly? say so before reading
    target = tidy(out or beside(source, seen_by.factor))
    if scaling.applies(target, reading, writing):
        asked = {"factor": seen_by.factor, "method": method, "preset": preset}
        asked["disparity"] = disparity if disparity == "auto" else window
        asked |= {"camera": seen_by, "chroma": chroma, "memory": memory, "threads": threads, **options}
        upscale_into_store(source, target, scaling, writing, voice, **asked)
        return
    writing.check(target, source)
    from sharpfield.upscale import upscale

    started = time.perf_counter()
    with voice.progress() as progress:
        low = reading.read(source, voice, part(progress, 0, 0.03), threads)
        writing.rehearse(low, target)
        high = upscale(
            low,
            seen_by.factor,
            method=method,
            preset=preset,
            disparity=window,
            camera=seen_by,
            chroma=chroma,
            memory=memory,
            threads=threads,
            progress=part(progress, 0.03, 0.95),
            **options,
        )
        voice.note(*high.notes[len(low.notes) :])
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
