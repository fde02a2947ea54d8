"""What a block costs to compute, to read and write, and to hand out; and what that makes of jobs too large to measure.

python -m benchmarks.scale_costs                          everything, then the estimates from it
python -m benchmarks.scale_costs plans|task|store|handing one of them

Seconds are processor seconds of one thread, so that other work on the machine changes little.
"""

from __future__ import annotations

import math
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import sharpfield as sf
from benchmarks.common import truth_and_low
from benchmarks.scale import Pool, synthetic
from sharpfield.observe import Camera
from sharpfield.scale import upscale_store
from sharpfield.scale.plan import BASE_BYTES, Member, Plan, Request, plan_blocks

# low-resolution side of the views of a block that takes some seconds
SIDES = {5: 96, 9: 64, 17: 40}

_CHILD = """
import resource, sys, time
from sharpfield.scale import upscale_store
for turn in range(2):  # the second one finds everything compiled and loaded
    began = time.process_time()
    upscale_store(sys.argv[1], sys.argv[2], memory="20GB", threads=1, overwrite=True)
print(time.process_time() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


def task(folder: Path) -> dict[int, float]:
    """Return processor seconds a megapixel of the result that a block sees, by grid; print them with the memory."""
    print("| views | seconds a megapixel | peak | planned | planned, bytes a pixel |")
    print("|---|---|---|---|---|")
    found = {}
    for grid, side in SIDES.items():
        synthetic(folder / f"{grid}.zarr", grid, side)
        command = [sys.executable, "-c", _CHILD, str(folder / f"{grid}.zarr"), str(folder / "out.zarr")]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        pixels = grid**2 * 4 * side**2
        request = Request("gb-sq", "fast", {}, Camera(2), "bicubic")
        each = planned(folder / f"{grid}.zarr", request) / 4
        found[grid] = float(said[0]) / pixels * 1e6
        peak, expected = float(said[1]) / 1e6, (BASE_BYTES + each * pixels) / 1e6
        print(
            f"| {grid}x{grid} | {found[grid]:.2f} | {peak:.0f} MB | {expected:.0f} MB | {each:.0f} |",
            flush=True,
        )
    _, low = truth_and_low("hciold_buddha", 2)
    low = low.crop(slice(100, 228), slice(100, 228))
    sf.write(low, folder / "real.zarr")
    command = [sys.executable, "-c", _CHILD, str(folder / "real.zarr"), str(folder / "out.zarr")]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    print(f"| 5x5, of buddha | {float(said[0]) / (25 * 4 * 0.128**2):.2f} | | | |", flush=True)
    return found


def planned(path: Path, request: Request) -> float:
    """Return how many bytes a low-resolution pixel of every view is planned with."""
    from sharpfield import catalogue
    from sharpfield.scale.plan import bytes_per_pixel

    plan = plan_blocks(Member("", path), request, 20e9)
    size = (plan.size[0] * 2, plan.size[1] * 2)
    need = catalogue.find("gb-sq").plan(plan.settings.options, plan.grid, size)
    return bytes_per_pixel(need, plan.grid, 2, plan.channels) / (plan.grid[0] * plan.grid[1])


def store(folder: Path) -> float:
    """Return processor seconds a megapixel of the result that reading, colors, writing and recording take."""
    print("| block | blocks | processor seconds a megapixel | by the clock |")
    print("|---|---|---|---|")
    synthetic(folder / "in.zarr", 5, 384)
    megapixels, found = 25 * 4 * 0.384**2, math.inf
    for block in (96, 192, 384):
        for _ in range(2):
            began, clock = time.process_time(), time.perf_counter()
            done = upscale_store(
                folder / "in.zarr",
                folder / "out.zarr",
                method="bilinear",
                block=block,
                memory="8GB",
                threads=1,
                overwrite=True,
            )
            used, passed = time.process_time() - began, time.perf_counter() - clock
        found = min(found, used / megapixels)
        print(
            f"| {block}x{block} | {done.blocks} | {used / megapixels:.3f} | {passed / megapixels:.3f} |",
            flush=True,
        )
    return found


def handing(folder: Path) -> tuple[float, float]:
    """Return seconds that the one process with the scheduler and the journal takes for a block, and a light field."""
    pool = Pool(2, folder)

    def seconds(source: Path) -> float:
        best = math.inf
        for _ in range(2):
            began = time.process_time()
            upscale_store(
                source,
                folder / "out.zarr",
                scheduler=pool.address,
                method="bilinear",
                block=8,
                memory="2GB",
                overwrite=True,
            )
            best = min(best, time.process_time() - began)
        return best

    synthetic(folder / "few.zarr", 5, 16)
    synthetic(folder / "many.zarr", 5, 128)
    for number in range(24):
        synthetic(folder / "series" / f"{number}.zarr", 5, 16)
    one, many, series = (seconds(folder / name) for name in ("few.zarr", "many.zarr", "series"))
    pool.close()
    block = (many - one) / (256 - 4)
    field = max((series - one) / 23 - 4 * block, 0)
    print(
        f"{1e3 * block:.1f} ms a block and {1e3 * field:.0f} ms a light field, in the process that hands out"
    )
    return block, field


@dataclass(frozen=True)
class Job:
    """Something too large to be measured."""

    title: str
    grid: int
    size: tuple[int, int]
    fields: int
    factor: int
    memory: float


JOBS = (
    Job("17x17 views of 2048x2048, x2, 2 GB a worker", 17, (2048, 2048), 1, 2, 2e9),
    Job("17x17 views of 2048x2048, x2, 8 GB a worker", 17, (2048, 2048), 1, 2, 8e9),
    Job("an hour of 5x5 views of 1920x1080, 25 a second, x2, 2 GB a worker", 5, (1080, 1920), 90_000, 2, 2e9),
)


def estimate(
    folder: Path, seconds: dict[int, float], moving: float, block_cost: float, field_cost: float
) -> None:
    """Print what the measured figures make of each job, for 1, 16 and 256 workers of one thread."""
    for number, job in enumerate(JOBS):
        path = described(folder / f"job{number}.zarr", job.grid, job.size)
        plan = plan_blocks(
            Member("", path), Request("gb-sq", "fast", {}, Camera(job.factor), "bicubic"), job.memory
        )
        views, area = job.grid**2, job.factor**2
        seen, chunks, blocks = look(plan)
        core = job.size[0] * job.size[1]
        compute = seconds[job.grid] * views * area * seen / 1e6
        whole = (compute + moving * views * area * core / 1e6) * job.fields
        read, written = 3.0 * views * chunks * job.fields, 3.0 * views * area * core * job.fields
        hands = (block_cost * blocks + field_cost) * job.fields
        print(
            f"\n{job.title}: {blocks} blocks of {plan.block[1]}x{plan.block[0]} a light field, halo {plan.margin}; "
            f"{seen / core:.2f} times the pixels are computed, {chunks / core:.1f} times are read; "
            f"{whole / (blocks * job.fields):.0f} s a block; at most {read / 1e12:.2f} TB read, "
            f"{written / 1e12:.2f} TB written, {lasting(hands)} of handing out\n"
        )
        print("| workers | time | read, at most | written, at most | the process that hands out is busy |")
        print("|---|---|---|---|---|")
        for count in (1, 16, 256):
            # the last round of blocks may be half empty
            rounds = math.ceil(blocks * job.fields / count) * count / (blocks * job.fields)
            took = max(whole / count * rounds, hands)
            rates = [f"{amount / took / 1e6:.1f} MB/s" for amount in (read, written)]
            print(f"| {count} | {lasting(took)} | {rates[0]} | {rates[1]} | {100 * hands / took:.2f} % |")


def lasting(seconds: float) -> str:
    """Return a time in the unit that suits it."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 2 * 3600:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 2 * 86400 else f"{seconds / 86400:.1f} days"


