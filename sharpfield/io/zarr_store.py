"""Zarr of our own: a group with `views` (v, u, y, x, c) in chunks of a part of one view, and a record; lossless.

Version 3, every chunk with a checksum and stored even where it is black, so that one that is damaged or lost is
noticed and named. Read and written by view and by block: beside a block, memory holds nothing. Stores of others are
read when they hold a single array of those axes. Zarr itself is loaded on first use: it is an extra, as the engine.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from sharpfield.errors import InputError, SharpfieldError
from sharpfield.io.arrays import Layout, described, layout
from sharpfield.io.atomic import replacing
from sharpfield.io.content import decoding
from sharpfield.io.record import describe, member, restore, storage_bits, stored
from sharpfield.io.source import Format, Picture, ReadOptions, Samples, ViewSource, check_memory
from sharpfield.lightfield import LightField
from sharpfield.parallel import Workers
from sharpfield.progress import Progress, ProgressCallback, silent

VIEWS = "views"
RECORD = "sharpfield"
DTYPES = {8: "uint8", 16: "uint16", 32: "float32"}

# a chunk is at most so many pixels high and wide: small enough that a block reads little beside its own pixels, large
# enough (0.2 MB of 8-bit color) that opening a file costs less than decoding it
CHUNK = 256

_HEADS = ("zarr.json", ".zgroup", ".zarray")
_PREFERRED = (VIEWS, "LF", "lf", "lightfield", "light_field")


def zarr_library() -> Any:
    """Return the Zarr library, or say how to get it."""
    try:
        import zarr
    except ImportError:
        raise SharpfieldError(
            "Zarr stores need the Zarr library: pip install 'sharpfield[scale]' (Zarr 3, with Dask)"
        ) from None
    if int(zarr.__version__.split(".")[0]) < 3:
        raise SharpfieldError(
            f"Zarr stores need Zarr 3, this is {zarr.__version__}: pip install 'sharpfield[scale]'"
        )
    return zarr


def is_store(path: Path) -> bool:
    """Whether a path is a folder with a Zarr array or group in it."""
    try:
        return path.is_dir() and any((path / name).is_file() for name in _HEADS)
    except OSError:
        return False


def sniff(path: Path, options: ReadOptions) -> bool:
    """Any Zarr store that is a folder."""
    return is_store(path)


@dataclass(frozen=True)
class StoredViews:
    """The views of a store, open for reading.

    Parameters
    ----------
    array
        Zarr's array, (v, u, y, x, c) or (v, u, y, x).
    axes
        What the axes are.
    record
        Name, bits, notes, metadata.
    place
        The store's path, for messages.
    folder
        Where the chunks of the array are.
    complete
        Whether every chunk is a file: one that is missing was lost.
    """

    array: Any
    axes: Layout
    record: Mapping[str, Any]
    place: str
    folder: Path
    complete: bool

    def window(self, v: int, u: int, y: slice, x: slice) -> Samples:
        """Return a window (y, x, c) of a view as it is stored; a damaged chunk is named."""
        region = (v, u, y, x)
        if self.complete:
            for path in self.chunk_paths(v, u, y, x):
                if not path.is_file():
                    raise InputError(f"{path}: this chunk is missing; copy the store again")
        try:
            samples = np.asarray(self.array[region])
        except Exception as error:  # its codecs share no base
            raise self._damaged(region, error) from error
        return self.axes.picture(samples).samples

    def chunk_paths(self, v: int, u: int, y: slice, x: slice) -> list[Path]:
        """Return the files that hold a window of a view."""
        return [self.folder / self.array.metadata.encode_chunk_key(at) for at in self._chunks((v, u, y, x))]

    def _chunks(self, region: tuple[Any, ...]) -> Iterator[tuple[int, ...]]:
        sides = self.array.shards or self.array.chunks
        spans = []
        for at, side, length in zip(
            (*region, slice(None))[: len(sides)], sides, self.array.shape, strict=True
        ):
            begin, end = (at, at + 1) if isinstance(at, int) else (at.start or 0, at.stop or length)
            spans.append(range(begin // side, math.ceil(end / side)))
        yield from product(*spans)

    def _damaged(self, region: tuple[Any, ...], error: Exception) -> SharpfieldError:
        """Find the chunk that cannot be read, by reading one after another."""
        sides = self.array.shards or self.array.chunks
        for at in self._chunks(region):
            path = self.folder / self.array.metadata.encode_chunk_key(at)
            inside = tuple(
                slice(i * side, min((i + 1) * side, length))
                for i, side, length in zip(at, sides, self.array.shape, strict=True)
            )
            try:
                with decoding(str(path)):
                    self.array[inside]
            except SharpfieldError as named:
                return named
        return InputError(f"{self.place}: cannot be read ({error}); try again")


def open_stored(path: Path) -> StoredViews:
    """Open a store for reading by view and window."""
    zarr, place = zarr_library(), str(path)
    record: dict[str, Any] = {"name": path.stem, "bits": 0, "notes": (), "metadata": {}, "arrays": {}}
    with decoding(place):
        node = zarr.open(store=str(path), mode="r")
        attributes = dict(node.attrs)
        arrays = {"": node} if isinstance(node, zarr.Array) else dict(node.arrays())
    ours = isinstance(attributes.get(RECORD), dict)
    if ours:
        import json

        record = restore(json.dumps(attributes[RECORD]), place)
    name = _choose({key: array.shape for key, array in arrays.items()}, place)
    array = arrays[name]
    if any(not side for side in array.chunks):
        raise InputError(f"{place}: its chunks have no size; write it again")
    axes = layout(tuple(array.shape), f"{place}: {name or 'the array'}")
    record["notes"] = (*record["notes"], *axes.notes)
    metadata = dict(record["metadata"])
    for key in record["arrays"]:
        if member(key) in arrays:
            check_memory(arrays[member(key)].shape, place)
            with decoding(f"{place}: {member(key)}"):
                metadata[key] = np.asarray(arrays[member(key)][...])
    record["metadata"] = metadata
    return StoredViews(array, axes, record, place, path / name, complete=ours and name == VIEWS)


def _choose(shapes: Mapping[str, tuple[int, ...]], place: str) -> str:
    for name in ("", *_PREFERRED):
        if name in shapes and len(shapes[name]) in (4, 5):
            return name
    five = [name for name, shape in shapes.items() if len(shape) == 5]
    if len(five) != 1:
        raise InputError(
            f"{place}: no array `views` (v, u, y, x, c), nor a single one of five axes; it holds {described(shapes)}"
        )
    return five[0]


@contextmanager
def open_zarr(path: Path, options: ReadOptions) -> Iterator[ViewSource]:
    """Open a Zarr store view by view."""
    views = open_stored(path)
    axes = views.axes
    check_memory((*axes.size, axes.channels), views.place)

    def load(v: int, u: int) -> Picture:
        samples = views.window(v, u, slice(0, axes.size[0]), slice(0, axes.size[1]))
        return axes.picture(samples, views.record["bits"])

    yield ViewSource(
        name=views.record["name"],
        source=views.place,
        grid=axes.grid,
        size=axes.size,
        channels=axes.channels,
        load=load,
        notes=tuple(views.record["notes"]),
        metadata=views.record["metadata"],
    )


def create(
    folder: Path,
    shape: tuple[int, int, int, int, int],
    bits: int,
    record: Mapping[str, Any],
    chunk: tuple[int, int] | None = None,
) -> Any:
    """Make a store without chunks and return its array; `folder` must not be there, or be an unfinished one.

    Parameters
    ----------
    folder
        Where it will be.
    shape
        Of the views, (v, u, y, x, c).
    bits
        8, 16 or 32 (float).
    record
        What `describe` said of the light field.
    chunk
        Height and width of a chunk, in pixels of one view; at most 256 each when None.
    """
    zarr = zarr_library()
    height, width = chunk or (even_chunk(shape[2]), even_chunk(shape[3]))
    group = zarr.open_group(store=str(folder), mode="a", zarr_format=3)
    group.attrs[RECORD] = dict(record)
    return group.create_array(
        VIEWS,
        shape=shape,
        dtype=DTYPES[bits],
        chunks=(1, 1, height, width, shape[4]),
        dimension_names=("v", "u", "y", "x", "c"),
        compressors=[zarr.codecs.ZstdCodec(level=1), zarr.codecs.Crc32cCodec()],
        # one folder for all chunks, so that a file's name says which it is: c.V.U.Y.X.0
        chunk_key_encoding={"name": "default", "separator": "."},
        fill_value=0,
        config={"write_empty_chunks": True},
        overwrite=True,
    )


def even_chunk(length: int, most: int = CHUNK) -> int:
    """Return the side of equal chunks of at most `most` pixels."""
    return math.ceil(length / math.ceil(length / most))


def open_for_writing(folder: Path) -> Any:
    """Return the array of a store that `create` made."""
    zarr = zarr_library()
    # what a store keeps of its settings does not hold this one
    return zarr.open_array(store=str(folder / VIEWS), mode="r+", config={"write_empty_chunks": True})


def write(
    lf: LightField,
    path: Path,
    *,
    overwrite: bool = False,
    bits: int | None = None,
    threads: int | None = None,
    progress: ProgressCallback = silent,
) -> None:
    """Write a Zarr store; every value is kept unless bits are asked for."""
    import json

    zarr_library()
    depth = storage_bits(lf, bits)
    text, arrays = describe(lf, bits)
    with replacing(path, overwrite=overwrite, folder=True) as temporary:
        array = create(temporary, lf.views.shape, depth, json.loads(text))
        for key, values in arrays.items():
            group = zarr_library().open_group(store=str(temporary), mode="r+")
            group.create_array(member(key), data=np.ascontiguousarray(values))
        _write_views(
            array, lf.grid, lambda v, u: stored(lf.views[v, u], depth), threads=threads, progress=progress
        )


def _write_views(
    array: Any, grid: tuple[int, int], give: Any, *, threads: int | None, progress: ProgressCallback
) -> None:
    lock, done = threading.Lock(), 0

    def put(place: tuple[int, int]) -> None:
        nonlocal done
        array[place] = give(*place)
        with lock:
            done += 1
            progress(Progress("writing views", done / (grid[0] * grid[1])))

    with Workers(threads) as workers:
        workers.map(put, np.ndindex(grid))


def check_replaceable(path: Path) -> None:
    """Refuse to replace a folder that is no Zarr store: its loss may not be meant."""
    from sharpfield.errors import OutputError

    with suppress(StopIteration, OSError):
        next(path.iterdir())
        if not is_store(path):
            raise OutputError(
                f"{path}: is a folder but no Zarr store, so it is not replaced; choose another name"
            )


FORMAT = Format(
    name="zarr",
    description="Zarr v3, `views` (v, u, y, x, c): float32 and metadata kept; any with a single 5-D array is read",
    sniff=sniff,
    open=open_zarr,
    write=write,
    ending=r"\.zarr",
    suffixes=(".zarr",),
    folder=True,
    check_replaceable=check_replaceable,
    streams=True,
)
