"""One block like the other: the same steps in each, and no memory kept from one for the next."""

from __future__ import annotations

import platform
import subprocess
import sys

import numpy as np
import pytest
import zarr

import sharpfield as sf
from sharpfield import catalogue
from sharpfield.gb.params import EVEN
from sharpfield.observe import Camera
from sharpfield.scale import upscale_store
from sharpfield.scale.plan import BASE_BYTES, Member, Request, bytes_per_pixel, plan_blocks

QUICK_GB = {"iterations": 1, "disparity": (-2, 2), "patch": 3}


def scene(grid=(2, 3), size=(33, 21), channels=3):
    rng = np.random.default_rng(0)
    return sf.LightField(rng.integers(0, 256, (*grid, *size, channels), np.uint8))


def test_every_block_takes_the_same_steps(tmp_path):
    lf = scene(grid=(2, 2), size=(60, 24), channels=1)
    sf.write(lf, tmp_path / "in.zarr")
    for name, block in (("blocks", 24), ("whole", 60)):
        upscale_store(tmp_path / "in.zarr", tmp_path / f"{name}.zarr", bits=32, block=block, **QUICK_GB)
        options = sf.read(tmp_path / f"{name}.zarr").metadata["upscale"]["options"]
        assert EVEN.items() <= options.items()
    # more than a halo away from the border of the next block nothing differs but the last bits of a stop within a step
    made = [sf.read(tmp_path / f"{name}.zarr").views for name in ("blocks", "whole")]
    assert np.abs(made[0] - made[1]).mean() < 0.5 / 255
    # what a person says about the stop, or the paper, is left as it is
    for more in ({"proximal_steps": 2}, {"preset": "paper", "proximal_steps": 2}):
        upscale_store(tmp_path / "in.zarr", tmp_path / "own.zarr", overwrite=True, **QUICK_GB, **more)
        options = sf.read(tmp_path / "own.zarr").metadata["upscale"]["options"]
        own = catalogue.make_options("gb-sq", more.get("preset", "fast"), {**QUICK_GB, "proximal_steps": 2})
        assert {name: options[name] for name in EVEN} == {name: getattr(own, name) for name in EVEN}


@pytest.mark.parametrize("size", [(256, 256), (256, 1000), (1000, 1000), (140, 300)])
def test_a_plan_fits_into_the_budget_that_it_was_made_for(tmp_path, size):
    group = zarr.create_group(tmp_path / "x.zarr")
    group.create_array("views", shape=(5, 5, *size, 3), dtype="u1", chunks=(1, 1, 256, 256, 3))
    request = Request("gb-sq", "fast", {}, Camera(2), "bicubic")
    for memory in np.linspace(BASE_BYTES + 1e8, 1.5e9, 60):
        plan = plan_blocks(Member("", tmp_path / "x.zarr"), request, memory)  # refuses what does not fit
        need = catalogue.find("gb-sq").plan(plan.settings.options, plan.grid, (2 * size[0], 2 * size[1]))
        each = bytes_per_pixel(need, plan.grid, 2, plan.channels)
        for _, (y0, y1, x0, x1) in plan.cores():
            height = min(y1 + plan.margin, size[0]) - max(y0 - plan.margin, 0)
            width = min(x1 + plan.margin, size[1]) - max(x0 - plan.margin, 0)
            assert BASE_BYTES + height * width * each <= 1.02 * memory


def test_memory_is_given_back_after_every_block(tmp_path, monkeypatch):
    class Library:
        given_back = 0

        def malloc_trim(self, padding):
            self.given_back += 1

        def mallopt(self, parameter, size):
            """Be told what not to keep."""

    library = Library()
    monkeypatch.setattr("sharpfield.scale.work._C_LIBRARY", library)
    sf.write(scene(), tmp_path / "in.zarr")
    done = upscale_store(tmp_path / "in.zarr", tmp_path / "out.zarr", method="bicubic", block=11)
    assert library.given_back == done.blocks == 6
    monkeypatch.setattr("sharpfield.scale.work._C_LIBRARY", None)  # where the C library cannot
    upscale_store(tmp_path / "in.zarr", tmp_path / "out.zarr", method="bicubic", overwrite=True)


_HELD = """
import sys
from sharpfield.scale import run, upscale_store

held, done = [], run._Job.done
def noted(job, task, outcome):
    done(job, task, outcome)
    fields = open("/proc/self/status", encoding="ascii").read().split()
    held.append(int(fields[fields.index("VmRSS:") + 1]) / 1024)
run._Job.done = noted
upscale_store(
    sys.argv[1], sys.argv[2], block=64, disparity=(-1, 1), patch=3, iterations=1, proximal_steps=1, cg_iterations=1
)
print(len(held), min(held[2:6]), max(held[-8:]))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc is told what not to keep")
def test_what_is_held_between_blocks_does_not_grow_with_their_number(tmp_path):
    rng = np.random.default_rng(0)
    sf.write(sf.LightField(rng.integers(0, 256, (5, 5, 320, 448, 1), np.uint8)), tmp_path / "in.zarr")
    command = [sys.executable, "-c", _HELD, tmp_path / "in.zarr", tmp_path / "out.zarr"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    blocks, early, late = int(said[0]), float(said[1]), float(said[2])
    assert blocks == 35
    # megabytes; 120 more before the C library was told
    assert late < early + 60, f"{early} MB after the first blocks, {late} MB after the last"
