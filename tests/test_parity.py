"""Parity with the published implementation, on the tiles of real light fields that it was run on.

Both start from the same 8-bit low-resolution views. Skipped where the light fields are not beside the project.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from sharpfield import catalogue
from sharpfield.color import luma
from sharpfield.io import read
from sharpfield.lightfield import LightField
from sharpfield.metrics import psnr
from sharpfield.observe import Camera, degrade
from sharpfield.parallel import Workers
from sharpfield.progress import silent
from sharpfield.upscaling import upscale

pytestmark = pytest.mark.data

CASES = [
    # scene, method, bound of the mean absolute difference from the published luma, in 8-bit levels. Measured:
    # 0.0011, 0.0014, 0.068, 0.0055. On the truck GB-SQ differs where eq. 11 (the sum of an adjacent pair) chooses
    # another delta than the published code (the best single one and its better neighbour).
    ("hciold_buddha", "gb-sq", 0.005),
    ("hciold_buddha", "gb-dr", 0.005),
    ("stanford_legotruck", "gb-sq", 0.15),
    ("stanford_legotruck", "gb-dr", 0.02),
]
BORDER = 15


@cache
def published(folder: Path, scene: str, method: str) -> dict[str, np.ndarray]:
    with np.load(folder / f"{scene}_x2_{method}.npz") as archive:
        return dict(archive)


@cache
def truth(folder: Path, scene: str, y: int, x: int, height: int, width: int) -> LightField:
    return read(folder / scene).crop(slice(y, y + height), slice(x, x + width))


def run(low: LightField, method: str, preset: str) -> np.ndarray:
    with Workers() as workers:
        options = catalogue.make_options(method, preset)
        return catalogue.find(method).load()(luma(low.views), Camera(2), options, workers, silent)


@pytest.mark.parametrize(("scene", "method", "levels"), CASES)
def test_gb_gives_what_the_published_implementation_gives(
    reference_folder, data_folder, scene, method, levels
):
    theirs = published(reference_folder, scene, method)
    high = truth(data_folder, scene, *theirs["crop_yx_size"].tolist())
    low = LightField(theirs["low_resolution"])
    # the same protocol: our camera makes the very bytes that it was given, our score of its output is its own
    assert np.array_equal(degrade(high, Camera(2)).views, low.views)
    wanted = theirs["psnr_per_view"]
    assert psnr(theirs["luma"], luma(high.views)) == pytest.approx(wanted, abs=1e-4)

    ours = run(low, method, "paper")
    scores = psnr(ours, luma(high.views))
    assert scores.mean() == pytest.approx(wanted.mean(), abs=0.05)
    assert scores.var() == pytest.approx(wanted.var(), rel=0.25)
    inside = (..., slice(BORDER, -BORDER), slice(BORDER, -BORDER))
    assert 255 * abs(ours - theirs["luma"])[inside].mean() < levels

    # the schedule that is the default may not cost quality
    assert psnr(run(low, method, "fast"), luma(high.views)).mean() > scores.mean() - 0.05


def test_upscale_adds_color_and_changes_no_score(reference_folder, data_folder):
    theirs = published(reference_folder, "hciold_buddha", "gb-sq")
    high = truth(data_folder, "hciold_buddha", *theirs["crop_yx_size"].tolist())
    result = upscale(LightField(theirs["low_resolution"]), 2)
    assert result.metadata["upscale"]["tiles"] == 1
    # luma of the clipped colors, against the published luma
    assert psnr(result, high).mean() > theirs["psnr_per_view"].mean() - 0.05
    bilinear = psnr(upscale(LightField(theirs["low_resolution"]), 2, method="bilinear"), high)
    assert bilinear.mean() == pytest.approx(37.753, abs=0.002)  # the published figure
