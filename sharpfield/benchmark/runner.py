"""All runs of a benchmark: what is asked for, less what the records have already; each in a process of its own."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from sharpfield import catalogue
from sharpfield.benchmark import protocols
from sharpfield.benchmark.job import Job, fingerprint, read_views
from sharpfield.benchmark.plan import Plan
from sharpfield.benchmark.records import Record, Records, Run
from sharpfield.errors import InputError, OptionError, SharpfieldError
from sharpfield.progress import Progress, ProgressCallback, part, silent

KEPT = "results"

_READING = 0.02  # part of the whole that telling the light fields apart takes, for the progress bar
_PATIENCE = 15.0  # seconds for a process to end after its input is closed


@dataclass(frozen=True)
class Outcome:
    """What a benchmark came to.

    Parameters
    ----------
    records
        Of all runs that were asked for and are done, in the order of asking.
    repeated
        How many of them were done already before.
    failures
        What went wrong with the others.
    remarks
        What a person should know of the light fields and the records.
    """

    records: tuple[Record, ...]
    repeated: int = 0
    failures: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Subject:
    """A light field to run on."""

    path: str
    name: str
    fingerprint: str
    pixels: int


def run_benchmark(
    paths: Sequence[str | Path],
    plan: Plan,
    output: str | Path,
    *,
    names: Sequence[str] = (),
    keep: bool = False,
    threads: int | None = None,
    progress: ProgressCallback = silent,
) -> Outcome:
    """Shrink, super-resolve and measure every light field, and record each run as soon as it is done.

    Parameters
    ----------
    paths
        Light fields, as `sharpfield.read` takes them.
    plan
        What to run on each.
    output
        Folder of the records; runs that it has already are not done again.
    names
        What to call the light fields, instead of the names of their files.
    keep
        Keep the truth, the low resolution and the results as 8-bit views, for figures.
    threads
        How many threads a run has; all processors when None.
    progress
        Told how far the whole is.
    """
    if names and len(names) != len(paths):
        raise OptionError(
            f"there are {len(paths)} light fields and {len(names)} names; give one name for each"
        )
    records = Records(output)
    done, damaged = records.load()
    subjects, remarks = _subjects(paths, plan, names, threads, part(progress, 0, _READING))
    jobs = [
        _job(run, subject, records.folder, keep, plan, threads)
        for subject in subjects
        for run in plan.runs(subject.fingerprint)
    ]
    left = [job for job in jobs if not _is_done(done.get(job.run.key), job, records.folder)]
    sizes = {subject.fingerprint: subject.pixels for subject in subjects}
    costs = [_cost(job, sizes[job.run.fingerprint]) for job in left]
    failures, spent = [], 0.0
    for number, (job, cost) in enumerate(zip(left, costs, strict=True), 1):
        begin, end = (_READING + (1 - _READING) * at / sum(costs) for at in (spent, spent + cost))
        what = f"{job.light_field} x{job.run.factor} {job.run.method}"
        told = part(progress, begin, end, f"run {number} of {len(left)}, {what}: ")
        spent += cost
        try:
            record = _run_apart(job, told)
        except SharpfieldError as error:
            failures.append(f"{what}: {error}")
            continue
        records.append(record)
        done[job.run.key] = record
    progress(Progress("done", 1.0))
    found = [replace(done[job.run.key], light_field=job.light_field) for job in jobs if job.run.key in done]
    return Outcome(
        tuple(found), len(jobs) - len(left), tuple(failures), (*damaged, *remarks, *_other_versions(found))
    )


def _subjects(
    paths: Sequence[str | Path],
    plan: Plan,
    names: Sequence[str],
    threads: int | None,
    progress: ProgressCallback,
) -> tuple[list[_Subject], list[str]]:
    """Read every light field once, to know it by its pixels; what cannot be read is told before any work."""
    protocol, found, remarks = protocols.find(plan.protocol), dict[str, _Subject](), list[str]()
    for number, path in enumerate(paths):
        told = part(progress, number / len(paths), (number + 1) / len(paths), f"{path}: ")
        lf = read_views(path, protocol, plan.reading or {}, threads=threads, progress=told)
        name, pixels = names[number] if names else lf.name, fingerprint(lf)
        if lf.grid != (protocol.views, protocol.views):
            remarks.append(
                f"{path}: measured on {lf.grid[0]}x{lf.grid[1]} views, not on the {protocol.views}x{protocol.views} "
                f"of the protocol {protocol.name}"
            )
        if pixels in found:
            remarks.append(f"{path}: has the pixels of {found[pixels].path} and is not run again")
            continue
        found[pixels] = _Subject(str(path), name, pixels, lf.views.size)
    return list(found.values()), remarks


def _job(run: Run, subject: _Subject, folder: Path, keep: bool, plan: Plan, threads: int | None) -> Job:
    place = re.sub(r"[^\w.-]+", "-", subject.name).strip("-.") or "light-field"
    kept = f"{KEPT}/{place}-{run.fingerprint[:8]}/x{run.factor}-{run.protocol['name']}"
    # runs of one method that differ in an option have results of their own
    mark = hashlib.sha256(run.key.encode()).hexdigest()[:8]
    return Job(
        run=run,
        light_field=subject.name,
        source=subject.path,
        reading=dict(plan.reading or {}),
        kept=kept if keep else None,
        result=f"{run.method}-{mark}",
        folder=str(folder),
        threads=threads,
    )


def _is_done(record: Record | None, job: Job, folder: Path) -> bool:
    """Return whether a run needs no repetition: it is recorded, and its result is there if it is to be kept."""
    if record is None or job.kept is None:
        return record is not None
    return record.kept is not None and (folder / record.kept).is_dir()


def _cost(job: Job, pixels: int) -> float:
    """Guess how long a run takes, relative to others: methods that hold more a pixel do more with it."""
    method = catalogue.find(job.run.method)
    try:
        options = catalogue.make_options(job.run.method, job.run.settings["preset"])
        need = method.plan(options, (5, 5), (1000, 1000))
    except SharpfieldError:
        return float(pixels)
    return pixels * need.bytes_per_pixel


def _other_versions(records: Sequence[Record]) -> list[str]:
    from sharpfield import __version__

    older = sorted(
        {record.versions.get("sharpfield", "an unknown version") for record in records} - {__version__}
    )
    if not older:
        return []
    return [
        f"some of these runs were done by sharpfield {', '.join(older)}, this is {__version__}; "
        "another --output runs them again"
    ]


def _run_apart(job: Job, progress: ProgressCallback) -> Record:
    """Do a run in a process of its own; it ends when this one does, however that is."""
    root = str(Path(__file__).resolve().parents[2])
    places = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    with tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(
            # -P: what lies in the folder that a person happens to be in is not imported
            [sys.executable, "-P", "-m", "sharpfield.benchmark"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(places)},
        )
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            with suppress(BrokenPipeError):  # it has died already? its end says why
                child.stdin.write(json.dumps(job.to_json()).encode() + b"\n")
                child.stdin.flush()
            answer = _listen(child.stdout, progress)
        finally:
            _end(child)
        if "record" in answer:
            return Record.from_json(answer["record"])
        if "error" in answer:
            raise InputError(answer["error"])
        errors.seek(0)
        raise InputError(_death(child.returncode, errors.read().decode(errors="replace")))


def _listen(lines: IO[bytes], progress: ProgressCallback) -> dict[str, Any]:
    """Pass the progress on until the record or the error comes; empty when neither does."""
    for line in lines:
        told: dict[str, Any] = json.loads(line)
        if "stage" not in told:
            return told
        progress(Progress(told["stage"], told["fraction"]))
    return {}


def _end(child: subprocess.Popen[bytes]) -> None:
    """Close the child's input, which ends it, and wait for it."""
    for pipe in (child.stdin, child.stdout):
        assert pipe is not None
        with suppress(BrokenPipeError):
            pipe.close()
    try:
        with suppress(subprocess.TimeoutExpired):
            child.wait(_PATIENCE)
    finally:
        child.kill()  # does nothing to a process that has ended
        child.wait()


def _death(status: int, said: str) -> str:
    """Say how a process ended that could not say it itself."""
    if status == -getattr(signal, "SIGKILL", 9):
        return "its process was killed, as the system does when memory runs out; lower --memory, or close programs"
    last = said.strip().splitlines()[-1] if said.strip() else "no message"
    return f"its process ended with status {status}: {last}"
