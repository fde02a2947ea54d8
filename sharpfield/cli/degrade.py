"""`sharpfield degrade`: a low-resolution light field made of a high-resolution one, to measure methods on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sharpfield.cli.console import Voice, by
from sharpfield.cli.options import (
    CameraText,
    FactorText,
    Reading,
    Threads,
    Writing,
    parse_camera,
    tidy,
    with_groups,
)
from sharpfield.progress import part


def _degrade(
    source: Annotated[Path, typer.Argument(metavar="IN", help="High-resolution light field.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Where the low-resolution one goes.")],
    *,
    factor: FactorText = "2",
    camera: CameraText = "box",
    noise: Annotated[
        float, typer.Option(metavar="SIGMA", help="Standard deviation of white noise; 1 is the white level.")
    ] = 0.0,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the noise.")] = 0,
    threads: Threads = None,
    reading: Reading,
    writing: Writing,
    voice: Voice,
) -> None:
    """Blur, shrink and round a light field, as a camera of lower resolution would see it.

    What upscale makes of OUT can then be compared with IN: sharpfield evaluate.
    """
    seen_by = parse_camera(camera, factor)
    out = tidy(out)
    writing.check(out, source)
    from sharpfield.observe import degrade
    from sharpfield.parallel import Workers

    with voice.progress() as progress, Workers(threads) as workers:
        lf = reading.read(source, voice, part(progress, 0, 0.5), threads)
        bits = writing.bits or 8
        writing.rehearse(lf, out)
        low = degrade(lf, seen_by, noise=noise, seed=seed, bits=None if bits == 32 else bits, workers=workers)
        voice.note(*(f"{source}: {text}" for text in low.notes[len(lf.notes) :]))
        writing.write(low, out, part(progress, 0.6, 1), threads)
    text = f"{out}: {low.grid[0]} x {low.grid[1]} views of {by(low.size)}, {factor} times smaller ({seen_by})"
    record = {
        "output": str(out),
        "grid": low.grid,
        "size": low.size,
        "factor": seen_by.factor,
        "camera": str(seen_by),
        "noise": noise,
        "seed": seed,
        "bits": bits,
        "notes": low.notes,
    }
    if voice.json:
        voice.result("", record)
    else:
        voice.done(text)


command = with_groups(
    _degrade, reading=(Reading, "Reading"), writing=(Writing, "Writing"), voice=(Voice, "Talking")
)
