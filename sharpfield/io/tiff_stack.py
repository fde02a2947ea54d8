"""A TIFF of many pages, one view a page, row by row; ours says the grid and is lossless, of others it must be said."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np

from sharpfield.errors import InputError
from sharpfield.io.atomic import check_free, replacing
from sharpfield.io.content import begins, decoding
from sharpfield.io.mosaic import is_picture
from sharpfield.io.pictures import open_tiff, tiff_page
from sharpfield.io.record import describe, restore, storage_bits, stored
from sharpfield.io.source import Format, Picture, ReadOptions, ViewSource, check_memory
from sharpfield.lightfield import LightField
from sharpfield.progress import Progress, ProgressCallback, silent

_SIGNATURES = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")


def sniff(path: Path, options: ReadOptions) -> bool:
    """Whether it is a TIFF with more than one page."""
    if not (is_picture(path) and begins(path, *_SIGNATURES)):
        return False
    try:
        with open_tiff(path) as file:
            return len(file.pages) > 1
    except Exception:  # whoever reads it says what is wrong
        return False


@contextmanager
def open_stack(path: Path, options: ReadOptions) -> Iterator[ViewSource]:
    """Open a TIFF of many pages."""
    place = str(path)
    with decoding(place):
        file = open_tiff(path)
    with file:
        yield _source(file, path, options)


def _source(file: Any, path: Path, options: ReadOptions) -> ViewSource:
    place = str(path)
    with decoding(place):
        count, text = len(file.pages), file.pages[0].description
    record: dict[str, Any] = {"name": path.stem, "bits": 0, "notes": (), "metadata": {}}
    grid = options.grid
    if text.startswith('{"sharpfield"'):
        record = restore(text, place)
        grid = _kept_grid(record, place)
    grid = _grid_of(count, grid, place)
    lock = threading.Lock()

    def load(v: int, u: int) -> Picture:
        index = v * grid[1] + u
        label = f"{place}: page {index + 1}"
        with lock:  # one position in the file for all threads
            picture = tiff_page(file, index, path.stat().st_size, label)
        if picture.samples.shape != first.samples.shape:
            raise InputError(
                f"{label}: has the shape {picture.samples.shape} (y, x, c), page 1 {first.samples.shape}; "
                "the views of a light field are of one size"
            )
        return Picture(picture.samples, record["bits"] or picture.bits, picture.notes)

    first = tiff_page(file, 0, path.stat().st_size, f"{place}: page 1")
    height, width, channels = first.samples.shape
    check_memory(first.samples.shape, place)
    return ViewSource(
        name=record["name"],
        source=place,
        grid=grid,
        size=(height, width),
        channels=channels,
        load=load,
        notes=record["notes"],
        metadata=record["metadata"],
    )


def _kept_grid(record: dict[str, Any], place: str) -> tuple[int, int]:
    grid = record.get("grid")
    if not (isinstance(grid, list) and len(grid) == 2 and all(isinstance(n, int) and n > 0 for n in grid)):
        raise InputError(f"{place}: its description says no grid; write the file again")
    return grid[0], grid[1]


def _grid_of(count: int, grid: tuple[int, int] | None, place: str) -> tuple[int, int]:
    if grid is None:
        side = isqrt(count)
        if side * side != count:
            raise InputError(f"{place}: {count} pages make no square grid; say --grid ROWSxCOLUMNS")
        grid = side, side
    if grid[0] * grid[1] != count:
        raise InputError(
            f"{place}: has {count} pages, a grid of {grid[0]}x{grid[1]} needs {grid[0] * grid[1]}; correct --grid, "
            "or bring the missing pages"
        )
    if count == 1:
        raise InputError(f"{place}: no light field: a TIFF with a single page; use a single-image upscaler")
    return grid


def write(
    lf: LightField,
    path: Path,
    *,
    overwrite: bool = False,
    bits: int | None = None,
    threads: int | None = None,
    progress: ProgressCallback = silent,
) -> None:
    """Write a page a view; every value is kept unless bits are asked for."""
    import json

    import tifffile

    check_free(path, overwrite=overwrite, folder=False)
    depth = storage_bits(lf, bits)
    text, arrays = describe(lf, bits)
    record = json.loads(text)
    record["grid"] = list(lf.grid)
    record["arrays"] = {}
    record["metadata"] |= {key: array.tolist() for key, array in arrays.items() if array.size <= 1000}
    count = lf.grid[0] * lf.grid[1]
    large = lf.views.nbytes // 4 * (depth // 8) > 3 << 30
    with (
        replacing(path, overwrite=overwrite) as temporary,
        tifffile.TiffWriter(temporary, bigtiff=large) as file,
    ):
        for done, place in enumerate(np.ndindex(lf.grid), 1):
            view = stored(lf.views[place], depth)
            file.write(
                view if lf.channels == 3 else view[..., 0],
                photometric="rgb" if lf.channels == 3 else "minisblack",
                compression="zlib",
                predictor=depth != 32,
                description=json.dumps(record) if done == 1 else None,
                metadata=None,
                contiguous=False,
            )
            progress(Progress("writing views", done / count))


FORMAT = Format(
    name="tiff-stack",
    description="TIFF with a page a view, row by row: float32 and metadata kept; of others say the grid unless square",
    sniff=sniff,
    open=open_stack,
    write=write,
    ending=r"\.tiff?",
    suffixes=(".tif", ".tiff"),
    streams=True,
)
