"""`sharpfield evaluate`: how close a result is to the truth, view by view."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sharpfield.cli.console import Voice, by, table
from sharpfield.cli.options import Reading, Threads, with_groups
from sharpfield.cli.view import made_page
from sharpfield.progress import Progress, part

if TYPE_CHECKING:
    from sharpfield.lightfield import LightField
    from sharpfield.metrics import Scores

_LARGEST_FACTOR = 8


def _evaluate(
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="Light field to measure.")],
    truth: Annotated[Path, typer.Argument(metavar="TRUTH", help="What it should be.")],
    *,
    border: Annotated[
        int, typer.Option(metavar="N", help="Pixels to leave out on each side of a view.")
    ] = 15,
    luma: Annotated[
        str, typer.Option(metavar="L|Y601", help="L, the paper's luma, or Y601, BT.601 studio range.")
    ] = "L",
    per_view: Annotated[
        bool, typer.Option("--per-view", help="Print the scores of every view, too.")
    ] = False,
    page: Annotated[
        Path | None,
        typer.Option(
            "--page", metavar="PAGE", help="Make an HTML page, too: RESULT and TRUTH, errors, PSNR by view."
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace PAGE when it exists already.")
    ] = False,
    threads: Threads = None,
    reading: Reading,
    voice: Voice,
) -> None:
    """Measure PSNR and SSIM of a result against the truth: mean, variance and worst of the views.

    The default is the protocol of the paper: luma L, a border of 15 pixels left out, one score a view, mean and
    variance over the views. Files are measured as they are stored: what was rounded to 8 bits is measured so.
    """
    from sharpfield.io.atomic import check_free
    from sharpfield.metrics import evaluate

    if page is not None:
        check_free(page, overwrite=overwrite, folder=False)
    with voice.progress() as progress:
        # a result of ours is stored in the plain order: what is said of the input is true of the truth alone
        ours = Reading().read(result, voice, part(progress, 0, 0.3), threads)
        theirs = reading.read(truth, voice, part(progress, 0.3, 0.6), threads)
        theirs, note = fitted(theirs, ours, str(truth))
        voice.note(*note)
        progress(Progress("measuring", 0.6))
        scores = evaluate(ours, theirs, border=border, luma=luma)
        made = None
        if page is not None:
            from sharpfield.viewer import Scored, how_measured, write_page

            made = write_page(
                page,
                [ours],
                truth=theirs,
                scored=Scored([scores.psnr], how_measured(luma, border)),
                overwrite=overwrite,
                threads=threads,
                progress=part(progress, 0.65, 1),
            )
            said = {f"{lf.name}: {text}" for lf in (ours, theirs) for text in lf.notes}
            voice.note(*(text for text in made.notes if text not in said))
    text = report(scores)
    if per_view:
        text += "\n\n" + every_view(scores)
    record = {
        "result": str(result),
        "truth": str(truth),
        "grid": ours.grid,
        "size": ours.size,
        "border": border,
        "luma": luma,
        "notes": note,
        **scores.to_json(),
    }
    if page is not None and made is not None:
        text += f"\n\n{made_page(page, made)}"
        record["page"] = {"path": str(page), "bytes": made.size}
    voice.result(text, record)


def fitted(truth: LightField, result: LightField, name: str) -> tuple[LightField, tuple[str, ...]]:
    """Crop the truth where it has some last rows or columns more: its size did not divide by the factor."""
    (height, width), (full_height, full_width) = result.size, truth.size
    more = full_height - height, full_width - width
    if more == (0, 0) or not all(0 <= each < _LARGEST_FACTOR for each in more):
        return truth, ()
    cropped = truth.crop(slice(height), slice(width))
    return cropped, (
        f"{name}: cropped at the bottom and on the right from {by(truth.size)} to {by(result.size)}, "
        "the size of the result",
    )


def report(scores: Scores) -> str:
    """Return mean, variance and worst view as a table."""
    psnr_worst, psnr_view = scores.psnr_worst
    ssim_worst, ssim_view = scores.ssim_worst
    rows = [
        (
            "PSNR, dB",
            f"{scores.psnr_mean:.3f}",
            f"{scores.psnr_variance:.3f}",
            f"{psnr_worst:.3f}",
            _view(psnr_view),
        ),
        (
            "SSIM",
            f"{scores.ssim_mean:.5f}",
            f"{scores.ssim_variance:.1e}",
            f"{ssim_worst:.5f}",
            _view(ssim_view),
        ),
    ]
    return table(("", "mean", "variance", "worst view", "which (v, u)"), rows)


def every_view(scores: Scores) -> str:
    """Return the scores of all views as they lie in the grid."""
    blocks = []
    for title, values, digits in (("PSNR, dB", scores.psnr, 2), ("SSIM", scores.ssim, 4)):
        header = (title, *(f"u={u}" for u in range(values.shape[1])))
        rows = [(f"v={v}", *(f"{one:.{digits}f}" for one in row)) for v, row in enumerate(values)]
        blocks.append(table(header, rows))
    return "\n\n".join(blocks)


def _view(place: tuple[int, int]) -> str:
    return f"({place[0]}, {place[1]})"


command = with_groups(_evaluate, reading=(Reading, "Reading TRUTH"), voice=(Voice, "Talking"))
