"""Which view is in which file, from the names alone.

The names say rows and columns (`view_02_03`, `02_03`, `2_3`, `name_02_03`), or a person says how they do
(`cam_{v}_{u}.png`). Numbers may begin anywhere; the smallest is the first row or column.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sharpfield.errors import InputError, OptionError

View = tuple[int, int]

_TWO_NUMBERS = re.compile(r"(?P<prefix>.*?)(?P<v>\d+)[_-](?P<u>\d+)", re.DOTALL)
_ONE_NUMBER = re.compile(r"(?P<prefix>.*?)(?P<i>\d+)", re.DOTALL)
_FIELD = re.compile(r"\{(?P<name>[^{}:]*)(?P<width>:[^{}]*)?\}|\*")

# a missing view or an odd file is named; more than these would not fit a line
_SHOWN = 3


@dataclass(frozen=True)
class Arrangement:
    """Which name holds the view (v, u), how large the grid is, and what was left aside."""

    names: Mapping[View, str]
    grid: tuple[int, int]
    notes: tuple[str, ...] = ()


def arrange(names: Iterable[str], place: str, *, pattern: str | None = None) -> Arrangement:
    """Find the grid in the names of pictures.

    Parameters
    ----------
    names
        File names, with their endings; of pictures only.
    place
        The folder or archive, for messages.
    pattern
        How the names say the view, `cam_{v}_{u}.png`; without it, the known namings.
    """
    candidates = sorted(names)
    if not candidates:
        raise InputError(
            f"{place}: no pictures (PNG, TIFF, JPEG, BMP) in it; a light field is a folder of its views"
        )
    places, ignored = (
        _by_pattern(candidates, place, pattern) if pattern else _by_known_names(candidates, place)
    )
    notes = (f"left aside: {shown(ignored)}",) if ignored else ()
    return _completed(places, place, notes)


def shown(items: Sequence[str]) -> str:
    """Name a few of many."""
    more = f" and {len(items) - _SHOWN} more" if len(items) > _SHOWN else ""
    return ", ".join(items[:_SHOWN]) + more


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Turn `cam_{v}_{u}.png` into an expression; {v} or {u} alone is a single column or row, * is anything."""
    expression, at, seen = "", 0, []
    for match in _FIELD.finditer(pattern):
        expression += re.escape(pattern[at : match.start()])
        at = match.end()
        if match.group() == "*":
            expression += ".*?"
            continue
        name = match["name"]
        if name not in ("v", "u") or name in seen:
            raise OptionError(
                f"pattern {pattern!r}: use {{v}} for the row and {{u}} for the column, each once"
            )
        seen.append(name)
        expression += rf"(?P<{name}>-?\d+)"
    if not seen:
        raise OptionError(
            f"pattern {pattern!r}: has no {{v}} (row) or {{u}} (column), as in 'cam_{{v}}_{{u}}.png'"
        )
    return re.compile(expression + re.escape(pattern[at:]), re.DOTALL)


def named(pattern: str, v: int, u: int) -> str:
    """Return the name that a pattern gives to the view (v, u); `{v:02}` pads with zeros."""
    compile_pattern(pattern)
    try:
        name = pattern.format(v=v, u=u)
    except (ValueError, IndexError, KeyError) as error:
        raise OptionError(
            f"pattern {pattern!r}: cannot be filled in ({error}); write {{v}} or {{v:02}}"
        ) from error
    if "/" in name or "\\" in name or "*" in name or name in ("", ".", ".."):
        raise OptionError(f"pattern {pattern!r}: gives {name!r}, which is no plain file name")
    return name


def _by_pattern(candidates: list[str], place: str, pattern: str) -> tuple[dict[str, View], list[str]]:
    expression = compile_pattern(pattern)
    places: dict[str, View] = {}
    for name in candidates:
        match = expression.fullmatch(name) or expression.fullmatch(_stem(name))
        if match:
            found = match.groupdict()
            places[name] = int(found.get("v", 0)), int(found.get("u", 0))
    if not places:
        raise InputError(f"{place}: no picture is named like {pattern!r}; there are {shown(candidates)}")
    return places, [name for name in candidates if name not in places]


def _by_known_names(candidates: list[str], place: str) -> tuple[dict[str, View], list[str]]:
    if len(candidates) == 1:
        raise InputError(_single(place, candidates[0]))
    groups: dict[str, dict[str, View]] = {}
    others: list[str] = []
    for name in candidates:
        match = _TWO_NUMBERS.fullmatch(_stem(name))
        if match:
            groups.setdefault(match["prefix"], {})[name] = int(match["v"]), int(match["u"])
        else:
            others.append(name)
    if not groups:
        raise InputError(
            f"{place}: the names do not say rows and columns ({shown(others)}); "
            "rename them view_00_00.png .. or say how they do: --pattern 'cam_{v}_{u}.png'"
        )
    if len(groups) > 1:
        first, second = (next(iter(group)) for group in list(groups.values())[:2])
        raise InputError(
            f"{place}: pictures of {len(groups)} namings ({first}, {second}); "
            f"keep one light field a folder or choose one: --pattern '{_suggested(first)}'"
        )
    return next(iter(groups.values())), others


def _completed(places: Mapping[str, View], place: str, notes: tuple[str, ...]) -> Arrangement:
    """Check that every view of the grid is there once, and count from zero."""
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
    grid = max(v for v, _ in names) - first_v + 1, max(u for _, u in names) - first_u + 1
    missing = grid[0] * grid[1] - len(names)
    if missing:
        raise InputError(_missing(names, place, (first_v, first_u), grid, missing))
    return Arrangement({(v - first_v, u - first_u): name for (v, u), name in names.items()}, grid, notes)


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
        f"{place}: missing view{'s' if missing > 1 else ''} {', '.join(some)}{more} "
        f"of the {grid[0]}x{grid[1]} grid that the names span ({example} ..); add them or remove the rest of their row"
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
