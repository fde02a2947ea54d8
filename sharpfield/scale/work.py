"""One task: read a block of all views with its halo, super-resolve it, write its own chunks, record that it is done."""

from __future__ import annotations

import ctypes
import errno
import hashlib
import os
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpfield import catalogue
from sharpfield.color import to_luma_chroma, to_rgb
from sharpfield.errors import InputError, SharpfieldError
from sharpfield.interpolate import interpolate
from sharpfield.io import open_views
from sharpfield.io.atomic import explain
from sharpfield.io.pictures import quantize
from sharpfield.io.source import Samples, unit
from sharpfield.io.zarr_store import VIEWS, is_store, open_for_writing, open_stored
from sharpfield.observe import Camera
from sharpfield.parallel import Workers
from sharpfield.progress import ProgressCallback, silent
from sharpfield.scale.journal import sync

# a disk that is full, or a place that nobody may write to, stops every block, not only this one
_HOPELESS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM)

# chunks that are brought to the disk at a time
_SYNCS = 16


@dataclass(frozen=True)
class Settings:
    """What decides the pixels of the result.

    Parameters
    ----------
    method, options
        Name of the method and its options, complete.
    camera, chroma
        What made the views; how colors are interpolated.
    bits
        8, 16 or 32 (float), of the result.
    """

    method: str
    options: Any
    camera: Camera
    chroma: str
    bits: int


@dataclass(frozen=True)
class Task:
    """One block of one light field; small enough to go through a scheduler.

    Parameters
    ----------
    source, target
        The light field and the unfinished store.
    mark
        File that says that the block is done.
    grid, size, channels
        Of the light field.
    core
        The window (y0, y1, x0, x1) of the views that it is responsible for, in low-resolution pixels.
    margin
        How many pixels around the core it sees: the halo.
    settings
        What to do.
    threads
        How many threads it may use.
    """

    source: str
    target: str
    mark: str
    grid: tuple[int, int]
    size: tuple[int, int]
    channels: int
    core: tuple[int, int, int, int]
    margin: int
    settings: Settings
    threads: int | None = None

    @property
    def seen(self) -> tuple[slice, slice]:
        """The core with its halo."""
        y0, y1, x0, x1 = self.core
        return (
            slice(max(y0 - self.margin, 0), min(y1 + self.margin, self.size[0])),
            slice(max(x0 - self.margin, 0), min(x1 + self.margin, self.size[1])),
        )

    @property
    def where(self) -> str:
        """The block in words."""
        y0, y1, x0, x1 = self.core
        return f"block {y0}:{y1},{x0}:{x1} of {self.source}"


@dataclass(frozen=True)
class Outcome:
    """What became of a task.

    Parameters
    ----------
    seconds
        How long it took.
    problem
        Why it failed; empty when it is done.
    hopeless
        Whether the others will fail, too.
    died
        Whether its worker died on it.
    """

    seconds: float = 0.0
    problem: str = ""
    hopeless: bool = False
    died: bool = False


def run_task(task: Task, progress: ProgressCallback = silent) -> Outcome:
    """Do a block; whatever goes wrong becomes part of the outcome, so that the other blocks are done."""
    began = time.perf_counter()
    _keep_little_memory()
    try:
        try:
            _upscale_block(task, progress)
        finally:
            _give_memory_back()
    except SharpfieldError as error:
        return Outcome(problem=str(error))
    except OSError as error:
        target = task.target
        return Outcome(
            problem=f"{target}: cannot be written: {explain(error)}", hopeless=error.errno in _HOPELESS
        )
    except MemoryError:
        return Outcome(
            problem=f"{task.where}: out of memory; lower --memory, or start fewer workers", hopeless=True
        )
    except Exception as error:
        return Outcome(problem=f"{task.where}: unexpected {type(error).__name__}: {error}")
    return Outcome(seconds=time.perf_counter() - began)


def _give_memory_back() -> None:
    """Return the memory of a block to the system: the next one cuts it up differently, and would take as much again.

    The C library keeps what its threads have freed. Without this, the second block of 9x9 views took 2.7 GB where the
    first had taken 1.7 GB.
    """
    if _C_LIBRARY is not None:
        _C_LIBRARY.malloc_trim(0)


@cache
def _keep_little_memory() -> None:
    """Tell the C library, once in a process, what not to keep of freed memory.

    Of what a thread frees last, `malloc_trim` gives nothing back, and the library would by itself keep up to 64 MB of
    it for each of some threads.
    """
    if _C_LIBRARY is not None:
        for parameter, size in _KEPT:
            _C_LIBRARY.mallopt(parameter, size)


def _c_library() -> Any:
    """Return the C library where it can be told to give memory back (glibc), else None."""
    try:
        library = ctypes.CDLL(None)
        library.malloc_trim.argtypes = [ctypes.c_size_t]
        library.mallopt.argtypes = [ctypes.c_int, ctypes.c_int]
    except (OSError, TypeError, AttributeError):  # another system, another C library
        return None
    return library


# M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of glibc's malloc.h, in bytes; larger than what a step of the solver takes
_KEPT = ((-1, 8 << 20), (-3, 4 << 20))
_C_LIBRARY = _c_library()