def plans(folder: Path) -> None:
    """Print how memory decides the blocks, and what they compute and read beside their own pixels."""
    print("| light field | a worker's memory | block | pixels computed | pixels read |")
    print("|---|---|---|---|---|")
    for grid, size in ((5, (1080, 1920)), (17, (2048, 2048))):
        path = described(folder / f"{grid}.zarr", grid, size)
        for memory in (1e9, 2e9, 8e9, 16e9):
            plan = plan_blocks(Member("", path), Request("gb-sq", "fast", {}, Camera(2), "bicubic"), memory)
            seen, chunks, _ = look(plan)
            core = size[0] * size[1]
            print(
                f"| {grid}x{grid} of {size[1]}x{size[0]} | {memory / 1e9:.0f} GB | {plan.block[1]}x{plan.block[0]} "
                f"| {seen / core:.2f} x | {chunks / core:.1f} x |"
            )


def described(path: Path, grid: int, size: tuple[int, int]) -> Path:
    """Make a store that has a description only: a plan needs no pixels."""
    import zarr

    zarr.create_group(path).create_array(
        "views", shape=(grid, grid, *size, 3), dtype="u1", chunks=(1, 1, 256, 256, 3)
    )
    return path


def look(plan: Plan) -> tuple[float, float, int]:
    """Return the low-resolution pixels that all blocks see, those in their chunks, and how many blocks there are."""
    seen = chunks = blocks = 0
    for _, (y0, y1, x0, x1) in plan.cores():
        blocks += 1
        sides, held = [], []
        for low, high, length in ((y0, y1, plan.size[0]), (x0, x1, plan.size[1])):
            begin, end = max(low - plan.margin, 0), min(high + plan.margin, length)
            sides.append(end - begin)
            held.append(min(math.ceil(end / 256) * 256, length) - begin // 256 * 256)
        seen += sides[0] * sides[1]
        chunks += held[0] * held[1]
    return seen, chunks, blocks


def main(names: list[str] | None = None) -> None:
    parts = {"plans": plans, "task": task, "store": store, "handing": handing}
    found = {}
    for name in names or parts:
        print(f"\n### {name}\n", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            found[name] = parts[name](Path(folder))
    if not names:
        print("\n### estimate")
        with tempfile.TemporaryDirectory() as folder:
            estimate(Path(folder), found["task"], found["store"], *found["handing"])


if __name__ == "__main__":
    main(sys.argv[1:])
