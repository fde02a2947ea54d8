"""`sharpfield animate`: a light field as a moving picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sharpfield.cli.console import Voice, by
from sharpfield.cli.options import Reading, Threads, with_groups
from sharpfield.cli.view import named_after
from sharpfield.progress import part


def _animate(
    source: Annotated[Path, typer.Argument(metavar="IN", help="Light field.")],
    out: Annotated[
        Path | None,
        typer.Argument(
            metavar="OUT", help="Ends in .gif, .webp or .mp4; IN.webp in this folder when not given."
        ),
    ] = None,
    *,
    motion: Annotated[
        str,
        typer.Option(metavar="wiggle|orbit", help="From side to side, or around the middle."),
    ] = "wiggle",
    reach: Annotated[
        float, typer.Option(metavar="SHARE", help="How far towards the outermost views, up to 1.")
    ] = 0.9,
    seconds: Annotated[float, typer.Option(metavar="S", help="How long a turn takes.")] = 2.0,
    rate: Annotated[float, typer.Option(metavar="N", help="Frames a second.")] = 20.0,
    focus: Annotated[
        float | None,
        typer.Option(metavar="D", help="Disparity that stands still, in pixels; the median when not given."),
    ] = None,
    aperture: Annotated[
        float, typer.Option(metavar="N", help="Views on either side to see through; 0 is a pinhole.")
    ] = 0.0,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace OUT when it exists already.")
    ] = False,
    threads: Threads = None,
    reading: Reading,
    voice: Voice,
) -> None:
    """Make a short film of a light field: the viewpoint swings, and near things move against far ones."""
    from sharpfield.animate import Motion, animate

    target = out or Path(named_after(source, ".webp"))
    moves = Motion(motion, reach, seconds, rate, focus, aperture)
    with voice.progress() as progress:
        lf = reading.read(source, voice, part(progress, 0, 0.3), threads)
        animate(lf, target, moves, overwrite=overwrite, threads=threads, progress=part(progress, 0.3, 1))
    size = target.stat().st_size
    record = {"output": str(target), "motion": motion, "size": lf.size, "bytes": size}
    if voice.json:
        voice.result("", record)
    voice.done(f"{target}: {motion}, {by(lf.size)} pixels, {size / 1e6:.1f} MB")


command = with_groups(_animate, reading=(Reading, "Reading"), voice=(Voice, "Talking"))
