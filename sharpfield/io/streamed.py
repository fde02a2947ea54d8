"""A light field that stays in its file: every view is decoded when it is asked for, so that any size can be written.

The formats that write view by view (`Format.streams`) take it as they take any other.
"""

from __future__ import annotations

import threading
from contextlib import nullcontext
from typing import Any

import numpy as np

from sharpfield.io.source import Picture, Samples, ViewSource, check_memory, physical_memory, unit
from sharpfield.lightfield import LightField, Views
from sharpfield.parallel import Workers
from sharpfield.progress import Progress, ProgressCallback, silent

# of the machine's memory, what a light field may take and still be read as a whole
_PART_OF_MEMORY = 0.5


class StreamedViews:
    """What an array of views is to those who ask for one view after the other."""

    def __init__(self, source: ViewSource) -> None:
        self.shape = (*source.grid, *source.size, source.channels)
        self.dtype = np.dtype(np.float32)
        self.nbytes = 4 * int(np.prod(self.shape, dtype=object))
        self._source = source
        self._turn: Any = nullcontext() if source.parallel else threading.Lock()

    def __getitem__(self, place: tuple[int, int]) -> Views:
        """Decode the view (v, u)."""
        return self.unit(place, self.picture(place))

    def picture(self, place: tuple[int, int]) -> Picture:
        """Return the view (v, u) as it is stored."""
        with self._turn:
            return self._source.load(*place)

    def unit(self, place: tuple[int, int], picture: Picture) -> Views:
        """Return a stored view as float32 in [0, 1]."""
        view = np.empty(self.shape[2:], np.float32)
        unit(picture.samples, view, f"{self._source.source}, view {place}")
        return view


class StreamedLightField(LightField):
    """A light field whose `views` are not in memory: `views[v, u]` is all that can be asked of them."""

    def __post_init__(self) -> None:
        """Check nothing: every view is checked when it is read."""


def fits(source: ViewSource) -> bool:
    """Whether a light field and the work on it fit into memory as a whole."""
    memory, views = physical_memory(), StreamedViews(source)
    return (
        memory is None or views.nbytes * (1 + len(source.maps) / source.channels) <= _PART_OF_MEMORY * memory
    )


def stream(
    source: ViewSource, *, threads: int | None = None, progress: ProgressCallback = silent
) -> LightField:
    """Return an open source as a light field, after a look at every view: their bits, and whether all can be read.

    Parameters
    ----------
    source
        Stays open as long as the light field is used.
    threads
        How many views are decoded at a time; all processors when None.
    progress
        Told after every view.
    """
    views = StreamedViews(source)
    check_memory(views.shape[2:], source.source)
    maps: dict[str, Samples] = {}
    if source.maps:
        check_memory((*views.shape[:4], len(source.maps)), source.source)
        maps = {name: np.empty(views.shape[:4], np.float32) for name in source.maps}
    lock = threading.Lock()
    done, bits, notes = 0, 0, list(source.notes)

    def look(place: tuple[int, int]) -> None:
        nonlocal done, bits
        picture = views.picture(place)
        views.unit(place, picture)
        for name, plane in source.maps.items():
            maps[name][place] = plane(*place)
        with lock:
            done += 1
            bits = max(bits, picture.bits)
            notes.extend(note for note in picture.notes if note not in notes)
            progress(Progress("looking at the views", done / (source.grid[0] * source.grid[1])))

    with Workers(threads if source.parallel else 1) as workers:
        workers.map(look, np.ndindex(*source.grid))
    standing: Any = views  # an array to those who ask for one view after the other
    return StreamedLightField(
        standing,
        name=source.name,
        source=source.source,
        bits=bits,
        notes=tuple(notes),
        metadata={**source.metadata, **maps},
    )
