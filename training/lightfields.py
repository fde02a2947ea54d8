"""Light fields rendered of photographs: planes with photographs on them, some with holes, one before the other.

Three by three views. A view at (v, u), -1 <= v, u <= 1, sees the point of a plane that the middle view sees at (y, x)
at (y - v D, x - u D), where D = d + a x + b y is the plane's disparity between adjacent views: the axes and signs of
`sharpfield`. A pixel is the mean of 2x2 rays; a photograph is laid on a plane at about two of its pixels a pixel, so
that no view is sharper than another. The angular networks are given views two apart and learn those between.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Plane = NDArray[np.float32]
Coordinates = tuple[NDArray[np.float32], NDArray[np.float32]]

LARGEST = 4.0  # disparity between the views that are given, two apart, in pixels
_RAYS = 2  # a pixel, along each axis
_PLANES = 5  # at most


@dataclass(frozen=True)
class Holes:
    """Where a plane is: sum of cosines above a level (blobs, stripes), in pixels of the middle view."""

    waves: NDArray[np.float32]  # (n, 4): along y, along x, phase, height
    level: float

    def solid(self, at: Coordinates) -> NDArray[np.bool_]:
        found = np.full(at[0].shape, -self.level, np.float32)
        for down, right, phase, height in self.waves:
            found += height * np.cos(down * at[0] + right * at[1] + phase)
        return found > 0


def _holes(random: np.random.Generator) -> Holes:
    """Return one to four waves of 12 to 150 pixels; few waves make bars and lattices, many make blobs."""
    count = int(random.integers(1, 5))
    pitch = 2 * math.pi / np.exp(random.uniform(math.log(12), math.log(150), count))
    angle = random.uniform(0, math.pi, count)
    waves = np.stack(
        [
            pitch * np.sin(angle),
            pitch * np.cos(angle),
            random.uniform(0, 2 * math.pi, count),
            random.uniform(0.5, 1, count),
        ],
        axis=1,
    )
    return Holes(waves.astype(np.float32), float(random.uniform(-0.2, 0.9) * waves[:, 3].sum() ** 0.5))


@dataclass(frozen=True)
class Layer:
    """A plane: its disparity d + a x + b y in the middle view, its picture, and where it is."""

    disparity: tuple[float, float, float]
    picture: Plane
    laid: NDArray[np.float32]  # (2, 3): picture (y, x) = laid (y, x, 1)
    holes: Holes | None

    def seen(self, v: int, u: int, at: Coordinates) -> tuple[Plane, NDArray[np.bool_] | None]:
        """Return the light along rays through (y, x) of a view, and which of them meet the plane."""
        d, a, b = self.disparity
        # (y, x) = (Y - v (d + a X + b Y), X - u (d + a X + b Y)), solved for (Y, X)
        y, x = at[0] + v * d, at[1] + u * d
        determinant = 1 - v * b - u * a
        middle = ((1 - u * a) * y + v * a * x) / determinant, (u * b * y + (1 - v * b) * x) / determinant
        light = _bilinear(
            self.picture, *(row[0] * middle[0] + row[1] * middle[1] + row[2] for row in self.laid)
        )
        return light, None if self.holes is None else self.holes.solid(middle)


def _bilinear(picture: Plane, y: NDArray[np.float32], x: NDArray[np.float32]) -> Plane:
    """Return the picture at places between its pixels; outside it is mirrored."""
    height, width = picture.shape
    y, x = (np.abs((place + (n - 1)) % (2 * (n - 1)) - (n - 1)) for place, n in ((y, height), (x, width)))
    top, left = np.minimum(y.astype(np.int32), height - 2), np.minimum(x.astype(np.int32), width - 2)
    down, right = (y - top).astype(np.float32), (x - left).astype(np.float32)
    flat, first = picture.ravel(), top * width + left
    upper = flat[first] * (1 - right) + flat[first + 1] * right
    lower = flat[first + width] * (1 - right) + flat[first + width + 1] * right
    return upper * (1 - down) + lower * down


def render(random: np.random.Generator, pictures: list[Plane], side: int, largest: float = LARGEST) -> Plane:
    """Return a random light field (3, 3, side, side) of 8 bits; disparities of views two apart within +-largest."""
    reach = random.uniform(0.25, largest)
    low, high = np.sort(random.uniform(-reach, reach, 2))
    count = int(random.integers(1, _PLANES + 1))
    depths = np.sort(random.uniform(low, high, count)) / 2
    layers = []
    for number, depth in enumerate(depths):
        # a slope as large as the range allows at the rims of the view
        room = (largest / 2 - abs(depth)) / side
        slope = random.uniform(-1, 1, 2) * min(room, 0.01)
        picture = pictures[int(random.integers(len(pictures)))]
        zoom, turn = random.uniform(1.6, 2.6), random.uniform(0, 2 * math.pi)
        squeeze = random.uniform(0.8, 1.25)
        rows = zoom * np.array(
            [[math.cos(turn) * squeeze, math.sin(turn)], [-math.sin(turn) * squeeze, math.cos(turn)]]
        )
        where = random.uniform(0, picture.shape)
        holes = None if number == 0 else _holes(random)
        laid = np.column_stack([rows, where]).astype(np.float32)
        layers.append(Layer((depth, *slope), picture, laid, holes))
    rays = (np.arange(side * _RAYS, dtype=np.float32) + 0.5) / _RAYS - 0.5 - side / 2
    at = np.broadcast_arrays(rays[:, np.newaxis], rays[np.newaxis])
    views = np.empty((3, 3, side, side), np.float32)
    for v, u in np.ndindex(3, 3):
        light = np.zeros(at[0].shape, np.float32)
        for layer in layers:  # from back to front
            seen, solid = layer.seen(v - 1, u - 1, (at[0], at[1]))
            light = seen if solid is None else np.where(solid, seen, light)
        pixels = light.reshape(side, _RAYS, side, _RAYS).mean(axis=(1, 3))
        views[v, u] = np.floor(pixels * 255 + 0.5) / 255
    return views
