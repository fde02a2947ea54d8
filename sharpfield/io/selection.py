"""Which views and which window of them: `--views 5x5`, `--views 2:7,2:7`, `--crop 100:300,50:250`.

Parsed against the grid and the size that are there, so that a range outside is refused and never shrinks silently.
"""

from __future__ import annotations

import re

from sharpfield.errors import OptionError
from sharpfield.lightfield import LightField

Ranges = tuple[slice, slice]

_CENTRAL = re.compile(r"\s*(\d+)\s*[xX×]\s*(\d+)\s*")  # people copy the multiplication sign, too
_RANGE = re.compile(r"\s*(\d*)\s*:\s*(\d*)\s*(?::\s*(\d*)\s*)?")


def parse_grid(text: str) -> tuple[int, int]:
    """Parse `9x9` into rows and columns of views."""
    match = _CENTRAL.fullmatch(text)
    if match is None or 0 in (int(match[1]), int(match[2])):
        raise OptionError(f"grid is ROWSxCOLUMNS such as 9x9, not {text!r}")
    return int(match[1]), int(match[2])


def parse_views(text: str, grid: tuple[int, int]) -> Ranges:
    """Parse `5x5` (the central views) or `2:7,2:7` (rows, columns; a step as in `0:9:2,0:9:2`).

    Parameters
    ----------
    text
        What a person wrote.
    grid
        Rows and columns of views that there are.
    """
    central = _CENTRAL.fullmatch(text)
    if central is None:
        return _ranges(text, grid, "views", "rows", "columns", steps=True)
    wanted = int(central[1]), int(central[2])
    if 0 in wanted or wanted[0] > grid[0] or wanted[1] > grid[1]:
        raise OptionError(f"views {text!r}: the grid has {grid[0]}x{grid[1]} views; ask for 1x1 to that many")
    first = [(have - want) // 2 for have, want in zip(grid, wanted, strict=True)]
    return slice(first[0], first[0] + wanted[0]), slice(first[1], first[1] + wanted[1])


def parse_crop(text: str, size: tuple[int, int]) -> Ranges:
    """Parse `y:y+h,x:x+w`, rows and columns of pixels (`100:300,50:250`; `:200,:` for the left out)."""
    return _ranges(text, size, "crop", "y", "x", steps=False)


def select(lf: LightField, *, views: str | None = None, crop: str | None = None) -> LightField:
    """Return the views and the window of them that a person asked for."""
    if views is not None:
        lf = lf.select(*parse_views(views, lf.grid))
    if crop is not None:
        lf = lf.crop(*parse_crop(crop, lf.size))
    return lf


def _ranges(text: str, limits: tuple[int, int], what: str, first: str, second: str, *, steps: bool) -> Ranges:
    example = "5x5 or 2:7,2:7" if steps else "100:300,50:250"
    parts = [_RANGE.fullmatch(part) for part in text.split(",")]
    if len(parts) != 2:
        raise OptionError(f"{what} is {first},{second} such as {example}, not {text!r}")
    found: list[slice] = []
    for part, limit, axis in zip(parts, limits, (first, second), strict=True):
        if part is None or (part[3] is not None and not steps):
            raise OptionError(f"{what} is {first},{second} such as {example}, not {text!r}")
        start, stop, step = int(part[1] or 0), int(part[2] or limit), int(part[3] or 1)
        if start >= stop or stop > limit or step < 1:
            raise OptionError(
                f"{what} {text!r}: {axis} {start}:{stop} is not a part of 0:{limit} (start < stop <= {limit})"
            )
        found.append(slice(start, stop) if step == 1 else slice(start, stop, step))
    return found[0], found[1]
