"""What figures are of: the results of several methods beside the truth, and which part of them is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter

from sharpfield import color
from sharpfield.errors import InputError, OptionError
from sharpfield.io import ReadOptions, open_views
from sharpfield.io.source import assemble
from sharpfield.lightfield import LightField
from sharpfield.metrics import psnr

BORDER = 15  # pixels left out of the PSNR in labels, as in the paper
MOST_WINDOWS = 4

Window = tuple[slice, slice]  # rows and columns of pixels, at high resolution


@dataclass(frozen=True, eq=False)
class Shown:
    """A light field with its label: given, or a path of which only the views that are shown are read.

    Parameters
    ----------
    label
        What stands under it.
    source
        The light field, or where it is.
    reading
        How to read it: arguments of `sharpfield.read`.
    """

    label: str
    source: LightField | Path
    reading: Mapping[str, Any] = field(default_factory=dict)

    def row(self, v: int | None) -> tuple[LightField, int]:
        """Return one row of views, the last when None, and which it is."""
        if isinstance(self.source, LightField):
            at = _index(v, self.source.grid[0], "v")
            return self.source.select(slice(at, at + 1), slice(None)), at
        given = dict(self.reading)
        form = given.pop("format", None)
        options = ReadOptions(**given)
        with open_views(self.source, options, format=form) as source:
            if options.views is not None:
                whole = assemble(source, options)
                return replace(self, source=whole).row(v)
            rows, columns = source.grid[::-1] if options.transpose else source.grid
            at = _index(v, rows, "v")
            return assemble(source, replace(options, views=f"{at}:{at + 1},0:{columns}")), at

    def all(self) -> LightField:
        """Return all views."""
        if isinstance(self.source, LightField):
            return self.source
        given = dict(self.reading)
        form = given.pop("format", None)
        with open_views(self.source, ReadOptions(**given), format=form) as source:
            return assemble(source, ReadOptions(**given))


@dataclass(frozen=True, eq=False)
class Subject:
    """What figures are of: the results of several methods, and the truth and the low resolution where they are there.

    Parameters
    ----------
    name
        What the files are called.
    results
        The methods' results, in the order in which they are shown.
    truth, low
        The original and what the methods were given.
    """

    name: str
    results: Sequence[Shown]
    truth: Shown | None = None
    low: Shown | None = None


@dataclass(frozen=True)
class Choice:
    """What of a subject is shown.

    Parameters
    ----------
    view
        Row and column (v, u) of the view; the bottom right-most when None, as in the paper.
    windows
        Details to show; where the methods differ most when empty.
    row
        The line of pixels of the epipolar images; through the middle of the first detail when None.
    gain
        Error maps end at 1 / gain.
    """

    view: tuple[int, int] | None = None
    windows: tuple[Window, ...] = ()
    row: int | None = None
    gain: float = 10.0

    def __post_init__(self) -> None:
        if not self.gain > 0:
            raise OptionError(f"gain must be above 0, not {self.gain!r}")
        if len(self.windows) > MOST_WINDOWS:
            raise OptionError(f"a figure shows at most {MOST_WINDOWS} details, not {len(self.windows)}")


@dataclass(frozen=True, eq=False)
class Loaded:
    """The row of views that a figure needs, of everything that is shown; the view (v, u) is in it."""

    v: int
    u: int
    results: dict[str, LightField]
    truth: LightField | None
    low: LightField | None

    def view(self, lf: LightField) -> NDArray[np.float32]:
        """Return the view that is shown."""
        return lf.views[0, self.u]

    @property
    def size(self) -> tuple[int, int]:
        """Height and width of a high-resolution view."""
        return next(iter(self.results.values())).size

    @property
    def place(self) -> str:
        """Which view is shown, in words."""
        return f"view ({self.v}, {self.u})"

    def label(self, name: str, lf: LightField) -> str:
        """Return the label of a result, with the PSNR of the view where the truth is known."""
        if self.truth is None or min(self.size) <= 2 * BORDER:
            return name
        score = psnr(
            lf.views[:, self.u : self.u + 1], self.truth.views[:, self.u : self.u + 1], border=BORDER
        )
        return f"{name}  {score[0, 0]:.2f} dB"


def load(subject: Subject, choice: Choice) -> Loaded:
    """Read the row of views that the figures show, and check that all light fields show the same."""
    if not subject.results:
        raise InputError(f"{subject.name}: there is no result to show")
    v, u = choice.view or (None, None)
    first, at = subject.results[0].row(v)
    u = _index(u, first.grid[1], "u")
    results = {subject.results[0].label: first}
    for shown in subject.results[1:]:
        results[shown.label] = shown.row(at)[0]
    truth = None if subject.truth is None else subject.truth.row(at)[0]
    low = None if subject.low is None else subject.low.row(at)[0]
    for label, lf in {**results, **({} if truth is None else {"the truth": truth})}.items():
        if (lf.grid, lf.size, lf.channels) != (first.grid, first.size, first.channels):
            raise InputError(
                f"{label} has rows of {lf.grid[1]} views of {lf.size[1]}x{lf.size[0]} with {lf.channels} channels, "
                f"{subject.results[0].label} of {first.grid[1]} views of {first.size[1]}x{first.size[0]} with "
                f"{first.channels}; show results of one light field"
            )
    if low is not None and low.grid != first.grid:
        raise InputError(
            f"the low resolution has rows of {low.grid[1]} views, the results of {first.grid[1]}; "
            "give the light field that the methods were given"
        )
    for y, x in choice.windows:
        if y.stop > first.size[0] or x.stop > first.size[1]:
            raise OptionError(
                f"the detail {y.start}:{y.stop},{x.start}:{x.stop} is not inside views of "
                f"{first.size[0]} rows and {first.size[1]} columns"
            )
    return Loaded(at, u, results, truth, low)


def best_windows(loaded: Loaded, count: int = 2) -> tuple[Window, ...]:
    """Return windows worth a look: where the first result is farthest from the truth, or from the last result."""
    height, width = loaded.size
    side = max(min(height, width) // 7, min(height, width, 24))
    lumas = [color.luma(loaded.view(lf)) for lf in loaded.results.values()]
    other = lumas[-1] if loaded.truth is None else color.luma(loaded.view(loaded.truth))
    if len(lumas) == 1 and loaded.truth is None:  # nothing to differ from: where there is most detail
        other = uniform_filter(lumas[0], 5)
    score = uniform_filter(np.abs(lumas[0] - other), side, mode="constant")
    half, found = side // 2, []
    inside = np.full(score.shape, -1.0, np.float32)
    reach = slice(half, height - (side - half) + 1), slice(half, width - (side - half) + 1)
    inside[reach] = score[reach]
    for _ in range(count):
        y, x = np.unravel_index(int(inside.argmax()), inside.shape)
        if inside[y, x] < 0:
            break
        found.append((slice(int(y) - half, int(y) - half + side), slice(int(x) - half, int(x) - half + side)))
        inside[max(y - side, 0) : y + side, max(x - side, 0) : x + side] = -1
    return tuple(found)


def _index(value: int | None, count: int, name: str) -> int:
    """Return which of the rows or columns of views is meant, the last when None."""
    if value is None:
        return count - 1
    if not 0 <= value < count:
        raise OptionError(f"{name} must be from 0 to {count - 1}, not {value}")
    return value
