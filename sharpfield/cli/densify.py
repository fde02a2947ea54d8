"""`sharpfield densify`: a light field with more views, those between the ones that there are."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from sharpfield.cli.console import Voice, by, duration
from sharpfield.cli.options import Reading, Threads, Writing, parse_range, tidy, with_groups
from sharpfield.progress import Progress, part


def _densify(
    source: Annotated[Path, typer.Argument(metavar="IN", help="Light field of at least two views.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Where the one with more views goes.")],
    *,
    disparity: Annotated[
        str | None,
        typer.Option(
            metavar="auto|LO:HI",
            help="Disparities between adjacent views, in pixels: auto (when not given) reads them off the input.",
        ),
    ] = None,
    threads: Threads = None,
    reading: Reading,
    writing: Writing,
    voice: Voice,
) -> None:
    """Make the views between the views: 2x2 become 3x3, 3x3 become 5x5, a row of 5 becomes one of 9.

    Two trained networks (Yoon et al. 2017) look at the two or four views around the one they make. The views of IN are
    kept as they are, and so is their size. Disparities of up to 4 pixels between adjacent views were learned: what
    moves farther comes out double or blurred, and you are told so.
    """
    window = parse_range(disparity) if disparity not in (None, "auto") else None
    out = tidy(out)
    writing.check(out, source)
    from sharpfield.densifying import densify, find_depth
    from sharpfield.parallel import Workers

    started = time.perf_counter()
    with voice.progress() as progress:
        lf = reading.read(source, voice, part(progress, 0, 0.05), threads)
        writing.rehearse(lf, out)
        progress(Progress("measuring disparity", 0.05))
        with Workers(threads) as workers:
            depth = find_depth(lf, window, workers)
        if depth.shift:
            voice.note(f"pairs of views are moved together by {2 * depth.shift} pixels first")
        voice.warn(*depth.warnings)
        dense = densify(lf, disparity=depth, threads=threads, progress=part(progress, 0.08, 0.95))
        writing.write(dense, out, part(progress, 0.95, 1), threads)
    seconds = time.perf_counter() - started
    record = {
        "input": str(source),
        "output": str(out),
        "grid_in": lf.grid,
        "grid": dense.grid,
        "size": dense.size,
        "seconds": round(seconds, 3),
        "notes": dense.notes,
        "densify": dict(dense.metadata["densify"]),
    }
    if voice.json:
        voice.result("", record)
    voice.done(
        f"{out}: {dense.grid[0]} x {dense.grid[1]} views of {by(dense.size)} (from {lf.grid[0]} x {lf.grid[1]}), "
        f"{duration(seconds)}"
    )


command = with_groups(
    _densify, reading=(Reading, "Reading"), writing=(Writing, "Writing"), voice=(Voice, "Talking")
)
