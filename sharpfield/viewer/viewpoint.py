"""What the page shows, in NumPy: a light field seen from between its views, at a focus, through an aperture.

The page computes the same in the browser (assets/js/shaders.js); the tests hold one against the other. `animate`
draws its frames with it.
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np
from numpy.typing import NDArray

from sharpfield.errors import OptionError
from sharpfield.lightfield import LightField

Image = NDArray[np.float32]

# how much a view counts where its pixel lies outside the picture: only where no other view sees the point
OUTSIDE = 1e-3


def view_weights(count: int, at: float, aperture: float) -> NDArray[np.float64]:
    """Return how much each of `count` views in a line counts, seen from between them.

    A trapezoid: 1 within `aperture` views of the viewpoint, falling to 0 one view further. At aperture 0 that is
    linear interpolation between the two nearest views; from `count` - 1 on, all views count the same.
    """
    return np.clip(1 + aperture - np.abs(np.arange(count) - at), 0, 1)


def look(
    lf: LightField,
    v: float | None = None,
    u: float | None = None,
    focus: float = 0.0,
    aperture: float = 0.0,
    *,
    steady: bool = False,
) -> Image:
    """Return sum_k w_k I_k(y - (v_k - v) d, x - (u_k - u) d) / sum_k w_k: shift and sum around a viewpoint.

    Points of disparity d = `focus` are sharp at every aperture. Between views and at aperture 0 the nearest two (or
    four) are interpolated; at a view it is that view.

    Parameters
    ----------
    lf
        The light field.
    v, u
        Where to look from: row and column of the grid, whole or between; the middle when None.
    focus
        The disparity between adjacent views that is in focus, in pixels.
    aperture
        How many views on either side count fully: 0 is a pinhole.
    steady
        Move the picture so that points of disparity `focus` stand where the middle of the grid sees them, whatever
        the viewpoint.

    Returns
    -------
    image
        float32 (y, x, c) in [0, 1].
    """
    rows, columns = lf.grid
    v = _place("v", v, rows)
    u = _place("u", u, columns)
    if not (math.isfinite(focus) and math.isfinite(aperture) and aperture >= 0):
        raise OptionError(
            f"focus and aperture are numbers, the aperture at least 0, not {focus!r}, {aperture!r}"
        )
    total = np.zeros((*lf.size, lf.channels))
    weights = np.zeros((*lf.size, 1))
    origin = ((rows - 1) / 2, (columns - 1) / 2) if steady else (v, u)
    across, along = view_weights(columns, u, aperture), view_weights(rows, v, aperture)
    for row, column in product(range(rows), range(columns)):
        weight = along[row] * across[column]
        if weight > 0:
            image, inside = _shifted(
                lf.views[row, column], -(row - origin[0]) * focus, -(column - origin[1]) * focus
            )
            counted = weight * np.where(inside, 1.0, OUTSIDE)[..., None]
            total += counted * image
            weights += counted
    return (total / weights).astype(np.float32)


def _place(name: str, value: float | None, count: int) -> float:
    if value is None:
        return (count - 1) / 2
    if not 0 <= value <= count - 1:
        raise OptionError(f"{name} must be from 0 to {count - 1}, not {value!r}")
    return float(value)


def _shifted(view: Image, down: float, right: float) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the view read `down` and `right` of every pixel (bilinear), and where that is inside the view."""
    inside = []
    image = view.astype(np.float64)
    for axis, shift in enumerate((down, right)):
        side = image.shape[axis]
        at = np.arange(side) + shift
        inside.append((at >= -0.5) & (at <= side - 0.5))
        at = np.clip(at, 0, side - 1)
        first = np.floor(at).astype(np.intp)
        part = np.expand_dims(at - first, tuple(other for other in range(3) if other != axis))
        near, far = (np.take(image, np.minimum(index, side - 1), axis) for index in (first, first + 1))
        image = near * (1 - part) + far * part
    return image, inside[0][:, None] & inside[1][None, :]
