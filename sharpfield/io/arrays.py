"""What the formats that store one array share: which axes it has, what a view of it is, what is dropped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sharpfield.errors import InputError
from sharpfield.io.source import Picture, Samples

_SHOWN = 5
_LONGEST = 40


@dataclass(frozen=True)
class Layout:
    """A stored array (v, u, y, x, c) or (v, u, y, x); of two or four channels the last is a weight, dropped."""

    grid: tuple[int, int]
    size: tuple[int, int]
    channels: int
    notes: tuple[str, ...] = ()

    def picture(self, view: Samples, bits: int = 0) -> Picture:
        """Return a stored view (y, x, c) or (y, x) as a picture; its bits are those of its type unless said."""
        if view.ndim == 2:
            view = view[..., np.newaxis]
        own = 32 if view.dtype.kind == "f" else 8 * min(view.dtype.itemsize, 2)
        return Picture(view[..., : self.channels], bits or own)


def layout(shape: tuple[int, ...], label: str) -> Layout:
    """Read the axes off a shape, or say why it is no light field."""
    axes = "(v, u, y, x, c): rows and columns of views, y, x, and 1 or 3 channels"
    if len(shape) not in (4, 5) or 0 in shape:
        raise InputError(f"{label}: an array of shape {shape} is no light field; it needs the axes {axes}")
    if len(shape) == 5 and shape[4] not in (1, 2, 3, 4):
        raise InputError(
            f"{label}: shape {shape} has {shape[4]} channels last; bring the axes into the order {axes}"
        )
    if shape[0] * shape[1] == 1:
        raise InputError(
            f"{label}: no light field: shape {shape} is a single view; use a single-image upscaler"
        )
    stored = shape[4] if len(shape) == 5 else 1
    channels = 3 if stored >= 3 else 1
    notes = ("weight channel dropped",) if stored != channels else ()
    return Layout((shape[0], shape[1]), (shape[2], shape[3]), channels, notes)


def described(arrays: Mapping[str, Any]) -> str:
    """Name some arrays with their shapes."""
    parts = [f"{printable(name)} {tuple(shape)}" for name, shape in arrays.items()]
    more = f" and {len(parts) - _SHOWN} more" if len(parts) > _SHOWN else ""
    return (", ".join(parts[:_SHOWN]) or "nothing") + more


def printable(name: str) -> str:
    """Return a name out of a file as it can stand in one line."""
    return "".join(each if each.isprintable() else "?" for each in name[:_LONGEST])
