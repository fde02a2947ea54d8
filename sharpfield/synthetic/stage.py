"""The room of the still life: how deep it is, the table in it, and how low in the picture a thing stands.

The table recedes from almost the nearest disparity to almost the farthest. What stands on it faces the camera at
one depth, a fraction of the disparity range (0 at the back, 1 at the front), and the table tells where its foot is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sharpfield.synthetic.surface import Floats, Mask, Plane, Surface

TABLE_FAR, TABLE_NEAR = 0.17, 0.93  # depths of the table's far edge and of the nearest part in any view


@dataclass(frozen=True)
class Stage:
    """The room: how big, how deep, and how low a thing stands that is at some depth."""

    grid: tuple[int, int]
    size: tuple[int, int]
    back: float
    front: float

    @property
    def unit(self) -> float:
        """The shorter side of the picture, in pixels: things are sized by it."""
        return float(min(self.size))

    @property
    def infinity(self) -> float:
        """The disparity of what is infinitely far: the nearest thing is 2.25 times as near as the backdrop."""
        return self.back - 0.8 * (self.front - self.back)

    @property
    def reach(self) -> tuple[float, float]:
        """How far (down, right) beyond the reference picture the other views see."""
        most = max(abs(self.back), abs(self.front))
        return (self.grid[0] - 1) / 2 * most + 2, (self.grid[1] - 1) / 2 * most + 2

    def depth(self, fraction: float) -> float:
        """Return the disparity at a fraction of the way from the back to the front."""
        return self.back + fraction * (self.front - self.back)

    def foot(self, fraction: float) -> float:
        """Return the row at which the table has this depth."""
        near, far = self.size[0] + self.reach[0], 0.56 * self.size[0]
        return far + (fraction - TABLE_FAR) / (TABLE_NEAR - TABLE_FAR) * (near - far)

    def table(self) -> Plane:
        """Return the plane of the table, its anchor in the middle column."""
        y, middle = self.foot(0.5), self.size[1] / 2
        slope = (self.depth(TABLE_NEAR) - self.depth(0.5)) / (self.foot(TABLE_NEAR) - y)
        return Plane(self.depth(0.5), gy=slope, cy=y, cx=middle)

    def facing(self, x: float, above: float, fraction: float) -> Plane:
        """Return the plane that faces the camera, its anchor so high above the table, at column x."""
        return Plane(self.depth(fraction), cy=self.foot(fraction) - above, cx=x)


def below(row: float, plane: Plane, infinity: float) -> Mask:
    """Return the mask of the plane below a row (from the anchor) of the reference picture."""
    scale = (plane.d0 - infinity) / (plane.d0 + plane.gy * row - infinity)
    limit = row * scale

    def mask(t: Floats, s: Floats) -> NDArray[np.bool_]:
        return t >= limit

    return mask


def shadows(table: Surface, things: list[Surface]) -> list[tuple[float, float, float, float]]:
    """Return where on the table the shadows of things fall: spots (t, s, half height, half width) of the table."""
    spots, plane, infinity = [], table.plane, table.infinity
    assert infinity is not None
    for thing in things:
        d = thing.plane.d0
        foot = plane.cy + (d - plane.d0) / plane.gy  # the row at which the table is as deep as the thing
        t, s = table.coordinates(*(np.array([value]) for value in (foot, thing.plane.cx, d)))
        assert thing.extent is not None
        scale = (plane.d0 - infinity) / (d - infinity)  # table pixels a picture pixel
        wide = 0.45 * (thing.extent[3] - thing.extent[2]) * scale
        spots.append((float(t[0]), float(s[0]) + 0.15 * wide, 0.30 * wide, wide))
    return spots