def _upscale_block(task: Task, progress: ProgressCallback) -> None:
    settings, (y, x) = task.settings, task.seen
    seen_before = input_digest(task)
    low = np.empty((*task.grid, y.stop - y.start, x.stop - x.start), np.float32)
    windows: dict[tuple[int, ...], Samples] = {}
    with Workers(task.threads) as workers:
        with _window_reader(Path(task.source), task) as (window, parallel):

            def read(place: tuple[int, int]) -> None:
                windows[place] = window(*place)
                low[place] = to_luma_chroma(_as_unit(windows[place], task, place))[0]

            if parallel:
                workers.map(read, np.ndindex(task.grid))
            else:
                for place in np.ndindex(task.grid):
                    read(place)
        run = catalogue.find(settings.method).load()
        luma = run(low, settings.camera, settings.options, workers, progress)
        a = settings.camera.factor
        y0, y1, x0, x1 = (a * edge for edge in task.core)
        inside = slice(y0 - a * y.start, y1 - a * y.start), slice(x0 - a * x.start, x1 - a * x.start)
        array = open_for_writing(Path(task.target))

        def write(place: tuple[int, int]) -> None:
            rgb = _compose(luma[place][inside], _as_unit(windows.pop(place), task, place), inside, settings)
            array[(*place, slice(y0, y1), slice(x0, x1))] = rgb

        workers.map(write, np.ndindex(task.grid))
    _record(task, array, seen_before)


def _as_unit(samples: Samples, task: Task, place: tuple[int, ...]) -> NDArray[np.float32]:
    view = np.empty(samples.shape, np.float32)
    unit(samples, view, f"{task.source}, view {place}")
    return view


def _compose(
    luma: NDArray[np.float32], low: NDArray[np.float32], inside: tuple[slice, slice], settings: Settings
) -> Samples:
    """Return the block of a view: its high-resolution luma, its colors interpolated, rounded."""
    colors = to_luma_chroma(low)[1]
    if colors is not None:
        planes = np.ascontiguousarray(np.moveaxis(colors, -1, 0))
        high = interpolate(planes, settings.camera.factor, settings.chroma)
        colors = np.moveaxis(high[(slice(None), *inside)], 0, -1)
    rgb = np.clip(to_rgb(luma, colors), 0, 1)
    return rgb if settings.bits == 32 else quantize(rgb, settings.bits)


@contextmanager
def _window_reader(source: Path, task: Task) -> Iterator[tuple[Callable[[int, int], Samples], bool]]:
    """Give what reads the task's window of a view, and whether threads may share it."""
    y, x = task.seen
    if is_store(source):
        stored = open_stored(source)
        _same_shape(task, stored.axes.grid, stored.axes.size, stored.axes.channels)
        yield (lambda v, u: stored.window(v, u, y, x)), True
        return
    with open_views(source) as views:
        _same_shape(task, views.grid, views.size, views.channels)
        # a copy, so that the view that it is a part of does not stay in memory
        yield (lambda v, u: views.load(v, u).samples[y, x].copy()), views.parallel


def _same_shape(task: Task, grid: tuple[int, int], size: tuple[int, int], channels: int) -> None:
    if (grid, size, channels) != (task.grid, task.size, task.channels):
        raise InputError(f"{task.source}: has changed while it was worked on; start again with --overwrite")


def input_digest(task: Task) -> str:
    """Return what the files that a block is made from look like: names, sizes and times of change.

    It is kept with the finished block: an input that changed since is noticed, one that was mended elsewhere is not
    taken for another.
    """
    source = Path(task.source)
    if not is_store(source):
        return files_digest(source)
    stored = open_stored(source)
    files = [
        path for place in np.ndindex(task.grid) for path in stored.chunk_paths(place[0], place[1], *task.seen)
    ]
    return _digest(source, sorted(set(files)))


def files_digest(source: Path) -> str:
    """Return the same of all files of a light field: the fingerprint of an input."""
    if source.is_file():
        return _digest(source.parent, [source])
    found = [Path(folder) / name for folder, _, names in os.walk(source) for name in names]
    return _digest(source, sorted(path for path in found if not path.name.startswith(".")))


def _digest(root: Path, files: list[Path]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for path in files:
        with suppress(FileNotFoundError):
            status = path.stat()
            digest.update(f"{path.relative_to(root)} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _record(task: Task, array: Any, digest: str) -> None:
    """Record a finished block, after its chunks are on the disk and not only on their way to it."""
    folder, sides = Path(task.target) / VIEWS, array.chunks
    a, (y0, _, x0, _) = task.settings.camera.factor, task.core
    row, column = y0 * a // sides[2], x0 * a // sides[3]
    with Workers(_SYNCS) as together:  # the disk waits once for many
        names = (array.metadata.encode_chunk_key((v, u, row, column, 0)) for v, u in np.ndindex(task.grid))
        together.map(sync, (folder / name for name in names))
    sync(folder)
    mark = Path(task.mark)
    temporary = mark.with_name(f".{mark.name}.{secrets.token_hex(4)}")
    try:
        temporary.write_text(digest, encoding="ascii")
        sync(temporary)
        os.replace(temporary, mark)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    sync(mark.parent)


def plain(options: Any) -> Mapping[str, Any]:
    """Return a method's options as JSON holds them."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in vars(options).items()}
