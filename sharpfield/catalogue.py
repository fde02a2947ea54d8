"""Every method by name, in the order in which tables show them; nothing is loaded before it is run.

A method is in one line of `_METHODS`. Importing this file loads neither NumPy nor the compiler, so the command line
can list the methods and their options at once.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from sharpfield.contract import Method, Need, Plan, Run
from sharpfield.errors import OptionError

DEFAULT_METHOD = "sharp"
PAPER_METHOD = "gb-sq"  # where the paper's schedule or an option of the paper's method is asked for
DEFAULT_PRESET = "fast"

Presets = Mapping[str, Mapping[str, Any]]

# a method without a schedule of its own does the same in every preset
_PLAIN_PRESETS: Presets = {"fast": {}, "paper": {}}


def _gb_options() -> type[Any]:
    from sharpfield.gb.params import GBParams

    return GBParams


def _gb_plan(direct: bool) -> Plan:
    def plan(options: Any, grid: tuple[int, int], size_hr: tuple[int, int]) -> Need:
        from sharpfield.gb.params import plan

        return plan(options, grid, size_hr, direct=direct)

    return plan


def _gb_run(name: str) -> Run:
    run: Run = getattr(importlib.import_module("sharpfield.gb.method"), name)
    return run


_GB_DIRECT = Method(
    name="gb-dr",
    title="graph-based, every pixel warped directly along the graph",
    reference="Rossi & Frossard, the paper's GB-DR (sections IV and V)",
    options=_gb_options,
    load=lambda: _gb_run("run_direct"),
    plan=_gb_plan(direct=True),
)

_GB_SQUARE = Method(
    name="gb-sq",
    title="graph-based, one disparity in four directions at every pixel",
    reference="Rossi & Frossard, the paper's GB-SQ (sections IV and V)",
    options=_gb_options,
    load=lambda: _gb_run("run_square"),
    plan=_gb_plan(direct=False),
)


def _sharp_options() -> type[Any]:
    from sharpfield.sharp.params import SharpParams

    return SharpParams


def _sharp_plan(options: Any, grid: tuple[int, int], size_hr: tuple[int, int]) -> Need:
    from sharpfield.sharp.params import plan

    return plan(options, grid, size_hr)


def _sharp_run() -> Run:
    from sharpfield.sharp.method import run

    return run


_SHARP = Method(
    name="sharp",
    title="every view from the samples of all views, at sub-pixel disparities",
    reference="this project's own, past the paper (docs/beyond.md)",
    options=_sharp_options,
    load=_sharp_run,
    plan=_sharp_plan,
)

# name -> the Method itself, or the module and the name in it where it is kept
_METHODS: dict[str, Method | tuple[str, str]] = {
    "bilinear": ("sharpfield.methods.interpolation", "bilinear"),
    "bicubic": ("sharpfield.methods.interpolation", "bicubic"),
    "wanner": ("sharpfield.methods.wanner.params", "wanner"),
    "mitra": ("sharpfield.methods.mitra.params", "mitra"),
    "srcnn": ("sharpfield.methods.srcnn", "srcnn"),
    "heber": ("sharpfield.methods.heber.params", "heber"),
    "yoon": ("sharpfield.methods.yoon", "yoon"),
    "gb-dr": _GB_DIRECT,
    "gb-sq": _GB_SQUARE,
    "sharp": _SHARP,
}

# module that holds the presets of a method's options
_PRESETS: dict[str, str] = {"gb-dr": "sharpfield.gb.params", "gb-sq": "sharpfield.gb.params"}


def names() -> tuple[str, ...]:
    """Return the names of all methods."""
    return tuple(_METHODS)


def find(name: str, factor: int | None = None) -> Method:
    """Return the method of that name, or say which there are; with a factor, one that can raise by it."""
    method = _find(name)
    if factor is not None and method.factors is not None and factor not in method.factors:
        known = ", ".join(map(str, method.factors))
        raise OptionError(
            f"{name} knows the factors {known}, not {factor}; take one of them, or another method"
        )
    return method


def _find(name: str) -> Method:
    entry = _METHODS.get(name)
    if entry is None:
        raise OptionError(f"no method is called {name!r}{_meant(name, names())}; there are {_list(names())}")
    if isinstance(entry, Method):
        return entry
    method: Method = getattr(importlib.import_module(entry[0]), entry[1])
    return method


def methods() -> tuple[Method, ...]:
    """Return all methods."""
    return tuple(find(name) for name in names())


def default_method(preset: str = DEFAULT_PRESET, given: Iterable[str] = ()) -> str:
    """Return the method to take when none is named: ours, or the paper's where something of the paper is asked for.

    Parameters
    ----------
    preset
        `paper` asks for the paper's method.
    given
        Names of options: one that only the paper's method has asks for it.
    """
    ours, papers = (
        {each.name for each in fields(find(name).options())} for name in (DEFAULT_METHOD, PAPER_METHOD)
    )
    # a name that is close to one of the paper's options was meant as that, and will be told so
    meant = [option for option in given if option not in ours]
    asked = preset == "paper" or any(difflib.get_close_matches(option, papers - ours, 1) for option in meant)
    return PAPER_METHOD if asked else DEFAULT_METHOD


def presets(name: str) -> Presets:
    """Return the presets of a method: name of the preset to the option values that differ from the defaults."""
    find(name)
    if name not in _PRESETS:
        return _PLAIN_PRESETS
    found: Presets = importlib.import_module(_PRESETS[name]).PRESETS
    return found


def make_options(name: str, preset: str = DEFAULT_PRESET, given: Mapping[str, Any] | None = None) -> Any:
    """Return a method's options: its defaults, changed by the preset, changed by what was given.

    Parameters
    ----------
    name
        The method.
    preset
        `fast`, or `paper` for the schedule of the paper.
    given
        Values by the name of the option.

    Raises
    ------
    OptionError
        No such method, preset or option, or a value without meaning.
    """
    kind, known, given = find(name).options(), presets(name), dict(given or {})
    if preset not in known:
        raise OptionError(f"no preset is called {preset!r}{_meant(preset, known)}; there are {_list(known)}")
    own = [each.name for each in fields(kind)]
    if "disparity" not in own:
        given.pop("disparity", None)  # asked of every method; one that searches nothing has no use for it
    for option in given:
        if option not in own:
            allowed = f"its options are {_list(own)}" if own else "it has none"
            raise OptionError(f"{name} has no option {option!r}{_meant(option, own)}; {allowed}")
    return kind(**{**known[preset], **given})


def even_options(name: str, preset: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the options with which a method does all blocks of a light field alike, where it has such.

    Those of the preset `paper`, and a stop that was asked for, are left as they are.
    """
    if name not in _PRESETS or preset != DEFAULT_PRESET:
        return {}
    found: Mapping[str, Any] = importlib.import_module(_PRESETS[name]).EVEN
    return {} if found.keys() & given.keys() else found


def _meant(word: str, known: Any) -> str:
    close = difflib.get_close_matches(word, list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def _list(known: Any) -> str:
    return ", ".join(known)
