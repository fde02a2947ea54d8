"""What an unfinished run leaves, when something has changed before the next: never a mixture, and never a dead end."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from stopping import StopHereError, stop_after

import sharpfield as sf
from sharpfield.scale import upscale_store, work

ASKED = {"method": "bicubic", "block": 11}


def scene(size=(33, 21), seed=0):
    rng = np.random.default_rng(seed)
    return sf.LightField(rng.integers(0, 256, (2, 2, *size, 3), np.uint8))


def content(store):
    return {path.name: path.read_bytes() for path in (store / "views").iterdir()}


def test_a_worker_still_busy_with_an_abandoned_run_spoils_nothing(tmp_path, monkeypatch):
    sf.write(scene(), tmp_path / "in.zarr")
    upscale_store(tmp_path / "in.zarr", tmp_path / "calm.zarr", **{**ASKED, "method": "bilinear"})
    handed_over = []
    whole = work.run_task

    def run_task(task, progress):
        handed_over.append(task)
        return whole(task, progress)

    monkeypatch.setattr("sharpfield.scale.engine.run_task", run_task)
    with pytest.raises(StopHereError):
        upscale_store(tmp_path / "in.zarr", tmp_path / "out.zarr", progress=stop_after(2), **ASKED)
    abandoned, told = handed_over[0], []

    def late(event):
        # a worker of a cluster goes on with what it has begun after the run was stopped: it ends here, when the next
        # run, with other parameters, has done the same block
        if ": " not in event.stage and len(handed_over) == 5:
            told.append(whole(abandoned).problem)

    asked = {**ASKED, "method": "bilinear", "overwrite": True}
    upscale_store(tmp_path / "in.zarr", tmp_path / "out.zarr", progress=late, **asked)
    assert len(told) == 1
    assert told[0]
    assert content(tmp_path / "out.zarr") == content(tmp_path / "calm.zarr")
    assert sorted(os.listdir(tmp_path)) == ["calm.zarr", "in.zarr", "out.zarr"]


@pytest.mark.parametrize("changed", [{"seed": 1}, {"size": (40, 21)}])
def test_another_input_under_an_older_result_with_overwrite(tmp_path, changed):
    sf.write(scene(), tmp_path / "in.zarr")
    upscale_store(tmp_path / "in.zarr", tmp_path / "out.zarr", **{**ASKED, "method": "bilinear"})
    asked = {**ASKED, "overwrite": True}
    with pytest.raises(StopHereError):
        upscale_store(tmp_path / "in.zarr", tmp_path / "out.zarr", progress=stop_after(2), **asked)
    sf.write(scene(**changed), tmp_path / "in.zarr", overwrite=True)
    done = upscale_store(tmp_path / "in.zarr", tmp_path / "out.zarr", **asked)
    assert done.repeated == 0
    upscale_store(tmp_path / "in.zarr", tmp_path / "calm.zarr", **ASKED)
    assert content(tmp_path / "out.zarr") == content(tmp_path / "calm.zarr")


@pytest.mark.parametrize("text", ["", "[]", '{"method": "bicubic"}'])
def test_a_damaged_record_is_said_and_overwritten(tmp_path, text):
    sf.write(scene(), tmp_path / "in.zarr")
    with pytest.raises(StopHereError):
        upscale_store(tmp_path / "in.zarr", tmp_path / "out.zarr", progress=stop_after(2), **ASKED)
    record = tmp_path / ".out.zarr.unfinished" / "parameters.json"
    record.write_text(text)
    with pytest.raises(sf.OutputError, match=r"start anew with --overwrite") as caught:
        upscale_store(tmp_path / "in.zarr", tmp_path / "out.zarr", **ASKED)
    assert str(record) in str(caught.value)
    assert upscale_store(tmp_path / "in.zarr", tmp_path / "out.zarr", overwrite=True, **ASKED).repeated == 0


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="asks the system which file a handle is")
def test_a_block_is_recorded_after_it_is_on_the_disk(tmp_path, monkeypatch):
    sf.write(scene(), tmp_path / "in.zarr")
    steps = []
    fsync, replace = os.fsync, os.replace

    def note_sync(handle):
        steps.append(("disk", os.path.realpath(f"/proc/self/fd/{handle}")))
        fsync(handle)

    def note_replace(old, new, **options):
        steps.append(("name", os.path.realpath(new)))
        replace(old, new, **options)

    monkeypatch.setattr(os, "fsync", note_sync)
    monkeypatch.setattr(os, "replace", note_replace)
    upscale_store(tmp_path / "in.zarr", tmp_path / "out.zarr", **ASKED)
    names = [(kind, Path(path).name) for kind, path in steps]
    assert names.index(("disk", "zarr.json")) < names.index(("name", "plan.json"))
    chunks = sorted(path.name for path in (tmp_path / "out.zarr" / "views").glob("c.*"))
    assert len(chunks) == 6 * 4
    for chunk in chunks:
        row, column = chunk.split(".")[3:5]
        on_disk, recorded = names.index(("disk", chunk)), names.index(("name", f"{row}.{column}"))
        assert on_disk < recorded
        assert ("disk", "views") in names[on_disk:recorded]
    # and the marks themselves, and what the result says of itself
    assert names.count(("disk", "light field")) >= 6
    assert max(i for i, step in enumerate(names) if step == ("disk", "zarr.json")) > names.index(
        ("name", "2.1")
    )
