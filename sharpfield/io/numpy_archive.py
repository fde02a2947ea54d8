"""NumPy's `.npz`: views (v, u, y, x, c) as `views`, and a record; lossless. Anyone's with one 5-D array is read, too.

Arrays of Python objects are refused, never unpickled. A view is read at a time from its place in the archive.
"""

from __future__ import annotations

import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from sharpfield.errors import InputError
from sharpfield.io.arrays import Layout, described, layout
from sharpfield.io.atomic import check_free, replacing
from sharpfield.io.content import begins, decoding
from sharpfield.io.record import describe, member, restore, storage_bits, stored
from sharpfield.io.source import Format, Picture, ReadOptions, Samples, ViewSource, check_memory
from sharpfield.io.zip_archive import SIGNATURES
from sharpfield.lightfield import LightField
from sharpfield.progress import Progress, ProgressCallback, silent

_RECORD = "sharpfield"
_PREFERRED = ("views", "LF", "lf", "lightfield", "light_field", "arr_0")


def sniff(path: Path, options: ReadOptions) -> bool:
    """Whether it is a zip that holds NumPy arrays."""
    if not begins(path, *SIGNATURES):
        return False
    if path.suffix.lower() == ".npz":
        return True
    try:
        with zipfile.ZipFile(path) as archive:
            return any(name.endswith(".npy") for name in archive.namelist())
    except Exception:  # whoever reads it says what is wrong
        return False


@dataclass(frozen=True)
class Member:
    """One array of an archive: what its header says, and where its values begin."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    fortran: bool
    offset: int


@contextmanager
def open_npz(path: Path, options: ReadOptions) -> Iterator[ViewSource]:
    """Open an .npz archive."""
    place = str(path)
    with decoding(place):
        archive = zipfile.ZipFile(path)
    with archive, ExitStack() as stack:
        members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        record: dict[str, Any] = {"name": path.stem, "bits": 0, "notes": (), "metadata": {}, "arrays": {}}
        if _RECORD in members:
            record = restore(str(_whole(archive, members[_RECORD], place)), place)
        found = _choose(archive, members, place)
        axes = layout(found.shape, f"{place}: {found.name}")
        check_memory((*axes.size, axes.channels), place)
        metadata = dict(record["metadata"])
        for key in record["arrays"]:
            if member(key) in members:
                metadata[key] = _whole(archive, members[member(key)], place)
        if found.fortran:
            load = _load_from(_whole(archive, members[found.name], place), axes, record["bits"])
        else:
            with decoding(place):
                stream = stack.enter_context(archive.open(members[found.name]))
            load = _load_by_place(stream, found, axes, record["bits"], place)
        yield ViewSource(
            name=record["name"],
            source=place,
            grid=axes.grid,
            size=axes.size,
            channels=axes.channels,
            load=load,
            notes=(*record["notes"], *axes.notes),
            metadata=metadata,
        )


def _load_from(array: Samples, axes: Layout, bits: int) -> Callable[[int, int], Picture]:
    """Give views of an array in memory."""
    return lambda v, u: axes.picture(array[v, u], bits)


def _load_by_place(
    stream: IO[bytes], found: Member, axes: Layout, bits: int, place: str
) -> Callable[[int, int], Picture]:
    """Give views from their places in the archive: each is one run of bytes."""
    shape = found.shape[2:]
    length = found.dtype.itemsize * int(np.prod(shape, dtype=object))
    lock = threading.Lock()

    def load(v: int, u: int) -> Picture:
        with decoding(f"{place}: view ({v}, {u})"), lock:
            stream.seek(found.offset + (v * axes.grid[1] + u) * length)
            data = stream.read(length)
            values = np.frombuffer(data, found.dtype).reshape(shape)
        return axes.picture(values, bits)

    return load


def _choose(archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], place: str) -> Member:
    """Find the array that holds the views: `views` or another usual name, or the only 5-D one."""
    headers: dict[str, Member] = {}
    for name, info in members.items():
        if info.filename.endswith(".npy"):
            with decoding(f"{place}: {name}"), archive.open(info) as stream:
                headers[name] = _header(stream, name, place)
    for name in _PREFERRED:
        if name in headers and len(headers[name].shape) in (4, 5):
            return headers[name]
    five = [each for each in headers.values() if len(each.shape) == 5]
    if len(five) != 1:
        has = described({name: each.shape for name, each in headers.items()})
        raise InputError(f"{place}: no array `views` (v, u, y, x, c), nor a single 5-D one; it holds {has}")
    return five[0]


def _header(stream: IO[bytes], name: str, place: str) -> Member:
    """Read what stands before the values of an array, checked to be numbers."""
    version = np.lib.format.read_magic(stream)
    if version == (1, 0):
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    elif version == (2, 0):
        shape, fortran, dtype = np.lib.format.read_array_header_2_0(stream)
    else:
        raise InputError(
            f"{place}: {name} is of an unknown version of NumPy's format; save it again with NumPy"
        )
    if dtype.hasobject:
        raise InputError(f"{place}: {name} holds Python objects, which are never opened; save plain numbers")
    return Member(name, tuple(shape), dtype, fortran, stream.tell())


def _whole(archive: zipfile.ZipFile, info: zipfile.ZipInfo, place: str) -> Samples:
    """Read a whole array."""
    label = f"{place}: {info.filename}"
    with decoding(label):
        with archive.open(info) as stream:
            check_memory(_header(stream, info.filename, place).shape, label)
        with archive.open(info) as stream:
            return np.lib.format.read_array(stream, allow_pickle=False)


def write(
    lf: LightField,
    path: Path,
    *,
    overwrite: bool = False,
    bits: int | None = None,
    threads: int | None = None,
    progress: ProgressCallback = silent,
) -> None:
    """Write an .npz, not compressed, so that views are found by their place; exact unless bits are asked for."""
    check_free(path, overwrite=overwrite, folder=False)
    depth = storage_bits(lf, bits)
    text, arrays = describe(lf, bits)
    dtype = np.dtype({8: "u1", 16: "<u2", 32: "<f4"}[depth])
    header = {"descr": dtype.str, "fortran_order": False, "shape": lf.views.shape}
    with (
        replacing(path, overwrite=overwrite) as temporary,
        zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED, allowZip64=True) as archive,
    ):
        with archive.open("views.npy", "w", force_zip64=True) as stream:
            np.lib.format.write_array_header_1_0(stream, header)
            for done, place in enumerate(np.ndindex(lf.grid), 1):
                stream.write(np.ascontiguousarray(stored(lf.views[place], depth), dtype).tobytes())
                progress(Progress("writing views", done / (lf.grid[0] * lf.grid[1])))
        for name, array in {
            _RECORD: np.array(text),
            **{member(key): array for key, array in arrays.items()},
        }.items():
            with archive.open(name + ".npy", "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, np.asarray(array), allow_pickle=False)


FORMAT = Format(
    name="npz",
    description="NumPy .npz, `views` (v, u, y, x, c): float32 and metadata kept; any with a single 5-D array is read",
    sniff=sniff,
    open=open_npz,
    write=write,
    ending=r"\.npz",
    suffixes=(".npz",),
    streams=True,
)
