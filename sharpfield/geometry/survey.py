"""The views of the middle row and column, matched to the middle view: coarse to fine, tile by tile."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sharpfield.geometry.matching import (
    WINDOW,
    Mask,
    Plane,
    Range,
    Votes,
    detail,
    direction_votes,
    match,
)
from sharpfield.geometry.nearness import OUTLINE, nearness_votes
from sharpfield.lightfield import LightField
from sharpfield.parallel import Workers

Cross = dict[str, dict[int, Plane]]  # axis of the grid -> offset from the middle view -> luma
Series = tuple[str, str]  # (axis of the grid along which the views lie, direction of the picture searched)
Tile = tuple[slice, slice]

IN_ORDER: tuple[Series, Series] = (("u", "x"), ("v", "y"))
TRANSPOSED: tuple[Series, Series] = (("v", "x"), ("u", "y"))

TILE = 256  # matched a tile at a time: the cost volume stays in the cache
PIXELS = 2**20  # pixels measured at most; larger views are sampled by evenly spread tiles
SMALLEST = 24  # views with a smaller side hold nothing to match
FEWEST = 50  # fewer sure matches are chance
WIDEST = 20.0  # a wider range (pixels) is measured at half the size: finer sub-pixels tell nothing there


@dataclass(frozen=True)
class Field:
    """The matches of one series of views over all tiles, pixel after pixel, and the votes on near and far."""

    disparity: Plane
    sure: Mask
    precise: int
    textured: int
    nearness: Votes

    @classmethod
    def joined(cls, parts: list[Field]) -> Field:
        """Return the fields of several tiles as one."""
        return cls(
            disparity=np.concatenate([part.disparity for part in parts]),
            sure=np.concatenate([part.sure for part in parts]),
            precise=sum(part.precise for part in parts),
            textured=sum(part.textured for part in parts),
            nearness=sum((part.nearness for part in parts), Votes()),
        )


@dataclass(frozen=True)
class Survey:
    """The finest fields, and the votes of all sizes; a pixel of the fields is `scale` pixels of the views."""

    fields: dict[Series, Field]
    nearness: dict[Series, Votes]
    in_order: Votes
    scale: float


def survey(lf: LightField, max_disparity: float, workers: Workers) -> Survey:
    """Match the coarsest size over the whole range, then every finer one over the range found so far."""
    max_disparity = min(max_disparity, min(lf.size) / 3)  # farther, views hardly overlap
    levels = _pyramid(_cross(lf), max_disparity)
    top = max_disparity / 2 ** (len(levels) - 1)
    ranges: dict[Series, Range] = {(axis, motion): (-top, top) for axis in levels[0] for motion in "xy"}
    in_order, nearness = Votes(), dict.fromkeys(ranges, Votes())
    for number in reversed(range(len(levels))):
        fields, votes = _match_level(levels[number], ranges, workers)
        in_order += votes
        nearness = {series: nearness[series] + found.nearness for series, found in fields.items()}
        if (
            in_order.count >= 12 and abs(in_order.z) >= 4
        ):  # decided: the other direction is not searched further
            kept = IN_ORDER if in_order.total > 0 else TRANSPOSED
            fields = {series: found for series, found in fields.items() if series in kept}
        top = max_disparity / 2**number
        ranges = {series: _next_range(ranges[series], found, top) for series, found in fields.items()}
        if max(high - low for low, high in ranges.values()) > WIDEST:
            break
    return Survey(fields, nearness, in_order, 2.0**number)


def _next_range(searched: Range, found: Field, top: float) -> Range:
    """Return the range to search at twice the size: what was found here, with room for what was too small."""
    sure = found.disparity[found.sure]
    if sure.size < FEWEST:
        return 2 * searched[0], 2 * searched[1]
    low, high = np.percentile(sure, (0.5, 99.5))
    return 2 * max(float(low) - 0.75, -top), 2 * min(float(high) + 0.75, top)


def _cross(lf: LightField) -> Cross:
    """Return luma of the middle view (offset 0) and of up to two views on each side, along u and along v."""
    row, column = lf.grid[0] // 2, lf.grid[1] // 2

    def luma(v: int, u: int) -> Plane:
        view = lf.views[v, u]
        return view[..., 0] if lf.channels == 1 else (view[..., 0] + 2 * view[..., 1] + view[..., 2]) / 4

    middle = luma(row, column)

    def neighbours(count: int, at: int, view: Callable[[int], Plane]) -> dict[int, Plane]:
        near = {k: view(at + k) for k in (-2, -1, 1, 2) if 0 <= at + k < count}
        # exposures on a gantry differ, and outer views of a lenslet camera are darker: the same mean for all
        return {0: middle} | {k: p * ((middle.mean() + 1e-3) / (p.mean() + 1e-3)) for k, p in near.items()}

    cross = {
        "u": neighbours(lf.grid[1], column, lambda u: luma(row, u)),
        "v": neighbours(lf.grid[0], row, lambda v: luma(v, column)),
    }
    return {axis: planes for axis, planes in cross.items() if len(planes) > 1}


def _pyramid(cross: Cross, max_disparity: float) -> list[Cross]:
    """Return the views at full, half, quarter .. size, down to where `max_disparity` is two pixels."""
    levels = [cross]
    while max_disparity > 2 ** len(levels) and min(_size(levels[-1])) >= 4 * SMALLEST:
        levels.append(
            {axis: {k: _halved(p) for k, p in planes.items()} for axis, planes in levels[-1].items()}
        )
    return levels


def _halved(plane: Plane) -> Plane:
    height, width = (side // 2 * 2 for side in plane.shape)
    rows = plane[:height:2, :width] + plane[1:height:2, :width]
    return (rows[:, ::2] + rows[:, 1::2]) / 4


def _size(cross: Cross) -> tuple[int, int]:
    height, width = next(iter(cross.values()))[0].shape
    return height, width


def _match_level(
    cross: Cross, ranges: dict[Series, Range], workers: Workers
) -> tuple[dict[Series, Field], Votes]:
    """Match all series of views of one size; also vote on the direction in which views move along u and v."""
    size = _size(cross)
    farthest = max(max(-low, high) for low, high in ranges.values())
    # views two steps away are twice as exact, where they still overlap
    span = 2 if 2 * farthest <= min(size) / 6 else 1
    halo = math.ceil(span * farthest) + WINDOW + OUTLINE
    results = workers.map(lambda tile: _match_tile(cross, ranges, tile, span, halo), _tiles(size))
    fields = {series: Field.joined([fields[series] for fields, _ in results]) for series in ranges}
    return fields, sum((votes for _, votes in results), Votes())


def _tiles(size: tuple[int, int]) -> list[Tile]:
    """Return tiles that cover the views, or evenly spread ones where that is too much."""
    share = min(1.0, math.sqrt(PIXELS / (size[0] * size[1])))
    rows: list[slice] = []
    columns: list[slice] = []
    for side, parts in zip(size, (rows, columns), strict=True):
        length = math.ceil(side / math.ceil(side / TILE))
        count = max(1, math.floor(math.ceil(side / length) * share))
        starts = np.linspace(0, side - length, count)
        parts.extend(slice(int(start), int(start) + length) for start in starts)
    return [(y, x) for y in rows for x in columns]


def _match_tile(
    cross: Cross, ranges: dict[Series, Range], tile: Tile, span: int, halo: int
) -> tuple[dict[Series, Field], Votes]:
    window, inner = _with_halo(tile, halo, _size(cross))
    fields: dict[Series, Field] = {}
    costs: dict[Series, Plane] = {}
    for axis, planes in cross.items():
        details = {k: detail(plane[window]) for k, plane in planes.items() if abs(k) <= span}
        for motion in "xy":
            series = (axis, motion)
            if series not in ranges:
                continue
            # matching knows x only: y is searched in the views turned over their diagonal
            turned = {k: _turned(plane, motion) for k, plane in details.items()}
            part = inner if motion == "x" else (inner[1], inner[0])
            found = match(turned, ranges[series], len(cross))
            fields[series] = Field(
                disparity=_turned(found.disparity[part], motion).ravel(),
                sure=_turned(found.sure[part], motion).ravel(),
                precise=int(np.count_nonzero(found.precise[part])),
                textured=int(np.count_nonzero(found.textured[part])),
                nearness=nearness_votes(turned, found, part),
            )
            costs[series] = _turned(found.cost[part], motion)
    in_order = Votes()
    for axis, right, wrong in (("u", "x", "y"), ("v", "y", "x")):
        if (axis, right) in costs and (axis, wrong) in costs:
            in_order += direction_votes(costs[axis, right], costs[axis, wrong])
    return fields, in_order


def _with_halo(tile: Tile, halo: int, size: tuple[int, int]) -> tuple[Tile, Tile]:
    """Return the tile with its surroundings, as far as the views reach, and where in that the tile lies."""
    (top, left), (bottom, right) = (
        [max(part.start - halo, 0) for part in tile],
        [min(part.stop + halo, side) for part, side in zip(tile, size, strict=True)],
    )
    y, x = tile
    inner = slice(y.start - top, y.stop - top), slice(x.start - left, x.stop - left)
    return (slice(top, bottom), slice(left, right)), inner


def _turned(plane: Any, motion: str) -> Any:
    """Return the plane with the searched direction along its rows (and back)."""
    return plane if motion == "x" else np.ascontiguousarray(plane.T)
