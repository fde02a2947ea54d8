"""Threads: results in order, errors that stop the rest, scratch that nobody else has meanwhile."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from sharpfield.errors import OptionError
from sharpfield.parallel import Scratch, Workers


@pytest.mark.parametrize("threads", [1, 3])
def test_results_come_in_the_order_of_the_items(threads):
    def late(item: int) -> int:
        time.sleep(0.002 * (5 - item))
        return item * item

    with Workers(threads) as workers:
        assert workers.map(late, range(5)) == [0, 1, 4, 9, 16]


@pytest.mark.parametrize("threads", [0, -1, 2.5, "2"])
def test_a_number_of_threads_without_meaning_is_refused(threads):
    with pytest.raises(OptionError, match="threads must be a whole number"):
        Workers(threads)


def test_an_error_in_a_task_comes_out():
    with Workers(2) as workers, pytest.raises(ZeroDivisionError):
        workers.map(lambda item: 1 // item, [1, 0, 2])


def test_scratch_is_lent_to_one_at_a_time_and_used_again():
    scratch = Scratch((2, 3), np.int32)
    with scratch.lent() as one, scratch.lent() as other:
        assert one.shape == other.shape == (2, 3)
        assert one.dtype == other.dtype == np.int32
        assert one is not other
        first = {id(one), id(other)}
    with scratch.lent() as again:
        assert id(again) in first
    with pytest.raises(RuntimeError), scratch.lent() as kept:
        raise RuntimeError
    with scratch.lent() as one, scratch.lent() as other:  # it came back in spite of the error
        assert {id(one), id(other)} == first
        assert id(kept) in first


def test_no_more_scratch_than_threads():
    scratch, seen, lock = Scratch((4,), np.float32), set(), threading.Lock()

    def work(item: int) -> bool:
        with scratch.lent() as room:
            with lock:
                seen.add(id(room))
            room[:] = item
            time.sleep(0.001)
            return bool((room == item).all())

    with Workers(3) as workers:
        assert all(workers.map(work, range(30)))
    assert len(seen) <= 3
