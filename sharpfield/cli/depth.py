"""`sharpfield depth`: a disparity map of every view, or of one, as PFM, PNG or NumPy arrays."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from sharpfield.cli.console import Voice, by, duration
from sharpfield.cli.options import Reading, Threads, tidy, with_groups
from sharpfield.errors import OptionError
from sharpfield.progress import part


def _depth(
    source: Annotated[
        Path, typer.Argument(metavar="IN", help="A light field: a folder of its views, or a file.")
    ],
    out: Annotated[
        Path,
        typer.Argument(metavar="OUT", help="A folder, .zip or .npz; .pfm, .png or .npz for one view."),
    ],
    *,
    centre: Annotated[
        bool, typer.Option("--centre", "--center", help="Only the map of the middle view.")
    ] = False,
    view: Annotated[
        str | None, typer.Option(metavar="V,U", help="Only the map of this view: row, column, from 0.")
    ] = None,
    disparity: Annotated[
        str,
        typer.Option(
            metavar="auto|LO:HI",
            help="Disparities to look for between adjacent views, in pixels of IN; auto reads them off the pixels.",
        ),
    ] = "auto",
    picture: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="pfm|png",
            help="Files in a folder or zip: pfm (float, when not given) or png (16 bits, the scale in depth.json).",
        ),
    ] = None,
    memory: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Memory to work in, as in 2GB; decides the tiles.")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace OUT when it exists already.")
    ] = False,
    threads: Threads = None,
    reading: Reading,
    voice: Voice,
) -> None:
    """Write how near everything is: a disparity map of every view, in pixels between adjacent views.

    Larger is nearer; a point of disparity d is d pixels farther left in the next view to the right. Maps have the
    size of the views. They are those that the method sharp begins with; small translations of single views are
    measured before.
    """
    if centre and view is not None:
        raise OptionError("--centre and --view both say which map; give one of them")
    window = disparity if disparity == "auto" else parse_disparities(disparity)
    asked = None if view is None else parse_view(view)
    target = tidy(out)
    if target.resolve() == source.resolve():
        raise OptionError(f"{out}: is the input as well; give the output a name of its own")
    from sharpfield.disparities import depth
    from sharpfield.io.maps import choose_output
    from sharpfield.upscaling import parse_memory

    # asked for wrongly? say so before reading
    parse_memory(memory)
    single = centre or asked is not None
    output = choose_output(target, single=single, picture=picture, overwrite=overwrite)
    started = time.perf_counter()
    with voice.progress() as progress:
        lf = reading.read(source, voice, part(progress, 0, 0.05), threads)
        which = (lf.grid[0] // 2, lf.grid[1] // 2) if centre else asked
        maps = depth(lf, window, threads, part(progress, 0.05, 0.98), view=which, memory=memory)
        voice.warn(*maps.notes)
        known = maps.write(target, picture=picture, overwrite=overwrite)
    seconds = time.perf_counter() - started
    record = {"input": str(source), "output": str(target), "format": output.picture or output.container}
    record |= known | {"seconds": round(seconds, 3)}
    if voice.json:
        voice.result("", record)
    low, high = known["range"]
    what = (
        f"{lf.grid[0]} x {lf.grid[1]} maps"
        if which is None
        else f"the map of row {which[0]}, column {which[1]}"
    )
    voice.done(
        f"{target}: {what}, {by(lf.size)}, disparity {low:.2f} .. {high:.2f} pixels, {duration(seconds)}"
    )


def parse_disparities(text: str) -> tuple[float, float]:
    """Return LO:HI as two numbers; whether they have a meaning, the views say."""
    low, _, high = text.partition(":")
    try:
        return float(low), float(high)
    except ValueError:
        raise OptionError(f"--disparity is auto or two numbers LO:HI, as in -1.5:2, not {text!r}") from None


def parse_view(text: str) -> tuple[int, int]:
    """Return V,U as two whole numbers."""
    row, _, column = text.partition(",")
    try:
        return int(row), int(column)
    except ValueError:
        raise OptionError(f"--view takes row and column of a view, as in 2,2, not {text!r}") from None


command = with_groups(_depth, reading=(Reading, "Reading"), voice=(Voice, "Talking"))
