"""Train the networks on single views: min over weights of mean |F(Y) - X|², Y bicubic interpolation of what the camera
leaves of a photograph's luma X.

    python -m training.spatial --network srcnn --factor 2 --photographs FOLDER --out sharpfield/methods/network/weights

SRCNN's layers are 9-1-5, those of Yoon et al. 9-5-5.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np
import torch
from torch import nn

from training.descent import Batch, add_options, balanced, begin_from, keeper, network, settle, train, weights
from training.photographs import Pair, pairs

SIDES = {"srcnn": (9, 1, 5), "yoon": (9, 5, 5)}


class Crops:
    """Random pieces of the pairs, turned and mirrored; the harder of two, as flat pieces teach little."""

    def __init__(self, pairs: list[Pair], side: int, margin: int, seed: int) -> None:
        self.pairs, self.side, self.margin = pairs, side, margin
        self.random = np.random.default_rng(seed)
        sizes = np.array([pair.truth.size for pair in pairs], float)
        self.share = sizes / sizes.sum()

    def _piece(self) -> tuple[np.ndarray, np.ndarray]:
        pair = self.pairs[self.random.choice(len(self.pairs), p=self.share)]
        whole = self.side + 2 * self.margin
        y, x = (int(self.random.integers(n - whole + 1)) for n in pair.truth.shape)
        start = pair.start[y : y + whole, x : x + whole]
        truth = pair.truth[
            y + self.margin : y + whole - self.margin, x + self.margin : x + whole - self.margin
        ]
        return start, truth

    def batch(self, size: int) -> Batch:
        starts, truths = [], []
        m = self.margin
        for number in range(size):
            start, truth = max(
                (self._piece() for _ in range(2)),
                key=lambda p: float(((p[0][m:-m, m:-m] - p[1]) ** 2).mean()),
            )
            if number == 0:  # a flat piece: a constant view stays constant
                start, truth = np.full_like(start, value := self.random.random()), np.full_like(truth, value)
            turn = int(self.random.integers(8))
            start, truth = (np.rot90(each.T if turn & 4 else each, turn & 3) for each in (start, truth))
            # brighter, darker, of less contrast
            scale = self.random.uniform(0.6, 1) if self.random.random() < 0.5 else 1
            offset = self.random.uniform(0, 1 - scale)
            starts.append(start * scale + offset)
            truths.append(truth * scale + offset)
        return tuple(
            torch.from_numpy(np.stack(each).astype(np.float32)[:, np.newaxis]) for each in (starts, truths)
        )


def psnr(net: nn.Module | None, held_out: list[Pair], margin: int, side: int = 400) -> float:
    """Return the mean PSNR over the middles of the pairs held out; of the start where there is no network."""
    found = []
    for pair in held_out:
        y, x = ((n - min(side, n)) // 2 for n in pair.truth.shape)
        start, truth = (each[y : y + side, x : x + side] for each in (pair.start, pair.truth))
        inside = (slice(margin, -margin),) * 2
        guess = start[inside]
        if net is not None:
            with torch.no_grad():
                guess = net(torch.from_numpy(start[np.newaxis, np.newaxis]))[0, 0].numpy()
        error = float(np.mean((np.clip(guess, 0, 1) - truth[inside]) ** 2, dtype=np.float64))
        found.append(-10 * math.log10(error))
    return float(np.mean(found))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--network", choices=sorted(SIDES), default="srcnn")
    parser.add_argument("--factor", type=int, required=True)
    parser.add_argument("--start", type=Path, help="weights to begin from")
    add_options(parser)
    given = parser.parse_args()
    settle(given.seed)
    found = pairs(given.photographs, given.factor)
    held_out = [pair for pair in found if pair.held_out]
    learned = [pair for pair in found if not pair.held_out]
    total = sum(pair.truth.size for pair in learned) / 1e6
    print(f"{len(learned)} pictures, {total:.1f} million pixels; {len(held_out)} held out", flush=True)
    sides = SIDES[given.network]
    margin = sum(side // 2 for side in sides)
    net = network(sides)
    if given.start:
        begin_from(net, given.start)
    print(f"bicubic {psnr(None, held_out, margin):.3f} dB", flush=True)
    crops = Crops(learned, given.side, margin, given.seed)
    train(
        net,
        lambda: crops.batch(given.batch),
        lambda: psnr(net, held_out, margin),
        steps=given.steps,
        rate=given.rate,
        minutes=given.minutes,
        bfloat16=given.bfloat16,
        keep=keeper(given.out, f"{given.network}-x{given.factor}", lambda: balanced(weights(net))),
    )


if __name__ == "__main__":
    main()
