"""min over weights of mean |F(Y) - X|²: three convolutions, and their descent by Adam within a given processor time.

The publications minimise this by plain gradient descent with momentum, 8e8 back-propagations (Dong et al.). Here: Adam
with a step that falls along a cosine, on larger pieces, from weights that pass the input through (one filter of each
layer copies it, the others are small noise). That is some hundred times cheaper and does not end lower: from the usual
random weights most of the time goes into learning the identity.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import nn

FILTERS = (64, 32)

Batch = tuple[torch.Tensor, torch.Tensor]
Curve = list[dict[str, float]]
Loss = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]


def mean_square(start: torch.Tensor, guess: torch.Tensor, truth: torch.Tensor) -> torch.Tensor:
    """Return the mean of |F(Y) - X|²."""
    return (guess - truth).square().mean()


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


def train(
    net: nn.Module,
    batch: Callable[[], Batch],
    measure: Callable[[], float],
    *,
    loss_of: Loss = mean_square,
    steps: int,
    rate: float,
    minutes: float | None = None,
    bfloat16: bool = False,
    keep: Callable[[Curve], None] = lambda curve: None,
) -> Curve:
    """Train in place; return the curve. With `minutes` the schedule ends when that much processor time is used.

    `measure` tells the PSNR on what was held out; `keep` is given the curve so far twenty times on the way.
    """
    adam = torch.optim.Adam(net.parameters(), lr=rate, betas=(0.9, 0.999))
    net.to(memory_format=torch.channels_last)
    began, curve, smooth = time.process_time(), Curve(), None
    step, done = 0, 0.0
    next_told = 0.0
    while True:
        if done >= min(next_told, 1):
            seconds = time.process_time() - began
            curve.append(
                {
                    "step": step,
                    "seconds": round(seconds, 1),
                    "loss": round(smooth or math.nan, 8),
                    "held_out_psnr": round(measure(), 4),
                }
            )
            print(json.dumps(curve[-1]), flush=True)
            keep(curve)
            next_told += 0.05
        if done >= 1:
            return curve
        for group in adam.param_groups:  # 30 steps of warming up, then a cosine down to a hundredth
            group["lr"] = rate * min(1, (step + 1) / 30) * (0.01 + 0.99 * (1 + math.cos(math.pi * done)) / 2)
        start, truth = (each.contiguous(memory_format=torch.channels_last) for each in batch())
        # the last tenth without: the weights settle for what they are used in
        with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16 and done < 0.9):
            guess = net(start)
        loss = loss_of(start, guess.float(), truth)
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


def balanced(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return weights of one plane whose last bias makes the largest deviation on flat views the smallest."""
    levels = planes = np.linspace(0, 1, 65)[np.newaxis]
    count = len(arrays) // 2
    for number in range(1, count + 1):
        weight, bias = (arrays[f"{kind}{number}"].astype(float) for kind in ("weight", "bias"))
        planes = weight.sum((2, 3)) @ planes + bias[:, np.newaxis]
        planes = planes if number == count else np.maximum(planes, 0)
    deviation = planes - levels
    middle = (deviation.min() + deviation.max()) / 2
    last = f"bias{count}"
    return arrays | {last: (arrays[last] - middle).astype(np.float32)}


def begin_from(net: nn.Sequential, kept: Path) -> None:
    """Set weights that were learned before; smaller kernels go into the middles of larger ones."""
    layers = [layer for layer in net if isinstance(layer, nn.Conv2d)]
    with np.load(kept) as arrays, torch.no_grad():
        for number, layer in enumerate(layers, 1):
            weight = torch.from_numpy(arrays[f"weight{number}"])
            room = (layer.weight.shape[-1] - weight.shape[-1]) // 2
            layer.weight.copy_(nn.functional.pad(weight, (room,) * 4))
            layer.bias.copy_(torch.from_numpy(arrays[f"bias{number}"]))


def keeper(folder: Path, name: str, arrays: Callable[[], dict[str, np.ndarray]]) -> Callable[[Curve], None]:
    """Return what writes the weights as they are and the curve so far: NAME.npz, NAME.json."""

    def keep(curve: Curve) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        np.savez(folder / f"{name}.npz", **arrays())
        (folder / f"{name}.json").write_text(json.dumps(curve))

    return keep


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that every training has."""
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
    parser.add_argument("--seed", type=int, default=0)


def settle(seed: int) -> None:
    """One thread, one seed."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
