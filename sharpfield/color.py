"""Color: RGB to luma and two chroma planes and back, and the lumas that scores are measured on.

The transform is the reversible one of the paper's experiments: L = (R + 2G + B) / 4, C1 = (-R + 2G - B) / 4,
C2 = (B - R) / 4. The method works on L; C1 and C2 are interpolated.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sharpfield.errors import InputError, OptionError

Planes = NDArray[np.float32]
LumaKind = Literal["L", "Y601"]

# ITU-R BT.601, studio range: white is 235 / 255, black 16 / 255
_Y601 = (65.481 / 255, 128.553 / 255, 24.966 / 255)
_Y601_BLACK = 16 / 255


def to_luma_chroma(rgb: NDArray[np.floating]) -> tuple[Planes, Planes | None]:
    """L = (R + 2G + B) / 4, C1 = (-R + 2G - B) / 4, C2 = (B - R) / 4 (paper, section VII).

    Parameters
    ----------
    rgb
        Values (..., 3), or (..., 1) for grey.

    Returns
    -------
    luma, chroma
        Luma (...) and chroma (..., 2); grey has no chroma: None.
    """
    channels = _channels(rgb)
    if channels == 1:
        return np.ascontiguousarray(rgb[..., 0], dtype=np.float32), None
    red, green, blue = (rgb[..., c].astype(np.float32, copy=False) for c in range(3))
    both = red + blue
    both *= np.float32(0.25)
    half_green = green * np.float32(0.5)
    chroma = np.empty((*rgb.shape[:-1], 2), np.float32)
    np.subtract(half_green, both, out=chroma[..., 0])
    np.subtract(blue, red, out=chroma[..., 1])
    chroma[..., 1] *= np.float32(0.25)
    both += half_green
    return both, chroma


def to_rgb(luma: NDArray[np.floating], chroma: NDArray[np.floating] | None) -> Planes:
    """G = L + C1, R = L - C1 - 2 C2, B = L - C1 + 2 C2: the inverse of `to_luma_chroma`.

    Parameters
    ----------
    luma
        Luma (...).
    chroma
        Chroma (..., 2), or None for grey.

    Returns
    -------
    rgb
        Values (..., 3), or (..., 1) for grey; not clipped.
    """
    luma = luma.astype(np.float32, copy=False)
    if chroma is None:
        return luma[..., np.newaxis].copy()
    rgb = np.empty((*luma.shape, 3), np.float32)
    rgb[..., 1] = luma + chroma[..., 0]
    base = luma - chroma[..., 0]
    twice = np.float32(2) * chroma[..., 1]
    rgb[..., 0] = base - twice
    rgb[..., 2] = base + twice
    return rgb


def luma(views: NDArray[np.floating], kind: str = "L") -> Planes:
    """Return the luma planes (...) of views (..., c).

    Parameters
    ----------
    views
        Values (..., 3), or (..., 1) for grey, which counts as R = G = B.
    kind
        `"L"`: (R + 2G + B) / 4, the paper's. `"Y601"`: BT.601 studio range, (65.481 R + 128.553 G + 24.966 B
        + 16) / 255, on which the deep-learning benchmarks measure (about 1.32 dB more of PSNR).
    """
    if kind not in ("L", "Y601"):
        raise OptionError(f"luma is 'L' (the paper's) or 'Y601' (BT.601 studio range), not {kind!r}")
    channels = _channels(views)
    if kind == "L":
        if channels == 1:
            return np.ascontiguousarray(views[..., 0], dtype=np.float32)
        return np.asarray(0.25 * (views[..., 0] + views[..., 2]) + 0.5 * views[..., 1], dtype=np.float32)
    if channels == 1:
        return np.asarray(sum(_Y601) * views[..., 0] + _Y601_BLACK, dtype=np.float32)
    red, green, blue = _Y601
    weighted = red * views[..., 0] + green * views[..., 1] + blue * views[..., 2]
    return np.asarray(weighted + _Y601_BLACK, dtype=np.float32)


def _channels(values: NDArray[np.floating]) -> int:
    channels = values.shape[-1] if values.ndim else 0
    if channels not in (1, 3):
        raise InputError(
            f"colors have 1 or 3 channels on the last axis, this array has the shape {values.shape}"
        )
    return channels
