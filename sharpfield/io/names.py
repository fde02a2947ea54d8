"""Which view is in which file, from the names alone.

The names say rows and columns (`view_02_03`, `02_03`, `2_3`, `name_02_03`), number the views row by row
(`input_Cam000`), give positions (`out_RR_CC_V_U`), or a person says how they do (`cam_{v}_{u}.png`). Numbers may
begin anywhere; the smallest is the first row or column.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sharpfield.errors import InputError, OptionError
from sharpfield.io import hci2016
from sharpfield.io.stanford import gantry_names

View = tuple[int, int]

_TWO_NUMBERS = re.compile(r"(?P<prefix>.*?)(?P<v>\d+)[_-](?P<u>\d+)", re.DOTALL)
_ONE_NUMBER = re.compile(r"(?P<prefix>.*?)(?P<i>\d+)", re.DOTALL)
_FIELD = re.compile(r"\{(?P<name>[^{}:]*)(?P<width>:[^{}]*)?\}|\*")

# a missing view or an odd file is named; more than these would not fit a line
_SHOWN = 3


@dataclass(frozen=True)
class Arrangement:
    """Which name holds the view (v, u), how large the grid is, and what was left aside or turned."""

    names: Mapping[View, str]
    grid: tuple[int, int]
    notes: tuple[str, ...] = ()


def arrange(
    names: Iterable[str],
    place: str,
    *,
    pattern: str | None = None,
    grid: tuple[int, int] | None = None,
    config: Mapping[str, str] | None = None,
) -> Arrangement:
    """Find the grid in the names of pictures.

    Parameters
    ----------
    names
        File names, with their endings; of pictures only.
    place
        The folder or archive, for messages.
    pattern
        How the names say the view, `cam_{v}_{u}.png` or `frame_{i}.png`; without it, the known namings.
    grid
        Rows and columns, for views that are numbered one after another.
    config
        What an HCI `parameters.cfg` beside the views says.
    """
    candidates = sorted(names)
    if not candidates:
        raise InputError(
            f"{place}: no pictures (PNG, TIFF, JPEG, BMP) in it; a light field is a folder of its views"
        )
    notes: tuple[str, ...] = ()
    flips = False, False
    if pattern is not None:
        places = _by_pattern(candidates, place, pattern, grid)
    elif len(candidates) == 1:
        raise InputError(_single(place, candidates[0]))
    elif gantry := gantry_names([(name, _stem(name)) for name in candidates]):
        places, flips, notes = gantry.places, (gantry.flip_v, gantry.flip_u), gantry.notes
    else:
        places = _by_two_numbers(candidates, place) or _by_one_number(candidates, place, grid, config or {})
    ignored = [name for name in candidates if name not in places]
    if ignored:
        notes = (*notes, f"left aside: {shown(ignored)}")
    found = _completed(places, place, flips, notes)
    if grid is not None and grid != found.grid:
        raise InputError(
            f"{place}: the names span a grid of {found.grid[0]}x{found.grid[1]} views, "
            f"not the {grid[0]}x{grid[1]} asked for; leave out --grid"
        )
    return found


def shown(items: Sequence[str]) -> str:
    """Name a few of many."""
    more = f" and {len(items) - _SHOWN} more" if len(items) > _SHOWN else ""
    return ", ".join(items[:_SHOWN]) + more


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Turn `cam_{v}_{u}.png` into an expression; {v} or {u} alone is one column or row, * is anything."""
    expression, at, seen = "", 0, set[str]()
    for match in _FIELD.finditer(pattern):
        expression += re.escape(pattern[at : match.start()])
        at = match.end()
        if match.group() == "*":
            expression += ".*?"
            continue
        name = match["name"]
        if name not in ("v", "u", "i") or name in seen:
            raise OptionError(
                f"pattern {pattern!r}: use {{v}} for the row and {{u}} for the column, each once, "
                "or {i} for views numbered row by row"
            )
        seen.add(name)
        expression += rf"(?P<{name}>-?\d+)"
    if not seen or (len(seen) > 1 and "i" in seen):
        raise OptionError(
            f"pattern {pattern!r}: says no row {{v}} or column {{u}} as 'cam_{{v}}_{{u}}.png' does, or {{i}} alone"
        )
    return re.compile(expression + re.escape(pattern[at:]), re.DOTALL)


def named(pattern: str, v: int, u: int, i: int = 0) -> str:
    """Return the name that a pattern gives to the view (v, u), the i-th row by row; `{v:02}` pads with zeros."""
    compile_pattern(pattern)
    try:
        name = pattern.format(v=v, u=u, i=i)
    except (ValueError, IndexError, KeyError) as error:
        raise OptionError(
            f"pattern {pattern!r}: cannot be filled in ({error}); write {{v}} or {{v:02}}"
        ) from error
    if "/" in name or "\\" in name or "*" in name or name in ("", ".", ".."):
        raise OptionError(f"pattern {pattern!r}: gives {name!r}, which is no plain file name")
    return name


def _by_pattern(
    candidates: list[str], place: str, pattern: str, grid: tuple[int, int] | None
) -> dict[str, View]:
    expression = compile_pattern(pattern)
    found = {
        name: match.groupdict()
        for name in candidates
        if (match := expression.fullmatch(name) or expression.fullmatch(_stem(name)))
    }
    if not found:
        raise InputError(f"{place}: no picture is named like {pattern!r}; there are {shown(candidates)}")
    if "i" in next(iter(found.values())):
        return _row_by_row({name: int(fields["i"]) for name, fields in found.items()}, place, grid)
    return {name: (int(fields.get("v", 0)), int(fields.get("u", 0))) for name, fields in found.items()}


