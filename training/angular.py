"""Train the angular networks: min over weights of mean |F(views) - X|², X the view between two, or between four.

    python -m training.angular --photographs FOLDER --out sharpfield/methods/network/weights

Yoon et al. have three networks of layers 9-5-5, for a horizontal pair, for a vertical pair and for four; the first
layers are their own, the others are shared (2017). Here they learn together, from rendered light fields
(`lightfields`), and are bound by symmetry: turning or mirroring a light field (its grid and its views at once) turns or
mirrors what comes out. The features of a layer come in eights for that, one for each way to turn or mirror, and
weights are the mean over the eight ways: the group convolutions of T. Cohen and M. Welling, 2016. A network gives what
is to be added to the mean of the views, and nothing where they are flat: light added to all views is added to the view
between. What is kept are plain weights: `angular-pair` for a horizontal pair (a vertical one is transposed) and
`angular-four`.
"""

from __future__ import annotations

import argparse
import itertools
import math
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from training.descent import FILTERS, Batch, add_options, keeper, settle, train
from training.lightfields import render
from training.photographs import HELD_OUT, pictures

SIDES = (9, 5, 5)
MARGIN = sum(side // 2 for side in SIDES)

# where the views lie around the one that is made, (v, u): the pairs' four first, then the four's
AROUND = ((0, -1), (0, 1), (-1, 0), (1, 0)), ((-1, -1), (-1, 1), (1, -1), (1, 1))
HORIZONTAL, VERTICAL = slice(0, 2), slice(2, 4)

# the eight ways to turn and mirror (y, x), as matrices
WAYS = [
    np.array(each)
    for signs in itertools.product((1, -1), repeat=2)
    for each in (((signs[0], 0), (0, signs[1])), ((0, signs[0]), (signs[1], 0)))
]


def _number(way: NDArray[np.int_]) -> int:
    return next(n for n, each in enumerate(WAYS) if np.array_equal(each, way))


def _features(count: int, way: NDArray[np.int_]) -> list[int]:
    """Return where a way takes each of `count` features: eights of numbers f, f + count / 8, .."""
    eighth = count // len(WAYS)
    return [_number(way @ WAYS[n // eighth]) * eighth + n % eighth for n in range(count)]


def _places(around: tuple[tuple[int, int], ...], way: NDArray[np.int_]) -> list[int]:
    return [around.index(tuple(int(n) for n in way @ place)) for place in around]


def _moved(kernel: torch.Tensor, way: NDArray[np.int_]) -> torch.Tensor:
    """Return kernels (.., y, x) with what was at q at way q."""
    if way[0, 0] == 0:  # exchanges y and x
        kernel = kernel.transpose(-1, -2)
    axes = [axis for axis, row in ((-2, way[0]), (-1, way[1])) if row.sum() < 0]
    return torch.flip(kernel, axes) if axes else kernel


class Tied(nn.Module):
    """A convolution whose weights are the mean over the eight ways of those that are learned."""

    def __init__(
        self, filters: int, channels: int, side: int, taken: list[list[int]], given: list[list[int]]
    ):
        super().__init__()
        # the mean of eight has less variance
        std = math.sqrt(len(WAYS)) * 0.5 * math.sqrt(2 / (channels * side * side))
        self.free = nn.Parameter(std * torch.randn(filters, channels, side, side))
        self.free_bias = nn.Parameter(torch.zeros(filters))
        hill = torch.exp(-torch.arange(-2.0, 3.0).square() / 2)
        patches = torch.randn(filters, 5, 5) * hill * hill[:, None]
        self.patches = patches - patches.mean((1, 2), keepdim=True)  # blind to what is flat
        # way: input plane n becomes plane taken[way][n], output plane n becomes given[way][n]
        self.taken, self.given = taken, given

    def tied(self) -> tuple[torch.Tensor, torch.Tensor]:
        moved = [
            _moved(self.free[np.argsort(out)][:, np.argsort(into)], way)
            for way, into, out in zip(WAYS, self.taken, self.given, strict=True)
        ]
        biases = [self.free_bias[np.argsort(out)] for out in self.given]
        return torch.stack(moved).mean(0), torch.stack(biases).mean(0)


# with which half disparity, and with which sign in every second view, the eights of the first layer begin; the pairs'
# have two each, as a way that exchanges rows and columns exchanges the pairs
SHIFTS = ((0, 1), (1, 1), (-1, 1), (2, 1), (-2, 1), (0, -1), (1, -1), (-1, -1))
MORE_SHIFTS = ((2, -1), (-2, -1), (0, 1), (1, 1), (-1, 1), (0, -1), (1, -1), (-1, -1))


def _matching(patch: torch.Tensor, feature: int, view: tuple[int, int]) -> torch.Tensor:
    """Return the filter of a view: the same patch in every view, where a point of some disparity is seen."""
    eighth = FILTERS[0] // len(WAYS)
    exchanges = WAYS[feature // eighth][0, 0] == 0
    pair = 0 in view
    table = MORE_SHIFTS if pair and exchanges != (view[1] == 0) else SHIFTS
    shift, sign = table[feature % eighth]
    if sum(view) > 0 if pair else view[0] != view[1]:
        patch = sign * patch
    whole = torch.zeros(SIDES[0], SIDES[0])
    y, x = (2 - shift * place for place in view)
    whole[y : y + 5, x : x + 5] = patch
    return whole


class Angular(nn.Module):
    """The three networks; their second and third layers are the same."""

    def __init__(self) -> None:
        super().__init__()
        first, second = ([_features(count, way) for way in WAYS] for count in FILTERS)
        single = [[0] for _ in WAYS]
        self.first = nn.ModuleList(
            Tied(FILTERS[0], 4, SIDES[0], [_places(around, way) for way in WAYS], first) for around in AROUND
        )
        self.second = Tied(FILTERS[1], FILTERS[0], SIDES[1], first, second)
        self.third = Tied(1, FILTERS[1], SIDES[2], second, single)
        self._begin()

    def _begin(self) -> None:
        """What looks like a match at some disparity comes first; the views' mean is what comes out."""
        with torch.no_grad():
            for layer, around in zip(self.first, AROUND, strict=True):
                for feature, view in np.ndindex(FILTERS[0], 4):
                    layer.free[feature, view] = _matching(layer.patches[feature], feature, around[view])
                layer.free *= 0.5 * math.sqrt(2 / (len(around) * 25)) * math.sqrt(len(WAYS))
            self.third.free *= 0.01

    def layers(self, kind: str) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Return weights and biases of `pair` (a horizontal one) or `four`."""
        weight, bias = self.first[kind == "four"].tied()
        if kind == "pair":
            weight = weight[:, HORIZONTAL]
        # blind to what is flat and the same in all views ..
        first = weight - weight.mean((1, 2, 3), keepdim=True), bias
        second, third = self.second.tied(), self.third.tied()[0]
        # .. and then 0: what comes out for it through the rectifiers is taken off
        flat = functional.relu(second[0].sum((2, 3)) @ functional.relu(bias) + second[1])
        return [first, second, (third, -(third.sum((2, 3)) @ flat))]

    def forward(self, views: torch.Tensor) -> torch.Tensor:
        """Return the view between the pair and that between the four, of (n, 6, y, x): a horizontal pair and four."""
        found = []
        for kind, given in (("pair", views[:, :2]), ("four", views[:, 2:])):
            planes = given
            for number, (weight, bias) in enumerate(self.layers(kind), 1):
                planes = functional.conv2d(planes, weight, bias)
                planes = functional.relu(planes) if number < len(SIDES) else planes
            inside = (..., slice(MARGIN, -MARGIN), slice(MARGIN, -MARGIN))
            found.append(given.mean(1, keepdim=True)[inside] + planes.float())
        return torch.cat(found, 1)


def weights(net: Angular, kind: str) -> dict[str, NDArray[np.float32]]:
    """Return the plain weights and biases by name, as `sharpfield` reads them."""
    found = {}
    with torch.no_grad():
        for number, (weight, bias) in enumerate(net.layers(kind), 1):
            found[f"weight{number}"] = weight.contiguous().numpy().astype(np.float32)
            found[f"bias{number}"] = bias.numpy().astype(np.float32)
    return found


class Pieces:
    """Random pieces of light fields: the six views given (horizontal pair, four) and the two between."""

    def __init__(self, fields: list[NDArray[np.uint8]], side: int, seed: int) -> None:
        self.fields, self.side = fields, side
        self.random = np.random.default_rng(seed)

    def _piece(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        field = self.fields[int(self.random.integers(len(self.fields)))]
        whole = self.side + 2 * MARGIN
        y, x = (int(self.random.integers(n - whole + 1)) for n in field.shape[2:])
        views = field[:, :, y : y + whole, x : x + whole].astype(np.float32) / 255
        if self.random.random() < 0.5:  # symmetry does for the rest
            views = views.transpose(1, 0, 3, 2)
        row = int(self.random.integers(3))
        return given(views, row), between(views, row)[:, MARGIN:-MARGIN, MARGIN:-MARGIN]

    def batch(self, size: int) -> Batch:
        starts, truths = [], []
        for number in range(size):
            start, truth = max((self._piece() for _ in range(2)), key=_hardness)
            if number == 0:  # a flat piece: constant views stay constant
                start, truth = np.full_like(start, value := self.random.random()), np.full_like(truth, value)
            scale = self.random.uniform(0.6, 1) if self.random.random() < 0.5 else 1
            offset = self.random.uniform(0, 1 - scale)
            start, truth = start * scale + offset, truth * scale + offset
            if self.random.random() < 0.3:
                start += self.random.uniform(0, 0.01) * self.random.standard_normal(start.shape, np.float32)
            starts.append(start)
            truths.append(truth)
        return torch.from_numpy(np.stack(starts).astype(np.float32)), torch.from_numpy(
            np.stack(truths).astype(np.float32)
        )


def given(views: NDArray[np.float32], row: int = 1) -> NDArray[np.float32]:
    """Return the horizontal pair of a row and the four corners of (3, 3, y, x)."""
    return np.stack([views[row, 0], views[row, 2], *(views[1 + v, 1 + u] for v, u in AROUND[1])])


def between(views: NDArray[np.float32], row: int = 1) -> NDArray[np.float32]:
    """Return the views that those have between them."""
    return np.stack([views[row, 1], views[1, 1]])


def mean(start: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return what averaging the given views gives."""
    return np.stack([start[:2].mean(0), start[2:].mean(0)])


def relative(start: torch.Tensor, guess: torch.Tensor, truth: torch.Tensor) -> torch.Tensor:
    """Return the squared error of a piece beside that of averaging, mean over pieces.

    With plain squares, pieces that hardly move count for nothing, and averaging stays better there.
    """
    inside = (..., slice(MARGIN, -MARGIN), slice(MARGIN, -MARGIN))
    mean = torch.stack([start[:, :2].mean(1), start[:, 2:].mean(1)], 1)[inside]
    error, averaging = ((each - truth).square().mean((2, 3)) for each in (guess, mean))
    return 1e-3 * (error / (averaging + 1e-5)).mean()


def _hardness(piece: tuple[NDArray[np.float32], NDArray[np.float32]]) -> float:
    start, truth = piece
    return float(((mean(start[:, MARGIN:-MARGIN, MARGIN:-MARGIN]) - truth) ** 2).mean())


def psnr(net: Angular | None, held_out: list[NDArray[np.uint8]]) -> float:
    """Return the mean PSNR over both kinds and the light fields held out; of averaging where there is no network."""
    found = []
    inside = (slice(None), slice(MARGIN, -MARGIN), slice(MARGIN, -MARGIN))
    for field in held_out:
        views = field.astype(np.float32) / 255
        start, truth = given(views), between(views)[inside]
        guess = mean(start)[inside]
        if net is not None:
            with torch.no_grad():
                guess = net(torch.from_numpy(start[np.newaxis]))[0].numpy()
        errors = ((np.clip(guess, 0, 1) - truth) ** 2).mean(axis=(1, 2), dtype=np.float64)
        found.append(-10 * np.log10(np.maximum(errors, 1e-7)))
    return float(np.mean(found))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fields", type=int, default=300, help="light fields to render")
    parser.add_argument(
        "--start", type=Path, help="what is kept beside the weights, to go on from: angular.pt"
    )
    add_options(parser)
    given_ = parser.parse_args()
    settle(given_.seed)
    lumas = [
        (name, picture @ np.float32([0.25, 0.5, 0.25])) for name, picture in pictures(given_.photographs)
    ]
    kept = [luma for name, luma in lumas if any(word in name for word in HELD_OUT)]
    learned = [luma for name, luma in lumas if not any(word in name for word in HELD_OUT)]
    eight_bits = partial(np.multiply, 255)
    random = np.random.default_rng(given_.seed)
    fields = [
        np.rint(eight_bits(render(random, learned, 160))).astype(np.uint8) for _ in range(given_.fields)
    ]
    random = np.random.default_rng(10**6)
    held_out = [np.rint(eight_bits(render(random, kept, 144))).astype(np.uint8) for _ in range(16)]
    net = Angular()
    if given_.start:
        net.load_state_dict(torch.load(given_.start, weights_only=True))
    print(f"averaging {psnr(None, held_out):.3f} dB", flush=True)
    pieces = Pieces(fields, given_.side, given_.seed + 1)
    keep = {
        kind: keeper(given_.out, f"angular-{kind}", partial(weights, net, kind)) for kind in ("pair", "four")
    }

    def keep_all(curve: list[dict[str, float]]) -> None:
        for one in keep.values():
            one(curve)
        torch.save(net.state_dict(), given_.out / "angular.pt")

    train(
        net,
        lambda: pieces.batch(given_.batch),
        lambda: psnr(net, held_out),
        loss_of=relative,
        steps=given_.steps,
        rate=given_.rate,
        minutes=given_.minutes,
        bfloat16=given_.bfloat16,
        keep=keep_all,
    )


if __name__ == "__main__":
    main()
