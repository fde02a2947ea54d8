"""How long work tells how far it is: one event type, and a callable that takes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """One report: `stage` says in words what is being done, `fraction` in [0, 1] how much of the whole is done."""

    stage: str
    fraction: float

    def __str__(self) -> str:
        return f"{100 * self.fraction:5.1f} %  {self.stage}"


ProgressCallback = Callable[[Progress], None]


def silent(_: Progress) -> None:
    """Report to nobody: the default."""


def part(progress: ProgressCallback, start: float, end: float, prefix: str = "") -> ProgressCallback:
    """Report a part of a longer work: its 0..1 becomes start..end of the whole."""

    def report(event: Progress) -> None:
        fraction = start + (end - start) * min(max(event.fraction, 0.0), 1.0)
        progress(Progress(prefix + event.stage, min(fraction, end)))  # rounding must not lead past the end

    return report
