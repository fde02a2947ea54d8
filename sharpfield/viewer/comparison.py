"""A page of what a benchmark kept of one light field: the low resolution, every method beside the truth."""

from __future__ import annotations

from pathlib import Path

from sharpfield.benchmark import protocols
from sharpfield.benchmark.kept import Kept
from sharpfield.progress import ProgressCallback, part, silent
from sharpfield.sidebyside.benchmarked import subject_of
from sharpfield.viewer.gather import gather
from sharpfield.viewer.measure import Scored, how_measured
from sharpfield.viewer.page import Page, PageOptions, write_page


def write_comparison(
    path: str | Path,
    kept: Kept,
    *,
    overwrite: bool = False,
    threads: int | None = None,
    progress: ProgressCallback = silent,
) -> Page:
    """Make a page of all methods' results; it opens with the low resolution on the left, the best on the right.

    Parameters
    ----------
    path
        The page.
    kept
        The results.
    overwrite, threads, progress
        As for `write_page`.
    """
    protocol = protocols.find(kept.protocol)
    gathered = gather(subject_of(kept), threads=threads, progress=part(progress, 0, 0.3))
    labels = list(kept.results)
    best = max(range(len(labels)), key=lambda number: float(kept.psnr[labels[number]].mean()))
    return write_page(
        path,
        gathered.fields,
        truth=gathered.truth,
        scored=Scored(
            [*(kept.psnr[label] for label in labels), None], how_measured(protocol.luma, protocol.border)
        ),
        options=PageOptions(
            title=f"{kept.light_field} ×{kept.factor}, protocol {kept.protocol}", opens=(len(labels), best)
        ),
        overwrite=overwrite,
        threads=threads,
        progress=part(progress, 0.3, 1),
    )
