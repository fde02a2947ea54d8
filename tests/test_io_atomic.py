"""Outputs appear whole or not at all, whatever ends the run."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time

import pytest

from sharpfield import OutputError
from sharpfield.io.atomic import replacing


def contents(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_file_and_a_folder_appear_at_the_end(tmp_path):
    with replacing(tmp_path / "a" / "b.bin") as temporary:
        temporary.write_bytes(b"1")
        assert not (tmp_path / "a" / "b.bin").exists()
    with replacing(tmp_path / "c", folder=True) as temporary:
        (temporary / "d").write_bytes(b"2")
        assert not (tmp_path / "c").exists()
    assert contents(tmp_path) == ["a", "a/b.bin", "c", "c/d"]


@pytest.mark.parametrize("folder", [False, True])
@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt, MemoryError])
def test_failure_leaves_the_old_and_no_temporary(tmp_path, folder, failure):
    final = tmp_path / "out"
    with replacing(final, folder=folder) as temporary:
        (temporary / "x" if folder else temporary).write_bytes(b"old")
    before = contents(tmp_path)

    def fail_in_the_middle():
        with replacing(final, folder=folder, overwrite=True) as temporary:
            (temporary / "y" if folder else temporary).write_bytes(b"new")
            raise failure

    with pytest.raises(failure):
        fail_in_the_middle()
    assert contents(tmp_path) == before
    with pytest.raises(failure), replacing(tmp_path / "deep" / "er" / "out", folder=folder):
        raise failure
    assert contents(tmp_path) == before


@pytest.mark.parametrize("folder", [False, True])
def test_existing_output_needs_overwrite(tmp_path, folder):
    final = tmp_path / "out"
    for text, overwrite in (("old", False), ("new", True)):
        with replacing(final, folder=folder, overwrite=overwrite) as temporary:
            (temporary / text if folder else temporary).write_text(text)
    assert contents(tmp_path) == (["out", "out/new"] if folder else ["out"])
    with pytest.raises(OutputError, match="exists already; use --overwrite"), replacing(final, folder=folder):
        raise AssertionError("must be refused before any work")
    with (
        pytest.raises(OutputError, match=r"is a (file|folder) already and the output is a"),
        replacing(final, folder=not folder, overwrite=True),
    ):
        raise AssertionError("must be refused before any work")


def test_a_rival_that_came_first_is_kept(tmp_path):
    final = tmp_path / "out"

    def lose_the_race():
        with replacing(final) as temporary:
            temporary.write_text("mine")
            final.write_text("theirs")

    with pytest.raises(OutputError, match="exists already"):
        lose_the_race()
    assert final.read_text() == "theirs"
    assert contents(tmp_path) == ["out"]


def test_full_disk_is_one_line_and_leaves_nothing(tmp_path):
    with (
        pytest.raises(OutputError, match="the disk is full; free some space") as caught,
        replacing(tmp_path / "o"),
    ):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert "\n" not in str(caught.value)
    assert contents(tmp_path) == []


def test_a_path_through_a_file_is_unwritable(tmp_path):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(OutputError, match="cannot be written"),
        replacing(tmp_path / "file" / "out", folder=True),
    ):
        raise AssertionError("must be refused before any work")
    assert contents(tmp_path) == ["file"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_unwritable(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(OutputError, match="permission denied"), replacing(tmp_path / "out", folder=True):
        raise AssertionError("must be refused")
    tmp_path.chmod(0o700)


def test_the_current_folder_is_never_replaced(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for place in (".", "..", "../here", "../../" + tmp_path.name, tmp_path):
        with (
            pytest.raises(OutputError, match="give the output a name"),
            replacing(place, folder=True, overwrite=True),
        ):
            raise AssertionError("must be refused")


@pytest.mark.parametrize("folder", [False, True])
def test_an_output_named_through_itself_is_replaced(tmp_path, folder):
    (tmp_path / "out").mkdir()
    (tmp_path / "file").write_text("old")
    path = tmp_path / "out" / ".." / ("out" if folder else "file")
    with replacing(path, folder=folder, overwrite=True) as temporary:
        (temporary / "new" if folder else temporary).write_text("new")
    assert contents(tmp_path) == (["file", "out", "out/new"] if folder else ["file", "out"])
    assert (tmp_path / "file").read_text() == ("old" if folder else "new")


def test_a_path_through_a_folder_that_is_not_there_needs_it_not(tmp_path):
    with replacing(tmp_path / "missing" / ".." / "out", folder=True):
        pass
    assert contents(tmp_path) == ["out"]


WRITER = """
import sys, time, numpy as np, sharpfield as sf
lf = sf.LightField(np.zeros((3, 3, 8, 8), np.uint8))
def slow(event):
    print(event, flush=True)
    time.sleep(0.2)
sf.write(lf, sys.argv[1], overwrite=True, progress=slow, threads=2)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.parametrize("existing", [False, True])
def test_a_killed_or_interrupted_writer_leaves_no_half_result(tmp_path, number, existing):
    final = tmp_path / "out"
    if existing:
        final.mkdir()
        (final / "old_00_00.png").write_bytes(b"old")
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(final)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout.readline()  # it is in the middle of the views
    process.send_signal(number)
    process.communicate(timeout=30)
    assert process.returncode != 0
    assert final.exists() == existing
    if existing:
        assert contents(final) == ["old_00_00.png"]
    if number == signal.SIGINT:
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline and len(contents(tmp_path)) > 2 * existing:
            time.sleep(0.05)
        assert contents(tmp_path) == (["out", "out/old_00_00.png"] if existing else [])


def abandoned(final, number):
    """Kill a writer in the middle, and return the name of what it left."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(final)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout.readline()
    process.send_signal(number)
    process.communicate(timeout=30)
    (left,) = [path.name for path in final.parent.glob(f".{final.name}.*")]
    return left


on_linux = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="elsewhere nothing tells whose process it was"
)


@on_linux
def test_what_a_killed_run_left_goes_with_the_next_of_that_name(tmp_path):
    left = abandoned(tmp_path / "out", signal.SIGKILL)
    with replacing(tmp_path / "other", folder=True):
        assert (tmp_path / left).is_dir()  # of another name
    with replacing(tmp_path / "out", folder=True):
        assert not (tmp_path / left).exists()
    assert contents(tmp_path) == ["other", "out"]


@on_linux
def test_what_may_be_in_use_stays(tmp_path):
    name, number, writer, _ = abandoned(tmp_path / "out", signal.SIGKILL).removeprefix(".").split(".")
    space, process = writer.split("-")
    in_use = [
        f".{name}.{number}.{space}-{os.getpid()}.partial",  # its process lives
        f".{name}.{number}.{space}-1.partial",
        f".{name}.{number}.00000000-{process}.partial",  # of another machine
        f".{name}.{number}.partial",  # nothing tells
        f".{name}.{number}.{space}-{process}.old",  # the result that was there before
        f".{name}.more.{number}.{space}-{process}.partial",  # of another output
    ]
    for each in in_use:
        (tmp_path / each).touch()
    with replacing(tmp_path / "out", folder=True):
        pass
    assert contents(tmp_path) == sorted([*in_use, "out"])
