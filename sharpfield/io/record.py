"""What formats keep beside the views: name, bits, notes, metadata, and how exactly the values.

One JSON text and named arrays, in the same form in HDF5, NumPy and TIFF files. Pictures of views have a small file
beside them that says how they were made.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from sharpfield.errors import InputError, OptionError
from sharpfield.io.pictures import quantize
from sharpfield.io.source import Samples
from sharpfield.lightfield import LightField

COMPANION = "sharpfield.json"  # beside pictures of views: how `upscale` made them

# arrays larger than this belong into a file as arrays, not as text
_INLINE = 1000


def storage_bits(lf: LightField, bits: int | None) -> int:
    """Return the bits to store: as asked, else the fewest that keep every value exactly."""
    if bits is not None:
        if bits not in (8, 16, 32):
            raise OptionError(f"bits is 8, 16 or 32 (float), not {bits!r}")
        return bits
    if lf.bits in (8, 16):
        top = np.float32((1 << lf.bits) - 1)
        views = (lf.views[place] for place in np.ndindex(lf.grid))
        if all(np.array_equal(quantize(view, lf.bits) / top, view) for view in views):
            return lf.bits
    return 32


def stored(view: NDArray[np.float32], bits: int) -> Samples:
    """Return a view as it is stored: uint8, uint16 or float32."""
    return view if bits == 32 else quantize(view, bits)


def describe(lf: LightField, bits: int | None = None) -> tuple[str, dict[str, NDArray[Any]]]:
    """Return the JSON text and the arrays of a light field's metadata; `bits` where it is rounded to so many."""
    arrays: dict[str, NDArray[Any]] = {}
    plain: dict[str, Any] = {}
    for key, value in lf.metadata.items():
        if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
            arrays[key] = value
        else:
            plain[key] = _plain(value)
    text = {
        "sharpfield": 1,
        "name": lf.name,
        "bits": bits or lf.bits,
        "notes": list(lf.notes),
        "metadata": plain,
        "arrays": {key: member(key) for key in arrays},
    }
    return json.dumps(text), arrays


def member(key: str) -> str:
    """Return the name under which an array of the metadata is stored."""
    return "metadata." + quote(key, safe="")


def restore(text: str, place: str) -> dict[str, Any]:
    """Read the JSON text back, checked: name, bits, notes, metadata, arrays."""
    try:
        record = json.loads(text)
    except ValueError as error:
        raise InputError(f"{place}: its description is damaged ({error}); write the file again") from error
    kinds: Mapping[str, type] = {"name": str, "bits": int, "notes": list, "metadata": dict, "arrays": dict}
    for key, kind in kinds.items():
        if not isinstance(record, dict) or not isinstance(record.get(key), kind):
            raise InputError(f"{place}: its description says no {key}; write the file again")
    if record["bits"] not in (8, 16, 32):
        raise InputError(f"{place}: its description says {record['bits']} bits; write the file again")
    record["notes"] = tuple(str(note) for note in record["notes"])
    return record


def companion(lf: LightField) -> bytes | None:
    """Return the file that stands beside pictures of views; None where nothing is known of how they were made."""
    made = lf.metadata.get("upscale")
    if not isinstance(made, Mapping):
        return None
    return (json.dumps({"sharpfield": 1, "upscale": _plain(made)}, indent=2) + "\n").encode()


def of_companion(data: bytes) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the metadata that `companion` wrote, and a note where it cannot be read: the views still can."""
    try:
        made = json.loads(data)["upscale"]
    except (ValueError, KeyError, TypeError):
        made = None
    if not isinstance(made, dict):
        return {}, (f"{COMPANION} is damaged: how the views were made is not known",)
    return {"upscale": made}, ()


def _plain(value: Any) -> Any:
    """Return a value of the metadata as JSON can hold it; what it cannot becomes its text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray) and value.size <= _INLINE:
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
