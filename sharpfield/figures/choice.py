"""Which part of light fields side by side a figure shows, and that part of all of them, read and aligned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter

from sharpfield import color
from sharpfield.errors import InputError, OptionError
from sharpfield.lightfield import LightField
from sharpfield.metrics import psnr
from sharpfield.sidebyside import Subject, aligned
from sharpfield.sidebyside.subject import index_of

BORDER = 15  # pixels left out of the PSNR in labels, as in the paper
MOST_WINDOWS = 4

Window = tuple[slice, slice]  # rows and columns of pixels, at high resolution


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
    resample
        Show light fields of other sizes, too: resized.
    """

    view: tuple[int, int] | None = None
    windows: tuple[Window, ...] = ()
    row: int | None = None
    gain: float = 10.0
    resample: bool = False

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
    u = index_of(u, first.grid[1], "u")
    others = [shown for shown in (*subject.results[1:], subject.truth, subject.low) if shown is not None]
    rows = [
        _named(subject.results[0].label, first),
        *(_named(each.label, each.row(at)[0]) for each in others),
    ]
    for row in rows[1:]:
        if row.grid != first.grid:
            raise InputError(
                f"{row.name} has rows of {row.grid[1]} views, {rows[0].name} of {first.grid[1]}; show results of one "
                "light field, and the one that the methods were given"
            )
    rows = aligned(rows, resample=choice.resample)
    first = rows[0]
    low = rows.pop() if subject.low is not None else None
    for row in rows:
        if (row.size, row.channels) != (first.size, first.channels):
            raise InputError(
                f"{row.name} has views of {row.size[1]}x{row.size[0]} with {row.channels} channels, {first.name} of "
                f"{first.size[1]}x{first.size[0]} with {first.channels}; show results of one light field"
            )
    truth = rows.pop() if subject.truth is not None else None
    results = dict(zip([shown.label for shown in subject.results], rows, strict=True))
    for y, x in choice.windows:
        if y.stop > first.size[0] or x.stop > first.size[1]:
            raise OptionError(
                f"the detail {y.start}:{y.stop},{x.start}:{x.stop} is not inside views of "
                f"{first.size[0]} rows and {first.size[1]} columns"
            )
    return Loaded(at, u, results, truth, low)


def _named(label: str, lf: LightField) -> LightField:
    return lf.with_views(lf.views, name=label)


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
