"""Light fields from disk, no more of them than a page can hold: thinned while they are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sharpfield.io import ReadOptions, open_views
from sharpfield.io.source import assemble
from sharpfield.lightfield import LightField
from sharpfield.progress import ProgressCallback, part, silent
from sharpfield.viewer.align import check_grids
from sharpfield.viewer.thin import Thinning, plan_thinning, reduced_source


@dataclass(frozen=True)
class Input:
    """One light field on disk, and how to read it.

    Parameters
    ----------
    path
        Where it is.
    options
        As for `sharpfield.io.open_views`.
    format
        The name of its format, where the content would be taken for another.
    """

    path: Path
    options: ReadOptions = field(default_factory=ReadOptions)
    format: str | None = None


def gather(
    inputs: Sequence[Input],
    *,
    every_pixel: bool = False,
    resample: bool = False,
    threads: int | None = None,
    progress: ProgressCallback = silent,
) -> list[LightField]:
    """Read light fields for one page.

    Parameters
    ----------
    inputs
        What to read.
    every_pixel
        Do not reduce large views while they are read: a window of them is wanted, or their scores.
    resample
        Different grids are no mistake.
    threads, progress
        As for `sharpfield.read`.

    Returns
    -------
    fields
        In the order of the inputs; what was left out is in the notes of the first.
    """
    known = [_shape(each) for each in inputs]
    thinning = Thinning()
    if not any(each.options.views or each.options.crop for each in inputs):
        grids = [grid for grid, _ in known]
        if not resample:
            check_grids([each.path.name or str(each.path) for each in inputs], grids)
        if len(set(grids)) == 1:
            thinning = plan_thinning(grids[0], [size for _, size in known])
            thinning = replace(thinning, reduction=1) if every_pixel else thinning
    fields = []
    for number, each in enumerate(inputs):
        told = part(progress, number / len(inputs), (number + 1) / len(inputs))
        with open_views(each.path, each.options, format=each.format) as source:
            options = replace(each.options, views=_kept(thinning, known[number][0]) or each.options.views)
            lf = assemble(reduced_source(source, thinning.reduction), options, threads=threads, progress=told)
        if number == 0:
            lf = lf.with_views(lf.views, notes=(*lf.notes, *thinning.remarks(*known[0])))
        fields.append(lf)
    return fields


def _shape(each: Input) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return grid and size of what an input holds."""
    with open_views(each.path, each.options, format=each.format) as source:
        rows, columns = source.grid[::-1] if each.options.transpose else source.grid
        return (rows, columns), source.size


def _kept(thinning: Thinning, grid: tuple[int, int]) -> str | None:
    """Return the views that stay, as `--views` says them."""
    if thinning.step == (1, 1):
        return None
    parts = zip(thinning.kept(grid), thinning.step, strict=True)
    return ",".join(f"{views.start}:{views.stop}:{step}" for views, step in parts)
