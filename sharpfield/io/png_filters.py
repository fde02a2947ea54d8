"""The one compiled loop of the readers: a PNG row depends on the pixel before it, which NumPy cannot express."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray


@numba.njit(nogil=True, cache=True)
def undo_filters(filters: NDArray[np.uint8], rows: NDArray[np.uint8], step: int) -> None:
    """Undo, in place, the filter of each row: 0 none, 1 left, 2 up, 3 average, 4 Paeth (PNG section 9.2)."""
    height, width = rows.shape
    for y in range(height):
        kind = filters[y]
        for x in range(width):
            left = np.int32(rows[y, x - step]) if x >= step else np.int32(0)
            up = np.int32(rows[y - 1, x]) if y > 0 else np.int32(0)
            if kind == 1:
                guess = left
            elif kind == 2:
                guess = up
            elif kind == 3:
                guess = (left + up) >> 1
            elif kind == 4:
                corner = np.int32(rows[y - 1, x - step]) if x >= step and y > 0 else np.int32(0)
                to_left, to_up = abs(up - corner), abs(left - corner)
                to_corner = abs(left + up - 2 * corner)
                if to_left <= to_up and to_left <= to_corner:
                    guess = left
                elif to_up <= to_corner:
                    guess = up
                else:
                    guess = corner
            else:
                guess = np.int32(0)
            rows[y, x] = np.uint8((np.int32(rows[y, x]) + guess) & 255)
