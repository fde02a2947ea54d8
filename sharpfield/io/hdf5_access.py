"""HDF5 files from strangers: opened for reading, and only what is stored in the file itself is followed.

An HDF5 file can point at other files (external links, external storage, virtual datasets); none of that is
opened. Every way in which the library can fail over a damaged file comes out as one InputError.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from sharpfield.errors import InputError
from sharpfield.io.content import decoding, first_bytes

_SIGNATURE = b"\x89HDF\r\n\x1a\n"


def is_hdf5(path: Path) -> bool:
    """Whether a file is HDF5, at its beginning or after MATLAB's 512 bytes."""
    head = first_bytes(path, 512 + len(_SIGNATURE))
    return head.startswith(_SIGNATURE) or head[512:] == _SIGNATURE


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """Open a file for reading; errors of the library name the file."""
    import h5py

    with decoding(str(path)):
        file = h5py.File(path, "r", locking="best-effort")
    with file:
        yield file


def contains(path: Path, name: str) -> bool:
    """Whether a file has such a dataset or group; False where it cannot be read."""
    try:
        with opened(path) as file:
            return name in file
    except Exception:  # whoever reads it says what is wrong
        return False


def dataset(file: Any, name: str, place: str) -> Any:
    """Return a dataset of numbers that is stored in this file, or say why it is not taken."""
    import h5py

    at: Any = file
    for part in name.strip("/").split("/"):
        link = at.get(part, getlink=True) if isinstance(at, h5py.Group) else None
        if link is None:
            raise InputError(f"{place}: has no dataset /{name}; it holds {_listing(file)}")
        if not isinstance(link, h5py.HardLink):
            raise InputError(
                f"{place}: /{name} is a link to elsewhere, which is not followed; store the data itself"
            )
        at = at[part]
    if not isinstance(at, h5py.Dataset):
        raise InputError(f"{place}: /{name} is not a dataset; it holds {_listing(file)}")
    if at.external or at.is_virtual:
        raise InputError(
            f"{place}: /{name} is stored in other files, which are not opened; store the data itself"
        )
    if at.dtype.kind not in "uif" or at.dtype.hasobject:
        raise InputError(f"{place}: /{name} has values of {at.dtype}; uint8, uint16 or float are needed")
    return at


def datasets(file: Any) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the datasets at the top of a file and one level deeper, by name; links are passed over."""
    import h5py

    found: dict[str, tuple[int, ...]] = {}

    def walk(group: Any, prefix: str) -> None:
        for name in group:
            if isinstance(group.get(name, getlink=True), h5py.HardLink) and not name.startswith("#"):
                item = group[name]
                if isinstance(item, h5py.Dataset):
                    found[prefix + name] = tuple(item.shape or ())
                elif isinstance(item, h5py.Group) and not prefix:
                    walk(item, f"{name}/")

    walk(file, "")
    return found


def attributes(file: Any) -> dict[str, Any]:
    """Return the numbers and texts of fixed length in the root's attributes; others are left out.

    Those of variable length lie in a heap whose damage can hold the library in a loop for ever.
    """
    import h5py

    found: dict[str, Any] = {}
    for name in file.attrs:
        kind = file.attrs.get_id(name).get_type()
        fixed_text = isinstance(kind, h5py.h5t.TypeStringID) and not kind.is_variable_str()
        if not fixed_text and not isinstance(kind, (h5py.h5t.TypeIntegerID, h5py.h5t.TypeFloatID)):
            continue
        value = np.asarray(file.attrs[name])
        plain = value.item() if value.size == 1 else value.tolist()
        found[str(name)] = plain.decode("utf-8", "replace") if isinstance(plain, bytes) else plain
    return found


def _listing(file: Any) -> str:
    from sharpfield.io.arrays import described

    return described(datasets(file))
