"""The default preset against the literal twin (assembled sparse matrices, beta = 1), one tile, one run.

The twin is `tests/naive.py`: written from the paper alone, and what the tests compare with. The tile is a corner of the
reference tile that fits the twin's patience.
"""

from __future__ import annotations

import importlib
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks.common import truth_and_low
from sharpfield.color import luma
from sharpfield.gb.method import super_resolve
from sharpfield.gb.params import PRESETS, GBParams
from sharpfield.observe import Camera
from sharpfield.parallel import Workers

_SIDE = 100  # high-resolution pixels a side


def main() -> None:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
    naive = importlib.import_module("naive")
    low = luma(truth_and_low("hciold_buddha", 2)[1].views)
    low = np.ascontiguousarray(low[:, :, 150 : 150 + _SIDE // 2, 200 : 200 + _SIDE // 2])
    began = time.perf_counter()
    literal = naive.gb(low, 2, "square")
    twin = time.perf_counter() - began
    print(f"5x5 views of {_SIDE}x{_SIDE} HR pixels, GB-SQ x2, W = 13\n")
    print("| | seconds | times faster | mean difference from the twin |")
    print("|---|---|---|---|")
    print(f"| literal twin | {twin:.1f} | 1 | |")
    with Workers() as workers:
        for preset in ("paper", "fast"):
            params = GBParams(**PRESETS[preset])
            super_resolve(low, Camera(2), params, workers)  # loads the compiled code
            began = time.perf_counter()
            ours = super_resolve(low, Camera(2), params, workers)
            seconds = time.perf_counter() - began
            difference = 255 * np.abs(ours - literal).mean()
            print(f"| {preset} | {seconds:.2f} | {twin / seconds:.0f} | {difference:.4f}/255 |")
