"""Portable float map: one plane of float32 after a text of three lines, rows from the bottom to the top.

    Pf                  one channel (PF: three, which no map of ours has)
    WIDTH HEIGHT
    -1.0                negative: little-endian; positive: big-endian

The form in which the disparity maps of stereo and light-field benchmarks travel (Middlebury, HCI 2016).
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from sharpfield.errors import InputError

_HEADER = re.compile(rb"Pf\s+([0-9]+)\s+([0-9]+)\s+([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)[\r]?[\n ]")


def encode_pfm(plane: NDArray[np.float32]) -> bytes:
    """Return a plane (y, x) as a little-endian PFM."""
    height, width = plane.shape
    return f"Pf\n{width} {height}\n-1.0\n".encode("ascii") + plane[::-1].astype("<f4").tobytes()


def decode_pfm(data: bytes, label: str = "PFM") -> NDArray[np.float32]:
    """Return the plane (y, x) of a PFM of either byte order; its first row is the top one."""
    found = _HEADER.match(data)
    scale = float(found[3]) if found and re.fullmatch(rb"[-+]?[0-9]*\.?[0-9]+(?:[eE].*)?", found[3]) else 0.0
    if found is None or scale == 0:
        raise InputError(f"{label}: is no PFM of one channel (Pf, width and height, scale)")
    width, height = int(found[1]), int(found[2])
    body = data[found.end() :]
    if not width * height or len(body) != 4 * width * height:
        raise InputError(
            f"{label}: a PFM of {width}x{height} has {4 * width * height} bytes of samples, this has {len(body)}; "
            "copy or export it again"
        )
    plane = np.frombuffer(body, "<f4" if scale < 0 else ">f4").reshape(height, width)
    return plane[::-1].astype(np.float32)
