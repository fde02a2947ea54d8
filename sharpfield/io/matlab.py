"""MATLAB's .mat files, v5 and v7.3: a 5-D variable `LF` (U, V, H, W, C), or `LF_HQ`, or the only one of five axes.

The deep-learning benchmarks store (U, V, H, W, C), the Light Field Toolbox (t, s, v, u, c): names apart, both are
row of views, column of views, y, x, channel, sharpfield's own order. The Toolbox adds a fourth, weight channel,
which is dropped. A v7.3 file is HDF5 with the axes reversed. Objects and functions in a file are never touched.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from sharpfield.errors import InputError, OutputError
from sharpfield.io.arrays import described, layout
from sharpfield.io.atomic import check_free, replacing
from sharpfield.io.content import begins, decoding
from sharpfield.io.hdf5_access import dataset, datasets, is_hdf5, opened
from sharpfield.io.mat5 import MatFile
from sharpfield.io.record import storage_bits, stored
from sharpfield.io.source import Format, Picture, ReadOptions, Samples, ViewSource, check_memory
from sharpfield.lightfield import LightField
from sharpfield.progress import Progress, ProgressCallback, silent

_PREFERRED = ("LF", "LF_HQ", "LF/LF", "lf", "lightField", "LightField", "light_field")
_NUMBERS = ("u1", "u2", "f4", "f8")

# a variable of v5 is shorter than this
_LARGEST = (1 << 31) - 1


def sniff(path: Path, options: ReadOptions) -> bool:
    """MATLAB's own first words, or HDF5 named .mat."""
    return begins(path, b"MATLAB ") or (path.suffix.lower() == ".mat" and path.is_file())


@contextmanager
def open_mat(path: Path, options: ReadOptions) -> Iterator[ViewSource]:
    """Open a .mat file of either version."""
    name, array = _from_hdf5(path) if is_hdf5(path) else _from_v5(path)
    array, notes = _unit_scaled(array, f"{path}: {name}")
    axes = layout(array.shape, f"{path}: {name}")

    def load(v: int, u: int) -> Picture:
        return axes.picture(array[v, u], 8 if notes else 0)

    yield ViewSource(
        name=path.stem,
        source=str(path),
        grid=axes.grid,
        size=axes.size,
        channels=axes.channels,
        load=load,
        notes=(*notes, *axes.notes),
    )


def _from_v5(path: Path) -> tuple[str, Samples]:
    """Read the variable from a v5 file."""
    if not begins(path, b"MATLAB 5"):
        raise InputError(
            f"{path}: is no MATLAB file of version 5 or 7.3; save it in MATLAB with '-v7.3' or '-v7'"
        )
    with decoding(str(path)):
        file = MatFile(path)
        numbers = {name: each.shape for name, each in file.variables.items() if each.dtype in _NUMBERS}
        for name in () if any(len(shape) in (4, 5) for shape in numbers.values()) else _PREFERRED:
            found = file.variables.get(name)
            if found and len(found.shape) in (4, 5) and found.dtype not in _NUMBERS and not found.is_struct:
                kind = f"values of {np.dtype(found.dtype)}" if found.dtype else "no real numbers"
                raise InputError(f"{path}: {name} holds {kind}; save it as uint8, uint16, single or double")
        structs = [name for name, each in file.variables.items() if each.is_struct and name == "LF"]
        name = _choose(numbers, {name: each.shape for name, each in file.variables.items()}, path, structs)
        return name, file.read(*name.split("/"))


def _from_hdf5(path: Path) -> tuple[str, Samples]:
    """Read the variable from a v7.3 file: HDF5, the axes reversed."""
    with opened(path) as file, decoding(str(path)):
        reversed_shapes = {name: shape[::-1] for name, shape in datasets(file).items()}
        candidates = {name: shape for name, shape in reversed_shapes.items() if len(shape) in (4, 5)}
        name = _choose(candidates, reversed_shapes, path, [])
        data = dataset(file, name, str(path))
        check_memory(data.shape, str(path))
        # views are the fastest axes: one pass over the file, a slab of its slowest axis at a time
        array = np.empty(data.shape, np.float32 if data.dtype.kind == "f" else data.dtype)
        step = (data.chunks or (1,))[0]
        for start in range(0, array.shape[0], step):
            array[start : start + step] = data[start : start + step]
        return name, array.transpose()


def _choose(
    numbers: dict[str, tuple[int, ...]],
    everything: dict[str, tuple[int, ...]],
    path: Path,
    structs: list[str],
) -> str:
    """Choose the variable that is the light field."""
    if structs:
        return "LF/LF"
    for name in _PREFERRED:
        if len(numbers.get(name, ())) in (4, 5):
            return name
    five = [name for name, shape in numbers.items() if len(shape) == 5]
    if len(five) != 1:
        raise InputError(
            f"{path}: no variable LF of five axes (U, V, H, W, C), nor another single one of numbers; it holds "
            f"{described(everything)}"
        )
    return five[0]


def _unit_scaled(array: Samples, label: str) -> tuple[Samples, tuple[str, ...]]:
    """Return floats that hold 0..255 as the bytes they were."""
    if array.dtype.kind != "f" or array.size == 0:
        return array, ()
    top = float(array.max())
    if 1.001 < top <= 255 and float(array.min()) >= 0:
        whole = np.rint(array)
        if np.array_equal(whole, array):
            return whole.astype(np.uint8), ("float values 0..255 read as 8 bits",)
    return array, ()


def write(
    lf: LightField,
    path: Path,
    *,
    overwrite: bool = False,
    bits: int | None = None,
    threads: int | None = None,
    progress: ProgressCallback = silent,
) -> None:
    """Write `LF` (U, V, H, W, C) as v5, which every MATLAB and SciPy reads; at most 2 GB."""
    import scipy.io

    check_free(path, overwrite=overwrite, folder=False)
    depth = storage_bits(lf, bits)
    array = np.empty(lf.views.shape, {8: np.uint8, 16: np.uint16, 32: np.float32}[depth])
    if array.nbytes > _LARGEST:
        raise OutputError(
            f"{path}: MATLAB's v5 files hold 2 GB, this is {array.nbytes / 1e9:.1f} GB; write .h5 instead"
        )
    for place in np.ndindex(lf.grid):
        array[place] = stored(lf.views[place], depth)
    with replacing(path, overwrite=overwrite) as temporary, temporary.open("wb") as file:
        scipy.io.savemat(file, {"LF": array}, do_compression=True)
    progress(Progress("writing LF", 1.0))


FORMAT = Format(
    name="matlab",
    description="MATLAB .mat, v5 and v7.3: LF (U, V, H, W, C), LF_HQ, or the only 5-D variable; weight channel dropped",
    sniff=sniff,
    open=open_mat,
    write=write,
    ending=r"\.mat",
    suffixes=(".mat",),
)
