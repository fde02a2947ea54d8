"""Interpolation on the block-centre grid, and the paper's bilinear column."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from test_observe import assert_adjoint, random_image

from sharpfield.color import luma
from sharpfield.errors import InputError, OptionError
from sharpfield.interpolate import interpolate, interpolation_map
from sharpfield.lightfield import LightField
from sharpfield.methods import interpolation
from sharpfield.metrics import psnr
from sharpfield.observe import Camera, degrade
from sharpfield.parallel import Workers

KINDS = ["bilinear", "bicubic"]
FACTORS = [2, 3, 4]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("factor", [*FACTORS, 8])
@pytest.mark.parametrize("size", [(1, 1), (1, 6), (7, 5)])
def test_dot_product(kind, factor, size):
    assert_adjoint(interpolation_map(size, factor, kind))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("size", [(1, 2), (6, 5)])
def test_the_interpolation_equals_its_naive_twin(kind, factor, size):
    image = random_image(*size)
    twin = naive.along_both_axes(image, lambda line: naive.interpolated_line(line, factor, kind))
    assert interpolate(image, factor, kind) == pytest.approx(twin, abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("factor", FACTORS)
def test_constants_are_preserved(kind, factor):
    mapped = interpolation_map((5, 3), factor, kind)
    assert mapped.y.weight.sum(axis=1) == pytest.approx(1, abs=1e-6)
    assert interpolate(np.full((5, 3), 0.3, np.float32), factor, kind) == pytest.approx(0.3, abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("factor", FACTORS)
def test_a_ramp_comes_back_from_the_camera_in_place(kind, factor):
    # the half-pixel phase: a wrong grid shifts the ramp by (factor - 1) / 2 pixels
    ramp = np.tile(np.arange(12 * factor, dtype=np.float32), (6 * factor, 1)) / 100
    back = interpolate(Camera(factor).map(ramp.shape).apply(ramp), factor, kind)
    inside = slice(2 * factor, -2 * factor)
    assert back[:, inside] == pytest.approx(ramp[:, inside], abs=1e-6)


def test_bilinear_by_two_worked_out():
    line = np.array([[0, 4, 8]], np.float32)
    assert interpolate(line, 2)[0] == pytest.approx([0, 1, 3, 5, 7, 8])


@given(st.integers(1, 6), st.integers(1, 6), st.integers(2, 8), st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_bilinear_stays_between_its_samples(height, width, factor, seed):
    image = random_image(height, width, seed=seed)
    high = interpolate(image, factor)
    assert high.shape == (height * factor, width * factor)
    assert high.min() >= image.min() - 1e-6
    assert high.max() <= image.max() + 1e-6


def test_any_leading_axes_on_any_number_of_threads():
    planes = random_image(2, 3, 4, 5)
    high = interpolate(planes, 3, "bicubic")
    assert high.shape == (2, 3, 12, 15)
    with Workers(2) as workers:
        assert np.array_equal(interpolate(planes, 3, "bicubic", workers), high)
    assert np.array_equal(interpolate(planes[1, 2], 3, "bicubic"), high[1, 2])


@pytest.mark.parametrize("kind", KINDS)
def test_the_methods_interpolate_and_report(kind):
    method = getattr(interpolation, kind)
    assert method.name == kind
    low, reports = random_image(1, 3, 5, 4), []
    with Workers(1) as workers:
        high = method.load()(low, Camera(2), method.options()(), workers, reports.append)
    assert np.array_equal(high, interpolate(low, 2, kind))
    assert reports[-1].fraction == 1


def test_errors():
    with pytest.raises(OptionError, match="bilinear or bicubic, not 'lanczos'"):
        interpolation_map((4, 4), 2, "lanczos")
    with pytest.raises(OptionError, match=r"whole number from 2 to 8, not 2\.5"):
        interpolation_map((4, 4), 2.5)
    with pytest.raises(InputError, match="no pixels"):
        interpolation_map((0, 4), 2)


# --- the paper's figures ---------------------------------------------------------------------------------------


@pytest.mark.data
@pytest.mark.parametrize(
    ("scene", "figures"),
    [
        ("hciold_buddha", {2: (35.22, 0.00), 3: (32.58, 0.01)}),
        ("stanford_legotruck", {2: (36.26, 0.04), 3: (33.52, 0.02)}),
    ],
)
def test_bilinear_gives_the_figures_of_the_papers_tables(data_folder, scene, figures):
    # Pillow and not our reader: the figure then rests on the camera, the interpolation and the score alone
    files = [
        [data_folder / scene / f"view_{row:02d}_{column:02d}.png" for column in range(5)] for row in range(5)
    ]
    truth = LightField(np.stack([np.stack([np.asarray(Image.open(file)) for file in row]) for row in files]))
    for factor, (mean, variance) in figures.items():
        low = degrade(truth, Camera(factor))
        height, width = (n * factor for n in low.size)
        high = interpolate(luma(low.views), factor)
        scores = psnr(high, luma(truth.views[:, :, :height, :width]))
        assert round(float(scores.mean()), 2) == mean
        assert scores.var() == pytest.approx(variance, abs=0.0051)
