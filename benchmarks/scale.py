"""From disk to disk: blocks against one piece, memory, workers, overhead, and what a block costs to read and write.

python -m benchmarks scale                      everything (an hour on two processors)
python -m benchmarks.scale seams|memory|workers|overhead|store
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import sharpfield as sf
from benchmarks.common import truth_and_low
from sharpfield.scale import upscale_store

# stops every block after the same steps: what is left of the difference is what a block does not see
SAME_STEPS = {"proximal_steps": 3, "proximal_tolerance": 1e-9}


def seams(folder: Path) -> None:
    """Blocks against one piece on the whole of buddha x2: PSNR, and the difference along the borders and elsewhere."""
    truth, low = truth_and_low("hciold_buddha", 2)
    sf.write(low, folder / "low.zarr")
    print("| | blocks | PSNR | in one piece | along borders | elsewhere | ratio |")
    print("|---|---|---|---|---|---|---|")
    for label, options in (("own stop in each block", {}), ("same steps in every block", SAME_STEPS)):
        made = {}
        for name, block in (("whole", 384), ("blocks", 192)):
            upscale_store(
                folder / "low.zarr",
                folder / f"{name}.zarr",
                bits=32,
                block=block,
                memory="20GB",
                overwrite=True,
                **options,
            )
            made[name] = sf.read(folder / f"{name}.zarr")
        difference = np.abs(made["blocks"].views - made["whole"].views).mean((0, 1, 4))
        band = np.zeros(difference.shape, bool)
        band[384 - 4 : 384 + 4] = band[:, 384 - 4 : 384 + 4] = True
        along, elsewhere = 255 * difference[band].mean(), 255 * difference[~band].mean()
        scores = [sf.psnr(made[name], truth).mean() for name in ("blocks", "whole")]
        print(
            f"| {label} | 4 | {scores[0]:.3f} | {scores[1]:.3f} | {along:.3f}/255 | {elsewhere:.3f}/255 "
            f"| {along / elsewhere:.2f} |",
            flush=True,
        )


def synthetic(path: Path, grid: int, side: int) -> None:
    """Store a light field of colored noise, smooth enough to be matched, moving by one pixel a view."""
    from sharpfield.io.source import Picture, ViewSource
    from sharpfield.io.streamed import stream

    tile = np.random.default_rng(0).integers(0, 256, (128, 128, 3)).astype(np.float32)
    for axis in (0, 1):
        tile = (np.roll(tile, 1, axis) + 2 * tile + np.roll(tile, -1, axis)) / 4
    texture = np.tile(tile.astype(np.uint8), (side // 128 + 2, side // 128 + 2, 1))

    def load(v: int, u: int) -> Picture:
        return Picture(np.ascontiguousarray(texture[v : v + side, u : u + side]), 8)

    source = ViewSource("synthetic", str(path), (grid, grid), (side, side), 3, load)
    sf.write(stream(source), path, overwrite=True)


def peak_of(*words: object) -> tuple[float, float]:
    """Run `sharpfield upscale WORDS` as a process of its own; return its peak memory in bytes and its seconds."""
    code = (
        "import resource, sys; from sharpfield.cli import main; status = main(sys.argv[1:]); "
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss); sys.exit(status)"
    )
    began = time.perf_counter()
    command = [sys.executable, "-c", code, "upscale", *map(str, words), "--quiet"]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return float(said) * (1 if sys.platform == "darwin" else 1024), time.perf_counter() - began


def memory(folder: Path) -> None:
    """Peak resident memory, as the system counts it: sizes four times as large, and a budget of 2 GB."""
    print("| light field | budget | peak | seconds |")
    print("|---|---|---|---|")
    # few steps: memory does not depend on their number, time does
    few = ("--iterations", 1, "--proximal-steps", 1, "--disparity", "-2:2")
    for grid, side, budget in (
        (5, 256, "600MB"),
        (5, 512, "600MB"),
        (5, 1024, "600MB"),
        (9, 1024, "2GB"),
    ):
        synthetic(folder / "in.zarr", grid, side)
        peak, seconds = peak_of(
            folder / "in.zarr", folder / "out.zarr", "--memory", budget, "--overwrite", *few
        )
        print(
            f"| {grid}x{grid} of {side}x{side}, x2 | {budget} | {peak / 1e6:.0f} MB | {seconds:.0f} |",
            flush=True,
        )


def workers(folder: Path) -> None:
    """Two processes of one thread against one; seconds from the first block done to the last, and processor time."""
    synthetic(folder / "in.zarr", 3, 384)
    print("| workers | seconds | processor seconds |")
    print("|---|---|---|")
    for count in (1, 2):
        began, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        upscale_store(
            folder / "in.zarr",
            folder / "out.zarr",
            workers=count,
            threads=count,
            block=96,
            disparity=(-3, 3),
            memory="8GB",
            overwrite=True,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        busy = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
        print(f"| {count} | {time.perf_counter() - began:.1f} | {busy:.1f} |", flush=True)


def overhead(folder: Path) -> None:
    """One block from store to store against the direct call on the same light field: processor time of both."""
    synthetic(folder / "in.zarr", 5, 160)
    lf = sf.read(folder / "in.zarr")
    sf.upscale(lf.crop(slice(0, 32), slice(0, 32)), disparity=(-3, 3))  # compiled before either is timed
    direct, stored = [], []
    for _ in range(3):
        began = time.process_time()
        sf.upscale(lf, disparity=(-3, 3))
        direct.append(time.process_time() - began)
        began = time.process_time()
        upscale_store(folder / "in.zarr", folder / "out.zarr", disparity=(-3, 3), overwrite=True)
        stored.append(time.process_time() - began)
    part = min(stored) / min(direct) - 1
    print(
        f"direct {min(direct):.2f} s, store to store {min(stored):.2f} s of processor time: {100 * part:+.1f} %"
    )


def store(folder: Path) -> None:
    """What reading with the halo, writing and recording cost: a method that takes next to no time."""
    print("| block | blocks | seconds | megapixels of the result a second |")
    print("|---|---|---|---|")
    synthetic(folder / "in.zarr", 5, 768)
    for block in (96, 192, 384):
        began = time.perf_counter()
        done = upscale_store(
            folder / "in.zarr",
            folder / "out.zarr",
            method="bilinear",
            block=block,
            memory="8GB",
            overwrite=True,
        )
        seconds = time.perf_counter() - began
        print(f"| {block} | {done.blocks} | {seconds:.1f} | {25 * 4 * 0.768**2 / seconds:.1f} |", flush=True)


PARTS = {"seams": seams, "memory": memory, "workers": workers, "overhead": overhead, "store": store}


def main(names: list[str] | None = None) -> None:
    for name in names or PARTS:
        print(f"\n### {name}\n", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            PARTS[name](Path(folder))


if __name__ == "__main__":
    main(sys.argv[1:])
