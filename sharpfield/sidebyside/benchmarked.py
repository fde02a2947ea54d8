"""What a benchmark kept of one light field, as figures and pages show it."""

from __future__ import annotations

from sharpfield.benchmark.kept import Kept
from sharpfield.sidebyside.subject import Shown, Subject


def subject_of(kept: Kept) -> Subject:
    """Return the results of all methods, the truth and the low resolution; they are read when they are shown."""
    return Subject(
        kept.name,
        [Shown(label, place) for label, place in kept.results.items()],
        Shown("original", kept.truth),
        Shown("low resolution", kept.low),
    )
