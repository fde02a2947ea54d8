"""`sharpfield formats`: every way in which light fields are stored, and how each looks."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sharpfield.cli.console import Voice, table
from sharpfield.cli.options import with_groups

if TYPE_CHECKING:
    from sharpfield.io import Format

_ENDINGS = 24  # characters for the ends of names
_NARROWEST = 40  # characters for a description, however small the terminal


def _formats(voice: Voice) -> None:
    """List the formats: which are read and written, the endings that choose them, and how they look."""
    from sharpfield.io import formats

    known = formats()
    rows = [
        (
            each.name,
            "yes" if each.reads else "no",
            "yes" if each.write is not None else "no",
            _named(each),
            each.description,
        )
        for each in known
    ]
    header = ("format", "read", "written", "for an OUT named", "how it looks")
    record = {
        "formats": [
            {
                "name": each.name,
                "reads": each.reads,
                "writes": each.write is not None,
                "suffixes": list(each.suffixes),
                "folder": each.folder,
                "description": each.description,
            }
            for each in known
        ]
    }
    voice.result(
        f"{_wrapped(header, rows)}\n\nThe format of an input is found from its content; --from NAME says another. "
        "That of an output comes from\nits ending; --to NAME says another.",
        record,
    )


def _named(each: Format) -> str:
    """Return the ends of an output's name that choose a format, or what does instead."""
    if each.suffixes:
        return ", ".join(each.suffixes)
    if each.write is None:
        return ""
    return "(no ending)" if each.name == "folder" else f"(--to {each.name})"


def _wrapped(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """Return a table whose last columns go on in further lines where they are too long for the terminal."""
    before = max(len(row[0]) for row in rows) + len("read") + len("written") + _ENDINGS + 8
    room = max(shutil.get_terminal_size().columns - before, _NARROWEST)
    lines: list[tuple[str, ...]] = []
    for *short, names, text in rows:
        left, right = textwrap.wrap(names, _ENDINGS), textwrap.wrap(text, room)
        for number in range(max(len(left), len(right))):
            cells = short if number == 0 else [""] * len(short)
            lines.append((*cells, *(part[number] if number < len(part) else "" for part in (left, right))))
    return table(header, lines, left=len(header))


command = with_groups(_formats, voice=(Voice, None))