def _by_two_numbers(candidates: list[str], place: str) -> dict[str, View]:
    groups: dict[str, dict[str, View]] = {}
    for name in candidates:
        match = _TWO_NUMBERS.fullmatch(_stem(name))
        if match:
            groups.setdefault(match["prefix"], {})[name] = int(match["v"]), int(match["u"])
    if len(groups) > 1:
        first, second = (next(iter(group)) for group in list(groups.values())[:2])
        raise InputError(
            f"{place}: pictures of {len(groups)} namings ({first}, {second}); "
            f"keep one light field a folder or choose one: --pattern '{_suggested(first)}'"
        )
    return next(iter(groups.values()), {})


def _by_one_number(
    candidates: list[str], place: str, grid: tuple[int, int] | None, config: Mapping[str, str]
) -> dict[str, View]:
    """Place views numbered one after another: the HCI benchmark's, whose grid is known, or anyone's with a grid."""
    groups: dict[str, dict[str, int]] = {}
    for name in candidates:
        match = _ONE_NUMBER.fullmatch(_stem(name))
        if match:
            groups.setdefault(match["prefix"], {})[name] = int(match["i"])
    benchmark = [prefix for prefix in groups if prefix.lower().endswith("cam")]
    if len(benchmark) == 1 and grid is None:
        group = groups[benchmark[0]]
        if len(group) > 1:
            return _row_by_row(group, place, hci2016.grid_of(len(group), dict(config), place))
    if len(groups) == 1 and grid is not None:
        return _row_by_row(next(iter(groups.values())), place, grid)
    raise InputError(
        f"{place}: the names do not say rows and columns ({shown(candidates)}); rename them view_00_00.png .. "
        "or say how they do: --pattern 'cam_{v}_{u}.png' (numbered row by row: --grid 9x9)"
    )


def _row_by_row(numbers: Mapping[str, int], place: str, grid: tuple[int, int] | None) -> dict[str, View]:
    """Place views that are numbered along the rows of a grid, from any first number."""
    if grid is None:
        raise InputError(
            f"{place}: {len(numbers)} views numbered one after another; say --grid ROWSxCOLUMNS such as 9x9"
        )
    first = min(numbers.values())
    if len(numbers) != grid[0] * grid[1] or max(numbers.values()) - first >= grid[0] * grid[1]:
        present = set(numbers.values())
        gaps = [str(i) for i in range(first, first + min(grid[0] * grid[1], 100_000)) if i not in present]
        missing = f"; number {shown(gaps)} is missing" if gaps else ""
        raise InputError(
            f"{place}: {len(numbers)} numbered views are no grid of {grid[0]}x{grid[1]} ({grid[0] * grid[1]})"
            f"{missing}; add the missing ones or say another --grid"
        )
    return {name: divmod(number - first, grid[1]) for name, number in numbers.items()}


def _completed(
    places: Mapping[str, View], place: str, flips: tuple[bool, bool], notes: tuple[str, ...]
) -> Arrangement:
    """Check that every view of the grid is there once, count from zero, and turn the axes that run backward."""
    names: dict[View, str] = {}
    for name, view in places.items():
        if view in names:
            raise InputError(
                f"{place}: {names[view]} and {name} claim the same view (row {view[0]}, column {view[1]}); "
                "remove one or choose: --pattern"
            )
        names[view] = name
    if len(names) == 1:
        raise InputError(_single(place, next(iter(names.values()))))
    first_v, first_u = min(v for v, _ in names), min(u for _, u in names)
    last_v, last_u = max(v for v, _ in names), max(u for _, u in names)
    grid = last_v - first_v + 1, last_u - first_u + 1
    missing = grid[0] * grid[1] - len(names)
    if missing:
        raise InputError(_missing(names, place, (first_v, first_u), grid, missing))
    turned = {
        (last_v - v if flips[0] else v - first_v, last_u - u if flips[1] else u - first_u): name
        for (v, u), name in names.items()
    }
    return Arrangement(turned, grid, notes)


def _missing(names: Mapping[View, str], place: str, first: View, grid: View, missing: int) -> str:
    def absent() -> Iterator[View]:
        for v in range(first[0], first[0] + grid[0]):
            for u in range(first[1], first[1] + grid[1]):
                if (v, u) not in names:
                    yield v, u

    example = names.get(first) or next(iter(names.values()))
    some = [f"(row {v}, column {u})" for (v, u), _ in zip(absent(), range(_SHOWN), strict=False)]
    more = f" and {missing - len(some)} more" if missing > len(some) else ""
    return (
        f"{place}: missing view{'s' if missing > 1 else ''} {', '.join(some)}{more} of the {grid[0]}x{grid[1]} grid "
        f"that the names span ({example} ..); add them or remove the rest of their row"
    )


def _single(place: str, name: str) -> str:
    return (
        f"{place}: no light field: it holds a single view ({name}); use a single-image upscaler, "
        "or add the other views of the scene"
    )


def _suggested(name: str) -> str:
    """Return the pattern of a name with two numbers."""
    match = _TWO_NUMBERS.fullmatch(_stem(name))
    if match is None:
        return "cam_{v}_{u}.png"
    stem = _stem(name)
    return (
        stem[: match.start("v")] + "{v}" + stem[match.end("v") : match.start("u")] + "{u}" + name[len(stem) :]
    )


def _stem(name: str) -> str:
    return name.rpartition(".")[0] or name
