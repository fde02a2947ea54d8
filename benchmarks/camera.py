"""What the right camera is worth: light fields shrunk by antialiased bicubic, GB-SQ told so, or taking it for a box.

`python -m benchmarks camera` makes the table of docs/performance.md; `python -m benchmarks.camera lytro_bikes ..` a
part of it. The low resolution is in 8 bits, the window the paper's, PSNR as in docs/parity.md.
"""

from __future__ import annotations

import sys

import sharpfield as sf
from benchmarks.common import LIGHT_FIELDS, truth_and_low
from sharpfield.observe import Camera, degrade


def main(names: list[str] | None = None) -> None:
    print("| light field | factor | bicubic interpolation | GB-SQ, box | GB-SQ, bicubic | margin |")
    print("|---|---|---|---|---|---|")
    factor = 2
    for name in names or LIGHT_FIELDS:
        truth = truth_and_low(name, factor)[0]
        low = degrade(truth, Camera(factor, "bicubic"))
        start = sf.psnr(sf.upscale(low, factor, method="bicubic"), truth).mean()
        found = {
            camera: float(
                sf.psnr(
                    sf.upscale(low, factor, method="gb-sq", camera=camera, disparity=(-6, 6)), truth
                ).mean()
            )
            for camera in ("box", "bicubic")
        }
        print(
            f"| {name} | {factor} | {start:.2f} | {found['box']:.2f} | {found['bicubic']:.2f} "
            f"| {found['bicubic'] - found['box']:+.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:])
