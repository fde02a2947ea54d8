"""What the measurements share: the light fields, the best of several times, peak memory."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import sharpfield as sf
from sharpfield.observe import Camera, degrade

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
LIGHT_FIELDS = ("hciold_buddha", "stanford_legotruck", "hcinew_bicycle", "lytro_bikes")


def truth_and_low(name: str, factor: int) -> tuple[sf.LightField, sf.LightField]:
    """Return a light field, cropped to a multiple of the factor, and what the box camera makes of it in 8 bits."""
    if not (DATA / name).is_dir():
        sys.exit(f"the light field {name} is not in {DATA.parent.name}/{DATA.name} beside the project")
    whole = sf.read(DATA / name)
    height, width = (length - length % factor for length in whole.size)
    truth = whole.crop(slice(0, height), slice(0, width))
    return truth, degrade(truth, Camera(factor))


def best_of(count: int, work: Callable[[], object]) -> float:
    """Return the shortest of `count` times, in seconds."""
    times = []
    for _ in range(count):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def peak_bytes() -> float:
    """Return the peak resident memory of this process so far."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
