"""Protocols: what they make of a light field and how they measure, against naive twins and against scikit-image."""

from __future__ import annotations

import json

import naive
import numpy as np
import pytest
from skimage.metrics import peak_signal_noise_ratio, structural_similarity

from sharpfield.benchmark import protocols
from sharpfield.benchmark.protocols import BASICLFSR, PAPER, Measured
from sharpfield.color import luma
from sharpfield.errors import InputError, OptionError
from sharpfield.lightfield import LightField
from sharpfield.metrics import psnr, ssim


def noisy_pair(shape=(2, 2, 48, 52), seed=3, noise=0.05):
    rng = np.random.default_rng(seed)
    v, u, y, x = np.indices(shape, dtype=np.float64)
    truth = 0.5 + 0.3 * np.sin(0.7 * x + 0.2 * v) * np.cos(0.5 * y + 0.1 * u)
    result = np.clip(truth + noise * rng.standard_normal(shape), 0, 1)
    return result.astype(np.float32), truth.astype(np.float32)


def color_field(grid=(5, 5), size=(38, 41), seed=0) -> LightField:
    rng = np.random.default_rng(seed)
    return LightField(rng.integers(0, 256, (*grid, *size, 3), dtype=np.uint8), name="noise")


@pytest.mark.parametrize("data_range", [1, 2])
@pytest.mark.parametrize("noise", [0.002, 0.05, 0.3])
def test_psnr_and_ssim_are_those_of_scikit_image(data_range, noise):
    result, truth = noisy_pair(noise=noise)
    for border in (0, 15):
        ours = psnr(result, truth, border=border), ssim(result, truth, border=border, data_range=data_range)
        inside = slice(border, result.shape[2] - border), slice(border, result.shape[3] - border)
        for place in np.ndindex(2, 2):
            a, b = (planes[place][inside].astype(np.float64) for planes in (result, truth))
            theirs = (
                peak_signal_noise_ratio(b, a, data_range=1),
                structural_similarity(
                    b, a, gaussian_weights=True, sigma=1.5, use_sample_covariance=False, data_range=data_range
                ),
            )
            assert [one[place] for one in ours] == pytest.approx(theirs, abs=1e-6)


@pytest.mark.data
@pytest.mark.parametrize("name", ["hcinew_bicycle", "lytro_bikes"])
def test_scores_of_real_views_are_those_of_scikit_image(data_folder, name):
    from sharpfield import read, upscale

    truth = read(data_folder / name, views="1x2")
    truth = truth.crop(slice(300), slice(300))
    result = upscale(PAPER.degraded(truth, 2), 2, method="bilinear")
    for protocol in (PAPER, BASICLFSR):
        a, b = (luma(lf.views, protocol.luma) for lf in (result, truth))
        measured, edge = protocol.measure(a, b), protocol.border
        inside = slice(edge, 300 - edge), slice(edge, 300 - edge)
        for place in np.ndindex(1, 2):
            one, other = a[place][inside].astype(np.float64), b[place][inside].astype(np.float64)
            assert measured.psnr[place] == pytest.approx(
                peak_signal_noise_ratio(other, one, data_range=1), abs=1e-6
            )
            for each, values in measured.ssim.items():
                theirs = structural_similarity(
                    other, one, gaussian_weights=True, use_sample_covariance=False, data_range=each
                )
                assert values[place] == pytest.approx(theirs, abs=1e-6)


def test_the_papers_protocol_is_its_section_vii():
    truth = PAPER.prepare(color_field(), 2)
    assert truth.views.shape == (5, 5, 38, 40, 3)
    assert truth.notes == ("cropped from 38x41 to 38x40, a multiple of 2",)
    low = PAPER.degraded(truth, 2)
    samples = np.rint(255 * truth.views.astype(np.float64))
    blocks = samples.reshape(5, 5, 19, 2, 20, 2, 3).mean(axis=(3, 5))
    assert np.array_equal(np.rint(255 * low.views), np.floor(blocks + 0.5))
    assert np.array_equal(PAPER.planes(truth), luma(truth.views))


