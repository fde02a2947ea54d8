"""What may go wrong, on real clusters of separate processes: the result is byte for byte that of an undisturbed run.

Killed workers, killed runs, a scheduler that is gone, a full disk, a damaged input.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import dask
import numpy as np
import psutil
import pytest
from distributed import LocalCluster

import sharpfield as sf
from sharpfield.scale import upscale_store

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and mounts of Unix")

ASKED = {"method": "bicubic", "block": 10}
WORDS = ["--method", "bicubic", "--block", "10", "--quiet"]
BLOCKS = 24
PATIENCE = 300  # seconds that a machine with much else to do may take to start a process


@pytest.fixture(scope="module")
def calm(tmp_path_factory):
    """Return a folder with an input and what an undisturbed run makes of it, chunk by chunk."""
    folder = tmp_path_factory.mktemp("calm")
    rng = np.random.default_rng(0)
    sf.write(sf.LightField(rng.integers(0, 256, (3, 3, 60, 40, 3), np.uint8)), folder / "in.zarr")
    assert upscale_store(folder / "in.zarr", folder / "out.zarr", **ASKED).blocks == BLOCKS
    return folder, content(folder / "out.zarr")


@pytest.fixture(scope="module")
def cluster():
    """Return a cluster of two processes."""
    with (
        # two workers may die on a task, not four: the test that needs it takes half the time
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            memory_limit=0,
            silence_logs=50,
        ) as made,
    ):
        yield made


def content(store):
    return {path.name: path.read_bytes() for path in (store / "views").iterdir()}


def marks(out):
    return len(list((out.parent / f".{out.name}.unfinished").glob("run-*/done/*/[0-9]*")))


def test_a_cluster_makes_the_same_bytes(calm, cluster, tmp_path):
    folder, want = calm
    done = upscale_store(
        folder / "in.zarr", tmp_path / "out.zarr", scheduler=cluster.scheduler_address, **ASKED
    )
    assert done.blocks == BLOCKS
    assert content(tmp_path / "out.zarr") == want


def test_a_worker_killed_in_the_middle_of_a_chunk(calm, cluster, tmp_path, monkeypatch):
    folder, want = calm
    flag = tmp_path / "writing"
    monkeypatch.setattr("sharpfield.scale.engine.run_task", StopWhileWriting(str(flag)))
    victims = []

    def kill():
        deadline = time.monotonic() + PATIENCE
        while not flag.exists() and time.monotonic() < deadline:
            time.sleep(0.001)
        victims.append(int(flag.read_text()))
        os.kill(victims[0], signal.SIGKILL)

    with ThreadPoolExecutor(1) as beside:
        killing = beside.submit(kill)
        upscale_store(folder / "in.zarr", tmp_path / "out.zarr", scheduler=cluster.scheduler_address, **ASKED)
        killing.result()
    assert not psutil.pid_exists(victims[0])
    # neither the torn chunk nor what lay beside it
    assert content(tmp_path / "out.zarr") == want


class StopWhileWriting:
    """Runs tasks, but stops for ever, once, between the bytes of a chunk in the middle of a block."""

    def __init__(self, flag):
        self.flag = flag

    def __call__(self, task):
        from pathlib import Path

        from sharpfield.scale import work

        if task.core == (20, 30, 10, 20) and not Path(self.flag).exists():
            array, views = work.open_for_writing(Path(task.target)), Path(task.target) / "views"
            work.open_for_writing = lambda _: self
            self.left, self.array, self.views = 5, array, views
        return work.run_task(task)

    def __setitem__(self, region, values):
        from pathlib import Path

        self.array[region] = values
        self.left -= 1
        if not self.left:
            chunk = self.views / self.array.metadata.encode_chunk_key((*region[:2], 2, 1, 0))
            whole = chunk.read_bytes()
            # as Zarr is found in the middle of it: before 3.1 in the chunk itself, since then in a file beside it
            chunk.write_bytes(whole[: len(whole) // 2])
            chunk.with_suffix(".0123456789abcdef.partial").write_bytes(whole[: len(whole) // 2])
            ready = Path(self.flag).with_suffix(".new")
            ready.write_text(str(os.getpid()))
            ready.replace(self.flag)
            time.sleep(600)


def test_a_block_that_kills_its_workers_is_named_and_the_others_done(calm, cluster, tmp_path, monkeypatch):
    folder, _ = calm
    # what the workers run is found by name: there it ends the process, as the system does when memory runs out
    monkeypatch.setattr("sharpfield.scale.engine.run_task", DieOnOne())
    with pytest.raises(sf.InputError) as caught:
        upscale_store(folder / "in.zarr", tmp_path / "out.zarr", scheduler=cluster.scheduler_address, **ASKED)
    assert re.search(r"block 0:10,10:20 of .*: the workers that tried it died", str(caught.value))
    assert marks(tmp_path / "out.zarr") == BLOCKS - 1  # though others were blamed for the same deaths


class DieOnOne:
    """Runs tasks, but for one that ends its process."""

    def __call__(self, task):
        from sharpfield.scale.work import run_task

        if task.core == (0, 10, 10, 20):
            os.kill(os.getpid(), signal.SIGKILL)
        return run_task(task)


def test_a_damaged_chunk_of_the_input_is_named_and_all_else_is_done(calm, cluster, tmp_path):
    folder, want = calm
    shutil.copytree(folder / "in.zarr", tmp_path / "in.zarr")
    # two chunks high, so that only the blocks below see the damage
    lf = sf.read(folder / "in.zarr")
    chunked = recut(lf, tmp_path / "in.zarr")
    whole = chunked.read_bytes()
    chunked.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(sf.InputError) as caught:
        upscale_store(
            tmp_path / "in.zarr", tmp_path / "out.zarr", scheduler=cluster.scheduler_address, **ASKED
        )
    assert f"{chunked}: is damaged or truncated" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert marks(tmp_path / "out.zarr") == 8  # the upper two of six rows: the third sees it in its halo
    chunked.write_bytes(whole)
    done = upscale_store(tmp_path / "in.zarr", tmp_path / "out.zarr", **ASKED)
    assert (done.blocks, done.repeated) == (BLOCKS, 8)
    assert content(tmp_path / "out.zarr") == want


def recut(lf, path):
    """Store a light field in chunks of 30 rows and return one of the lower ones."""
    from sharpfield.io.record import describe
    from sharpfield.io.zarr_store import create

    shutil.rmtree(path)
    array = create(path, lf.views.shape, 8, __import__("json").loads(describe(lf)[0]), chunk=(30, 40))
    array[...] = np.round(lf.views * 255).astype(np.uint8)
    return path / "views" / "c.1.2.1.0.0"


def start(*words):
    """Start `sharpfield WORDS` as a process of its own, with its workers in its own group."""
    command = [sys.executable, "-m", "sharpfield", *map(str, words)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def test_a_run_killed_at_ten_random_moments(tmp_path):
    rng = np.random.default_rng(1)
    sf.write(sf.LightField(rng.integers(0, 256, (2, 2, 120, 80, 3), np.uint8)), tmp_path / "in.zarr")
    upscale_store(tmp_path / "in.zarr", tmp_path / "calm.zarr", **ASKED)
    place, kept = tmp_path / "place", [0]
    place.mkdir()
    out = place / "out.zarr"
    chance = random.Random(7)
    for number in range(10):
        # most with two workers; the kill is everybody's, as a power cut is
        who = ("--threads", 1) if number % 5 == 2 else ("--workers", 2)
        with start("upscale", tmp_path / "in.zarr", out, *WORDS, *who) as run:
            # some die before they have begun, most soon after a block or two were done
            goal = 0 if number % 5 == 4 else chance.randint(1, 2)
            deadline = time.monotonic() + PATIENCE
            while run.poll() is None and marks(out) < kept[-1] + goal and time.monotonic() < deadline:
                time.sleep(0.001)
            time.sleep(chance.random() * (0.02 if goal else 1.0))
            assert run.poll() is None
            os.killpg(run.pid, signal.SIGKILL)
            run.communicate()
        assert not out.exists()
        kept.append(marks(out))
        assert kept[-1] >= kept[-2] + goal
    finished = start("upscale", tmp_path / "in.zarr", out, *WORDS, "--workers", 2, "--json")
    said, complaint = finished.communicate()
    assert (finished.returncode, complaint) == (0, "")
    told = json.loads(said)
    assert (told["blocks"], told["blocks_done_before"]) == (96, kept[-1])
    assert content(out) == content(tmp_path / "calm.zarr")
    assert os.listdir(place) == ["out.zarr"]


def test_a_run_with_workers_killed_and_gone_on_without(calm, tmp_path):
    folder, want = calm
    out = tmp_path / "out.zarr"
    with start("upscale", folder / "in.zarr", out, *WORDS, "--workers", 2) as run:
        deadline = time.monotonic() + PATIENCE
        while run.poll() is None and marks(out) < 3 and time.monotonic() < deadline:
            time.sleep(0.001)
        run.kill()  # the workers notice that it is gone
        run.communicate()
    assert 3 <= marks(out) <= BLOCKS
    upscale_store(folder / "in.zarr", out, **ASKED)
    assert content(out) == want


def test_the_scheduler_gone(calm, tmp_path):
    folder, want = calm
    out, place = tmp_path / "out.zarr", tmp_path / "scheduler.json"
    common = ["--scheduler-file", str(place), "--no-dashboard"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    scheduler = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", *common], **quiet
    )
    worker = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_worker", "--nthreads", "1", "--no-nanny", *common],
        **quiet,
    )
    try:
        deadline = time.monotonic() + PATIENCE
        while not place.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        address = re.search(r"tcp://[^\"]+", place.read_text())[0]
        with pytest.raises(sf.SharpfieldError) as caught:
            upscale_store(
                folder / "in.zarr",
                out,
                scheduler=address,
                progress=lambda event: scheduler.kill(),
                **ASKED,
            )
        assert str(caught.value) == (
            f"the scheduler {address} is gone; what is done is kept: the same command goes on with it"
        )
    finally:
        for each in (scheduler, worker):
            each.kill()
            each.wait()
    assert marks(out) >= 1
    upscale_store(folder / "in.zarr", out, **ASKED)
    assert content(out) == want


@pytest.fixture
def small_disk(tmp_path):
    """Return a folder on a disk of 200 kB; skipped where none can be made."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("a small disk needs the right to mount one")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.parametrize("on_cluster", [False, True])
