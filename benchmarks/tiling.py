"""Tiles against one piece on a whole light field: PSNR, and whether a seam shows."""

from __future__ import annotations

import numpy as np

import sharpfield as sf
from benchmarks.common import truth_and_low


def main() -> None:
    truth, low = truth_and_low("hciold_buddha", 2)
    whole = sf.upscale(low, 2, method="gb-sq", memory="20GB")
    print("| budget | tiles | PSNR | largest difference from one piece | mean |")
    print("|---|---|---|---|---|")
    for budget in ("20GB", "2GB", "1.2GB", "800MB"):
        tiled = sf.upscale(low, 2, method="gb-sq", memory=budget)
        difference = np.abs(tiled.views - whole.views)[:, :, 15:-15, 15:-15]
        print(
            f"| {budget} | {tiled.metadata['upscale']['tiles']} | {sf.psnr(tiled, truth).mean():.3f} "
            f"| {255 * difference.max():.2f}/255 | {255 * difference.mean():.4f}/255 |",
            flush=True,
        )
