"""The default preset against `paper`, GB-SQ, on all light fields: `python -m benchmarks presets` (half an hour)."""

from __future__ import annotations

import time

import sharpfield as sf
from benchmarks.common import LIGHT_FIELDS, truth_and_low


def main() -> None:
    print(
        "| light field | factor | paper | fast | difference | worst, paper | worst, fast | seconds, paper | fast |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for name in LIGHT_FIELDS:
        for factor in (2, 3):
            truth, low = truth_and_low(name, factor)
            scores, seconds = {}, {}
            for preset in ("paper", "fast"):
                began = time.perf_counter()
                result = sf.upscale(low, factor, method="gb-sq", preset=preset, disparity=(-6, 6))
                seconds[preset] = time.perf_counter() - began
                scores[preset] = sf.evaluate(result, truth)
            paper, fast = scores["paper"], scores["fast"]
            print(
                f"| {name} | {factor} | {paper.psnr_mean:.2f} ± {paper.psnr_variance:.2f} "
                f"| {fast.psnr_mean:.2f} ± {fast.psnr_variance:.2f} | {fast.psnr_mean - paper.psnr_mean:+.3f} "
                f"| {paper.psnr_worst[0]:.2f} | {fast.psnr_worst[0]:.2f} "
                f"| {seconds['paper']:.0f} | {seconds['fast']:.0f} |",
                flush=True,
            )