def test_the_papers_protocol_leaves_the_border_out():
    result, truth = noisy_pair((1, 1, 60, 60))
    spoilt = result.copy()
    spoilt[:, :, :15], spoilt[:, :, -15:], spoilt[..., :15], spoilt[..., -15:] = 0, 0, 0, 0
    assert np.array_equal(PAPER.measure(spoilt, truth).psnr, PAPER.measure(result, truth).psnr)
    assert BASICLFSR.measure(spoilt, truth).psnr < BASICLFSR.measure(result, truth).psnr - 3


def test_basiclfsr_shrinks_the_studio_luma_by_antialiased_bicubic_and_rounds_nothing():
    lf = color_field((1, 1), (26, 31))
    truth = BASICLFSR.prepare(lf, 2)
    assert truth.views.shape == (1, 1, 24, 28, 1)  # theirs crop to 4 at both of their factors
    red, green, blue = np.moveaxis(lf.views[0, 0, :24, :28].astype(np.float64), -1, 0)
    expected = (65.481 * red + 128.553 * green + 24.966 * blue + 16) / 255
    assert truth.views[0, 0, ..., 0] == pytest.approx(expected, abs=1e-6)
    low = BASICLFSR.degraded(truth, 2)
    shrunk = naive.along_both_axes(expected, lambda line: naive.camera_line(line, 2, "bicubic"))
    assert low.views[0, 0, ..., 0] == pytest.approx(shrunk, abs=1e-6)
    assert low.bits == 32
    result, planes = np.full_like(BASICLFSR.planes(truth), 0.5), BASICLFSR.planes(truth)
    measured = BASICLFSR.measure(result, planes)
    assert measured.psnr[0, 0] == pytest.approx(naive.psnr(result[0, 0], planes[0, 0]), abs=1e-5)
    for data_range in (1, 2):
        theirs = naive.ssim(result[0, 0], planes[0, 0], data_range)
        assert measured.ssim[data_range][0, 0] == pytest.approx(theirs, abs=1e-6)


@pytest.mark.parametrize(("protocol", "factor", "size"), [
    (PAPER, 2, (38, 40)),
    (PAPER, 3, (36, 39)),
    (BASICLFSR, 2, (36, 40)),
    (BASICLFSR, 3, (36, 39)),
    (BASICLFSR, 4, (36, 40)),
])  # fmt: skip
def test_views_are_cropped_to_the_factor(protocol, factor, size):
    assert protocol.prepare(color_field(), factor).size == size


def test_views_smaller_than_the_factor_are_refused():
    with pytest.raises(InputError, match="noise: views of 3x9 are too small to shrink by 2"):
        BASICLFSR.prepare(color_field(size=(3, 9)), 2)


def test_the_central_views_are_taken_as_far_as_there_are():
    assert PAPER.grid((9, 9)) == (5, 5)
    assert PAPER.grid((1, 17)) == (1, 5)
    assert PAPER.grid((3, 4)) == (3, 4)


def test_scores_survive_json_also_where_they_are_infinite():
    result, truth = noisy_pair((1, 2, 20, 20))
    result[0, 1] = truth[0, 1]
    measured = BASICLFSR.measure(result, truth)
    again = Measured.from_json(json.loads(json.dumps(measured.to_json(), allow_nan=False)))
    assert np.array_equal(again.psnr, measured.psnr)
    assert np.isinf(again.psnr[0, 1])
    assert again.ssim.keys() == {1, 2}
    assert np.array_equal(again.ssim[2], measured.ssim[2])
    assert again.scores(2).ssim_mean == measured.ssim[2].mean()


@pytest.mark.parametrize(
    "damaged",
    [
        {"psnr": [], "ssim": {"1": []}},
        {"psnr": [[1.0]], "ssim": {}},
        {"psnr": [[1.0]], "ssim": {"1": [[0.5, 0.5]]}},
        {"psnr": [["fast"]], "ssim": {"1": [[0.5]]}},
        {"psnr": [[1.0], [1.0, 2.0]], "ssim": {"1": [[0.5]]}},
    ],
)
def test_damaged_scores_are_recognised(damaged):
    with pytest.raises(ValueError):  # noqa: PT011
        Measured.from_json(damaged)


def test_protocols_are_found_by_name():
    assert protocols.find("paper") is PAPER
    with pytest.raises(OptionError, match="no protocol is called 'mine'; there are paper, basiclfsr"):
        protocols.find("mine")
