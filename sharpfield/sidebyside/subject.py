"""Which light fields are shown together, and how they are read: views of memory or of the disk, as few as are shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sharpfield.errors import OptionError
from sharpfield.io import ReadOptions, open_views
from sharpfield.io.source import Picture, ViewSource, assemble, selected
from sharpfield.lightfield import LightField


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

    @property
    def options(self) -> ReadOptions:
        """How to read it, as `assemble` takes it."""
        return ReadOptions(**{name: value for name, value in self.reading.items() if name != "format"})

    @contextmanager
    def opened(self) -> Iterator[ViewSource]:
        """Open it, with the views and the window that were asked for; nothing is read yet."""
        if isinstance(self.source, LightField):
            yield selected(_in_memory(self.source), self.options)
            return
        with open_views(self.source, self.options, format=self.reading.get("format")) as source:
            yield selected(source, self.options)

    def row(self, v: int | None) -> tuple[LightField, int]:
        """Return one row of views, the last when None, and which it is."""
        with self.opened() as source:
            rows, columns = source.grid
            at = index_of(v, rows, "v")
            return assemble(source, ReadOptions(views=f"{at}:{at + 1},0:{columns}")), at

    def all(self) -> LightField:
        """Return all views."""
        with self.opened() as source:
            return assemble(source)


@dataclass(frozen=True, eq=False)
class Subject:
    """What figures and pages are of: results, and the truth and the low resolution where they are there.

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


def index_of(value: int | None, count: int, name: str) -> int:
    """Return which of the rows or columns of views is meant, the last when None."""
    if value is None:
        return count - 1
    if not 0 <= value < count:
        raise OptionError(f"{name} must be from 0 to {count - 1}, not {value}")
    return value


def _in_memory(lf: LightField) -> ViewSource:
    return ViewSource(
        name=lf.name,
        source=lf.source or lf.name,
        grid=lf.grid,
        size=lf.size,
        channels=lf.channels,
        load=lambda v, u: Picture(lf.views[v, u], lf.bits),
        notes=lf.notes,
        metadata=lf.metadata,
    )
