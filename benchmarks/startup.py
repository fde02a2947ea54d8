"""What a person waits for before the work begins: `--help`, and compiling after an install and later."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from benchmarks.common import best_of

# a light field so small that only starting and compiling take time
_SMALL = """
import time, numpy as np, sharpfield as sf
began, used = time.perf_counter(), time.process_time()
views = np.random.default_rng(0).random((3, 3, 16, 16), dtype=np.float32)
for method in ("gb-sq", "gb-dr"):
    sf.upscale(sf.LightField(views), 2, method=method)
print(time.perf_counter() - began, time.process_time() - used)
"""


def main() -> None:
    help_seconds = best_of(5, lambda: _run(["-m", "sharpfield", "--help"]))
    print(f"sharpfield --help                       {help_seconds:6.2f} s")
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        first = _seconds(environment)
        later = min(_seconds(environment) for _ in range(3))
    for name, (elapsed, processor) in (
        ("first run after an install, compiling", first),
        ("the same run later", later),
    ):
        print(f"{name:<39} {elapsed:6.2f} s, {processor:.2f} s of the processor")


def _seconds(environment: dict[str, str]) -> tuple[float, float]:
    elapsed, processor = map(float, _run(["-c", _SMALL], environment).split())
    return elapsed, processor


def _run(arguments: list[str], environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout
