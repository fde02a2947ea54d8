"""Light fields from disk, no more of them than a page can hold: thinned and cut while they are read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from sharpfield.errors import InputError
from sharpfield.io import ReadOptions
from sharpfield.io.selection import parse_crop
from sharpfield.io.source import ViewSource, assemble, physical_memory, selected
from sharpfield.lightfield import LightField
from sharpfield.progress import ProgressCallback, part, silent
from sharpfield.sidebyside import Subject, aligned, check_grids, windowed
from sharpfield.sidebyside.align import factor_between
from sharpfield.viewer.thin import Thinning, plan_thinning, reduced_source

# of the machine's memory, what views may take that are read with every pixel to be measured
_PART_OF_MEMORY = 0.4

_MEASURED_REDUCED = "PSNR and errors are those of the reduced views: the whole does not fit into memory"


@dataclass(frozen=True, eq=False)
class Gathered:
    """What a page shows: light fields in the order of the page, and the truth where there is one."""

    fields: tuple[LightField, ...]
    truth: LightField | None = None


def gather(
    subject: Subject,
    *,
    window: str | None = None,
    resample: bool = False,
    threads: int | None = None,
    progress: ProgressCallback = silent,
) -> Gathered:
    """Read light fields for one page.

    Parameters
    ----------
    subject
        What to read; the page shows the results first, then the low resolution.
    window
        Read this part of every view only, `"100:300,50:250"`, y and x in pixels of the largest views.
    resample
        Different grids are no mistake.
    threads, progress
        As for `sharpfield.read`.

    Returns
    -------
    gathered
        What was left out is in the notes of the first.
    """
    if not subject.results:
        raise InputError(f"{subject.name}: there is no result to show")
    shown = [each for each in (*subject.results, subject.low, subject.truth) if each is not None]
    with ExitStack() as stack:
        sources = [stack.enter_context(each.opened()) for each in shown]
        grids = [source.grid for source in sources]
        if not resample:
            check_grids([each.label for each in shown], grids)
        cut = _windows(sources, window)
        if cut is not None:
            sources = [
                selected(source, ReadOptions(crop=crop)) for source, crop in zip(sources, cut, strict=True)
            ]
        notes: tuple[str, ...] = ()
        if len(set(grids)) == 1 and (window is None or cut is not None):
            thinning, notes = _plan(sources, measured=subject.truth is not None)
            sources = [_thin(source, thinning) for source in sources]
        fields = []
        for number, (each, source) in enumerate(zip(shown, sources, strict=True)):
            told = part(progress, number / len(shown), (number + 1) / len(shown))
            lf = assemble(source, threads=threads, progress=told)
            fields.append(lf.with_views(lf.views, name=each.label))
    if window is not None and cut is None:  # sizes that must be made alike before they are cut
        fields = windowed(aligned(fields, resample=resample), window)
    fields[0] = fields[0].with_views(fields[0].views, notes=(*fields[0].notes, *notes))
    truth = None if subject.truth is None else fields.pop()
    return Gathered(tuple(fields), truth)


def _plan(sources: Sequence[ViewSource], *, measured: bool) -> tuple[Thinning, tuple[str, ...]]:
    """Return how light fields are thinned while they are read, and what is to be said of that."""
    grid, largest = sources[0].grid, max((source.size for source in sources), key=math.prod)
    thinning = plan_thinning(grid, [source.size for source in sources])
    if not measured or thinning.reduction == 1:
        return thinning, thinning.remarks(grid, largest)
    rows, columns = thinning.kept(grid)
    views = len(range(grid[0])[rows]) * len(range(grid[1])[columns])
    needs = 4 * views * sum(math.prod(source.size) * source.channels for source in sources)
    if needs <= _PART_OF_MEMORY * (physical_memory() or math.inf):
        every_pixel = replace(thinning, reduction=1)  # the page reduces what it has measured
        return every_pixel, every_pixel.remarks(grid, largest)
    return thinning, (*thinning.remarks(grid, largest), _MEASURED_REDUCED)


def _thin(source: ViewSource, thinning: Thinning) -> ViewSource:
    """Return a source of the views that stay, reduced one by one as they are read."""
    if thinning.step != (1, 1):
        parts = zip(thinning.kept(source.grid), thinning.step, strict=True)
        kept = ",".join(f"{views.start}:{views.stop}:{step}" for views, step in parts)
        source = selected(source, ReadOptions(views=kept))
    return reduced_source(source, thinning.reduction)


def _windows(sources: Sequence[ViewSource], window: str | None) -> list[str] | None:
    """Return the window in pixels of each, made larger to whole pixels of the smallest; None where sizes differ."""
    frame = max((source.size for source in sources), key=math.prod)
    found = [factor_between(source.size, frame) for source in sources]
    factors = [factor for factor in found if factor is not None]
    if window is None or len(factors) < len(found):
        return None
    step = math.lcm(*factors)
    inside = [
        min(source.size[axis] * f for source, f in zip(sources, factors, strict=True)) for axis in (0, 1)
    ]
    y, x = parse_crop(window, (inside[0] // step * step, inside[1] // step * step))
    (top, bottom), (left, right) = (
        (side.start // step * step, -(-side.stop // step) * step) for side in (y, x)
    )
    return [f"{top // f}:{bottom // f},{left // f}:{right // f}" for f in factors]
