"""`sharpfield figures`: the paper's kinds of figure, from what a benchmark kept or from light fields side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sharpfield.cli.console import Voice
from sharpfield.cli.options import Reading, as_arguments, with_groups
from sharpfield.errors import OptionError
from sharpfield.progress import part

if TYPE_CHECKING:
    from sharpfield.sidebyside import Subject

_OUTPUT = Path("sharpfield-figures")


def _figures(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH..",
            help="Folders of benchmarks run with --keep; or results, light fields to show side by side.",
        ),
    ],
    *,
    truth: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="The original of the results: errors and PSNR need it."),
    ] = None,
    low: Annotated[
        Path | None, typer.Option(metavar="PATH", help="The low resolution that the results were made of.")
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Where the figures go.")
    ] = _OUTPUT,
    kinds: Annotated[
        str,
        typer.Option(
            metavar="KIND,..",
            help="details of a view, epipolar images of a line, errors against the truth, views (all of them).",
        ),
    ] = "details,epipolar,errors,views",
    view: Annotated[
        str | None,
        typer.Option(
            metavar="V,U", help="The view to show; the bottom right-most, as in the paper, if not given."
        ),
    ] = None,
    detail: Annotated[
        list[str] | None,
        typer.Option(
            metavar="Y:Y,X:X",
            help="A window to show, up to four times; where the methods err most if not given.",
        ),
    ] = None,
    row: Annotated[
        int | None, typer.Option(metavar="Y", help="The line of pixels of the epipolar images.")
    ] = None,
    gain: Annotated[
        float, typer.Option(metavar="N", help="Error maps end at 1/N of the white level.")
    ] = 10.0,
    resample: Annotated[
        bool, typer.Option("--resample", help="Show light fields of other sizes, too: resized.")
    ] = False,
    form: Annotated[str, typer.Option("--format", metavar="png,pdf", help="Kinds of file.")] = "png,pdf",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace figures that exist.")] = False,
    reading: Reading,
    voice: Voice,
) -> None:
    """Draw the paper's kinds of figure: details, epipolar images, error maps and the grid of views, method by method.

    Give the folder of a benchmark that was run with --keep, and every light field in it gets its figures; or give the
    results themselves, with --truth and --low. Needs matplotlib: pip install 'sharpfield[figures]'.
    """
    from sharpfield.cli.benchmark import parse_list
    from sharpfield.figures import Choice, draw

    choice = Choice(
        view=None if view is None else parse_view(view),
        windows=tuple(_window(text) for text in detail or ()),
        row=row,
        gain=gain,
        resample=resample,
    )
    subjects = _subjects(paths, truth, low, reading)
    made: list[Path] = []
    with voice.progress() as progress:
        for number, subject in enumerate(subjects):
            made += draw(
                subject,
                output,
                kinds=parse_list(kinds),
                choice=choice,
                formats=parse_list(form),
                overwrite=overwrite,
                progress=part(progress, number / len(subjects), (number + 1) / len(subjects)),
            )
    voice.result("\n".join(map(str, made)), {"figures": [str(path) for path in made]})


def _subjects(paths: Sequence[Path], truth: Path | None, low: Path | None, reading: Reading) -> list[Subject]:
    """Return what to draw: every set of results that benchmarks kept, or the light fields given as one set."""
    from sharpfield.benchmark.kept import is_benchmark, kept
    from sharpfield.sidebyside import Shown, Subject
    from sharpfield.sidebyside.benchmarked import subject_of

    records = [is_benchmark(path) for path in paths]
    if any(records) and not all(records):
        raise OptionError(
            f"{paths[records.index(False)]}: is not the folder of a benchmark, as {paths[records.index(True)]} is; "
            "draw them one after the other"
        )
    if any(records):
        if truth is not None or low is not None:
            raise OptionError("--truth and --low go with results; a benchmark's folder has its own")
        return [subject_of(each) for path in paths for each in kept(path)]
    given = as_arguments(reading)

    def shown(path: Path | None) -> Shown | None:
        return None if path is None else Shown(path.resolve().name, path, given)

    labels = [path.resolve().name for path in paths]
    for label in labels:
        if labels.count(label) > 1:
            raise OptionError(
                f"two of the results are called {label}; rename one, for the figures name them so"
            )
    results = [Shown(label, path, given) for label, path in zip(labels, paths, strict=True)]
    return [Subject(labels[0] if len(labels) == 1 else "results", results, shown(truth), shown(low))]


def parse_view(text: str) -> tuple[int, int]:
    """Return V,U as two whole numbers."""
    v, _, u = text.partition(",")
    try:
        return int(v), int(u)
    except ValueError:
        raise OptionError(f"--view takes row and column of a view, as in 4,4, not {text!r}") from None


def _window(text: str) -> tuple[slice, slice]:
    try:
        y, x = (slice(*map(int, each.split(":"))) for each in text.split(","))
        if len(text.split(":")) == 3 and 0 <= y.start < y.stop and 0 <= x.start < x.stop:
            return y, x
    except (TypeError, ValueError):
        pass
    raise OptionError(f"--detail takes rows and columns of pixels, as in 100:180,240:320, not {text!r}")


command = with_groups(_figures, reading=(Reading, "Reading"), voice=(Voice, "Talking"))
