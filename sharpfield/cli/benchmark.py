"""`sharpfield benchmark`: methods, factors and light fields under a protocol; the paper's tables from the records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sharpfield import catalogue
from sharpfield.cli.console import Voice
from sharpfield.cli.options import (
    Reading,
    Threads,
    as_arguments,
    parse_range,
    with_groups,
    with_method_options,
)
from sharpfield.cli.view import made_page
from sharpfield.errors import InputError, OptionError, SharpfieldError
from sharpfield.progress import part

if TYPE_CHECKING:
    from sharpfield.benchmark.records import Record
    from sharpfield.viewer import Page

_OUTPUT = Path("sharpfield-benchmark")
_FORMATS = ("md", "latex", "csv")


def _benchmark(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="PATH..",
            help="High-resolution light fields; none to print the tables of what is recorded.",
        ),
    ] = None,
    *,
    methods: Annotated[
        str, typer.Option(metavar="NAME,..", help="Those that sharpfield methods lists.")
    ] = "bilinear,gb-dr,gb-sq",
    factors: Annotated[str, typer.Option(metavar="N,..", help="Whole numbers from 2 to 8.")] = "2",
    protocol: Annotated[
        str,
        typer.Option(
            metavar="paper|basiclfsr",
            help="How data are made and measured: the paper's way (box, 8 bits, luma L, a border of 15 pixels left "
            "out), or the deep-learning benchmarks' (antialiased bicubic, float, BT.601 studio Y, no border). Both "
            "take the central 5x5 views.",
        ),
    ] = "paper",
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="DIR", help="Folder of the records; what it has is not run again."
        ),
    ] = _OUTPUT,
    table_format: Annotated[
        str, typer.Option("--format", metavar="md|latex|csv", help="How the tables are written.")
    ] = "md",
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the results, too, for sharpfield figures.")
    ] = False,
    page: Annotated[
        bool,
        typer.Option(
            "--page",
            help="Make an HTML page of every light field and factor, too, in --output: all methods beside the truth. "
            "Keeps the results.",
        ),
    ] = False,
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--as", metavar="NAME", help="What to call a light field, once for each PATH (buddha, truck, ..)."
        ),
    ] = None,
    preset: Annotated[
        str, typer.Option(metavar="fast|paper", help="The fast schedule, or the paper's, to the letter.")
    ] = catalogue.DEFAULT_PRESET,
    disparity: Annotated[
        str | None,
        typer.Option(
            metavar="LO:HI|auto",
            help="Disparities to search; -6:6, the paper's, when not given; auto measures them.",
        ),
    ] = None,
    camera: Annotated[
        str | None,
        typer.Option(
            metavar="BLUR",
            help="The camera that methods take for the one that made the data, if not that one.",
        ),
    ] = None,
    chroma: Annotated[
        str | None, typer.Option(metavar="KIND", help="Interpolation of the colors: bicubic or bilinear.")
    ] = None,
    memory: Annotated[str | None, typer.Option(metavar="SIZE", help="Memory to work in, as in 2GB.")] = None,
    threads: Threads = None,
    reading: Reading,
    voice: Voice,
    options: dict[str, Any],
) -> None:
    """Shrink light fields, super-resolve them by every method, measure, and print the paper's tables.

    One record a run is kept in --output, with PSNR and SSIM of every view, seconds and peak memory: killed and started
    again, the same command goes on where it was. The paper's own figures stand beside ours for its 23 light fields.
    """
    if table_format not in _FORMATS:
        raise OptionError(f"--format is md, latex or csv, not {table_format!r}")
    given = dict(options)
    if disparity is not None:
        given["disparity"] = disparity if disparity == "auto" else parse_range(disparity)
    from sharpfield.benchmark.plan import Plan
    from sharpfield.benchmark.runner import Outcome, run_benchmark

    plan = Plan(
        methods=parse_list(methods),
        factors=tuple(whole(each) for each in parse_list(factors)),
        protocol=protocol,
        preset=preset,
        camera=camera,
        chroma=chroma,
        memory=memory,
        options=given,
        reading=as_arguments(reading),
    )
    if paths:
        with voice.progress() as progress:
            outcome = run_benchmark(
                paths, plan, output, names=names or (), keep=keep or page, threads=threads, progress=progress
            )
    else:
        outcome = Outcome(recorded(output))
    voice.note(*outcome.remarks)
    if outcome.repeated:
        total = len(outcome.records) + len(outcome.failures)
        voice.note(f"{outcome.repeated} of {total} runs were done before; their records are in {output}")
    if outcome.records:
        pages = _pages(outcome.records, output, threads, voice) if page else {}
        _show(outcome.records, output, table_format, voice, outcome.failures, pages)
    if outcome.failures:
        voice.note(*outcome.failures[1:])
        more = f" (and {len(outcome.failures) - 1} more)" if len(outcome.failures) > 1 else ""
        rest = f"; the other runs are recorded in {output}" if outcome.records else ""
        raise SharpfieldError(f"{outcome.failures[0]}{more}{rest}")


def _pages(records: Sequence[Record], output: Path, threads: int | None, voice: Voice) -> dict[Path, Page]:
    """Make a page of every set of results that belong together; one of an earlier run is out of date."""
    from sharpfield.benchmark.kept import kept
    from sharpfield.viewer.comparison import write_comparison

    sets, made = kept(output, records), {}
    with voice.progress() as progress:
        for number, each in enumerate(sets):
            told = part(progress, number / len(sets), (number + 1) / len(sets), f"{each.name}: ")
            path = output / f"{each.name}.html"
            made[path] = write_comparison(path, each, overwrite=True, threads=threads, progress=told)
    return made


def _show(
    records: Sequence[Record],
    output: Path,
    form: str,
    voice: Voice,
    failures: Sequence[str],
    pages: Mapping[Path, Page],
) -> None:
    from sharpfield.benchmark.records import Records
    from sharpfield.benchmark.tables import labels, written

    named = labels(records)
    runs = [
        {
            "light_field": each.light_field,
            "method": each.run.method,
            "label": named[each.run.key],
            "factor": each.run.factor,
            "protocol": each.run.protocol["name"],
            "seconds": each.seconds,
            "peak_bytes": each.peak_bytes,
            "kept": each.kept,
            **each.scores().to_json(),
        }
        for each in records
    ]
    record = {"records": str(Records(output).path), "runs": runs, "failures": list(failures)}
    if pages:
        record["pages"] = [{"path": str(path), "bytes": page.size} for path, page in pages.items()]
        voice.note(*(made_page(path, page) for path, page in pages.items()))
    voice.result(written(records, form), record)


def recorded(output: Path) -> tuple[Record, ...]:
    """Return everything that a folder of records holds; a folder that holds none is refused."""
    from sharpfield.benchmark.records import Records

    found, _ = Records(output).load()
    if not found:
        raise InputError(f"{output}: holds no records; give the light fields to run on, or another --output")
    return tuple(found.values())


def parse_list(text: str) -> tuple[str, ...]:
    """Return the words of a list with commas between them."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def whole(text: str) -> Any:
    """Return a factor as a number where it is one; what factors there are, the camera says."""
    try:
        return int(text)
    except ValueError:
        return text


command = with_groups(with_method_options(_benchmark), reading=(Reading, "Reading"), voice=(Voice, "Talking"))
