"""`densify` on real light fields: of 5x5 views every second one is kept, the 16 others are made and measured.

Beside it stands the mean of the two or four views around. Luma only: each channel goes through the networks in the same
way. `python -m benchmarks densify` makes the table of docs/methods.md.
"""

from __future__ import annotations

import time

import numpy as np

import sharpfield as sf
from benchmarks.common import DATA
from sharpfield.color import luma

NAMES = ("hciold_buddha", "hcinew_bicycle", "lytro_bikes", "stanford_legotruck")


def averaged(few: sf.LightField) -> sf.LightField:
    """Return the dense light field whose new views are the mean of the two or four around."""
    views = np.empty((5, 5, *few.size, 1), np.float32)
    for v, u in np.ndindex(5, 5):
        views[v, u] = few.views[v // 2 : -(-v // 2) + 1, u // 2 : -(-u // 2) + 1].mean(axis=(0, 1))
    return few.with_views(views)


def main() -> None:
    v, u = np.indices((5, 5)) % 2
    kinds = {"between two": v != u, "between four": (v == 1) & (u == 1)}
    print("| light field | disparity, kept views | " + " | ".join(kinds) + " | seconds |")
    print("|---|---|---|---|---|")
    for name in NAMES:
        lf = sf.read(DATA / name, views="5x5")
        truth = lf.with_views(luma(lf.views))
        few = truth.with_views(truth.views[::2, ::2])
        began = time.process_time()
        dense = sf.densify(few)
        seconds = time.process_time() - began
        reach = dense.metadata["densify"]["disparity"]
        ours, mean = sf.psnr(dense, truth), sf.psnr(averaged(few), truth)
        cells = [f"{mean[new].mean():.2f} -> {ours[new].mean():.2f}" for new in kinds.values()]
        print(
            f"| {name} | {reach[0]:.1f} .. {reach[1]:.1f} | {' | '.join(cells)} | {seconds:.0f} |", flush=True
        )


if __name__ == "__main__":
    main()
