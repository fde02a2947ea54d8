"""One run in a process of its own: read, shrink, super-resolve, measure; so that its peak memory is its own.

`python -m sharpfield.benchmark` takes a job as a line of JSON on its input and reports lines of JSON on its output:
progress, then the result or the error. It ends when its input is closed: with whoever started it, even by a kill.
"""

from __future__ import annotations

import _thread
import hashlib
import json
import math
import os
import platform
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

import numpy as np

from sharpfield import __version__
from sharpfield.benchmark import protocols
from sharpfield.benchmark.records import Record, Run
from sharpfield.errors import InputError, SharpfieldError
from sharpfield.io import ReadOptions, open_views, write
from sharpfield.io.source import assemble
from sharpfield.lightfield import LightField
from sharpfield.parallel import Workers
from sharpfield.progress import Progress, ProgressCallback, part, silent
from sharpfield.upscaling import upscale

TRUTH, LOW = "truth", "low"  # folders of what is kept beside the results

# what `upscale` tells of itself and a record has already
_KNOWN = ("method", "factor", "camera", "preset", "seconds")

_PULSE = 0.1  # seconds between reports of progress
_PATIENCE = 10.0  # seconds to clean up in after an interrupt


@dataclass(frozen=True)
class Job:
    """A run, and what only its process needs to know.

    Parameters
    ----------
    run
        What is asked for.
    light_field, source
        Its name and its path.
    reading
        How to read it: arguments of `sharpfield.read`.
    kept
        Folder for the truth, the low resolution and the result, below `folder`; None to keep nothing.
    result
        Name of the result in that folder.
    folder
        Folder of the records.
    threads
        How many threads; all processors when None.
    """

    run: Run
    light_field: str
    source: str
    reading: Mapping[str, Any] = field(default_factory=dict)
    kept: str | None = None
    result: str = "result"
    folder: str = "."
    threads: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        return asdict(self)

    @classmethod
    def from_json(cls, line: Mapping[str, Any]) -> Job:
        """Return what `to_json` wrote."""
        return cls(**{**line, "run": Run(**line["run"])})


def read_views(
    path: str | Path,
    protocol: protocols.Protocol,
    reading: Mapping[str, Any],
    *,
    threads: int | None = None,
    progress: ProgressCallback = silent,
) -> LightField:
    """Read the views of a light field that a protocol takes; those that a person asked for go before them."""
    given = dict(reading)
    form = given.pop("format", None)
    options = ReadOptions(**given)
    with open_views(path, options, format=form) as source:
        if options.views is None:
            stored = source.grid[::-1] if options.transpose else source.grid
            rows, columns = protocol.grid(stored)
            options = replace(options, views=f"{rows}x{columns}")
        return assemble(source, options, threads=threads, progress=progress)


