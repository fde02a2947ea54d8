"""F(Y) = W3 * max(0, W2 * max(0, W1 * Y + b1) + b2) + b3: a few convolutions with rectifiers between them.

(* sums over planes and taps; Dong et al. 2014, eq. 1 to 3.) Convolutions are valid, so the margin of the input that
they eat is put on first, by repeating its border. Images are done in tiles of a fixed size, so that what is held is
small, and any number of threads gives the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from sharpfield.methods.network.kernels import convolve
from sharpfield.parallel import Workers
from sharpfield.progress import Progress, ProgressCallback

Planes = NDArray[np.float32]

_TILE = (48, 256)  # of the output: the features of a tile stay in the second-level cache
_GROUP = 4  # taps that the kernel does at a time


class Layer:
    """A valid convolution of planes (C, y, x) with weights (F, C, k, k), plus biases (F)."""

    def __init__(self, weight: Planes, bias: Planes) -> None:
        filters, channels, height, width = weight.shape
        taps = np.indices((channels, height, width)).reshape(3, -1)
        spare = -taps.shape[1] % _GROUP
        self._plane, self._down, self._right = np.pad(taps, ((0, 0), (0, spare))).astype(np.uint32)
        flat = np.pad(weight.reshape(filters, -1), ((0, 0), (0, spare)))
        self._weight = np.ascontiguousarray(flat, np.float32)
        self._bias = np.ascontiguousarray(bias, np.float32)
        self.shape = filters, channels, height, width

    def apply(self, planes: Planes, rectify: bool) -> Planes:
        """Return the filtered planes (F, y - k + 1, x - k + 1)."""
        filters, channels, height, width = self.shape
        if planes.shape[0] != channels:
            raise ValueError(f"a layer of {channels} planes was given {planes.shape[0]}")
        out = np.empty((filters, planes.shape[1] - height + 1, planes.shape[2] - width + 1), np.float32)
        convolve(planes, self._plane, self._down, self._right, self._weight, self._bias, rectify, out)
        return out


@dataclass(frozen=True, eq=False)
class Network:
    """Layers, one after another."""

    layers: tuple[Layer, ...]

    @classmethod
    def of(cls, arrays: Mapping[str, Planes]) -> Network:
        """Return the network of arrays weight1, bias1, weight2, ... (as `training/` writes them)."""
        count = sum(name.startswith("weight") for name in arrays)
        numbers = range(1, count + 1)
        return cls(tuple(Layer(arrays[f"weight{n}"], arrays[f"bias{n}"]) for n in numbers))

    @property
    def margin(self) -> int:
        """How far a pixel sees."""
        return sum(layer.shape[2] // 2 for layer in self.layers)

    def apply(self, planes: Planes) -> Planes:
        """Return the last layer's plane (y, x) for planes (C, y, x) with a margin on every side."""
        last = len(self.layers) - 1
        for number, layer in enumerate(self.layers):
            planes = layer.apply(planes, rectify=number < last)
        return planes[0]

    def run(
        self,
        inputs: Sequence[Planes],
        out: Sequence[Planes],
        workers: Workers,
        progress: ProgressCallback,
        stage: str,
    ) -> None:
        """Fill images out[i] (y, x) from planes inputs[i] (C, y, x)."""
        margin = self.margin

        def one(place: tuple[int, slice, slice]) -> None:
            number, y, x = place
            out[number][y, x] = self.apply(_with_margin(inputs[number], y, x, margin))

        places = [(n, y, x) for n, image in enumerate(out) for y, x in _tiles(image.shape)]
        step = 2 * workers.threads
        for begin in range(0, len(places), step):
            workers.map(one, places[begin : begin + step])
            progress(Progress(stage, min(begin + step, len(places)) / len(places)))


def _tiles(size: tuple[int, ...]) -> Iterator[tuple[slice, slice]]:
    for y in range(0, size[0], _TILE[0]):
        for x in range(0, size[1], _TILE[1]):
            yield slice(y, min(y + _TILE[0], size[0])), slice(x, min(x + _TILE[1], size[1]))


def _with_margin(planes: Planes, y: slice, x: slice, margin: int) -> Planes:
    """Cut a window with a margin; outside of the image its border is repeated."""
    rows, columns = (
        np.clip(np.arange(span.start - margin, span.stop + margin), 0, length - 1)
        for span, length in zip((y, x), planes.shape[1:], strict=True)
    )
    return np.ascontiguousarray(planes[:, rows[:, np.newaxis], columns], np.float32)


@lru_cache(maxsize=32)
def shipped(name: str) -> Network:
    """Return a network whose weights come with the package."""
    kept = files("sharpfield.methods.network").joinpath("weights", f"{name}.npz")
    with kept.open("rb") as opened, np.load(opened) as arrays:
        return Network.of(dict(arrays))
