"""The search window read off the pixels against the paper's -6:6: PSNR and work of GB-SQ, every light field, x2 and x3.

`python -m benchmarks geometry` makes the table of docs/geometry.md (three quarters of an hour). The seconds are of the
processor, all threads together: other programs on the machine disturb them least.
"""

from __future__ import annotations

import time

import sharpfield as sf
from benchmarks.common import LIGHT_FIELDS, truth_and_low
from sharpfield.geometry import disparity_window, estimate_geometry

PAPERS = (-6, 6)
PADS = (1, 3)


def main() -> None:
    print(
        "| light field | factor | pad | window | PSNR | difference | worst view | difference | seconds | ratio |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name in LIGHT_FIELDS:
        for factor in (2, 3):
            truth, low = truth_and_low(name, factor)
            began = time.process_time()
            geometry = estimate_geometry(low)
            measuring = time.process_time() - began
            few = low.select(slice(2), slice(2)).crop(slice(40), slice(40))
            sf.upscale(few, factor, method="gb-sq", disparity=PAPERS)  # compiled before it is timed
            fixed, done = None, set()
            for pad in (None, *PADS):
                window = PAPERS if pad is None else disparity_window(geometry, factor, pad)
                if window in done:
                    continue
                done.add(window)
                began = time.process_time()
                result = sf.upscale(low, factor, method="gb-sq", disparity=window)
                seconds = time.process_time() - began + (0 if pad is None else measuring)
                psnr = sf.psnr(result, truth)
                found = float(psnr.mean()), float(psnr.min()), seconds
                fixed = fixed or found
                print(
                    f"| {name} | {factor} | {'' if pad is None else pad} | {window[0]}:{window[1]} "
                    f"| {found[0]:.3f} | {found[0] - fixed[0]:+.3f} | {found[1]:.3f} | {found[1] - fixed[1]:+.3f} "
                    f"| {seconds:.0f} | {seconds / fixed[2]:.2f} |",
                    flush=True,
                )
