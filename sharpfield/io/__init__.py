"""Light fields from and to disk: `read`, `write`, `formats`. One file a format; the right one is found here.

A format is a `Format` (source.py): a look at the content, a way to open, and mostly a way to write. To add one,
write its file and name it in `_MODULES`.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sharpfield.errors import InputError
from sharpfield.io.atomic import explain
from sharpfield.io.source import Format, ReadOptions, ViewSource, assemble
from sharpfield.lightfield import LightField
from sharpfield.progress import ProgressCallback, silent

__all__ = ["Format", "ReadOptions", "ViewSource", "formats", "open_views", "read", "write"]

# in the order in which they are asked whether a path is theirs
_MODULES = ("folder",)


def formats() -> tuple[Format, ...]:
    """Return every format, in the order in which a path is tried."""
    return tuple(importlib.import_module(f"sharpfield.io.{module}").FORMAT for module in _MODULES)


def read(
    path: str | Path,
    *,
    pattern: str | None = None,
    flip: str = "",
    transpose: bool = False,
    threads: int | None = None,
    progress: ProgressCallback = silent,
) -> LightField:
    """Read a light field; the format is found from the content.

    Parameters
    ----------
    path
        A folder of views.
    pattern
        How the names of the views say row and column, `"cam_{v}_{u}.png"`, where it is no known naming.
    flip
        "v", "u" or "vu": rows, columns of views are stored in the opposite order; turn them.
    transpose
        Rows and columns of views are stored in each other's place; exchange them (before `flip`).
    threads
        How many views are decoded at a time; all processors when None.
    progress
        Told how far it is.

    Raises
    ------
    InputError
        What is wrong with which file, and what to do.
    """
    with open_views(path, pattern=pattern) as source:
        return assemble(source, flip=flip, transpose=transpose, threads=threads, progress=progress)


@contextmanager
def open_views(path: str | Path, *, pattern: str | None = None) -> Iterator[ViewSource]:
    """Open a light field for reading view by view, without loading it."""
    place = Path(path)
    found = _recognized(place)
    with found.open(place, ReadOptions(pattern=pattern)) as source:
        yield source


def write(
    lf: LightField,
    path: str | Path,
    *,
    overwrite: bool = False,
    bits: int | None = None,
    pattern: str | None = None,
    file_format: str = "png",
    threads: int | None = None,
    progress: ProgressCallback = silent,
) -> Path:
    """Write a light field, whole or not at all, and return where it is.

    Parameters
    ----------
    lf
        What to write.
    path
        A folder, which must not exist without `overwrite`.
    overwrite
        Replace what is there; the old one goes only when the new one is complete.
    bits
        Bits a sample, 8, 16 or 32 (float, TIFF); as `lf.bits` when None. Rounded half up.
    pattern
        Names of the views, `"cam_{v}_{u}.png"`, `{v:02}` to pad; view_00_00 when None.
    file_format
        Kind of picture: png, tiff, jpeg, bmp; the pattern's ending goes before it.
    threads
        How many views are encoded at a time; all processors when None.
    progress
        Told how far it is.

    Raises
    ------
    OutputError
        The path exists, cannot be written, or the disk is full.
    OptionError
        The kind of picture cannot hold that many bits.
    """
    options: dict[str, Any] = {
        "bits": bits,
        "pattern": pattern,
        "file_format": file_format,
        "threads": threads,
    }
    final = Path(path)
    chosen = formats()[0]
    assert chosen.write is not None
    chosen.write(lf, final, overwrite=overwrite, progress=progress, **options)
    return final


def _recognized(path: Path) -> Format:
    """Return the format that a path is of."""
    try:
        if not path.exists():
            raise InputError(f"{path}: no such file or folder; check the path")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {explain(error)}") from error
    for each in formats():
        if each.sniff(path):
            return each
    if path.is_file():
        raise InputError(f"{path}: is a file; a light field is a folder of its views, give the folder")
    raise InputError(f"{path}: is of no known format; formats() lists them")
