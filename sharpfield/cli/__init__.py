"""The command line: words to calls; no numerics. One file a command.

A command is a module with a function `command`, named in `_COMMANDS`. Nothing here imports NumPy: a command loads
what it needs when it runs, so `sharpfield --help` answers at once.
"""

from __future__ import annotations

import importlib
import io
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from sharpfield import __version__
from sharpfield.cli.console import INTERRUPTED, STOPPED, print_error

_START, _WORK, _MEASURE, _KNOW = "Start here", "Work", "Measure", "Know"

# in the order in which a person meets them: module, and the panel of the help it is shown in
_COMMANDS = {
    "demo": _START,
    "info": _START,
    "upscale": _WORK,
    "densify": _WORK,
    "convert": _WORK,
    "view": _WORK,
    "animate": _WORK,
    "degrade": _MEASURE,
    "evaluate": _MEASURE,
    "benchmark": _MEASURE,
    "figures": _MEASURE,
    "methods": _KNOW,
    "formats": _KNOW,
}

_EPILOG = """
[bold]Examples[/bold]

sharpfield demo                 [dim]what it does, on a built-in scene[/dim]

sharpfield info knights         [dim]what is in a folder of views[/dim]

sharpfield upscale knights      [dim]twice the resolution, into knights-x2[/dim]

sharpfield upscale knights big --factor 3 --disparity -4:4

Every command explains itself: sharpfield upscale --help
"""


class _InOrder(TyperGroup):
    """Lists the commands in the order of `_COMMANDS`, as some versions of typer do not."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)


app = typer.Typer(
    name="sharpfield",
    cls=_InOrder,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"sharpfield {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True, epilog=_EPILOG)
def _sharpfield(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Raise the resolution of every view of a light field at once, with no training."""
    if context.invoked_subcommand is None:
        help_text = context.get_help()
        if help_text:
            print(help_text)
        raise typer.Exit(2)


for _name, _panel in _COMMANDS.items():
    _command = importlib.import_module(f"sharpfield.cli.{_name}").command
    app.command(_name, rich_help_panel=_panel)(_command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status: 0, 1 (failed), 2 (asked for wrongly), 130 (Ctrl-C)."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    command: Any = typer.main.get_command(app)
    with _well_behaved():
        try:
            status = command.main(args=given, prog_name="sharpfield", standalone_mode=False)
            sys.stdout.flush()
        except (KeyboardInterrupt, typer.Abort):
            print_error(STOPPED)
            return INTERRUPTED
        except BrokenPipeError:
            # whoever read our output has left; keep Python from complaining when it flushes stdout at the end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        except Exception as error:
            if not hasattr(error, "format_message"):  # what the usage errors of all versions of typer have
                raise
            print_error(_usage(error))
            return 2
    return status if isinstance(status, int) else 0


def _usage(error: Any) -> str:
    """Return what was asked for wrongly, and where the help is."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "sharpfield"
    message = error.format_message().strip()
    return f"{message[:1].lower()}{message[1:].removesuffix('.')}; see {path} --help"


@contextmanager
def _well_behaved() -> Iterator[None]:
    """Print warnings as one line, never fail on an odd file name, and clean up before an end by SIGTERM."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    main_thread = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGTERM, _terminate) if main_thread else None
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            yield
        finally:
            if main_thread:
                signal.signal(signal.SIGTERM, before)


def _terminate(number: int, _frame: object) -> NoReturn:
    # as an exception it passes the places that remove temporary files
    raise SystemExit(128 + number)


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    print(f"warning: {' '.join(str(message).split())}", file=sys.stderr)
