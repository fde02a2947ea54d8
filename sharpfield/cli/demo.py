"""`sharpfield demo`: see what it does, without any data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sharpfield.cli.console import Voice, by, duration, facts, table
from sharpfield.cli.options import Threads, tidy, with_groups
from sharpfield.errors import OptionError

if TYPE_CHECKING:
    from sharpfield.demo import Demo


def _demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Where the views and pictures go.")
    ] = Path("demo-output"),
    *,
    size: Annotated[
        str, typer.Option(metavar="WxH", help="Width and height of the scene's true views.")
    ] = "512x384",
    seed: Annotated[int, typer.Option(metavar="N", help="Another seed, another scene.")] = 0,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier demo.")] = False,
    threads: Threads = None,
    voice: Voice,
) -> None:
    """Render a still life, shrink it, and bring its resolution back by five methods.

    Prints how close each came to the truth, and leaves pictures and a page (view.html) to look at. Takes a minute or
    so.
    """
    wanted = _size(size)
    from sharpfield.demo import run_demo

    with voice.progress() as progress:
        demo = run_demo(
            tidy(output), size=wanted, seed=seed, overwrite=overwrite, threads=threads, progress=progress
        )
    voice.result(_report(demo), demo.to_json())


def _report(demo: Demo) -> str:
    from sharpfield.demo import FACTOR

    low = demo.low
    rows = [
        (
            run.method,
            f"{run.scores.psnr_mean:.2f}",
            f"{run.scores.psnr_variance:.2f}",
            f"{run.scores.psnr_worst[0]:.2f}",
            f"{run.scores.ssim_mean:.4f}",
            f"{run.seconds:.1f}",
        )
        for run in demo.runs
    ]
    header = ("method", "PSNR, dB", "variance", "worst view", "SSIM", "seconds")
    folders = ", ".join(("truth", "low", *(run.method for run in demo.runs)))
    return (
        f"{low.grid[0]} x {low.grid[1]} views of {by(low.size)} pixels, raised {FACTOR} times\n\n"
        f"{table(header, rows)}\n\n"
        f"Look at these in {demo.folder}\n"
        f"{facts(list(demo.pictures.items()))}\n"
        f"and at the views in its folders\n{folders}.\n\n"
        f"Took {duration(demo.seconds)}. Now yours: sharpfield upscale FOLDER_OF_VIEWS\n\n"
        "Before and after, from every viewpoint: open this page in a browser\n"
        f"  {demo.page}"
    )


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.lower().replace(" ", "").partition("x")
    try:
        return int(height), int(width)
    except ValueError:
        raise OptionError(f"--size takes width and height in pixels, as in 512x384, not {text!r}") from None


command = with_groups(_demo, voice=(Voice, "Talking"))
