"""Light fields from and to disk: `read`, `write`, `formats`. One file a format; the right one is found here.

A format is a `Format` (source.py): a look at the content, a way to open, and mostly a way to write. To add one,
write its file and name it in `_MODULES`.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sharpfield.errors import InputError, OptionError
from sharpfield.io import streamed
from sharpfield.io.atomic import check_free, explain
from sharpfield.io.source import Format, ReadOptions, ViewSource, assemble, selected
from sharpfield.lightfield import LightField, require_light_field
from sharpfield.progress import ProgressCallback, silent

__all__ = [
    "Format",
    "ReadOptions",
    "ViewSource",
    "check_output",
    "formats",
    "open_light_field",
    "open_views",
    "read",
    "write",
]

# in the order in which they are asked whether a path is theirs
_MODULES = (
    "zarr_store",
    "folder",
    "lytro",
    "numpy_archive",
    "zip_archive",
    "matlab",
    "hci2013",
    "hdf5",
    "tiff_stack",
    "quilt",
    "eslf",
    "mosaic",
)


def formats() -> tuple[Format, ...]:
    """Return every format, in the order in which a path is tried."""
    return tuple(importlib.import_module(f"sharpfield.io.{module}").FORMAT for module in _MODULES)


def read(
    path: str | Path,
    *,
    pattern: str | None = None,
    grid: tuple[int, int] | None = None,
    views: str | None = None,
    crop: str | None = None,
    format: str | None = None,  # noqa: A002  (the word that people look for)
    flip: str = "",
    transpose: bool = False,
    threads: int | None = None,
    progress: ProgressCallback = silent,
) -> LightField:
    """Read a light field; the format is found from the content.

    Parameters
    ----------
    path
        A folder of views, or a file of any of `formats()`.
    pattern
        How the names of the views say row and column, `"cam_{v}_{u}.png"`, where it is no known naming.
    grid
        Rows and columns of views, where the file does not tell (a mosaic, numbered views).
    views
        Which views: `"5x5"` the central ones, `"2:7,2:7"` rows and columns.
    crop
        Which window of every view: `"100:300,50:250"`, y and x.
    format
        The name of the format, where the content would be taken for another.
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
    OptionError
        An option that has no meaning, or none for this light field.
    """
    options = ReadOptions(pattern, grid, views, crop, flip, transpose)
    with open_views(path, options, format=format) as source:
        return assemble(source, options, threads=threads, progress=progress)


@contextmanager
def open_views(
    path: str | Path,
    options: ReadOptions | None = None,
    *,
    format: str | None = None,  # noqa: A002
) -> Iterator[ViewSource]:
    """Open a light field for reading view by view, without loading it (`assemble` loads it, or a part of it)."""
    place, options = Path(path), options or ReadOptions()
    found = _recognized(place, options) if format is None else _named(format, place)
    with found.open(place, options) as source:
        if found.keeps_grid and options.grid not in (None, source.grid):
            rows, columns = source.grid
            said = f"{options.grid[0]}x{options.grid[1]}" if options.grid else ""
            raise InputError(
                f"{place}: holds a grid of {rows}x{columns} views, not the {said} asked for; leave out --grid"
            )
        yield source


@contextmanager
def open_light_field(
    path: str | Path,
    options: ReadOptions | None = None,
    *,
    format: str | None = None,  # noqa: A002
    stream: bool = True,
    threads: int | None = None,
    progress: ProgressCallback = silent,
) -> Iterator[LightField]:
    """Open a light field to be written elsewhere: in memory where it fits, else its views are read when asked for.

    Parameters
    ----------
    path, options, format, threads, progress
        As for `open_views` and `read`.
    stream
        Whether it may stay in its file (`Format.streams` of where it goes).
    """
    options = options or ReadOptions()
    with open_views(path, options, format=format) as source:
        wanted = selected(source, options)
        if stream and not streamed.fits(wanted):
            yield streamed.stream(wanted, threads=threads, progress=progress)
        else:
            yield assemble(wanted, threads=threads, progress=progress)


def write(
    lf: LightField,
    path: str | Path,
    *,
    overwrite: bool = False,
    bits: int | None = None,
    pattern: str | None = None,
    file_format: str | None = None,
    format: str | None = None,  # noqa: A002
    threads: int | None = None,
    progress: ProgressCallback = silent,
) -> Path:
    """Write a light field, whole or not at all, and return where it is.

    Parameters
    ----------
    lf
        What to write.
    path
        Its ending chooses the format (`formats()` lists them); none is a folder of views.
    overwrite
        Replace what is there; the old one goes only when the new one is complete.
    bits
        Bits a sample, 8, 16 or 32 (float), rounded half up. When None, pictures have `lf.bits`, and the
        lossless formats (HDF5, NumPy, TIFF stack) keep every value as it is.
    pattern
        Names of the views in a folder or zip, `"cam_{v}_{u}.png"`, `{v:02}` to pad; view_00_00 when None.
    file_format
        Kind of picture in a folder or zip: png (when None), tiff, jpeg, bmp; the pattern's ending goes before it.
    format
        The name of the format, where the ending does not choose it.
    threads
        How many views are encoded at a time; all processors when None.
    progress
        Told how far it is.

    Raises
    ------
    OutputError
        The path exists, cannot be written, or the disk is full.
    OptionError
        The format does not take such an option, or cannot hold that many bits.
    """
    require_light_field(lf)
    extra: dict[str, Any] = {"pattern": pattern, "file_format": file_format}
    extra = {name: value for name, value in extra.items() if value is not None}
    chosen = check_output(path, overwrite=overwrite, format=format, **extra)
    assert chosen.write is not None  # else it is refused
    final = Path(path)
    chosen.write(lf, final, overwrite=overwrite, bits=bits, threads=threads, progress=progress, **extra)
    return final


def check_output(
    path: str | Path,
    *,
    overwrite: bool = False,
    pattern: str | None = None,
    file_format: str | None = None,
    format: str | None = None,  # noqa: A002
) -> Format:
    """Refuse an output that `write` would refuse whatever the light field, before any work is spent on it.

    Parameters
    ----------
    path, overwrite, pattern, file_format, format
        As for `write`.

    Returns
    -------
    Format
        The one that would be written.

    Raises
    ------
    OutputError
        The path exists (without `overwrite`), is of the other kind, or holds what is no light field.
    OptionError
        The format is only read, or does not take such an option.
    """
    final = Path(path)
    chosen = _named(format, final) if format is not None else _for_writing(final)
    if chosen.write is None:
        raise OptionError(
            f"{final}: {chosen.name} is only read, not written; choose one of {_listed(writable=True)}"
        )
    for name, value in {"pattern": pattern, "file_format": file_format}.items():
        if value is not None and name not in chosen.options:
            raise OptionError(
                f"{final}: {name} has no meaning for {chosen.name}; it is for a folder or zip of views"
            )
    check_free(final, overwrite=overwrite, folder=chosen.folder)
    if chosen.check_replaceable is not None and final.exists():
        chosen.check_replaceable(final)
    return chosen


def _recognized(path: Path, options: ReadOptions) -> Format:
    """Return the format that a path is of."""
    try:
        if not path.exists():
            raise InputError(f"{path}: no such file or folder; check the path")
        if path.is_file():
            with path.open("rb") as file:
                if not file.read(1):
                    raise InputError(f"{path}: is an empty file; copy or export it again")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {explain(error)}") from error
    for each in formats():
        if each.sniff(path, options):
            return each
    raise InputError(
        f"{path}: is no light field that sharpfield knows; give a folder of views or one of {_listed()} "
        "(sharpfield formats shows how they look)"
    )


def _for_writing(path: Path) -> Format:
    """Return the format that the ending of an output chooses; of several, the one that says most (_eslf.tif)."""
    longest, chosen = 0, None
    for each in formats():
        found = each.ending and re.search(f"({each.ending})$", path.name, re.IGNORECASE)
        if found and len(found[0]) > longest:
            longest, chosen = len(found[0]), each
    return chosen or _named("folder", path)


def _named(name: str, path: Path) -> Format:
    for each in formats():
        if each.name == name:
            return each
    raise OptionError(f"{path}: there is no format {name!r}; choose one of {_listed()}")


def _listed(*, writable: bool = False) -> str:
    return ", ".join(each.name for each in formats() if each.write is not None or not writable)
