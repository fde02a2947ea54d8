"""`sharp` against GB-SQ, and what each part of it is worth: `python -m benchmarks beyond` (half an hour).

`python -m benchmarks.beyond PART ..` for parts of it: whole (the four light fields), ablation, noise, camera, views
(all on details of 200 x 200 pixels, of 204 x 204 at factor 3). Seconds are of processor time, on one thread.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import sharpfield as sf
from benchmarks.common import DATA, LIGHT_FIELDS, truth_and_low
from sharpfield.observe import Camera, degrade

# two details of each light field: (y, x); most parts take the first
DETAILS = {
    "hciold_buddha": ((300, 400), (80, 60)),
    "stanford_legotruck": ((400, 500), (620, 820)),
    "hcinew_bicycle": ((156, 156), (300, 20)),
    "lytro_bikes": ((86, 170), (20, 20)),
}
LEFT_OUT: dict[str, dict[str, Any]] = {
    "as it is": {},
    "views not calibrated": {"calibrate": False},
    "views compared unblurred": {"sweep_blur": 0.0},
    "one stage": {"stages": 1},
    "two stages": {"stages": 2},
    "four stages": {"stages": 4},
    "prior weighed once a stage": {"prior_rounds": 1},
    "quadratic prior": {"bend_knee": 10.0},
    "prior half as strong": {"bend_weight": 0.01},
    "prior twice as strong": {"bend_weight": 0.04},
    "4 neighbours": {"neighbours": 4},
    "24 neighbours": {"neighbours": 24},
    "views count alike at any distance": {"view_distance": 0.0},
    "disparities need not agree": {"disparity_agreement": 100.0},
    "noise taken for none": {"noise": 0.0},
}


def whole() -> None:
    print(
        "| light field | factor | GB-SQ | sharp | gain | worst view, GB-SQ | sharp | seconds, sharp / GB-SQ |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name in LIGHT_FIELDS:
        for factor in (2, 3):
            truth, low = truth_and_low(name, factor)
            (paper, paper_seconds), (ours, our_seconds) = (
                _score(low, truth, factor, method=method) for method in ("gb-sq", "sharp")
            )
            print(
                f"| {name} | {factor} | {paper.mean():.2f} ± {paper.var():.2f} | {ours.mean():.2f} ± {ours.var():.2f} "
                f"| {ours.mean() - paper.mean():+.2f} | {paper.min():.2f} | {ours.min():.2f} "
                f"| {our_seconds:.0f} / {paper_seconds:.0f} = {our_seconds / paper_seconds:.2f} |",
                flush=True,
            )


def ablation() -> None:
    print("| | " + " | ".join(f"{name} x{factor}" for factor in (2, 3) for name in DETAILS) + " | mean |")
    print("|---|" + "---|" * 9)
    for label, options in LEFT_OUT.items():
        cells = []
        for factor in (2, 3):
            for name in DETAILS:
                truth = next(_details(name, factor))
                scores = _score(degrade(truth, Camera(factor)), truth, factor, method="sharp", **options)[0]
                cells.append(float(scores.mean()))
        print(
            f"| {label} | " + " | ".join(f"{cell:.2f}" for cell in cells) + f" | {np.mean(cells):.2f} |",
            flush=True,
        )


def noise() -> None:
    _compared({f"{level}/255": (Camera(2), level / 255) for level in (5, 10)}, factor=2)
    _compared({f"{level}/255": (Camera(3), level / 255) for level in (5, 10)}, factor=3)


def camera() -> None:
    _compared({"gaussian:1.2": (Camera(2, "gaussian", 1.2), 0.0), "bicubic": (Camera(2, "bicubic"), 0.0)}, 2)
    truth = sf.read(DATA / "hcinew_bicycle")
    low = degrade(truth, Camera(2, "bicubic"), bits=None)
    methods = ("bicubic", "gb-sq", "sharp")
    results = {name: sf.upscale(low, 2, method=name, camera="bicubic", threads=1) for name in methods}
    scores = {name: float(sf.psnr(lf, truth, luma="Y601", border=0).mean()) for name, lf in results.items()}
    print("\nbicycle x2, antialiased bicubic in floats, studio Y, no border: " + str(scores))


def views() -> None:
    cuts = {
        "3x3": (slice(1, 4), slice(1, 4)),
        "2x2": (slice(1, 3), slice(1, 3)),
        "1x5": (slice(2, 3), slice(0, 5)),
    }
    cuts["1x2"] = (slice(2, 3), slice(2, 4))
    print("| light field | views | factor | bicubic | GB-SQ | sharp |\n|---|---|---|---|---|---|")
    for name in DETAILS:
        for factor in (2, 3):
            for label, (rows, columns) in cuts.items():
                truth = next(_details(name, factor)).select(rows, columns)
                low = degrade(truth, Camera(factor))
                means = [
                    _score(low, truth, factor, method=method)[0].mean()
                    for method in ("bicubic", "gb-sq", "sharp")
                ]
                print(
                    f"| {name} | {label} | {factor} | " + " | ".join(f"{mean:.2f}" for mean in means) + " |"
                )


def _compared(cases: dict[str, tuple[Camera, float]], factor: int) -> None:
    print("| detail | factor | low resolution by | bicubic | GB-SQ | sharp |\n|---|---|---|---|---|---|")
    for name in DETAILS:
        truth = next(_details(name, factor))
        for label, (seen_by, deviation) in cases.items():
            low = degrade(truth, seen_by, noise=deviation, seed=1)
            means = [
                _score(low, truth, factor, method=method, camera=seen_by)[0].mean()
                for method in ("bicubic", "gb-sq", "sharp")
            ]
            print(
                f"| {name} | {factor} | {label} | " + " | ".join(f"{mean:.2f}" for mean in means) + " |",
                flush=True,
            )


def _details(name: str, factor: int) -> Iterator[sf.LightField]:
    side = 200 if factor == 2 else 204
    whole_views = sf.read(DATA / name)
    for y, x in DETAILS[name]:
        yield whole_views.crop(slice(y, y + side), slice(x, x + side))


def _score(low: sf.LightField, truth: sf.LightField, factor: int, **options: Any) -> tuple[np.ndarray, float]:
    began = time.process_time()
    result = sf.upscale(low, factor, threads=1, **options)
    seconds = time.process_time() - began
    return np.asarray(sf.psnr(result, truth, border=15)), seconds


PARTS = {"whole": whole, "ablation": ablation, "noise": noise, "camera": camera, "views": views}


def main(parts: list[str] | None = None) -> None:
    for part in parts or PARTS:
        print(f"\n## {part}\n", flush=True)
        PARTS[part]()


if __name__ == "__main__":
    main(sys.argv[1:])
