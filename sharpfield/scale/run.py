"""A job from its beginning to the whole result: plan, hand over, record, resume, finish; one progress for all of it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sharpfield import catalogue
from sharpfield.errors import InputError, OptionError, OutputError, SharpfieldError
from sharpfield.io.atomic import explain
from sharpfield.io.record import describe
from sharpfield.io.zarr_store import create, zarr_library
from sharpfield.lightfield import LightField
from sharpfield.observe import Camera, whole_factor
from sharpfield.progress import Progress, ProgressCallback, part, silent
from sharpfield.scale import engine
from sharpfield.scale.journal import RUN, Journal, attributes, settle, store, versions
from sharpfield.scale.plan import Member, Plan, Request, check_request, each_budget, members, plan_blocks
from sharpfield.scale.work import Outcome, Task, files_digest, input_digest, plain
from sharpfield.upscaling import DEFAULT_CHROMA, as_camera, parse_memory


@dataclass(frozen=True)
class Finished:
    """What a job did.

    Parameters
    ----------
    path
        The result.
    light_fields, blocks
        How many there are in all.
    repeated
        How many of the blocks were done by an earlier run.
    seconds
        How long it took.
    notes
        What a person would want to know.
    """

    path: Path
    light_fields: int
    blocks: int
    repeated: int
    seconds: float
    notes: tuple[str, ...] = ()


def upscale_store(
    source: str | Path,
    out: str | Path,
    factor: int = 2,
    *,
    method: str = catalogue.PAPER_METHOD,
    preset: str = catalogue.DEFAULT_PRESET,
    disparity: tuple[int, int] | str | None = None,
    camera: str | Camera = "box",
    chroma: str | None = None,
    memory: str | float | None = None,
    threads: int | None = None,
    bits: int | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    block: int | None = None,
    overwrite: bool = False,
    progress: ProgressCallback | None = None,
    **options: Any,
) -> Finished:
    """Raise the resolution of a light field, or of a series of them, from disk into a Zarr store.

    Parameters
    ----------
    source
        A Zarr store, or a light field of any other format; a Zarr group or a folder of light fields is a series.
    out
        The Zarr store to be made. What a run that died left of it is gone on with.
    factor, method, preset, camera, chroma, options
        As for `upscale`, but for the method, `gb-sq` when not given: its blocks come out as in one piece to 0.01 dB,
        those of `sharp` to 0.1 dB; and but for the stop of GB in the preset `fast`: every block takes the same steps,
        so that the result does not depend on how the light field was cut.
    disparity
        Search window (lo, hi), HR pixels; (-6, 6) when None: nothing is read off pixels that are not in memory.
    memory
        Budget of the whole run, as `"2GB"`; with a scheduler, of each task.
    threads
        How many in all; with a scheduler, of each task (1 when None).
    bits
        Bits of the result, 8, 16 or 32 (float); those of the input when None.
    workers
        How many processes to start here; none when None.
    scheduler
        Address of a Dask scheduler, `tcp://host:port`, whose workers see the same paths.
    block
        Side of the blocks in low-resolution pixels, instead of what fits into the memory.
    overwrite
        Replace what is there, and forget an unfinished run with other parameters.
    progress
        Told how far it is.
    """
    began = time.perf_counter()
    if workers is not None:
        engine.leave_if_starting()
    zarr_library()
    _check(workers, scheduler, threads, block)
    if isinstance(disparity, str):
        raise OptionError(
            "what does not fit into memory is not searched for its disparities; give them: --disparity LO:HI "
            "(sharpfield info tells those of a part of it, with --crop)"
        )
    given = {**catalogue.even_options(method, preset, options), **options}
    if disparity is not None:
        given = {"disparity": tuple(disparity), **given}
    chroma = chroma or ("bilinear" if preset == "paper" else DEFAULT_CHROMA)
    request = Request(method, preset, given, as_camera(camera, whole_factor(factor)), chroma, bits)
    check_request(request)
    place, target = Path(source).absolute(), Path(out).absolute()
    if target == place or place in target.parents or target in place.parents:
        raise OptionError(f"{out}: is the input, or inside of it, or around it; choose another name")
    budget = each_budget(parse_memory(memory), workers)
    found = members(place)
    journal = Journal(target)
    try:
        with journal.lock():
            if journal.begin(request.parameters(), overwrite=overwrite):
                _check_whole(journal, found)
                note = f"{target}: is whole already; nothing was left to do"
                return Finished(target, len(found), 0, 0, time.perf_counter() - began, (note,))
            job = _Job(journal, request, found, budget, block, progress or silent, overwrite)
            if workers is None and scheduler is None:
                job.threads = threads
                engine.run_here(job.tasks(), job.done, job.inside)
            else:
                job.threads = (
                    engine.threads_each(workers, threads) if scheduler is None and workers else threads or 1
                )
                with engine.connected(scheduler, workers, threads) as client:
                    engine.run_on_cluster(job.tasks(), job.done, client)
            job.finish()
    except engine.SchedulerGoneError as error:
        name = scheduler or "of the local workers"
        raise SharpfieldError(
            f"the scheduler {name} is gone; what is done is kept: the same command goes on with it"
        ) from error
    except OSError as error:
        raise OutputError(
            f"{target}: cannot be written: {explain(error)}; what is done is kept: the same command goes on with it"
        ) from error
    return Finished(
        target,
        len(found),
        job.blocks,
        job.kept,
        time.perf_counter() - began,
        tuple(dict.fromkeys(job.notes)),
    )


def _check(workers: int | None, scheduler: str | None, threads: int | None, block: int | None) -> None:
    if workers is not None and scheduler is not None:
        raise OptionError("--workers starts processes here, --scheduler uses others': give one of them")
    for name, value, least in (("workers", workers, 1), ("threads", threads, 1), ("block", block, 8)):
        if value is not None and (not isinstance(value, int) or value < least):
            raise OptionError(f"{name} must be a whole number of at least {least}, not {value!r}")


def _check_whole(journal: Journal, found: tuple[Member, ...]) -> None:
    """Refuse to take a finished result for that of another input."""
    for each in found:
        place = journal.out / each.name if each.name else journal.out
        try:
            before = attributes(place)[RUN]["input"]["fingerprint"]
        except (FileNotFoundError, KeyError, TypeError):
            before = None
        if before != files_digest(each.path):
            raise OptionError(
                f"{journal.out}: was made from another input, or {each.path} has changed since; choose another "
                "output, or start anew with --overwrite"
            )


@dataclass
class _Job:
    """The state of a job while it runs; only the process that started it has it."""

    journal: Journal
    request: Request
    members: tuple[Member, ...]
    memory: float
    block: int | None
    report: ProgressCallback
    overwrite: bool = False
    threads: int | None = None
    blocks: int = 0
    kept: int = 0
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    left: dict[str, int] = field(default_factory=dict)
    plans: dict[str, Plan] = field(default_factory=dict)
    shares: dict[str, tuple[str, float]] = field(default_factory=dict)
    far: float = 0.0

    def tasks(self) -> Iterator[Task]:
        """Yield what is left to do, light field by light field, as it is asked for."""
        for each in self.members:
            try:
                yield from self._tasks_of(each)
            except InputError as error:
                if len(self.members) == 1:
                    raise
                self.problems.append(str(error))
                self.far += 1 / len(self.members)

    def _tasks_of(self, each: Member) -> Iterator[Task]:
        plan = self._plan(each)
        self.notes.extend(plan.notes if len(self.members) == 1 else ())
        searched = getattr(plan.settings.options, "disparity", None)
        if searched is not None and "disparity" not in self.request.options:
            self.notes.append(
                f"searched disparities {searched[0]}:{searched[1]}; --disparity LO:HI says others, sharpfield info "
                "with --crop tells those of a part"
            )
        marks, todo, count = self.journal.marks(each.name), [], 0
        for name, core in plan.cores():
            count += 1
            task = self._task(plan, core, marks / name)
            if not self._is_done(task):
                todo.append(task)
        self.blocks += count
        self.kept += count - len(todo)
        share = 1 / count / len(self.members)
        self.far += share * (count - len(todo))
        self.left[each.name], self.plans[each.name] = len(todo), plan
        if not todo:
            self._finish_one(each.name)
        for task in todo:
            self.shares[task.mark] = each.name, share
            yield task

    def _plan(self, each: Member) -> Plan:
        """Cut a light field, as an earlier run did when there was one, and make its store."""
        before = self.journal.plan(each.name)
        block = self.block if before is None else tuple(before["block"])
        plan = plan_blocks(each, self.request, self.memory, block)
        shape = _shape(plan)
        if before is not None and self.overwrite and any(before[name] != shape[name] for name in shape):
            self.journal.forget(each.name)
            before, plan = None, plan_blocks(each, self.request, self.memory, self.block)
        if before is not None:
            for name, value in shape.items():
                if before[name] != value:
                    raise OptionError(
                        f"{self.journal.out}: its unfinished run is of another input: {name} {before[name]} "
                        f"then, {value} now; start anew with --overwrite"
                    )
            if self.block not in (None, max(before["block"])) and tuple(before["block"]) != plan.size:
                raise OptionError(
                    f"{self.journal.out}: its unfinished run works in blocks of {before['block']}, now it is "
                    f"{self.block}; give the same, or start anew with --overwrite"
                )
            return plan
        self._create(plan)
        # on the disk before a block is said to be done: a block without its store is none
        settle(self.journal.target(each.name))
        store(
            self.journal.marks(each.name) / "plan.json", {**shape, "block": plan.block, "margin": plan.margin}
        )
        return plan

    def _create(self, plan: Plan) -> None:
        """Make the store of a light field's result, without pixels."""
        factor = self.request.camera.factor
        if plan.member.name:
            zarr_library().open_group(store=str(self.journal.result), mode="a", zarr_format=3)
        shape = (*plan.grid, plan.size[0] * factor, plan.size[1] * factor, plan.channels)
        small = {key: value for key, value in plan.metadata.items() if not isinstance(value, np.ndarray)}
        record = {
            "method": self.request.method,
            "preset": self.request.preset,
            "factor": factor,
            "camera": str(self.request.camera),
            "chroma": self.request.chroma,
            "options": plain(plan.settings.options),
            "tiles": plan.blocks[0] * plan.blocks[1],
        }
        words = LightField(
            np.zeros((1, 1, 1, 1, 1), np.float32),
            name=plan.title,
            bits=plan.settings.bits,
            notes=plan.notes,
            metadata={**small, "upscale": record},
        )
        # a chunk has one writer: blocks are cut into whole chunks
        create(
            self.journal.target(plan.member.name),
            shape,
            plan.settings.bits,
            json.loads(describe(words)[0]),
            chunk=(plan.block[0] * factor, plan.block[1] * factor),
        )

    def _task(self, plan: Plan, core: tuple[int, int, int, int], mark: Path) -> Task:
        return Task(
            source=str(plan.member.path),
            target=str(self.journal.target(plan.member.name)),
            mark=str(mark),
            grid=plan.grid,
            size=plan.size,
            channels=plan.channels,
            core=core,
            margin=plan.margin,
            settings=plan.settings,
            threads=self.threads,
        )

    def _is_done(self, task: Task) -> bool:
        try:
            before = Path(task.mark).read_text(encoding="ascii")
        except FileNotFoundError:
            return False
        if before != input_digest(task):
            if self.overwrite:
                Path(task.mark).unlink()
                return False
            raise OptionError(
                f"{task.source}: has changed since the unfinished run made {task.where.split(' of ')[0]} from it; "
                "put the input back, or start anew with --overwrite"
            )
        return True

    def done(self, task: Task, outcome: Outcome) -> None:
        """Take note of what became of a task."""
        name, share = self.shares.pop(task.mark)
        self.far += share
        if outcome.problem:
            if outcome.hopeless:
                raise OutputError(
                    f"{outcome.problem}; what is done is kept: the same command goes on with it"
                )
            self.problems.append(outcome.problem)
        else:
            self.left[name] -= 1
            if not self.left[name]:
                self._finish_one(name)
        self.report(Progress(self._stage(task), min(self.far, 1.0)))

    def inside(self, task: Task) -> ProgressCallback:
        """Return what is told about the inside of a task that runs in this process."""
        share = self.shares[task.mark][1]
        return part(self.report, self.far, self.far + share, f"{self._stage(task)}: ")

    def _stage(self, task: Task) -> str:
        name = Path(task.source).name
        return (
            f"{name} " + task.where.split(" of ")[0] if len(self.members) > 1 else task.where.split(" of ")[0]
        )

    def _finish_one(self, name: str) -> None:
        """Write on a finished light field how it was made."""
        plan = self.plans.pop(name)
        self.left.pop(name)
        self._sign(self.journal.target(name), plan.member)
        settle(self.journal.target(name))

    def _sign(self, place: Path, each: Member | None) -> None:
        group = zarr_library().open_group(store=str(place), mode="r+")
        made: Mapping[str, Any] = {"parameters": _with_version(self.request), "versions": versions()}
        if each is not None:
            made = {**made, "input": {"path": str(each.path), "fingerprint": files_digest(each.path)}}
        group.attrs[RUN] = made

    def finish(self) -> None:
        """Give the whole result its name, or say what is missing."""
        if self.problems:
            more = f" (and {len(self.problems) - 1} more)" if len(self.problems) > 1 else ""
            raise InputError(
                f"{self.problems[0]}{more}; all else is done and kept: mend it and give the same command again"
            )
        if self.members[0].name:
            self._sign(self.journal.result, None)
            settle(self.journal.result)
        self.journal.finish()


def _shape(plan: Plan) -> dict[str, Any]:
    """Return what an input must have in common with the one that an unfinished run began with."""
    size = {"grid": list(plan.grid), "size": list(plan.size)}
    return {**size, "channels": plan.channels, "bits": plan.settings.bits}


def _with_version(request: Request) -> dict[str, Any]:
    return {"sharpfield": versions()["sharpfield"], **json.loads(json.dumps(request.parameters()))}
