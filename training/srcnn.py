"""Train SRCNN: min over weights of mean |F(Y) - X|², Y bicubic of what the camera leaves of a photograph's luma X.

    python -m training.srcnn --factor 2 --photographs FOLDER --out sharpfield/methods/weights

Dong et al. minimise this by plain gradient descent with momentum, 8e8 back-propagations. Here: Adam with a step that
falls along a cosine, on larger pieces, from weights that pass the input through (one filter of each layer copies it,
the others are small noise). That is some hundred times cheaper and does not end lower: from the usual random weights
most of the time goes into learning the identity.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn

from training.photographs import Pair, pairs

FILTERS = (64, 32)
SIDES = {"srcnn": (9, 1, 5), "yoon": (9, 5, 5)}


def network(sides: tuple[int, int, int], channels: int = 1) -> nn.Sequential:
    """Return the three layers, valid convolutions, that give the mean of their channels when new."""
    widths = (channels, *FILTERS, 1)
    layers: list[nn.Module] = []
    for number, side in enumerate(sides):
        layer = nn.Conv2d(widths[number], widths[number + 1], side)
        with torch.no_grad():
            nn.init.normal_(layer.weight, std=0.5 * math.sqrt(2 / (widths[number] * side * side)))
            nn.init.zeros_(layer.bias)
            if number == 2:
                layer.weight *= 0.1
            layer.weight[0] = 0
            if number == 2:
                layer.weight[0] = 0.02 * torch.randn_like(layer.weight[0])
            layer.weight[0, : channels if number == 0 else 1, side // 2, side // 2] = 1 / (
                channels if number == 0 else 1
            )
        layers += [layer, nn.ReLU()]
    return nn.Sequential(*layers[:-1])


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

    def batch(self, size: int) -> tuple[torch.Tensor, torch.Tensor]:
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


def train(
    net: nn.Module,
    crops: Crops,
    held_out: list[Pair],
    *,
    steps: int,
    batch: int,
    rate: float,
    minutes: float | None = None,
    bfloat16: bool = False,
) -> list[dict[str, float]]:
    """Train in place; return the curve. With `minutes` the schedule ends when that much processor time is used."""
    adam = torch.optim.Adam(net.parameters(), lr=rate, betas=(0.9, 0.999))
    net.to(memory_format=torch.channels_last)
    began, curve, smooth = time.process_time(), [], None
    step, done = 0, 0.0
    print(f"bicubic {psnr(None, held_out, crops.margin):.3f} dB", flush=True)
    next_told = 0.0
    while True:
        if done >= min(next_told, 1):
            seconds = time.process_time() - began
            curve.append(
                {
                    "step": step,
                    "seconds": round(seconds, 1),
                    "loss": round(smooth or math.nan, 8),
                    "held_out_psnr": round(psnr(net, held_out, crops.margin), 4),
                }
            )
            print(json.dumps(curve[-1]), flush=True)
            next_told += 0.05
        if done >= 1:
            return curve
        for group in adam.param_groups:  # 30 steps of warming up, then a cosine down to a hundredth
            group["lr"] = rate * min(1, (step + 1) / 30) * (0.01 + 0.99 * (1 + math.cos(math.pi * done)) / 2)
        start, truth = (each.contiguous(memory_format=torch.channels_last) for each in crops.batch(batch))
        # the last tenth without: the weights settle for what they are used in
        with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16 and done < 0.9):
            guess = net(start)
        loss = (guess.float() - truth).square().mean()
        adam.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.05)
        adam.step()
        smooth = loss.item() if smooth is None else 0.99 * smooth + 0.01 * loss.item()
        step += 1
        done = step / steps if minutes is None else (time.process_time() - began) / (60 * minutes)
        done = min(done, 1.0)


def weights(net: nn.Sequential) -> dict[str, np.ndarray]:
    """Return weights and biases by name, float32, as `sharpfield` reads them."""
    layers = [layer for layer in net if isinstance(layer, nn.Conv2d)]
    found = {}
    for number, layer in enumerate(layers, 1):
        found[f"weight{number}"] = layer.weight.detach().contiguous().numpy().astype(np.float32)
        found[f"bias{number}"] = layer.bias.detach().numpy().astype(np.float32)
    return found


def begin_from(net: nn.Sequential, kept: Path) -> None:
    """Set weights that were learned before; smaller kernels go into the middles of larger ones."""
    layers = [layer for layer in net if isinstance(layer, nn.Conv2d)]
    with np.load(kept) as arrays, torch.no_grad():
        for number, layer in enumerate(layers, 1):
            weight = torch.from_numpy(arrays[f"weight{number}"])
            room = (layer.weight.shape[-1] - weight.shape[-1]) // 2
            layer.weight.copy_(nn.functional.pad(weight, (room,) * 4))
            layer.bias.copy_(torch.from_numpy(arrays[f"bias{number}"]))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--network", choices=sorted(SIDES), default="srcnn")
    parser.add_argument("--factor", type=int, required=True)
    parser.add_argument(
        "--photographs", type=Path, required=True, help="where the Debian packages are unpacked"
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for the weights")
    parser.add_argument("--steps", type=int, default=15000)
    parser.add_argument("--minutes", type=float, help="end after that much processor time instead")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--side", type=int, default=64, help="of a piece, as it comes out")
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument(
        "--bfloat16",
        action="store_true",
        help="in 16 bits but for the end: three times as fast where there is AMX",
    )
    parser.add_argument("--start", type=Path, help="weights to begin from")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(given.seed)
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
    curve = train(
        net,
        Crops(learned, given.side, margin, given.seed),
        held_out,
        steps=given.steps,
        batch=given.batch,
        rate=given.rate,
        minutes=given.minutes,
        bfloat16=given.bfloat16,
    )
    given.out.mkdir(parents=True, exist_ok=True)
    np.savez(given.out / f"{given.network}-x{given.factor}.npz", **weights(net))
    (given.out / f"{given.network}-x{given.factor}.json").write_text(json.dumps(curve))


if __name__ == "__main__":
    main()
