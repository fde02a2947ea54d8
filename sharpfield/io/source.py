"""What every format is to the rest: a place that gives one view at a time, and how views become a LightField.

A reader opens its file and returns a `ViewSource`; `assemble` then decodes the wanted views, in parallel where
the format allows, each straight into its place in the float32 array: beside the result, memory holds one
view a thread.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpfield.errors import InputError, OptionError
from sharpfield.io.selection import parse_crop, parse_views
from sharpfield.lightfield import LightField
from sharpfield.parallel import Workers
from sharpfield.progress import Progress, ProgressCallback, silent

Samples = NDArray[Any]

# float data resampled or compressed lands a hair outside [0, 1]; more than this is not rounding
_ROUNDING = 1e-4


@dataclass(frozen=True)
class Picture:
    """One decoded view: samples (y, x, c) of uint8, uint16 or float in [0, 1]; what it lost on the way."""

    samples: Samples
    bits: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ViewSource:
    """A light field that is open for reading, view by view, in sharpfield's order of views.

    Parameters
    ----------
    name, source
        What to call it, and where it is.
    grid, size, channels
        Rows and columns of views, height and width of a view, 1 or 3.
    load
        Gives the view (v, u); raises InputError with the view's file in the message.
    parallel
        Whether `load` may run in several threads at once.
    notes, metadata
        What was changed on the way in; what else the file said.
    maps
        Planes (y, x) that belong to each view, by name ("depth"): they become arrays (v, u, y, x) of the metadata.
    """

    name: str
    source: str
    grid: tuple[int, int]
    size: tuple[int, int]
    channels: int
    load: Callable[[int, int], Picture]
    parallel: bool = True
    notes: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    maps: Mapping[str, Callable[[int, int], Samples]] = field(default_factory=dict)


@dataclass(frozen=True)
class ReadOptions:
    """What a person may say about an input, and which part of it is wanted.

    Parameters
    ----------
    pattern
        How the names of the views say row and column, `"cam_{v}_{u}.png"`.
    grid
        Rows and columns of views, where the file does not tell.
    views, crop
        Which views and which window of them, as in `selection`.
    flip
        "v", "u" or "vu": the rows, the columns of views are stored in the opposite order.
    transpose
        The grid is stored columns first; done before `flip`.
    """

    pattern: str | None = None
    grid: tuple[int, int] | None = None
    views: str | None = None
    crop: str | None = None
    flip: str = ""
    transpose: bool = False

    def __post_init__(self) -> None:
        if self.grid is not None and (
            len(self.grid) != 2 or any(not isinstance(n, int) or n < 1 for n in self.grid)
        ):
            raise OptionError(f"grid is rows and columns of views such as (9, 9), not {self.grid!r}")
        if set(self.flip) - {"v", "u"}:
            raise OptionError(f"flip is 'v', 'u' or 'vu', not {self.flip!r}")


@dataclass(frozen=True)
class Format:
    """One way in which light fields are stored.

    Parameters
    ----------
    name, description
        What to call it (`format="zip"`), and how it looks, in one line.
    sniff
        Whether what is at a path is of this format: cheap, from the content, never raising.
    open
        Open it: a context that gives its `ViewSource`.
    write
        Write a light field, `write(lf, path, overwrite=..., bits=..., ...)`, or None where it is read only.
    ending
        Expression for the end of a path that chooses this format for writing.
    suffixes
        The same for people: such ends of a path.
    options
        What its `write` takes beside overwrite, bits, threads and progress.
    folder
        Whether it writes a folder; a file otherwise.
    reads
        Whether `open` ever succeeds; else it says what to do with such a file.
    streams
        Whether `write` takes one view at a time, `lf.views[v, u]`, and never asks for all of them at once.
    keeps_grid
        Whether such a file says itself how many rows and columns of views it has; another grid is refused.
    check_replaceable
        Raises OutputError where what is at a path must not be replaced, even when asked to.
    """

    name: str
    description: str
    sniff: Callable[[Path, ReadOptions], bool]
    open: Callable[[Path, ReadOptions], AbstractContextManager[ViewSource]]
    write: Callable[..., None] | None = None
    ending: str | None = None
    suffixes: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    folder: bool = False
    reads: bool = True
    streams: bool = False
    keeps_grid: bool = True
    check_replaceable: Callable[[Path], None] | None = None


def assemble(
    source: ViewSource,
    options: ReadOptions | None = None,
    *,
    threads: int | None = None,
    progress: ProgressCallback = silent,
) -> LightField:
    """Read the wanted views of a source into a LightField.

    Parameters
    ----------
    source
        Where the views come from.
    options
        Which views, which window, in which order.
    threads
        How many views are decoded at a time (all processors when None).
    progress
        Told after every view.
    """
    source = selected(source, options or ReadOptions())
    shape = (*source.grid, *source.size)
    check_memory((*shape, source.channels + len(source.maps)), source.source)
    views = np.empty((*shape, source.channels), np.float32)
    maps: dict[str, Samples] = {name: np.empty(shape, np.float32) for name in source.maps}

    lock = threading.Lock()
    done, bits, notes = 0, 0, list(source.notes)

    def fill(place: tuple[int, int]) -> None:
        nonlocal done, bits
        picture = source.load(*place)
        unit(picture.samples, views[place], f"{source.source}, view {place}")
        for name, plane in source.maps.items():
            maps[name][place] = plane(*place)
        with lock:
            done += 1
            bits = max(bits, picture.bits)
            notes.extend(note for note in picture.notes if note not in notes)
            progress(Progress("reading views", done / (shape[0] * shape[1])))

    with Workers(threads if source.parallel else 1) as workers:
        workers.map(fill, np.ndindex(*source.grid))
    views.flags.writeable = False  # so that LightField takes it over without a copy
    return LightField(
        views,
        name=source.name,
        source=source.source,
        bits=bits,
        notes=tuple(notes),
        metadata={**source.metadata, **maps},
    )


def selected(source: ViewSource, options: ReadOptions) -> ViewSource:
    """Return the wanted views and the wanted window of them, in the right order; nothing is read yet."""
    if options == ReadOptions(pattern=options.pattern, grid=options.grid):
        return source
    stored = np.arange(source.grid[0] * source.grid[1]).reshape(source.grid)
    if options.transpose:
        stored = stored.T
    stored = stored[:: -1 if "v" in options.flip else 1, :: -1 if "u" in options.flip else 1]
    if options.views is not None:
        stored = stored[parse_views(options.views, stored.shape)]
    y, x = slice(0, source.size[0]), slice(0, source.size[1])
    if options.crop is not None:
        y, x = parse_crop(options.crop, source.size)

    def load(v: int, u: int) -> Picture:
        picture = source.load(*divmod(int(stored[v, u]), source.grid[1]))
        return replace(picture, samples=picture.samples[y, x])

    def map_of(plane: Callable[[int, int], Samples]) -> Callable[[int, int], Samples]:
        return lambda v, u: plane(*divmod(int(stored[v, u]), source.grid[1]))[y, x]

    return replace(
        source,
        grid=stored.shape,
        size=(y.stop - y.start, x.stop - x.start),
        load=load,
        maps={name: map_of(plane) for name, plane in source.maps.items()},
    )


def unit(samples: Samples, out: NDArray[np.float32], label: str) -> None:
    """Write samples into `out` as float32 in [0, 1]: integers over their white level, floats as they are."""
    if samples.dtype.kind == "u" and samples.dtype.itemsize <= 2:
        top = np.float32(np.iinfo(samples.dtype).max)
        np.divide(samples, top, out=out, casting="unsafe", dtype=np.float32)
    elif samples.dtype.kind == "f":
        low, high = float(samples.min()), float(samples.max())
        if not (np.isfinite(low) and np.isfinite(high)):
            raise InputError(f"{label}: some values are NaN or infinite; replace them before")
        if low < -_ROUNDING or high > 1 + _ROUNDING:
            raise InputError(
                f"{label}: float samples are in [0, 1], these reach from {low:.4g} to {high:.4g}; "
                "divide them by the white level before"
            )
        np.clip(samples, 0, 1, out=out, casting="unsafe")
    else:
        raise InputError(
            f"{label}: samples are uint8, uint16 or float, not {samples.dtype}; convert them before"
        )


def check_memory(shape: tuple[int, ...], label: str) -> None:
    """Raise InputError when an array of float32 of this shape cannot fit into this machine's memory."""
    available = physical_memory()
    if available is not None and 4 * float(np.prod(shape, dtype=float)) > available:
        raise InputError(_too_big(shape, label, available))


def physical_memory() -> int | None:
    """Return the bytes of memory that this machine has, or None where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not on Windows
        return None


def _too_big(shape: tuple[int, ...], label: str, available: int | None) -> str:
    needs = 4 * float(np.prod(shape, dtype=float)) / 1e9
    has = "" if available is None else f", this machine has {available / 1e9:.1f} GB"
    return f"{label}: needs {needs:.1f} GB of memory{has}; read a part of it (views, crop)"
