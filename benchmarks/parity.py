"""Whole light fields against the paper's tables: GB-SQ and GB-DR, factors 2 and 3; and one sub-light-field of each.

`python -m benchmarks parity` makes the table of docs/parity.md.
"""

from __future__ import annotations

import time

import sharpfield as sf
from benchmarks.common import truth_and_low

# the paper's tables II to V: PSNR mean and variance over the views
PUBLISHED = {
    ("hciold_buddha", 2): {"bilinear": (35.22, 0.00), "gb-dr": (38.59, 0.08), "gb-sq": (39.00, 0.14)},
    ("hciold_buddha", 3): {"bilinear": (32.58, 0.01), "gb-dr": (35.42, 0.02), "gb-sq": (35.40, 0.02)},
    ("stanford_legotruck", 2): {"bilinear": (36.26, 0.04), "gb-dr": (41.09, 0.14), "gb-sq": (41.57, 0.15)},
    ("stanford_legotruck", 3): {"bilinear": (33.52, 0.02), "gb-dr": (36.67, 0.05), "gb-sq": (36.97, 0.05)},
}


def main() -> None:
    print("| light field | factor | method | ours | the paper | difference | worst view | SSIM | seconds |")
    print("|---|---|---|---|---|---|---|---|---|")
    for (name, factor), columns in PUBLISHED.items():
        truth, low = truth_and_low(name, factor)
        for method, (mean, variance) in columns.items():
            began = time.perf_counter()
            result = sf.upscale(low, factor, method=method, disparity=(-6, 6))  # the paper's
            seconds = time.perf_counter() - began
            scores = sf.evaluate(result, truth)
            print(
                f"| {name} | {factor} | {method} | {scores.psnr_mean:.2f} ± {scores.psnr_variance:.2f} "
                f"| {mean:.2f} ± {variance:.2f} | {scores.psnr_mean - mean:+.2f} | {scores.psnr_worst[0]:.2f} "
                f"| {scores.ssim_mean:.4f} | {seconds:.1f} |",
                flush=True,
            )
