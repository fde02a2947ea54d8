"""How the command line speaks: results on stdout; notes, progress and errors on stderr; one line an error.

Owns the exit statuses: 0 done, 1 failed, 2 asked for wrongly, 130 stopped by Ctrl-C. Rich is loaded for the
progress bar of a terminal and for nothing else.
"""

from __future__ import annotations

import json
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NoReturn

import typer

from sharpfield.errors import SharpfieldError
from sharpfield.progress import Progress, ProgressCallback, silent

INTERRUPTED = 130
STOPPED = "stopped by Ctrl-C; nothing was left half-written"
_LINE_EVERY = 5.0  # seconds between lines of progress where there is no terminal


@dataclass(frozen=True)
class Voice:
    """How a command speaks.

    Parameters
    ----------
    quiet
        Say nothing but results and errors.
    json
        The result is one JSON object on stdout, and nothing else is there.
    debug
        Errors come with their traceback.
    """

    quiet: bool = field(
        default=False, metadata={"help": "Print nothing but results and errors.", "names": ("-q",)}
    )
    json: bool = field(default=False, metadata={"help": "Print the result as one JSON object on stdout."})
    debug: bool = field(default=False, metadata={"help": "Show the traceback of an error."})

    def note(self, *texts: str) -> None:
        """Tell what a person would want to know and did not ask for."""
        if not self.quiet:
            for text in texts:
                print(f"note: {_one_line(text)}", file=sys.stderr)

    def warn(self, *texts: str) -> None:
        """Tell what may make the result worthless."""
        if not self.quiet:
            for text in texts:
                print(f"warning: {_one_line(text)}", file=sys.stderr)

    def done(self, text: str) -> None:
        """Say what was done; a script that says --quiet or --json does not want it."""
        if not (self.quiet or self.json):
            print(text)

    def result(self, text: str, record: Mapping[str, Any]) -> None:
        """Print what was asked for: the text to a person, the record to a script."""
        if self.json:
            print(json.dumps(record, indent=2, allow_nan=False, default=str))
        else:
            print(text)

    @contextmanager
    def progress(self) -> Iterator[ProgressCallback]:
        """Show how far the work is: a bar with the time left on a terminal, else a line now and then."""
        if self.quiet:
            yield silent
        elif sys.stderr.isatty():
            with _bar() as report:
                yield report
        else:
            yield _Lines()


@contextmanager
def _bar() -> Iterator[ProgressCallback]:
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description:<28}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("time left"),
        TimeRemainingColumn(compact=True),
    )
    # what is printed meanwhile (notes) appears above the bar; stdout stays untouched for the result
    with Bars(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False) as bars:
        task = bars.add_task("starting", total=1.0)
        far = 0.0

        def report(event: Progress) -> None:
            nonlocal far  # threads report out of order
            far = max(far, event.fraction)
            bars.update(task, completed=far, description=event.stage[:40])

        yield report


class _Lines:
    """Progress as plain lines on stderr, at most one every few seconds; short work prints none."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._start = self._last = clock()
        self._far = 0.0

    def __call__(self, event: Progress) -> None:
        now = self._clock()
        self._far = max(self._far, event.fraction)
        if now - self._last < _LINE_EVERY or self._far >= 1:
            return
        self._last, spent = now, now - self._start
        left = f", about {duration(spent * (1 - self._far) / self._far)} left" if self._far > 0.02 else ""
        print(f"{100 * self._far:3.0f} %  {event.stage}{left}", file=sys.stderr, flush=True)


@contextmanager
def one_line_errors(debug: bool = False) -> Iterator[None]:
    """Make every error of a command one line on stderr and an exit status; a traceback only when asked for."""
    try:
        yield
    except (typer.Exit, typer.Abort, BrokenPipeError):  # `| head` has seen enough: no error of ours
        raise
    except KeyboardInterrupt:
        fail(STOPPED, INTERRUPTED)
    except SharpfieldError as error:
        fail(str(error), error.exit_status, debug)
    except MemoryError:
        fail("out of memory; lower --memory, or take fewer or smaller views", 1, debug)
    except Exception as error:
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        hint = "" if debug else "; --debug shows where"
        fail(f"unexpected {what}{hint}", 1, debug)


def fail(message: str, status: int, with_traceback: bool = False) -> NoReturn:
    """Print one line and end with a status."""
    if with_traceback:
        traceback.print_exc()
    print_error(message)
    raise typer.Exit(status)


def print_error(message: str) -> None:
    """Print one line about what went wrong."""
    print(f"sharpfield: error: {_one_line(message)}", file=sys.stderr)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def table(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Return rows as aligned text: the first `left` columns flush left, the others flush right."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        aligned = (
            cell.ljust(width) if number < left else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return "  ".join(aligned).rstrip()

    return "\n".join([line(header), "  ".join("-" * width for width in widths), *map(line, rows)])


def facts(rows: Sequence[tuple[str, str]]) -> str:
    """Return names and what is known of them as two aligned columns; a name left out repeats the one above."""
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"  {name:<{width}}  {text}".rstrip() for name, text in rows)


def duration(seconds: float) -> str:
    """Return a time as people say it: 8.2 s, 1 min 05 s, 2 h 10 min."""
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def data_size(count: float) -> str:
    """Return a number of bytes as 640 MB or 1.6 GB."""
    return f"{count / 1e9:.1f} GB" if count >= 0.95e9 else f"{max(count / 1e6, 1):.0f} MB"


def by(size: tuple[int, int]) -> str:
    """Return the size (y, x) of a view as people write it: width x height."""
    return f"{size[1]} x {size[0]}"
