"""Rays through painted surfaces: the views of a scene, and the true disparity of every pixel of every view.

A pixel is the mean over a regular grid of rays across its square (the box camera at infinite resolution, in the
values that are stored: no gamma). The ray takes the colour of the front-most surface, the one of largest
disparity. The disparity map and the surface map say what the single ray through the pixel's centre meets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from math import ceil, floor, isfinite
from numbers import Integral, Real

import numpy as np
from numpy.typing import NDArray

from sharpfield.errors import OptionError
from sharpfield.lightfield import LightField
from sharpfield.parallel import Workers
from sharpfield.progress import Progress, ProgressCallback, silent
from sharpfield.synthetic.surface import Floats, Surface

_RAYS_AT_ONCE = 1 << 17  # a band of rows with this many rays: its arrays stay in the processor's cache

Window = tuple[slice, slice]


@dataclass(frozen=True, eq=False)
class Scene:
    """A rendered light field with its truth.

    Parameters
    ----------
    lightfield
        The views.
    disparity
        float32 (v, u, y, x): pixels between adjacent views, of what the ray through the pixel's centre meets.
    surface
        uint8 (v, u, y, x): which surface that is, an index into `surfaces`.
    surfaces
        The names of the surfaces.
    details
        Windows (rows, columns) of the middle view that are worth a closer look, by name.
    """

    lightfield: LightField
    disparity: NDArray[np.float32]
    surface: NDArray[np.uint8]
    surfaces: tuple[str, ...]
    details: dict[str, Window] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.disparity.flags.writeable = False
        self.surface.flags.writeable = False


def whole_pair(value: object, name: str, smallest: int) -> tuple[int, int]:
    """Return a pair of whole numbers of at least `smallest`, or say that it is none."""
    pair = tuple(value) if isinstance(value, (tuple, list)) else ()
    if len(pair) != 2 or any(not _is_whole(item) or item < smallest for item in pair):
        raise OptionError(f"{name} must be two whole numbers of at least {smallest}, not {value!r}")
    return int(pair[0]), int(pair[1])


def check_options(supersampling: object, seed: object) -> None:
    """Refuse a number of samples or a seed that has no meaning."""
    if not _is_whole(supersampling) or not 1 <= supersampling <= 16:  # type: ignore[operator]
        raise OptionError(f"supersampling must be a whole number from 1 to 16, not {supersampling!r}")
    if not _is_whole(seed) or seed < 0:  # type: ignore[operator]
        raise OptionError(f"seed must be a whole number of at least 0, not {seed!r}")


def check_disparity(value: object, name: str = "disparity") -> float:
    """Return one finite disparity as a float, or say that it is none."""
    if isinstance(value, Real) and not isinstance(value, bool) and isfinite(value):
        return float(value)
    raise OptionError(f"{name} must be a finite number of pixels between adjacent views, not {value!r}")


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def offsets(grid: tuple[int, int]) -> list[tuple[float, float]]:
    """Return how far each view stands from the reference: (down, right), in the order of the grid."""
    rows, columns = grid
    return [(v - (rows - 1) / 2, u - (columns - 1) / 2) for v in range(rows) for u in range(columns)]


def render(
    surfaces: Sequence[Surface],
    grid: tuple[int, int],
    size: tuple[int, int],
    *,
    supersampling: int = 4,
    name: str = "scene",
    details: dict[str, Window] | None = None,
    threads: int | None = None,
    progress: ProgressCallback = silent,
) -> Scene:
    """Render surfaces; the first ones lie behind where disparities are equal.

    Memory beyond the result is some twenty megabytes a thread. The result does not depend on the number of threads.
    """
    if len(surfaces) > 256:
        raise OptionError(f"a scene has at most 256 surfaces, not {len(surfaces)}")
    places = offsets(grid)
    for surface in surfaces:  # refused before any work, rather than at the outermost view
        for down, right in places:
            surface.plane.facing(down, right)
    views = np.empty((len(places), *size, 3), np.float32)
    disparity = np.empty((len(places), *size), np.float32)
    which = np.empty((len(places), *size), np.uint8)
    done = count(1)

    def one(index: int) -> None:
        down, right = places[index]
        _view(surfaces, down, right, supersampling, views[index])
        _truth(surfaces, down, right, disparity[index], which[index])
        progress(Progress("rendering the scene", next(done) / len(places)))

    with Workers(threads) as workers:
        workers.map(one, range(len(places)))
    np.clip(views, 0, 1, out=views)
    views.flags.writeable = False  # so that the light field takes them without a copy
    return Scene(
        LightField(views.reshape(*grid, *size, 3), name=name),
        disparity.reshape(*grid, *size),
        which.reshape(*grid, *size),
        tuple(each.name for each in surfaces),
        details or {},
    )


def _view(surfaces: Sequence[Surface], down: float, right: float, samples: int, out: Floats) -> None:
    height, width = out.shape[:2]
    within = (np.arange(samples, dtype=np.float32) + 0.5) / samples - 0.5
    x = (np.arange(width, dtype=np.float32)[:, None] + within).ravel()
    rows = max(1, _RAYS_AT_ONCE // (width * samples * samples))
    for start in range(0, height, rows):
        stop = min(start + rows, height)
        y = (np.arange(start, stop, dtype=np.float32)[:, None] + within).ravel()
        d, which = _front(surfaces, down, right, y, x)
        colors = _paint(surfaces, down, right, y, x, d, which)
        blocks = colors.reshape(3, stop - start, samples, width, samples)
        out[start:stop] = np.moveaxis(blocks.mean(axis=(2, 4)), 0, 2)


def _truth(
    surfaces: Sequence[Surface], down: float, right: float, disparity: Floats, surface: NDArray[np.uint8]
) -> None:
    height, width = disparity.shape
    y, x = np.arange(height, dtype=np.float32), np.arange(width, dtype=np.float32)
    disparity[...], surface[...] = _front(surfaces, down, right, y, x)


def _front(
    surfaces: Sequence[Surface], down: float, right: float, y: Floats, x: Floats
) -> tuple[Floats, NDArray[np.uint8]]:
    """Return the disparity and the number of the front-most surface along the rays of the pixels (y, x)."""
    front = np.full((y.size, x.size), -np.inf, np.float32)
    which = np.zeros((y.size, x.size), np.uint8)
    for number, surface in enumerate(surfaces):
        box = surface.box(down, right)
        window = (slice(None), slice(None)) if box is None else (_span(y, *box[:2]), _span(x, *box[2:]))
        ys, xs = y[window[0], None], x[None, window[1]]
        if ys.size == 0 or xs.size == 0:
            continue
        d = surface.plane.seen_from(down, right, ys, xs)
        nearer = d >= front[window]
        if surface.mask is not None:
            t, s = surface.coordinates(ys + down * d, xs + right * d, d)
            nearer &= surface.mask(t, s)
        np.copyto(front[window], d, where=nearer)
        np.copyto(which[window], number, where=nearer)
    if front.min() == -np.inf:
        raise OptionError("some rays meet no surface; put a surface without a mask behind the others")
    return front, which


def _span(positions: Floats, low: float, high: float) -> slice:
    """Return which of the ascending positions lie in [low, high], and one more on either side."""
    first, last = np.searchsorted(positions, (low, high))
    return slice(max(int(first) - 1, 0), int(last) + 1)


def _paint(
    surfaces: Sequence[Surface],
    down: float,
    right: float,
    y: Floats,
    x: Floats,
    d: Floats,
    which: NDArray[np.uint8],
) -> Floats:
    """Return the colours (3, rays) of the surfaces met."""
    d, which = d.ravel(), which.ravel()
    colors = np.empty((3, d.size), np.float32)
    for number in np.unique(which):
        rays = np.flatnonzero(which == number)
        at = d[rays]
        row, column = np.divmod(rays, x.size)
        t, s = surfaces[number].coordinates(y[row] + down * at, x[column] + right * at, at)
        colors[:, rays] = surfaces[number].paint(t, s)
    return colors


def window_of(surface: Surface, size: tuple[int, int], margin: float = 0.0) -> Window:
    """Return the window of the reference picture that holds a surface, cut at the picture's edges."""
    box = surface.box()
    if box is None:
        return slice(0, size[0]), slice(0, size[1])
    top, bottom = max(floor(box[0] - margin), 0), min(ceil(box[1] + margin) + 1, size[0])
    left, right = max(floor(box[2] - margin), 0), min(ceil(box[3] + margin) + 1, size[1])
    return slice(top, bottom), slice(left, right)
