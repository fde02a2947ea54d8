"""Light fields into one HTML file that needs nothing else: no server, no network, no other file.

They are aligned, measured, thinned and compressed, in this order; what a person should know of that is in the notes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpfield.errors import InputError, OptionError
from sharpfield.io.atomic import check_free, replacing
from sharpfield.io.pictures import quantize
from sharpfield.lightfield import LightField
from sharpfield.parallel import Workers
from sharpfield.pictures import heat
from sharpfield.progress import Progress, ProgressCallback, part, silent
from sharpfield.sidebyside import aligned, windowed
from sharpfield.viewer.document import Pictures, render
from sharpfield.viewer.encode import AUTO, MIME, Quality, Sheaf, check_quality, choose_quality, encode_all
from sharpfield.viewer.measure import (
    LARGEST_ERROR,
    Focus,
    Scored,
    error_codes,
    facts,
    focus_range,
    measured_how,
    psnr_of_views,
    seconds_taken,
)
from sharpfield.viewer.thin import plan_thinning, thinned
from sharpfield.viewer.viewpoint import OUTSIDE

MOST_BYTES = 12_000_000

_HEAT_STEPS = 9
_ERRORS_FALL = 1.6


@dataclass(frozen=True)
class PageOptions:
    """How a page is made.

    Parameters
    ----------
    title
        What stands on top; the first light field's name when None.
    quality
        Of the pictures: 1 to 100, `lossless`, or `auto`, the best that keeps the page under `most_bytes`.
    most_bytes
        What `auto` aims at.
    disparity
        Range of the focus in pixels of the largest views between adjacent ones; measured when None.
    resample
        Compare light fields of other grids and sizes too: central views, resized.
    window
        Show this part of every view only, `"100:300,50:250"`, y and x in pixels of the largest views.
    opens
        Numbers of the light fields that the page opens with, left and right; the truth is the last. When None, the
        second (or the truth) and the first.
    """

    title: str | None = None
    quality: Quality = AUTO
    most_bytes: float = MOST_BYTES
    disparity: tuple[float, float] | None = None
    resample: bool = False
    window: str | None = None
    opens: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        check_quality(self.quality)
        if not self.most_bytes > 0:
            raise OptionError(f"the size of a page is above 0 bytes, not {self.most_bytes!r}")
        if self.disparity is not None:
            low, high = self.disparity
            if not (math.isfinite(low) and math.isfinite(high) and low < high):
                raise OptionError(f"disparity is a range LO:HI with LO below HI, not {low:g}:{high:g}")


@dataclass(frozen=True)
class Page:
    """A page: its text in parts, in order, and what a person should know about it."""

    parts: tuple[bytes, ...]
    quality: Quality
    notes: tuple[str, ...]

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return sum(map(len, self.parts))


@dataclass(frozen=True)
class _Shown:
    """A light field as the page shows it."""

    lf: LightField
    psnr: NDArray[np.float64] | None = None
    truth: LightField | None = None


def write_page(
    path: str | Path,
    fields: Sequence[LightField],
    *,
    truth: LightField | None = None,
    scored: Scored | None = None,
    options: PageOptions | None = None,
    overwrite: bool = False,
    threads: int | None = None,
    progress: ProgressCallback = silent,
) -> Page:
    """Make a page and write it, whole or not at all; see `make_page`."""
    check_free(Path(path), overwrite=overwrite, folder=False)
    page = make_page(fields, truth=truth, scored=scored, options=options, threads=threads, progress=progress)
    with replacing(path, overwrite=overwrite) as temporary, temporary.open("wb") as file:
        file.writelines(page.parts)
    return page


def make_page(
    fields: Sequence[LightField],
    *,
    truth: LightField | None = None,
    scored: Scored | None = None,
    options: PageOptions | None = None,
    threads: int | None = None,
    progress: ProgressCallback = silent,
) -> Page:
    """Make a page that shows light fields of one scene.

    Parameters
    ----------
    fields
        The result first, then what it is compared with: the page opens with the second on the left of the split and
        the first on the right. Sizes may differ by whole factors.
    truth
        What the result should be: adds PSNR of every view, error maps, and the truth itself.
    scored
        The PSNR where it is known already: of every view of every light field. Measured here when None.
    options
        How the page is made.
    threads
        How many threads; all processors when None.
    progress
        Told how far it is.
    """
    options = options or PageOptions()
    if not fields:
        raise InputError("a page shows at least one light field")
    count = len(fields) + (truth is not None)
    if options.opens is not None and not all(0 <= each < count for each in options.opens):
        raise OptionError(
            f"a page of {count} light fields opens with two of 0 to {count - 1}, not {options.opens}"
        )
    with Workers(threads) as workers:
        shown, remarks = _prepared(fields, truth, scored, options, part(progress, 0, 0.2))
        first = shown[0].lf
        progress(Progress("measuring disparity", 0.2))
        scale = max(one.lf.size[1] for one in shown) / first.size[1]
        focus = focus_range(first, scale, options.disparity, workers)
        notes = (*remarks, *_field_notes(shown))
        manifest = _manifest(shown, focus, options, notes)
        if any(one.psnr is not None for one in shown):
            manifest["measured"] = scored.how if scored else measured_how(first)
        sheaves = [sheaf for one in shown for sheaf in _sheaves(one)]
        quality = options.quality
        if quality == AUTO:
            progress(Progress("choosing the quality", 0.25))
            bare = sum(
                map(len, render(manifest, _by_field(shown, [[b""] * sheaf.count for sheaf in sheaves])))
            )
            quality = choose_quality(sheaves, options.most_bytes - bare, workers)
        pictures = encode_all(sheaves, quality, workers, part(progress, 0.3, 1))
    page = Page(tuple(render(manifest, _by_field(shown, pictures))), quality, notes)
    if options.quality == AUTO and page.size > options.most_bytes:
        more = (
            f"the page has {page.size / 1e6:.1f} MB even at quality {quality}; "
            "take fewer light fields or a window of them (--window) for a smaller one"
        )
        page = replace(page, notes=(*page.notes, more))
    return page


def _prepared(
    fields: Sequence[LightField],
    truth: LightField | None,
    scored: Scored | None,
    options: PageOptions,
    progress: ProgressCallback,
) -> tuple[list[_Shown], tuple[str, ...]]:
    """Align, measure, thin: in this order, so that scores are those of all pixels. Also return what was left out."""
    everything = [*fields] if truth is None else [*fields, truth]
    everything = aligned(everything, resample=options.resample)
    if options.window is not None:
        everything = windowed(everything, options.window)
    grid = everything[0].grid
    thinning = plan_thinning(grid, [lf.size for lf in everything])
    fewer = replace(thinning, reduction=1)
    everything = [thinned(lf, fewer) for lf in everything]
    scores: list[NDArray[np.float64] | None] = [None] * len(everything)
    if truth is not None:
        right = everything[-1]
        comparable = [index for index, lf in enumerate(everything[:-1]) if lf.size == right.size]
        if not comparable:
            raise InputError(
                f"{right.name}, the truth, has views of {right.size[1]}x{right.size[0]} and no light field has the "
                "same size; give the truth of the result"
            )
        for number, index in enumerate(comparable):
            progress(Progress("measuring errors", number / len(comparable)))
            known = None if scored is None else scored.psnr[index]
            scores[index] = (
                psnr_of_views(everything[index], right) if known is None else known[thinning.kept(grid)]
            )
    smaller = [thinned(lf, replace(thinning, step=(1, 1))) for lf in everything]
    largest = max((lf.size for lf in everything), key=lambda size: size[0] * size[1])
    notes = thinning.remarks(grid, largest)
    if truth is None:
        return [_Shown(lf) for lf in smaller], notes
    shown = [
        _Shown(lf, score, smaller[-1] if score is not None else None)
        for lf, score in zip(smaller[:-1], scores[:-1], strict=True)
    ]
    return [*shown, _Shown(smaller[-1])], notes


def _by_field(shown: Sequence[_Shown], pictures: Sequence[list[bytes]]) -> list[Pictures]:
    """Return the pictures of every light field: its views and its error maps."""
    blocks = iter(pictures)
    return [(next(blocks), next(blocks) if one.truth is not None else []) for one in shown]


def _sheaves(one: _Shown) -> list[Sheaf]:
    """Return the pictures of a light field: its views, then its error maps."""
    lf, truth = one.lf, one.truth
    count, columns = lf.grid[0] * lf.grid[1], lf.grid[1]
    sheaves = [Sheaf(count, lambda number: quantize(lf.views[divmod(number, columns)], 8))]
    if truth is not None:
        sheaves.append(
            Sheaf(
                count,
                lambda number: error_codes(
                    lf.views[divmod(number, columns)], truth.views[divmod(number, columns)]
                ),
                falls=_ERRORS_FALL,
            )
        )
    return sheaves


def _field_notes(shown: Sequence[_Shown]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f"{one.lf.name}: {note}" for one in shown for note in one.lf.notes))


def _names(shown: Sequence[_Shown]) -> list[str]:
    """Return the names, told apart by a number where two are the same."""
    names: list[str] = []
    for one in shown:
        name, number = one.lf.name, 2
        while name in names:
            name, number = f"{one.lf.name} ({number})", number + 1
        names.append(name)
    return names


def _manifest(
    shown: Sequence[_Shown], focus: Focus, options: PageOptions, notes: tuple[str, ...]
) -> dict[str, Any]:
    """Return what the program must know beside the pictures."""
    first = shown[0].lf
    ramp = heat(np.linspace(0, 1, _HEAT_STEPS)[None])[0]
    has_truth = any(one.truth is not None for one in shown)
    left, right = options.opens or (1 if len(shown) - has_truth > 1 else len(shown) - 1, 0)
    return {
        "title": options.title or first.name,
        "grid": first.grid,
        "frame": max(one.lf.size for one in shown),
        "focus": {"low": focus.low, "high": focus.high, "start": focus.start},
        "mime": MIME,
        "heat": ramp.tolist(),
        "largestError": LARGEST_ERROR,
        "outside": OUTSIDE,
        "notes": notes,
        "left": left,
        "right": right,
        "fields": [
            {
                "name": name,
                "size": one.lf.size,
                "channels": one.lf.channels,
                "facts": facts(one.lf, one.psnr),
                "seconds": seconds_taken(one.lf),
                "psnr": None if one.psnr is None else [[_number(dB) for dB in row] for row in one.psnr],
                "errors": one.truth is not None,
                "truth": has_truth and index == len(shown) - 1,
            }
            for index, (one, name) in enumerate(zip(shown, _names(shown), strict=True))
        ],
    }


def _number(value: float) -> float | None:
    """Return a number as JSON can hold it: infinity (a view equal to the truth) is null."""
    return round(float(value), 3) if math.isfinite(value) else None
