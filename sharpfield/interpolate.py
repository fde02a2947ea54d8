"""Interpolation on the block-centre grid: the initial estimate, the chroma, and two baselines.

Low-resolution sample i sits at the high-resolution coordinate a i + (a - 1) / 2 (the centre of its block), so
high-resolution pixel j reads the low-resolution coordinate (j - (a - 1) / 2) / a. Beyond the outermost samples the
border sample is repeated.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sharpfield.errors import InputError, OptionError
from sharpfield.observe import keys_cubic, whole_factor
from sharpfield.parallel import Workers
from sharpfield.resample import SeparableMap, Taps

Kind = Literal["bilinear", "bicubic"]


def interpolation_map(size_lr: tuple[int, int], factor: int, kind: str = "bilinear") -> SeparableMap:
    """Return the map from views of `size_lr` (y, x) to views `factor` times as large.

    Parameters
    ----------
    size_lr
        Height and width of a low-resolution view.
    factor
        A whole number from 2 to 8.
    kind
        `bilinear`, or `bicubic` (Keys' cubic convolution, a = -0.5).
    """
    if kind not in ("bilinear", "bicubic"):
        raise OptionError(f"interpolation is bilinear or bicubic, not {kind!r}")
    if min(size_lr) < 1:
        raise InputError(f"views of {size_lr[0]}x{size_lr[1]} have no pixels to interpolate")
    return _map((int(size_lr[0]), int(size_lr[1])), whole_factor(factor), kind)


@lru_cache(maxsize=64)
def _map(size_lr: tuple[int, int], factor: int, kind: str) -> SeparableMap:
    y, x = (_axis(n, factor, kind) for n in size_lr)
    return SeparableMap(y, x)


def _axis(n_lr: int, factor: int, kind: str) -> Taps:
    position = (np.arange(n_lr * factor)[:, np.newaxis] - (factor - 1) / 2) / factor
    offsets = np.arange(0, 2) if kind == "bilinear" else np.arange(-1, 3)
    index = np.floor(position).astype(np.int64) + offsets
    distance = position - index
    weight = 1 - np.abs(distance) if kind == "bilinear" else keys_cubic(distance)
    return Taps.from_windows(index, weight, n_lr, "replicate")


def interpolate(
    planes: NDArray[np.float32], factor: int, kind: str = "bilinear", workers: Workers | None = None
) -> NDArray[np.float32]:
    """Interpolate every image of (..., y, x) to `factor` times its size; not clipped.

    Parameters
    ----------
    planes
        Low-resolution planes (..., y, x).
    factor
        A whole number from 2 to 8.
    kind
        `bilinear` or `bicubic`.
    workers
        Threads to spread the planes over.
    """
    height, width = planes.shape[-2:]
    return interpolation_map((height, width), factor, kind).stack(planes, workers)
