"""From disk to disk, the figures that must hold: blocks against one piece, memory, workers, overhead.

python -m benchmarks scale                      everything (half an hour on two idle processors)
python -m benchmarks.scale seams|memory|budget|workers|overhead

What a block costs, and what that makes of a large job, is in scale_costs.py.
"""

from __future__ import annotations

import logging
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

# the stop of `upscale`, block by block: what is left of the difference then is more than what a block does not see
OWN_STOP = {"proximal_steps": 20}


def seams(folder: Path) -> None:
    """Blocks against one piece on the whole of buddha x2: PSNR, and the difference along the borders and elsewhere."""
    truth, low = truth_and_low("hciold_buddha", 2)
    sf.write(low, folder / "low.zarr")
    print("| | blocks | PSNR | in one piece | along borders | elsewhere | ratio |")
    print("|---|---|---|---|---|---|---|")
    for label, options in (("as it is", {}), ("with a stop of its own in each block", OWN_STOP)):
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


def row(folder: Path, grid: int, side: int, budget: str, *more: object) -> None:
    """Print the peak of one run over a synthetic light field."""
    synthetic(folder / "in.zarr", grid, side)
    began = resource.getrusage(resource.RUSAGE_CHILDREN)
    peak, seconds = peak_of(folder / "in.zarr", folder / "out.zarr", "--memory", budget, "--overwrite", *more)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = used.ru_utime + used.ru_stime - began.ru_utime - began.ru_stime
    size = f"{grid}x{grid} of {side}x{side}, x2"
    print(f"| {size} | {budget} | {peak / 1e6:.0f} MB | {seconds:.0f} | {busy:.0f} |", flush=True)


def memory(folder: Path) -> None:
    """Peak resident memory, as the system counts it, of sizes four and sixteen times as large."""
    print("| light field | budget | peak | seconds | processor seconds |")
    print("|---|---|---|---|---|")
    for side in (256, 512, 1024):
        # one pass of one step: memory does not depend on their number, time does
        row(folder, 5, side, "600MB", "--iterations", 1, "--proximal-steps", 1)


def budget(folder: Path) -> None:
    """A budget of 2 GB on a light field of 9x9 views of 2048x2048, as `upscale` does it when nothing else is said."""
    print("| light field | budget | peak | seconds | processor seconds |")
    print("|---|---|---|---|---|")
    row(folder, 9, 1024, "2GB")


class Pool:
    """Worker processes of one thread, as `--workers` starts them, and what processor time they have taken."""

    def __init__(self, count: int, folder: Path) -> None:
        from distributed import Client

        from sharpfield.scale.engine import local_cluster

        logging.disable(logging.CRITICAL)  # what Dask says when it ends
        self.cluster = local_cluster(count, str(folder))
        self.client = Client(self.cluster, set_as_default=False)
        self.address = self.cluster.scheduler_address

    def busy(self) -> float:
        """Return the processor seconds of all workers so far."""
        return sum(self.client.run(time.process_time).values())

    def close(self) -> None:
        self.client.close()
        self.cluster.close()


def workers(folder: Path) -> None:
    """Two processes of one thread against one, in turn; and what processor time the same work takes of both."""
    synthetic(folder / "little.zarr", 3, 128)
    synthetic(folder / "in.zarr", 3, 768)
    seconds: dict[int, list[float]] = {1: [], 2: []}
    busy: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(3):
        for count in (1, 2):
            # only the pool that is measured is there; starting it is not what is measured
            pool = Pool(count, folder)
            asked = {"scheduler": pool.address, "disparity": (-3, 3), "overwrite": True}
            for name, block in (
                ("little", 32),
                ("in", 96),
            ):  # the first has the workers load the compiled code
                began, used = time.perf_counter(), pool.busy()
                upscale_store(folder / f"{name}.zarr", folder / "out.zarr", block=block, **asked)
                took = time.perf_counter() - began
                worked = pool.busy() - used
            seconds[count].append(took)
            busy[count].append(worked)
            pool.close()
    print("| workers | seconds (best of 3) | processor seconds |")
    print("|---|---|---|")
    for count in (1, 2):
        print(f"| {count} | {min(seconds[count]):.2f} | {min(busy[count]):.2f} |")
    ratios = [one / two for one, two in zip(seconds[1], seconds[2], strict=True)]
    print(
        f"\nby the clock {min(seconds[1]) / min(seconds[2]):.2f} times the work "
        f"(of the turns {', '.join(f'{ratio:.2f}' for ratio in ratios)}); by processor time, were both always busy, "
        f"{2 * min(busy[1]) / min(busy[2]):.2f}"
    )


def overhead(folder: Path) -> None:
    """One block from store to store against the direct call on the same light field, in turn: processor time."""
    synthetic(folder / "in.zarr", 5, 160)
    lf = sf.read(folder / "in.zarr")
    asked = {"disparity": (-3, 3), "threads": 1, "proximal_steps": 20}
    pool = Pool(1, folder)
    sides: dict[str, list[float]] = {"direct": [], "store to store": [], "store to store, by a worker": []}
    for turn in range(4):
        for name, taken in sides.items():
            began, used = time.process_time(), pool.busy()
            if name == "direct":
                sf.upscale(lf, **asked)
            else:
                scheduler = pool.address if "worker" in name else None
                upscale_store(
                    folder / "in.zarr", folder / "out.zarr", scheduler=scheduler, overwrite=True, **asked
                )
            if turn:
                taken.append(time.process_time() - began + pool.busy() - used)
    pool.close()
    least = min(sides["direct"])
    print("| | processor seconds (best of 3) | |")
    print("|---|---|---|")
    for name, taken in sides.items():
        print(f"| {name} | {min(taken):.2f} | {100 * (min(taken) / least - 1):+.1f} % |")


PARTS = {"seams": seams, "memory": memory, "budget": budget, "workers": workers, "overhead": overhead}


def main(names: list[str] | None = None) -> None:
    for name in names or PARTS:
        print(f"\n### {name}\n", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            PARTS[name](Path(folder))


if __name__ == "__main__":
    main(sys.argv[1:])
