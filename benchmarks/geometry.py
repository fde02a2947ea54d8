"""The search window read off the pixels against the paper's -6:6: PSNR and work of GB-SQ, every light field, x2 and x3.

`python -m benchmarks geometry` makes the table of docs/performance.md (an hour and a half of processor time);
`python -m benchmarks.geometry lytro_bikes ..` a part of it. The seconds are of the processor, all threads together:
other programs on the machine disturb them least.
"""

from __future__ import annotations

import sys
import time

import sharpfield as sf
from benchmarks.common import LIGHT_FIELDS, truth_and_low
from sharpfield.geometry import find_search

PAPERS = (-6, 6)


def main(names: list[str] | None = None) -> None:
    print("| light field | factor | window | PSNR | difference | worst view | difference | seconds | ratio |")
    print("|---|---|---|---|---|---|---|---|---|")
    for factor in (2, 3):
        for name in names or LIGHT_FIELDS:
            truth, low = truth_and_low(name, factor)
            few = low.select(slice(2), slice(2)).crop(slice(40), slice(40))
            sf.upscale(few, factor, method="gb-sq", disparity=PAPERS)  # compiled before it is timed
            began = time.process_time()
            auto = find_search(low, factor).window
            measuring = time.process_time() - began
            fixed = None
            for window in dict.fromkeys((PAPERS, auto)):
                began = time.process_time()
                result = sf.upscale(low, factor, method="gb-sq", disparity=window)
                seconds = time.process_time() - began + (measuring if fixed else 0)
                psnr = sf.psnr(result, truth)
                found = float(psnr.mean()), float(psnr.min()), seconds
                fixed = fixed or found
                print(
                    f"| {name} | {factor} | {window[0]}:{window[1]} "
                    f"| {found[0]:.3f} | {found[0] - fixed[0]:+.3f} | {found[1]:.3f} | {found[1] - fixed[1]:+.3f} "
                    f"| {seconds:.0f} | {seconds / fixed[2]:.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main(sys.argv[1:])
