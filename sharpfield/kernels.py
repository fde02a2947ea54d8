"""Compiled loops shared by several rooms: arrays in, arrays out, nothing of the project imported.

Here: the two orders of a separable map of an image. Tables of taps come as `index` and `weight`: for the
vertical axis one row an output row (n_out, K), for the horizontal axis transposed (K, n_out), so that every
inner loop runs over contiguous slices from 0 and vectorises. Indices are unsigned: with signed ones the
handling of negative indices blocks that.

Signatures are explicit and read-only for the inputs: one compilation serves views that are read-only and
solver vectors that are not.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types
from numpy.typing import NDArray

_IMAGE = types.Array(types.float32, 2, "C", readonly=True)
_INDEX = types.Array(types.uint32, 2, "C", readonly=True)
_OUT = types.Array(types.float32, 2, "C")
_MAP = types.void(_IMAGE, _INDEX, _IMAGE, _INDEX, _IMAGE, _OUT)

Image = NDArray[np.float32]
Index = NDArray[np.uint32]


@njit(nogil=True)
def _sum_of_rows(image: Image, index: Index, weight: Image, row: Image) -> None:
    """row[x] = sum over k of weight[k] image[index[k], x]."""
    width = row.shape[0]
    taps = index.shape[0]
    while taps > 1 and weight[taps - 1] == 0:
        taps -= 1
    a = image[index[0]]
    wa = weight[0]
    if taps == 1:
        for x in range(width):
            row[x] = wa * a[x]
        return
    b = image[index[1]]
    wb = weight[1]
    for x in range(width):
        row[x] = wa * a[x] + wb * b[x]
    # two taps a pass: half the traffic on the row that is summed
    for k in range(2, taps - 1, 2):
        a = image[index[k]]
        wa = weight[k]
        b = image[index[k + 1]]
        wb = weight[k + 1]
        for x in range(width):
            row[x] += wa * a[x] + wb * b[x]
    if taps % 2 == 1:
        a = image[index[taps - 1]]
        wa = weight[taps - 1]
        for x in range(width):
            row[x] += wa * a[x]


@njit(nogil=True)
def _gathered(row: Image, index: Index, weight: Image, out: Image) -> None:
    """out[x] = sum over k of weight[k, x] row[index[k, x]]."""
    width = out.shape[0]
    taps = index.shape[0]
    ia = index[0]
    wa = weight[0]
    if taps == 1:
        for x in range(width):
            out[x] = wa[x] * row[ia[x]]
        return
    ib = index[1]
    wb = weight[1]
    for x in range(width):
        out[x] = wa[x] * row[ia[x]] + wb[x] * row[ib[x]]
    for k in range(2, taps - 1, 2):
        ia = index[k]
        wa = weight[k]
        ib = index[k + 1]
        wb = weight[k + 1]
        for x in range(width):
            out[x] += wa[x] * row[ia[x]] + wb[x] * row[ib[x]]
    if taps % 2 == 1:
        ia = index[taps - 1]
        wa = weight[taps - 1]
        for x in range(width):
            out[x] += wa[x] * row[ia[x]]


@njit([_MAP], nogil=True, cache=True)
def map_rows_first(
    image: Image, y_index: Index, y_weight: Image, x_index: Index, x_weight: Image, out: Image
) -> None:
    """Sum rows, then gather along the summed row while it is in cache: for maps that shrink."""
    row = np.empty(image.shape[1], np.float32)
    for y in range(out.shape[0]):
        _sum_of_rows(image, y_index[y], y_weight[y], row)
        _gathered(row, x_index, x_weight, out[y])


@njit([_MAP], nogil=True, cache=True)
def map_columns_first(
    image: Image, y_index: Index, y_weight: Image, x_index: Index, x_weight: Image, out: Image
) -> None:
    """Gather along the few rows there are, then sum the results: for maps that enlarge."""
    wide = np.empty((image.shape[0], out.shape[1]), np.float32)
    for y in range(image.shape[0]):
        _gathered(image[y], x_index, x_weight, wide[y])
    for y in range(out.shape[0]):
        _sum_of_rows(wide, y_index[y], y_weight[y], out[y])


_VECTOR = types.Array(types.float32, 1, "C")
_READ = types.Array(types.float32, 1, "C", readonly=True)


# sums may be reordered so that they vectorise: the order depends on the length alone, never on threads
@njit([types.float64(_READ, _READ)], nogil=True, cache=True, fastmath={"reassoc", "nsz"})
def dot(a: Image, b: Image) -> float:
    """Return sum of a b, summed in double precision."""
    total = 0.0
    for i in range(a.shape[0]):
        total += np.float64(a[i]) * np.float64(b[i])
    return total


@njit([types.float64(_VECTOR, _READ, types.float64)], nogil=True, cache=True, fastmath={"reassoc", "nsz"})
def add_scaled_dot(a: Image, b: Image, scale: float) -> float:
    """Do a += scale b, and return sum of a b."""
    factor = np.float32(scale)
    total = 0.0
    for i in range(a.shape[0]):
        a[i] += factor * b[i]
        total += np.float64(a[i]) * np.float64(b[i])
    return total


@njit(
    [types.float64(_VECTOR, _VECTOR, _READ, _READ, types.float64)],
    nogil=True,
    cache=True,
    fastmath={"reassoc", "nsz"},
)
def descend(x: Image, residual: Image, direction: Image, image: Image, step: float) -> float:
    """Do x += step direction and residual -= step image, and return the residual's squared norm."""
    factor = np.float32(step)
    total = 0.0
    for i in range(x.shape[0]):
        x[i] += factor * direction[i]
        residual[i] -= factor * image[i]
        total += np.float64(residual[i]) * np.float64(residual[i])
    return total


@njit([types.void(_VECTOR, _READ, types.float64)], nogil=True, cache=True)
def scale_and_add(a: Image, b: Image, scale: float) -> None:
    """Do a = scale a + b."""
    factor = np.float32(scale)
    for i in range(a.shape[0]):
        a[i] = factor * a[i] + b[i]
