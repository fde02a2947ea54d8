"""HDF5 of our own: `/views` (v, u, y, x, c), a chunk a view, compressed, and a record; lossless.

HDF5 files of others are read when they hold a single array of five axes in that order.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from sharpfield.errors import InputError
from sharpfield.io.arrays import described, layout
from sharpfield.io.atomic import check_free, replacing
from sharpfield.io.content import decoding
from sharpfield.io.hdf5_access import attributes, dataset, datasets, is_hdf5, opened
from sharpfield.io.record import describe, member, restore, storage_bits, stored
from sharpfield.io.source import Format, Picture, ReadOptions, ViewSource, check_memory
from sharpfield.lightfield import LightField
from sharpfield.progress import Progress, ProgressCallback, silent

_RECORD = "sharpfield"
_PREFERRED = ("views", "LF", "lf", "lightfield", "light_field")


def sniff(path: Path, options: ReadOptions) -> bool:
    """Any HDF5 file that no other format claims."""
    return is_hdf5(path)


@contextmanager
def open_hdf5(path: Path, options: ReadOptions) -> Iterator[ViewSource]:
    """Open an HDF5 file."""
    place = str(path)
    with opened(path) as file:
        record: dict[str, Any] = {"name": path.stem, "bits": 0, "notes": (), "metadata": {}, "arrays": {}}
        with decoding(place):
            if _RECORD in file:
                text = dataset(file, _RECORD, place)
                check_memory(text.shape, place)
                record = restore(text[()].tobytes().decode("utf-8"), place)
            else:
                record["metadata"] = attributes(file)
            name = _choose(datasets(file), place)
            views = dataset(file, name, place)
            shape = tuple(views.shape)
            metadata = dict(record["metadata"])
            for key in record["arrays"]:
                array = dataset(file, member(key), place)
                check_memory(array.shape, place)
                metadata[key] = array[()]
        axes = layout(shape, f"{place}: /{name}")
        if name != "views":
            record["notes"] = (f"/{name} read as (v, u, y, x, c)",)
        check_memory((*axes.size, axes.channels), place)

        def load(v: int, u: int) -> Picture:
            with decoding(f"{place}: view ({v}, {u})"):
                return axes.picture(views[v, u], record["bits"])

        yield ViewSource(
            name=record["name"],
            source=place,
            grid=axes.grid,
            size=axes.size,
            channels=axes.channels,
            load=load,
            parallel=False,  # the library serves one thread at a time
            notes=(*record["notes"], *axes.notes),
            metadata=metadata,
        )


def _choose(found: dict[str, tuple[int, ...]], place: str) -> str:
    for name in _PREFERRED:
        if name in found:
            return name
    five = [name for name, shape in found.items() if len(shape) == 5]
    if len(five) != 1:
        raise InputError(
            f"{place}: no dataset /views (v, u, y, x, c), nor a single one of five axes; it holds {described(found)}"
        )
    return five[0]


def write(
    lf: LightField,
    path: Path,
    *,
    overwrite: bool = False,
    bits: int | None = None,
    threads: int | None = None,
    progress: ProgressCallback = silent,
) -> None:
    """Write HDF5; every value is kept unless bits are asked for."""
    import h5py

    check_free(path, overwrite=overwrite, folder=False)
    depth = storage_bits(lf, bits)
    text, arrays = describe(lf, bits)
    with replacing(path, overwrite=overwrite) as temporary, h5py.File(temporary, "w") as file:
        # a dataset: attributes are short, and texts of variable length are not safe to read from strangers
        file[_RECORD] = np.frombuffer(text.encode(), np.uint8)
        views = file.create_dataset(
            "views",
            lf.views.shape,
            {8: "u1", 16: "<u2", 32: "<f4"}[depth],
            chunks=(1, 1, *lf.views.shape[2:]),
            compression="gzip",
            compression_opts=4,
            shuffle=True,
        )
        views.attrs["axes"] = "v u y x c"
        for done, place in enumerate(np.ndindex(lf.grid), 1):
            views[place] = stored(lf.views[place], depth)
            progress(Progress("writing views", done / (lf.grid[0] * lf.grid[1])))
        for key, array in arrays.items():
            file.create_dataset(member(key), data=array)


FORMAT = Format(
    name="hdf5",
    description="HDF5, /views (v, u, y, x, c): float32 and metadata kept; any with a single 5-D dataset is read",
    sniff=sniff,
    open=open_hdf5,
    write=write,
    ending=r"\.(h5|hdf5|hdf)",
    suffixes=(".h5", ".hdf5", ".hdf"),
    streams=True,
)