def test_the_disk_full(calm, small_disk, on_cluster, request):
    folder, want = calm
    scheduler = request.getfixturevalue("cluster").scheduler_address if on_cluster else None
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(60_000))
    with pytest.raises(sf.OutputError) as caught:
        upscale_store(folder / "in.zarr", small_disk / "out.zarr", scheduler=scheduler, **ASKED)
    text = str(caught.value)
    assert "the disk is full; free some space" in text
    assert "the same command goes on with it" in text
    assert "\n" not in text
    assert not (small_disk / "out.zarr").exists()
    assert 1 <= marks(small_disk / "out.zarr") < BLOCKS
    ballast.unlink()
    subprocess.run(["mount", "-o", "remount,size=8m", str(small_disk)], check=True)
    done = upscale_store(folder / "in.zarr", small_disk / "out.zarr", **ASKED)
    assert done.repeated >= 1
    assert content(small_disk / "out.zarr") == want


@pytest.mark.parametrize("guarded", [True, False])
def test_a_script_that_starts_workers(calm, tmp_path, guarded):
    folder, want = calm
    call = f"sf.upscale_store({str(folder / 'in.zarr')!r}, 'out.zarr', workers=2, **{ASKED!r})"
    script = tmp_path / "script.py"
    guard = "if __name__ == '__main__': " if guarded else ""
    script.write_text(f"import sharpfield as sf\n{guard}{call}\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE
    )
    if guarded:
        assert done.returncode == 0
        assert content(tmp_path / "out.zarr") == want
    else:
        # each worker would run the script that starts workers; one error that says what to do, and nothing is left
        assert done.returncode == 1
        last = done.stderr.strip().splitlines()[-1]
        assert re.match(r"sharpfield\.errors\.SharpfieldError: .* could not be started .*__main__", last)
        assert done.stderr.count("sharpfield.errors") == 1
        assert os.listdir(tmp_path) == ["script.py"]
