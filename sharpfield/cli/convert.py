"""`sharpfield convert`: from any format to any other, whole or a part, and what did not come along."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sharpfield.cli.console import Voice, by, data_size
from sharpfield.cli.options import Reading, Threads, Writing, tidy, with_groups
from sharpfield.errors import SharpfieldError
from sharpfield.progress import part

if TYPE_CHECKING:
    from sharpfield.io.comparison import Kept
    from sharpfield.lightfield import LightField


def _convert(
    source: Annotated[
        Path, typer.Argument(metavar="IN", help="A light field: a folder of its views, or a file.")
    ],
    out: Annotated[
        Path,
        typer.Argument(
            metavar="OUT", help="Its ending chooses the format (sharpfield formats); none is a folder."
        ),
    ],
    *,
    names: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Names of the views in OUT, a folder or zip: 'cam_{v}_{u}.png', {v:02} to pad.",
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check/--no-check", help="Read OUT back and compare every value (or do not).")
    ] = True,
    threads: Threads = None,
    reading: Reading,
    writing: Writing,
    voice: Voice,
) -> None:
    """Store a light field in another format, or a part of it, and tell what the format does not keep.

    The values stay exactly as they are where OUT can hold them; pictures round floats to 16 bits, half up, and --bits
    asks for a depth. What is larger than the memory goes view by view.
    """
    out = tidy(out)
    chosen = writing.check(out, source, pattern=names)
    from sharpfield.io import open_light_field
    from sharpfield.io.comparison import compare

    with (
        voice.progress() as progress,
        open_light_field(
            source,
            reading.options(),
            format=reading.input_format,
            stream=chosen.streams,
            threads=threads,
            progress=part(progress, 0, 0.4),
        ) as lf,
    ):
        voice.note(*(f"{source}: {text}" for text in lf.notes))
        writing.write(lf, out, part(progress, 0.4, 0.8), threads, pattern=names)
        kept = None
        if check and lf.grid != (1, 1):
            # an ending that was left out of the names is anything
            written = None if names is None else f"{names}*"
            try:
                kept = compare(
                    lf, out, chosen, pattern=written, threads=threads, progress=part(progress, 0.8, 1)
                )
            except SharpfieldError as error:
                raise SharpfieldError(f"written, but it does not read back: {error}") from error
    lost = _lost(lf, kept, chosen.name)
    voice.note(*(f"{out}: {text}" for text in lost))
    if voice.json:
        voice.result("", _record(source, out, chosen.name, lf, kept, lost))
    colors = {1: "grey", 3: "RGB"}[lf.channels]
    exact = "" if kept is None or kept.difference else "; every value reads back as it was"
    voice.done(
        f"{out}: {chosen.name}, {lf.grid[0]} x {lf.grid[1]} views of {by(lf.size)}, {colors}, "
        f"{data_size(_bytes(out))}{exact}"
    )


def _lost(lf: LightField, kept: Kept | None, name: str) -> list[str]:
    """Say what is not, or not exactly, in the output."""
    if lf.grid == (1, 1):
        return ["a single view, which is a picture and no light field"]
    if kept is None:
        return []
    lost = []
    if kept.difference:
        depth = "float" if kept.bits == 32 else f"{kept.bits} bits"
        lost.append(
            f"values differ from the input by up to {255 * kept.difference:.2g}/255 (stored as {depth})"
        )
    if kept.channels != lf.channels:
        lost.append(f"grey views became RGB: {name} knows no grey")
    if kept.metadata_lost:
        lost.append(
            f"{name} does not keep this metadata, so it was left out: {', '.join(kept.metadata_lost)}"
        )
    return lost


def _record(
    source: Path, out: Path, name: str, lf: LightField, kept: Kept | None, lost: list[str]
) -> dict[str, Any]:
    return {
        "input": str(source),
        "output": str(out),
        "format": name,
        "grid": lf.grid,
        "size": lf.size,
        "channels": lf.channels,
        "bits": kept.bits if kept else None,
        "bytes": _bytes(out),
        "exact": None if kept is None else kept.difference == 0,
        "difference": None if kept is None else kept.difference,
        "metadata_lost": list(kept.metadata_lost) if kept else None,
        "notes": [*lf.notes, *lost],
    }


def _bytes(out: Path) -> int:
    """Return how much space an output takes."""
    if not out.is_dir():
        return out.stat().st_size
    return sum(os.path.getsize(Path(folder) / name) for folder, _, names in os.walk(out) for name in names)


command = with_groups(
    _convert,
    reading=(Reading, "Reading IN"),
    writing=(Writing, "Writing OUT"),
    voice=(Voice, "Talking"),
)
