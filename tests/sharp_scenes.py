"""Scenes whose truth is known, and scores, for the tests of `sharp`."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from sharpfield.color import luma
from sharpfield.interpolate import interpolate
from sharpfield.observe import Camera
from sharpfield.parallel import Workers
from sharpfield.sharp.params import SharpParams
from sharpfield.synthetic import fronto_parallel, render_scene

ALONE = Workers(1)
# small scenes full of texture have no quiet part to measure noise in: where they have none they say so
NEAR = SharpParams(disparity=(-4, 4), noise=0.0)
MEASURED = SharpParams(disparity=(-4, 4))


def psnr(a, b) -> float:
    return float(-10 * np.log10(np.mean((np.asarray(a, np.float64) - b) ** 2)))


def seen_by(camera: Camera, high: np.ndarray) -> np.ndarray:
    """What a camera of 8 bits makes of views."""
    low = camera.map((high.shape[2], high.shape[3])).stack(high.astype(np.float32))
    return (np.floor(low * 255 + 0.5).clip(0, 255) / 255).astype(np.float32)


def bicubic(low: np.ndarray, factor: int) -> np.ndarray:
    high = interpolate(low.reshape(-1, *low.shape[2:]), factor, "bicubic").clip(0, 1)
    return high.reshape(*low.shape[:2], *high.shape[1:])


def waves(grid, size, disparity, translation=0.0, seed=0) -> np.ndarray:
    """Views of one plane, waves finer than half of the views can hold among them: exact at any place of any view.

    A point at x in the middle of the grid is at x - p disparity + translation in the view at p (v, u, 2).
    """
    rng = np.random.default_rng(seed)
    v, u, y, x = np.ogrid[: grid[0], : grid[1], : size[0], : size[1]]
    moved = np.broadcast_to(translation, (*grid, 2))[..., np.newaxis, np.newaxis, :]
    y = y + disparity * (v - (grid[0] - 1) / 2) - moved[..., 0]
    x = x + disparity * (u - (grid[1] - 1) / 2) - moved[..., 1]
    total = 0.0
    for fy, fx, phase in rng.uniform(-1, 1, (40, 3)) * [2.0, 2.0, math.pi]:
        total = total + np.sin(fy * y + fx * x + phase) / max(math.hypot(fy, fx), 0.2)
    return (0.5 + total / 28).clip(0, 1)


@cache
def still_life(side: int = 96) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Luma of the synthetic scene (v, u, y, x), what a camera of 8 bits makes of it, and the true disparities."""
    scene = render_scene((3, 3), (side, side), supersampling=2)
    high = luma(scene.lightfield.views)
    return high, seen_by(Camera(2), high), scene.disparity


@cache
def plane(grid=(3, 3), size=(60, 72), disparity=1.3) -> np.ndarray:
    """A textured plane at no whole number of pixels."""
    return luma(fronto_parallel(grid, size, disparity, seed=4).lightfield.views)
