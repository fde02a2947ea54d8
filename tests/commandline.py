"""The command line as tests use it: in this process, its output caught."""

from __future__ import annotations

import contextlib
import io
import json
from dataclasses import dataclass
from typing import Any

from sharpfield.cli import main


@dataclass(frozen=True)
class Said:
    """What a command said, and how it ended."""

    status: int
    out: str
    err: str

    @property
    def errors(self) -> list[str]:
        return [line for line in self.err.splitlines() if line.startswith("sharpfield: error: ")]

    @property
    def notes(self) -> list[str]:
        return [line.removeprefix("note: ") for line in self.err.splitlines() if line.startswith("note: ")]

    @property
    def warnings(self) -> list[str]:
        return [
            line.removeprefix("warning: ") for line in self.err.splitlines() if line.startswith("warning: ")
        ]

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def run(*words: object) -> Said:
    """Run `sharpfield WORDS`."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main([str(word) for word in words])
    return Said(status, out.getvalue(), err.getvalue())


def refused(*words: object) -> str:
    """Run a command that must fail as a person wants it: one error line and nothing else, no traceback."""
    said = run(*words)
    assert said.status in (1, 2), said
    assert said.out == ""
    assert len(said.errors) == 1, said.err
    others = [
        line for line in said.err.splitlines() if line not in said.errors and not line.startswith("note: ")
    ]
    assert others == [], said.err
    return f"{said.status} {said.errors[0].removeprefix('sharpfield: error: ')}"
