"""The geometry of a rendered scene: planes in disparity space, and the shapes cut out of them.

All of it lives in the reference camera, which stands in the middle of the grid (between views when the grid is
even). A surface is the plane d(y, x) = d0 + gy (y - cy) + gx (x - cx), d in pixels between adjacent views; a plane
in space is a plane in disparity too. View (v, u) stands `down` = v - vc rows and `right` = u - uc columns
from the reference, so its ray through pixel (y, x) meets the surface at the reference pixel
(y + down d, x + right d), with d taken there: a linear equation in d.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import cos, radians, sin

import numpy as np
from numpy.typing import NDArray

from sharpfield.errors import OptionError

Floats = NDArray[np.floating]
# a paint gives the colour (3, n) in [0, 1] of surface points (t, s), each (n,), in pixels from the surface's anchor
Paint = Callable[[Floats, Floats], Floats]
Mask = Callable[[Floats, Floats], NDArray[np.bool_]]

# how obliquely a view may look along a plane: 1 - gy down - gx right, 0 when the plane is seen edge-on
_MOST_OBLIQUE = 0.05


@dataclass(frozen=True)
class Plane:
    """The plane d(y, x) = d0 + gy (y - cy) + gx (x - cx) of the reference camera."""

    d0: float
    gy: float = 0.0
    gx: float = 0.0
    cy: float = 0.0
    cx: float = 0.0

    def at(self, y: Floats, x: Floats) -> Floats:
        """Return the disparity at reference pixels (y, x)."""
        return self.d0 + (self.gy * (y - self.cy) + self.gx * (x - self.cx))

    def seen_from(self, down: float, right: float, y: Floats, x: Floats) -> Floats:
        """Return the disparity that rays of another view meet: d (1 - gy down - gx right) = d(y, x)."""
        return self.at(y, x) / self.facing(down, right)

    def facing(self, down: float, right: float) -> float:
        """Return 1 - gy down - gx right, 0 for a plane seen edge-on, or refuse a plane seen from behind."""
        facing = 1.0 - self.gy * down - self.gx * right
        if facing < _MOST_OBLIQUE:
            raise OptionError(
                "a slanted plane is seen from behind by the outermost views; "
                "use fewer views, a larger size or a smaller disparity range"
            )
        return facing


@dataclass(frozen=True)
class Surface:
    """A painted shape on a plane.

    Parameters
    ----------
    name
        What it is called in `Scene.surfaces`.
    plane
        Where it is; the anchor (cy, cx) is the origin of the surface's own coordinates (t, s).
    paint
        Its colour at (t, s), the same from every side (Lambertian).
    mask
        Where it exists, of (t, s); None is everywhere.
    extent
        A box (t from, t to, s from, s to) that holds the mask; None when it has no bounds.
    infinity
        The disparity of a point infinitely far away; 1 / (d - infinity) is the depth, which is what makes a
        texture on a slanted plane recede. None draws it without perspective.
    flatten
        Surface coordinate t is this much shorter in the picture: what lies on a table is seen flat.
    angle
        Degrees by which the surface is turned in its own plane.
    """

    name: str
    plane: Plane
    paint: Paint
    mask: Mask | None = None
    extent: tuple[float, float, float, float] | None = None
    infinity: float | None = None
    flatten: float = 1.0
    angle: float = 0.0

    def coordinates(self, y: Floats, x: Floats, d: Floats) -> tuple[Floats, Floats]:
        """Return the surface coordinates (t, s) of the reference pixels (y, x) whose disparity is d."""
        t, s = y - self.plane.cy, x - self.plane.cx
        if self.infinity is not None:
            # the picture of a plane is a homography whose denominator is the inverse depth
            scale = (self.plane.d0 - self.infinity) / (d - self.infinity)
            t, s = t * scale, s * scale
        if self.angle:
            c, n = cos(radians(self.angle)), sin(radians(self.angle))
            t, s = c * t - n * s, n * t + c * s
        return t / self.flatten, s

    def pixel(self, t: float, s: float, down: float = 0.0, right: float = 0.0) -> tuple[float, float, float]:
        """Return the pixel (y, x) at which a view sees the surface point (t, s), and its disparity: the inverse."""
        plane = self.plane
        c, n = cos(radians(self.angle)), sin(radians(self.angle))
        t = t * self.flatten
        t, s = c * t + n * s, -n * t + c * s
        if self.infinity is not None:
            scale = 1.0 / (1.0 - (plane.gy * t + plane.gx * s) / (plane.d0 - self.infinity))
            t, s = t * scale, s * scale
        d = plane.d0 + plane.gy * t + plane.gx * s
        return plane.cy + t - down * d, plane.cx + s - right * d, d

    def box(self, down: float = 0.0, right: float = 0.0) -> tuple[float, float, float, float] | None:
        """Return the box (y from, y to, x from, x to) outside of which the view does not see the surface."""
        if self.extent is None:
            return None
        top, bottom, left, end = self.extent
        corners = [self.pixel(t, s, down, right) for t in (top, bottom) for s in (left, end)]
        ys, xs = [corner[0] for corner in corners], [corner[1] for corner in corners]
        return min(ys), max(ys), min(xs), max(xs)


def disc(radius: float) -> tuple[Mask, tuple[float, float, float, float]]:
    """Return the mask and the extent of a disc around the anchor."""
    square = radius * radius

    def mask(t: Floats, s: Floats) -> NDArray[np.bool_]:
        return t * t + s * s <= square

    return mask, (-radius, radius, -radius, radius)


def rectangle(
    top: float, bottom: float, left: float, right: float
) -> tuple[Mask, tuple[float, float, float, float]]:
    """Return the mask and the extent of a rectangle, from the anchor."""

    def mask(t: Floats, s: Floats) -> NDArray[np.bool_]:
        return (t >= top) & (t <= bottom) & (s >= left) & (s <= right)

    return mask, (top, bottom, left, right)