def do(job: Job, progress: ProgressCallback = silent) -> Record:
    """Do a run and return its record."""
    run, protocol = job.run, protocols.find(job.run.protocol["name"])
    lf = read_views(job.source, protocol, job.reading, threads=job.threads, progress=part(progress, 0, 0.05))
    if fingerprint(lf) != run.fingerprint:
        raise InputError(f"{job.source}: has changed while the benchmark ran; run it again")
    truth = protocol.prepare(lf, run.factor)
    del lf
    with Workers(job.threads) as workers:
        low = protocol.degraded(truth, run.factor, workers)
    asked = upscale_arguments(run)
    if job.kept is not None:
        _keep(truth, job, TRUTH)
        _keep(low, job, LOW)
    planes, size, notes = protocol.planes(truth), truth.size, truth.notes
    del truth  # the peak is that of the super-resolution, not of the benchmark around it
    progress(Progress("compiling", 0.07))
    few = low.select(slice(3), slice(3)).crop(slice(48), slice(48))
    with suppress(SharpfieldError):  # too few for the method, perhaps; the whole will tell
        upscale(few, run.factor, method=run.method, threads=job.threads, **asked)
    began = time.perf_counter()
    result = upscale(
        low, run.factor, method=run.method, threads=job.threads, progress=part(progress, 0.1, 0.95), **asked
    )
    seconds, peak = time.perf_counter() - began, peak_bytes()
    progress(Progress("measuring", 0.95))
    measured = protocol.measure(protocol.planes(result), planes)
    if job.kept is not None:
        _keep(result, job, job.result)
    done = {name: value for name, value in result.metadata["upscale"].items() if name not in _KNOWN}
    return Record(
        run=run,
        light_field=job.light_field,
        grid=low.grid,
        size=size,
        seconds=round(seconds, 3),
        peak_bytes=peak,
        measured=measured,
        upscale=done,
        reading=job.reading,
        versions=versions(),
        machine={**_machine(), "threads": Workers(job.threads).threads},
        source=job.source,
        notes=tuple(dict.fromkeys((*notes, *result.notes))),
        kept=None if job.kept is None else f"{job.kept}/{job.result}",
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def upscale_arguments(run: Run) -> dict[str, Any]:
    """Return what a run passes to `upscale`, beside the light field, the factor and the method."""
    options = {
        name: tuple(value) if isinstance(value, list) else value for name, value in run.options.items()
    }
    return {**options, **{name: run.settings[name] for name in ("camera", "preset", "chroma", "memory")}}


def fingerprint(lf: LightField) -> str:
    """Return a hash of the pixels: the same for the same views, whatever file they come from."""
    digest = hashlib.sha256(repr(lf.views.shape).encode())
    for place in np.ndindex(*lf.grid):
        digest.update(np.ascontiguousarray(lf.views[place], "<f4").data)
    return digest.hexdigest()[:32]


def versions() -> dict[str, str]:
    """Return the versions of what takes part in a result."""
    from importlib.metadata import version

    libraries = {name: version(name) for name in ("numpy", "scipy", "numba")}
    return {"sharpfield": __version__, "python": platform.python_version(), **libraries}


def peak_bytes() -> int | None:
    """Return the peak resident memory of this process, or None where the system does not tell."""
    try:
        # not getrusage: what it tells begins with the peak of the process that started this one
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        return int(status.split("VmHWM:")[1].split()[0]) * 1024
    except (OSError, IndexError, ValueError):
        pass
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _machine() -> dict[str, Any]:
    return {"system": platform.system(), "machine": platform.machine(), "processors": os.cpu_count()}


def _keep(lf: LightField, job: Job, name: str) -> None:
    assert job.kept is not None
    place = Path(job.folder) / job.kept / name
    if name == job.result or not place.exists():
        write(lf, place, overwrite=True, bits=8, threads=job.threads)


def main() -> int:
    """Take a job from the input, do it, and report on the output."""
    # what libraries print goes to the errors: the output is for the report
    report = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs start without it
    job = Job.from_json(json.loads(sys.stdin.buffer.readline()))
    threading.Thread(target=_end_with_input, args=(sys.stdin.buffer,), daemon=True).start()
    tell, told = _teller(report), -math.inf

    def progress(event: Progress) -> None:
        nonlocal told
        if time.monotonic() - told > _PULSE:
            told = time.monotonic()
            tell({"stage": event.stage, "fraction": event.fraction})

    try:
        tell({"record": do(job, progress).to_json()})
    except SharpfieldError as error:
        tell({"error": str(error)})
    except MemoryError:
        tell({"error": "out of memory; lower --memory, or take fewer or smaller views"})
    except Exception as error:
        traceback.print_exc()
        tell({"error": f"unexpected {type(error).__name__}: {error}"})
    return 0


def _teller(report: IO[str]) -> Callable[[Mapping[str, Any]], None]:
    """Return what writes one line of the report at a time: threads report progress, too."""
    lock = threading.Lock()

    def tell(line: Mapping[str, Any]) -> None:
        with lock:
            report.write(json.dumps(line) + "\n")
            report.flush()

    return tell


def _end_with_input(source: IO[bytes]) -> None:
    """Wait for the end of the input, then interrupt the run; temporary files go, and it ends in any case."""
    while source.read(1):
        pass
    _thread.interrupt_main()
    time.sleep(_PATIENCE)
    os._exit(1)
