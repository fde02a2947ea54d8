"""`sharpfield view`: one page to look at a light field, before and after."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sharpfield.cli.console import Voice
from sharpfield.cli.options import Reading, Threads, as_arguments, with_groups
from sharpfield.errors import OptionError
from sharpfield.progress import part

if TYPE_CHECKING:
    from sharpfield.viewer import Page

SizeText = Annotated[
    str,
    typer.Option(
        metavar="1..100|lossless",
        help="Of the pictures in the page; auto is the best at which it stays under 12 MB.",
    ),
]


def _view(
    sources: Annotated[
        list[Path],
        typer.Argument(metavar="RESULT [OTHER ...]", help="Light field to look at, and others beside it."),
    ],
    *,
    against: Annotated[
        list[Path] | None,
        typer.Option("--against", metavar="OTHER", help="Light field to compare with; may be given again."),
    ] = None,
    truth: Annotated[
        Path | None,
        typer.Option(
            metavar="TRUTH", help="What the result should be: adds errors and the PSNR of every view."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="PAGE", help="The page; RESULT.html in this folder when not given."
        ),
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="What stands on top of the page.")] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="What to call a light field; given again for the next one."),
    ] = None,
    disparity: Annotated[
        str | None,
        typer.Option(
            metavar="LO:HI",
            help="Range of the focus, in pixels of the largest views; measured when not given.",
        ),
    ] = None,
    quality: SizeText = "auto",
    window: Annotated[
        str | None,
        typer.Option(metavar="Y:Y,X:X", help="Show this part of every view, in pixels of the largest ones."),
    ] = None,
    resample: Annotated[
        bool, typer.Option("--resample", help="Compare other grids and sizes too: central views, resized.")
    ] = False,
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace PAGE when it exists already.")
    ] = False,
    threads: Threads = None,
    reading: Reading,
    voice: Voice,
) -> None:
    """Make one page to look at a light field: drag through its views, refocus, slide between before and after.

    The page is a single HTML file that needs neither a server nor a network. Reading options say how the OTHERs and
    the TRUTH are stored; they hold for RESULT when it is the only one.
    """
    others = [*sources[1:], *(against or [])]
    page = output or Path(named_after(sources[0], ".html"))
    from sharpfield.io.atomic import check_free
    from sharpfield.sidebyside import Shown, Subject
    from sharpfield.viewer import PageOptions, write_page
    from sharpfield.viewer.gather import gather

    options = PageOptions(
        title=title,
        quality=parse_quality(quality),
        disparity=None if disparity is None else _range(disparity),
        resample=resample,
    )
    check_free(page, overwrite=overwrite, folder=False)
    paths = [sources[0], *others, *([truth] if truth else [])]
    if name and len(name) > len(paths):
        raise OptionError(f"--name is given {len(name)} times for {len(paths)} light fields")
    names = [*(name or []), *(named_after(path) for path in paths[len(name or []) :])]
    reads = as_arguments(reading)
    shown = [
        Shown(called, path, reads if number or len(paths) == 1 else {})
        for number, (called, path) in enumerate(zip(names, paths, strict=True))
    ]
    original = shown.pop() if truth else None
    with voice.progress() as progress:
        gathered = gather(
            Subject(names[0], shown, original),
            window=window,
            resample=resample,
            threads=threads,
            progress=part(progress, 0, 0.3),
        )
        made = write_page(
            page,
            gathered.fields,
            truth=gathered.truth,
            options=options,
            overwrite=overwrite,
            threads=threads,
            progress=part(progress, 0.3, 1),
        )
    voice.note(*made.notes)
    if voice.json:
        voice.result(
            "", {"page": str(page), "bytes": made.size, "quality": made.quality, "notes": made.notes}
        )
    voice.done(made_page(page, made))
    if show:
        import webbrowser

        webbrowser.open(page.resolve().as_uri())


def made_page(path: Path, page: Page) -> str:
    """Say where a page is."""
    return f"{path}: {page.size / 1e6:.1f} MB, quality {page.quality}; open it in a browser"


def named_after(source: Path, ending: str = "") -> str:
    """Return what a light field is called, as the name of a file in this folder when it has an ending."""
    whole = source.resolve()
    return f"{(whole.name if whole.is_dir() else whole.stem) or 'light-field'}{ending}"


def parse_quality(text: str) -> Any:
    """Return --quality as a number or a word; which of them have a meaning, the page says."""
    return int(text) if text.lstrip("-").isdigit() else text


def _range(text: str) -> tuple[float, float]:
    low, _, high = text.partition(":")
    try:
        return float(low), float(high)
    except ValueError:
        raise OptionError(f"--disparity takes two numbers LO:HI, as in -1.5:2, not {text!r}") from None


command = with_groups(_view, reading=(Reading, "Reading"), voice=(Voice, "Talking"))
