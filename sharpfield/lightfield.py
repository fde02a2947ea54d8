"""LightField: the views of one scene on a grid of cameras, and where they came from.

Axes are named and fixed: `v` (row of views, top to bottom), `u` (column of views, left to right), `y`, `x`,
`c`. The camera moves right as u grows and down as v grows; a scene point with disparity d > 0 moves left by d
when u grows by one and up by d when v grows by one. Readers deliver this order whatever the file's order is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sharpfield.errors import InputError, OptionError

Views = NDArray[np.float32]

# 8-bit data resampled in floating point lands a hair outside [0, 1]; more than this is not rounding
_ROUNDING = 1e-4


@dataclass(frozen=True, eq=False)
class LightField:
    """A light field: views (v, u, y, x, c), float32 in [0, 1], read-only.

    Parameters
    ----------
    views
        Array (v, u, y, x, c) or (v, u, y, x); floats in [0, 1], uint8 (divided by 255) or uint16 (by 65535).
    name
        What to call it in reports.
    source
        Where it was read from; empty for an array.
    bits
        Bits a sample had where it came from (8, 16, 32 for float); writers keep them when the format can.
        An array of uint8 or uint16 sets it; for a float array it is 8 unless said otherwise.
    notes
        What a reader changed on the way in, in words ("alpha channel dropped").
    metadata
        Anything else that its file said.
    """

    views: Views
    name: str = "light field"
    source: str = ""
    bits: int = 8
    notes: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        dtype = np.asarray(self.views).dtype
        if dtype.kind == "u":  # an integer array says itself how many bits it has
            object.__setattr__(self, "bits", 8 * dtype.itemsize)
        views = as_unit_views(self.views, self.name)
        object.__setattr__(self, "views", views)

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of views: (v, u)."""
        return self.views.shape[0], self.views.shape[1]

    @property
    def size(self) -> tuple[int, int]:
        """Height and width of a view: (y, x)."""
        return self.views.shape[2], self.views.shape[3]

    @property
    def channels(self) -> int:
        """1 (grey) or 3 (red, green, blue)."""
        return self.views.shape[4]

    def with_views(self, views: ArrayLike, **changes: Any) -> LightField:
        """Return this light field with other views (and other fields, by name)."""
        return replace(self, views=np.asarray(views), **changes)

    def select(self, rows: slice, columns: slice) -> LightField:
        """Return the views of a block of the grid."""
        views = self.views[rows, columns]
        if 0 in views.shape:
            raise OptionError(f"{self.name}: no view is left of the grid {self.grid[0]}x{self.grid[1]}")
        return self.with_views(views)

    def crop(self, y: slice, x: slice) -> LightField:
        """Return the same window of every view."""
        views = self.views[:, :, y, x]
        if 0 in views.shape:
            raise OptionError(f"{self.name}: no pixel is left of the views' {self.size[1]}x{self.size[0]}")
        return self.with_views(views)

    def __repr__(self) -> str:
        (rows, columns), (height, width) = self.grid, self.size
        return f"LightField({self.name!r}, {rows}x{columns} views of {width}x{height}, {self.channels} ch)"


def require_light_field(lf: object) -> None:
    """Raise InputError where an array, a path or anything else was given for a LightField."""
    if not isinstance(lf, LightField):
        raise InputError(
            f"a LightField is needed, not {type(lf).__name__}; make one of an array (sharpfield.LightField(array)) "
            "or read one (sharpfield.read(path))"
        )


def as_unit_views(array: ArrayLike, name: str = "light field") -> Views:
    """Return an array as views (v, u, y, x, c), float32 in [0, 1], read-only, or say why it is none."""
    views = np.asarray(array)
    if views.ndim == 4:
        views = views[..., np.newaxis]
    if views.ndim != 5:
        raise InputError(
            f"{name}: a light field has the axes (v, u, y, x, c) or (v, u, y, x); this array has {views.ndim} axes"
        )
    if 0 in views.shape:
        raise InputError(f"{name}: the array is empty, shape {views.shape}")
    if views.shape[4] not in (1, 3):
        raise InputError(
            f"{name}: views have 1 or 3 channels; the last axis of this array has {views.shape[4]} "
            f"(shape {views.shape})"
        )
    if views.dtype.kind == "u" and views.dtype.itemsize <= 2:  # of either byte order
        top = np.float32(np.iinfo(views.dtype).max)
        unit = views.astype(np.float32)
        unit /= top
    elif np.issubdtype(views.dtype, np.floating):
        low, high = float(views.min()), float(views.max())
        if not (np.isfinite(low) and np.isfinite(high)):
            raise InputError(
                f"{name}: some values are NaN or infinite; replace them before (numpy.nan_to_num)"
            )
        if low < -_ROUNDING or high > 1 + _ROUNDING:
            raise InputError(
                f"{name}: float views are in [0, 1], these reach from {low:.4g} to {high:.4g}; "
                "divide by the white level"
            )
        unit = views.astype(np.float32, copy=views.flags.writeable)
        if low < 0 or high > 1:
            unit = np.clip(unit, 0, 1)
    else:
        raise InputError(f"{name}: values are uint8, uint16 or float, not {views.dtype}; convert them before")
    unit = np.ascontiguousarray(unit)
    unit.flags.writeable = False
    return unit
