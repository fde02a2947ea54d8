"""Threads: one pool of Python threads over views and pairs of views.

Kernels release the interpreter lock, so plain threads scale; Numba's own `parallel=True` is not used because
the threading layer it picks differs by machine (one aborts when two threads enter it, another dies after a fork).
Work is split so that every output has one writer and a fixed order of sums: any number of threads gives the
same bits.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from sharpfield.errors import OptionError

Item = TypeVar("Item")
Result = TypeVar("Result")


def available_threads() -> int:
    """Return how many processors this process may use (a container's or a scheduler's limit counts)."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1


class Workers:
    """A pool of `threads` threads (all processors when None), used as a context.

    Parameters
    ----------
    threads
        How many threads; 1 runs everything in the caller's thread.
    """

    def __init__(self, threads: int | None = None) -> None:
        if threads is not None and (not isinstance(threads, int) or threads < 1):
            raise OptionError(f"threads must be a whole number of at least 1, not {threads!r}")
        self.threads = threads or available_threads()
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Workers:
        if self.threads > 1:
            self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix="sharpfield")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            # after an error or Ctrl-C the tasks not yet begun are dropped, the running ones end in milliseconds
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None

    def map(self, task: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """Run `task` on every item, in any order, and return the results in the items' order."""
        if self._pool is None:
            return [task(item) for item in items]
        return list(self._pool.map(task, items))


class Scratch:
    """Arrays of one shape for tasks to work in, as many as run at a time.

    A new array for every task would be memory that the system has to clear first.

    Parameters
    ----------
    shape, kind
        Of the arrays, which come with whatever is in them.
    """

    def __init__(self, shape: tuple[int, ...], kind: DTypeLike) -> None:
        self._shape, self._kind = shape, kind
        self._free: SimpleQueue[NDArray] = SimpleQueue()

    @contextmanager
    def lent(self) -> Iterator[NDArray]:
        """Give an array that nobody else has meanwhile."""
        try:
            array = self._free.get_nowait()
        except Empty:
            array = np.empty(self._shape, self._kind)
        try:
            yield array
        finally:
            self._free.put(array)
