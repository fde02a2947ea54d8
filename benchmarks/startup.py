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
began = time.perf_counter()
views = np.random.default_rng(0).random((3, 3, 16, 16), dtype=np.float32)
for method in ("gb-sq", "gb-dr"):
    sf.upscale(sf.LightField(views), 2, method=method)
print(time.perf_counter() - began)
"""


def main() -> None:
    help_seconds = best_of(5, lambda: _run(["-m", "sharpfield", "--help"]))
    print(f"sharpfield --help                       {help_seconds:6.2f} s")
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        first = float(_run(["-c", _SMALL], environment))
        later = min(float(_run(["-c", _SMALL], environment)) for _ in range(3))
    print(f"first run after an install, compiling   {first:6.2f} s")
    print(f"the same run later                      {later:6.2f} s")


def _run(arguments: list[str], environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout
