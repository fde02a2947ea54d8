"""The tasks as a Dask graph: in this process, on local worker processes, or on any cluster. Only here Dask is known.

Tasks are handed over as the workers can take them: a job of a million blocks holds a few hundred of them in memory.
"""

from __future__ import annotations

import logging
import multiprocessing
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain, islice
from typing import Any

from sharpfield.errors import OptionError, SharpfieldError
from sharpfield.parallel import available_threads
from sharpfield.progress import ProgressCallback
from sharpfield.scale.work import Outcome, Task, run_task

# tasks in the hands of the scheduler, for each thread of its workers: enough that none waits
_AHEAD = 4
_BATCH = 64
_WAIT = 20  # seconds that a scheduler has to answer

# Dask looks at what it does a hundred times a second, and at its memory; nobody sees that of a cluster of our own
_UNWATCHED = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.admin.tick.interval": "1s",
    "distributed.scheduler.active-memory-manager.start": False,
}

Done = Callable[[Task, Outcome], None]


class SchedulerGoneError(SharpfieldError):
    """The scheduler, or all of its workers, cannot be reached any more."""


def _dask() -> Any:
    try:
        import dask
    except ImportError:
        raise SharpfieldError(
            "runs over Zarr stores need Dask: pip install 'sharpfield[scale]' (Dask and Zarr 3)"
        ) from None
    return dask


def run_here(tasks: Iterable[Task], done: Done, progress: Callable[[Task], ProgressCallback]) -> None:
    """Run tasks in this process, one after another, each with all the threads that it was given.

    Parameters
    ----------
    tasks
        What to do.
    done
        Told what became of each; may raise to stop.
    progress
        Gives what is told about the inside of a task.
    """
    dask = _dask()

    def work(task: Task) -> None:
        done(task, run_task(task, progress(task)))

    todo = iter(tasks)
    while batch := list(islice(todo, _BATCH)):
        graph = {f"block-{number}": (work, task) for number, task in enumerate(batch)}
        dask.get(graph, list(graph))


def run_on_cluster(tasks: Iterable[Task], done: Done, client: Any) -> None:
    """Run tasks on the workers of a cluster; a task whose worker dies is given to another one."""
    from concurrent.futures import CancelledError

    from distributed import as_completed

    todo = iter(tasks)
    ahead = _AHEAD * max(_threads_of(client), 1)
    running: dict[Any, Task] = {}
    finished = as_completed(loop=client.loop, with_results=False, raise_errors=False)

    def hand_over(count: int) -> None:
        # `todo` is looked up anew: what must be repeated has been put before it
        for task in islice(todo, count):
            # the same block twice writes the same bytes: safe to repeat, but never taken for one done before
            future = client.submit(run_task, task, pure=False)
            running[future] = task
            finished.add(future)

    died: list[Task] = []
    alone: set[str] = set()
    try:
        hand_over(ahead)
        while running or died:
            if not running:
                task = died.pop()
                alone.add(task.mark)
                todo = iter([task])
                hand_over(1)
            future = next(finished)
            task = running.pop(future)
            outcome = _outcome(future, task)
            if outcome is not None and outcome.died and task.mark not in alone:
                # blamed for the death of a worker that had others, too: tried once more without them, at the end
                died.append(task)
            elif outcome is None:
                # its worker died with the result not yet fetched, or all is lost
                if not _answers(client):
                    raise SchedulerGoneError("the scheduler is gone")
                todo = chain([task], todo)
            else:
                done(task, outcome)
            future.release()
            hand_over(1)
    except (CancelledError, OSError, StopIteration) as error:
        raise SchedulerGoneError(f"the scheduler is gone ({type(error).__name__})") from error
    finally:
        if running and client.status == "running":
            client.cancel(list(running), force=True)


def _outcome(future: Any, task: Task) -> Outcome | None:
    """Return what became of a task, or None where nobody knows."""
    from concurrent.futures import CancelledError

    from distributed import KilledWorker

    try:
        outcome: Outcome = future.result(timeout=_WAIT)
    except (CancelledError, TimeoutError):
        return None
    except KilledWorker:
        return Outcome(
            problem=f"{task.where}: the workers that tried it died; give them more memory, or lower --memory",
            died=True,
        )
    except Exception as error:
        # what a worker cannot even begin: another version of sharpfield there, or none
        said = " ".join(str(error).split())[:200]
        return Outcome(problem=f"{task.where}: on its worker, {type(error).__name__}: {said}")
    return outcome


def _answers(client: Any) -> bool:
    """Whether the scheduler is still there."""
    if client.status != "running":
        return False
    try:
        client.nthreads()
    except (OSError, TimeoutError):
        return False
    return True


@contextmanager
def connected(scheduler: str | None, workers: int | None, threads: int | None) -> Iterator[Any]:
    """Give a client of the scheduler at an address, or of a cluster of our own with so many processes.

    Parameters
    ----------
    scheduler
        `tcp://host:port`.
    workers, threads
        Else, how many processes to start here, and how many threads each is meant to use.
    """
    _dask()
    try:
        from distributed import Client
    except ImportError:
        raise SharpfieldError(
            "workers and clusters need Dask's distributed scheduler: pip install 'sharpfield[scale]'"
        ) from None
    import dask

    with ExitStack() as stack:
        stack.enter_context(_quiet())
        stack.enter_context(dask.config.set({"distributed.comm.timeouts.connect": f"{_WAIT}s"}))
        if scheduler is None:
            place = stack.enter_context(tempfile.TemporaryDirectory(prefix="sharpfield-dask-"))
            cluster = local_cluster(workers or 1, place)
            stack.callback(cluster.close, timeout=5)
            address: Any = cluster
        else:
            address = scheduler
        try:
            client = Client(address, timeout=_WAIT, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            reason = " ".join(str(error).split())[:150]
            raise OptionError(f"--scheduler {scheduler}: cannot be reached ({reason})") from error
        stack.callback(client.close, timeout=5)
        yield client


def leave_if_starting() -> None:
    """End a worker process that, as it starts, runs the script that started it; the parent says what to do."""
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise SystemExit(1)


def local_cluster(workers: int, place: str) -> Any:
    """Start a scheduler in this process and so many worker processes beside it.

    Parameters
    ----------
    workers
        How many processes.
    place
        A folder for what Dask may want to store.
    """
    import dask
    from distributed import LocalCluster

    # the workers get these with the rest of the configuration
    with dask.config.set(_UNWATCHED):
        try:
            return LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                # the budget is kept by the size of the blocks
                memory_limit=0,
                dashboard_address=None,
                # it serves its state over HTTP all the same: here only, at any port, so that two runs do not meet
                scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
                local_directory=place,
                silence_logs=logging.CRITICAL,
            )
        except RuntimeError as error:
            raise SharpfieldError(
                f"the worker processes could not be started ({error}); in a script, call this below "
                "`if __name__ == '__main__':`, since each of them reads the script anew"
            ) from None


def threads_each(workers: int, threads: int | None) -> int:
    """Return how many threads each of some processes gets."""
    return max((threads or available_threads()) // workers, 1)


def _threads_of(client: Any) -> int:
    return sum(int(count) for count in client.nthreads().values())


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Dask's own log off the terminal: what a person must know becomes one line of ours."""
    rooms = ("distributed", "tornado", "asyncio")
    known = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in rooms]
    loggers = [logging.getLogger(name) for name in known]
    before = [each.level for each in loggers]
    for each in loggers:
        each.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for each, level in zip(loggers, before, strict=True):
            each.setLevel(level)
