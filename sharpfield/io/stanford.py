"""Names of the Stanford gantry's views: `out_RR_CC_V_U.png`, row, column, and the position of the camera.

The positions decide, not the order in which rows and columns are numbered:

- U grows to the right in every light field of the archive; columns are numbered in either direction.
- V grows downward where the name ends with an underscore (`.._V_U_.png`: truck, chess, ..), upward where it does
  not (knights, tarot, beans); in both the rows are numbered from the bottom. Where V says nothing that can be
  relied on, rows are therefore taken bottom-up.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

View = tuple[int, int]

_NAME = re.compile(
    r"(?P<prefix>.*?)(?P<row>\d+)_(?P<column>\d+)_(?P<v>-?\d+\.\d+)_(?P<u>-?\d+\.\d+)(?P<tail>_?)", re.DOTALL
)
# four whole numbers are positions only in names that begin as the archive's do; elsewhere they may be dates
_WHOLE = re.compile(
    r"(?P<prefix>out_)(?P<row>\d+)_(?P<column>\d+)_(?P<v>-?\d+(\.\d+)?)_(?P<u>-?\d+(\.\d+)?)(?P<tail>_?)"
)


@dataclass(frozen=True)
class GantryNames:
    """The numbers in the names, and which of the two axes runs against sharpfield's order."""

    places: dict[str, View]
    flip_v: bool
    flip_u: bool

    @property
    def notes(self) -> tuple[str, ...]:
        """Say what was turned."""
        turned = ("rows are numbered bottom-up: turned",) if self.flip_v else ()
        return (*turned, *(("columns are numbered right to left: turned",) if self.flip_u else ()))


def gantry_names(stems: Sequence[tuple[str, str]]) -> GantryNames | None:
    """Read names (name, the same without ending) as the gantry's, or return None where fewer than two are."""
    matches = {
        name: match for name, stem in stems if (match := _NAME.fullmatch(stem) or _WHOLE.fullmatch(stem))
    }
    if len(matches) < 2:
        return None
    places = {name: (int(match["row"]), int(match["column"])) for name, match in matches.items()}
    downward = _grows((place[0], float(matches[name]["v"])) for name, place in places.items())
    rightward = _grows((place[1], float(matches[name]["u"])) for name, place in places.items())
    many_rows = len({row for row, _ in places.values()}) > 1
    v_is_down = all(match["tail"] for match in matches.values())
    return GantryNames(
        places,
        flip_v=many_rows and not (v_is_down and downward),
        flip_u=not rightward,
    )


def _grows(pairs: Iterable[tuple[int, float]]) -> bool:
    """Whether the mean position of a row (column) grows with its number; it jitters from view to view."""
    positions: dict[int, list[float]] = defaultdict(list)
    for number, position in pairs:
        positions[number].append(position)
    return fmean(positions[max(positions)]) >= fmean(positions[min(positions)])
