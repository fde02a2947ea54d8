"""What a written light field has kept of the original: both are read view by view and compared."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sharpfield.io.source import Format, ReadOptions, selected
from sharpfield.io.streamed import StreamedViews
from sharpfield.lightfield import LightField
from sharpfield.parallel import Workers
from sharpfield.progress import Progress, ProgressCallback, silent


@dataclass(frozen=True)
class Kept:
    """What is in a file of what was written to it.

    Parameters
    ----------
    difference
        Largest difference of a value, 1 being the white level; 0 where every value is as it was.
    bits, channels
        Bits a sample, and 1 or 3 channels, in the file.
    metadata_lost
        Names of the entries of the metadata that it does not hold.
    """

    difference: float
    bits: int
    channels: int
    metadata_lost: tuple[str, ...] = ()


def compare(
    lf: LightField,
    path: Path,
    stored_as: Format,
    *,
    pattern: str | None = None,
    threads: int | None = None,
    progress: ProgressCallback = silent,
) -> Kept:
    """Read back what was written of a light field, and tell what is different.

    Parameters
    ----------
    lf
        What was written.
    path, stored_as, pattern
        Where, in which format, under which names.
    threads, progress
        As for `read`.
    """
    # all views are asked for: a lenslet image leaves out the dark ones otherwise
    every = f"0:{lf.grid[0]},0:{lf.grid[1]}"
    options = ReadOptions(pattern=pattern, grid=lf.grid, views=every)
    with stored_as.open(path, options) as opened:
        source = selected(opened, options)
        views = StreamedViews(source)
        lock = threading.Lock()
        done, difference, bits = 0, 0.0, 0

        def look(place: tuple[int, int]) -> None:
            nonlocal done, difference, bits
            picture = views.picture(place)
            distance = float(np.abs(views.unit(place, picture) - lf.views[place]).max())
            with lock:
                done += 1
                stored = 32 if picture.samples.dtype.kind == "f" else 8 * picture.samples.dtype.itemsize
                difference, bits = max(difference, distance), max(bits, stored)
                progress(Progress("reading it back", done / (lf.grid[0] * lf.grid[1])))

        with Workers(threads if source.parallel else 1) as workers:
            workers.map(look, np.ndindex(*lf.grid))
        has = {*source.metadata, *source.maps}
    return Kept(difference, bits, source.channels, tuple(key for key in lf.metadata if key not in has))
