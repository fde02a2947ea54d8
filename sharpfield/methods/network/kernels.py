"""The compiled loop of a layer: arrays in, arrays out, nothing of the project imported.

A layer's taps come as a table: which plane, how many rows down, how many columns right; their number is a multiple of
four, filled up with taps of weight 0. Four taps of two filters at a time: each input that is loaded serves twice, and
all weights stay in registers. Inner loops run over slices from 0, so that they vectorise.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types
from numpy.typing import NDArray

_PLANES = types.Array(types.float32, 3, "C", readonly=True)
_TABLE = types.Array(types.uint32, 1, "C", readonly=True)
_WEIGHT = types.Array(types.float32, 2, "C", readonly=True)
_BIAS = types.Array(types.float32, 1, "C", readonly=True)
_OUT = types.Array(types.float32, 3, "C")
_LAYER = types.void(_PLANES, _TABLE, _TABLE, _TABLE, _WEIGHT, _BIAS, types.boolean, _OUT)

Planes = NDArray[np.float32]
Table = NDArray[np.uint32]


# products may be fused with sums: once rounded instead of twice, in the same order for every pixel
@njit([_LAYER], nogil=True, cache=True, fastmath={"contract", "nsz"})
def convolve(
    planes: Planes,
    plane: Table,
    down: Table,
    right: Table,
    weight: Planes,
    bias: Planes,
    rectify: bool,
    out: Planes,
) -> None:
    """out[f, y, x] = bias[f] + sum over t of weight[f, t] planes[plane[t], y + down[t], x + right[t]].

    With `rectify`, what is negative becomes 0.
    """
    filters, height, width = out.shape
    taps = plane.shape[0]
    spare = np.empty(width, np.float32)
    for y in range(height):
        for f in range(0, filters, 2):
            g = min(f + 1, filters - 1)
            first = out[f, y]
            second = out[g, y] if g > f else spare
            for x in range(width):
                first[x] = bias[f]
                second[x] = bias[g]
            for t in range(0, taps, 4):
                a = planes[plane[t], y + down[t], right[t] : right[t] + width]
                b = planes[plane[t + 1], y + down[t + 1], right[t + 1] : right[t + 1] + width]
                c = planes[plane[t + 2], y + down[t + 2], right[t + 2] : right[t + 2] + width]
                d = planes[plane[t + 3], y + down[t + 3], right[t + 3] : right[t + 3] + width]
                fa, fb, fc, fd = weight[f, t], weight[f, t + 1], weight[f, t + 2], weight[f, t + 3]
                ga, gb, gc, gd = weight[g, t], weight[g, t + 1], weight[g, t + 2], weight[g, t + 3]
                for x in range(width):
                    first[x] = first[x] + fa * a[x] + fb * b[x] + fc * c[x] + fd * d[x]
                    second[x] = second[x] + ga * a[x] + gb * b[x] + gc * c[x] + gd * d[x]
            if rectify:
                for x in range(width):
                    first[x] = max(first[x], np.float32(0))
                    second[x] = max(second[x], np.float32(0))
