"""Records: what was run and what came out, one line of JSON a run, appended so that a kill at any moment loses no line.

A line is written in one piece and forced to the disk. What a kill left half-written is not a record: it is cut off
before the next one is appended.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from sharpfield.benchmark.protocols import Measured
from sharpfield.errors import InputError, OutputError
from sharpfield.io.atomic import explain

if TYPE_CHECKING:
    from sharpfield.metrics import Scores

VERSION = 1  # of the record: what it means and how it is measured; another one does not count as done
FILE = "records.jsonl"


@dataclass(frozen=True)
class Run:
    """One run, as it is asked for: everything that decides what comes out.

    Parameters
    ----------
    fingerprint
        Hash of the pixels that the protocol takes of the light field.
    method, factor
        What is run.
    protocol
        Name and numbers of the protocol, as `Protocol.to_json` tells.
    settings
        What else was asked for: camera, preset, chroma, memory, and options of the method.
    options
        All options of the method with their values.
    """

    fingerprint: str
    method: str
    factor: int
    protocol: Mapping[str, Any]
    settings: Mapping[str, Any]
    options: Mapping[str, Any]

    @property
    def key(self) -> str:
        """Equal for runs that give the same result."""
        return json.dumps({"record": VERSION, **asdict(self)}, sort_keys=True)


@dataclass(frozen=True, eq=False)
class Record:
    """One run that is done.

    Parameters
    ----------
    run
        What was asked for.
    light_field
        What to call the light field.
    grid, size
        Rows and columns of views; height and width of a high-resolution view.
    seconds, peak_bytes
        How long the super-resolution took, and the peak resident memory of its process up to its end (None where
        the system does not tell).
    measured
        PSNR and SSIM of every view.
    upscale
        What `upscale` told of how it worked: options with what the views made impossible taken back, tiles, chroma,
        the search window where it was measured.
    reading
        How the light field was read: which views of it, which window.
    versions, machine
        What it was run with, and on.
    source, notes
        Where the light field was; what was remarked.
    kept
        Folder with the truth, the low resolution and the result, relative to the records; None when not kept.
    finished
        When, in UTC.
    """

    run: Run
    light_field: str
    grid: tuple[int, int]
    size: tuple[int, int]
    seconds: float
    peak_bytes: int | None
    measured: Measured
    upscale: Mapping[str, Any] = field(default_factory=dict)
    reading: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    machine: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    notes: tuple[str, ...] = ()
    kept: str | None = None
    finished: str = ""

    def scores(self, data_range: int | None = None) -> Scores:
        """Return PSNR and SSIM, that of the first data range of the protocol when None."""
        return self.measured.scores(data_range or next(iter(self.measured.ssim)))

    def to_json(self) -> dict[str, Any]:
        """Return what one line of the file holds."""
        rest = {name: getattr(self, name) for name in _PLAIN}
        return {"record": VERSION, **asdict(self.run), **rest, **self.measured.to_json()}

    @classmethod
    def from_json(cls, line: Mapping[str, Any]) -> Record:
        """Return what `to_json` wrote; a ValueError, KeyError or TypeError says that it is damaged."""
        if line["record"] != VERSION:
            raise ValueError(f"it is of version {line['record']}")
        run = Run(**{name: _checked(line, name, kind) for name, kind in _RUN.items()})
        rest = {name: _checked(line, name, kind) for name, kind in _PLAIN.items()}
        if not isinstance(run.protocol.get("name"), str):
            raise ValueError("it names no protocol")
        for name in ("grid", "size", "notes"):
            rest[name] = tuple(rest[name])
        return cls(run=run, measured=Measured.from_json(line), **rest)


# the fields of a line by name, and what they may be
_RUN: dict[str, Any] = {
    "fingerprint": str,
    "method": str,
    "factor": int,
    "protocol": dict,
    "settings": dict,
    "options": dict,
}
_PLAIN: dict[str, Any] = {
    "light_field": str,
    "source": str,
    "grid": list,
    "size": list,
    "seconds": (int, float),
    "peak_bytes": (int, type(None)),
    "upscale": dict,
    "reading": dict,
    "versions": dict,
    "machine": dict,
    "notes": list,
    "kept": (str, type(None)),
    "finished": str,
}


def _checked(line: Mapping[str, Any], name: str, kind: Any) -> Any:
    if not isinstance(line[name], kind):
        raise TypeError(f"its {name} is {line[name]!r}")
    return line[name]


class Records:
    """The file of records in a folder: `load` what is there, `append` what is done.

    Parameters
    ----------
    folder
        Where `records.jsonl` is, or will be.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.path = self.folder / FILE

    def load(self) -> tuple[dict[str, Record], tuple[str, ...]]:
        """Return the records by their keys, in the order of the file, and remarks on lines that are none.

        Of two records of one run the later counts. A last line that a kill cut off is no record and needs no remark:
        its run is done again.
        """
        try:
            lines = self.path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return {}, ()
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read: {explain(error)}") from error
        found: dict[str, Record] = {}
        remarks = []
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                record = Record.from_json(json.loads(line))
            except (ValueError, KeyError, TypeError) as error:
                if number < len(lines):
                    remarks.append(
                        f"{self.path}: line {number} is not used, {_why(error)}; its run is done again"
                    )
                continue
            found.pop(record.run.key, None)
            found[record.run.key] = record
        return found, tuple(remarks)

    def append(self, record: Record) -> None:
        """Add one record: on the disk when this returns, never half."""
        line = json.dumps(record.to_json(), allow_nan=False) + "\n"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            new = not self.path.exists()
            with self.path.open("a+b", buffering=0) as file, _alone(file):
                _cut_torn(file)
                _write_whole(file, line.encode())
                os.fsync(file.fileno())
            if new:
                _sync_folder(self.folder)
        except OSError as error:
            raise OutputError(f"{self.path}: cannot be written: {explain(error)}") from error


def _write_whole(file: IO[bytes], line: bytes) -> None:
    """Write a line in one piece, or nothing of it: a full disk takes a part and says so only afterwards."""
    end = file.seek(0, os.SEEK_END)
    if os.write(file.fileno(), line) < len(line):
        file.truncate(end)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _cut_torn(file: IO[bytes]) -> None:
    """Make the file end with a whole line: what a kill cut off goes, a record that lacks only its end stays."""
    end = file.seek(0, os.SEEK_END)
    start, tail = end, b""
    while start and b"\n" not in tail:
        step = min(start, 1 << 16)
        start -= step
        file.seek(start)
        tail = file.read(step) + tail
    torn = tail.rpartition(b"\n")[2]
    if not torn:
        return
    try:
        Record.from_json(json.loads(torn))
    except (ValueError, KeyError, TypeError):
        file.truncate(end - len(torn))
    else:
        os.write(file.fileno(), b"\n")


@contextmanager
def _alone(file: IO[bytes]) -> Iterator[None]:
    """Keep two benchmarks that write to one file out of each other's lines, where the system can."""
    try:
        import fcntl
    except ImportError:  # Windows: what is appended in one piece stays in one piece
        yield
        return
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


def _sync_folder(folder: Path) -> None:
    """Force a new file's name to the disk, too."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # folders cannot be opened on Windows
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _why(error: Exception) -> str:
    if isinstance(error, (json.JSONDecodeError, UnicodeDecodeError)):
        return "it is damaged"
    return f"it has no {error}" if isinstance(error, KeyError) else str(error)
