"""Scores: against naive twins, and what a person can get wrong."""

from __future__ import annotations

import json
import math

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sharpfield.color import luma
from sharpfield.errors import InputError, OptionError
from sharpfield.lightfield import LightField
from sharpfield.metrics import Scores, evaluate, psnr, ssim


def pair(*shape, noise=0.1, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.random(shape, dtype=np.float32)
    result = np.clip(truth + noise * rng.standard_normal(shape, dtype=np.float32), 0, 1)
    return result, truth


@pytest.mark.parametrize("kind", ["L", "Y601"])
@pytest.mark.parametrize("channels", [1, 3])
def test_scores_equal_their_naive_twins(kind, channels):
    result, truth = pair(2, 3, 19, 22, channels)
    scores = evaluate(result, truth, border=2, luma=kind)
    assert scores.psnr.shape == scores.ssim.shape == (2, 3)
    for v, u in np.ndindex(2, 3):
        ours, theirs = (luma(views[v, u, 2:-2, 2:-2], kind) for views in (result, truth))
        assert scores.psnr[v, u] == pytest.approx(naive.psnr(ours, theirs), abs=1e-6)
        assert scores.ssim[v, u] == pytest.approx(naive.ssim(ours, theirs), abs=1e-6)


def test_the_data_range_enters_the_constants():
    result, truth = pair(1, 1, 14, 13)
    assert ssim(result, truth, border=0, data_range=2)[0, 0] == pytest.approx(
        naive.ssim(result[0, 0], truth[0, 0], 2), abs=1e-6
    )


def test_a_known_error_gives_a_known_psnr():
    truth = np.full((1, 2, 40, 40), 0.5, np.float32)
    assert psnr(truth + np.float32(0.125), truth) == pytest.approx(-20 * math.log10(0.125))
    assert psnr(truth + np.float32(0.125), truth, peak=2) == pytest.approx(-20 * math.log10(0.0625))


def test_studio_range_scores_higher_by_a_constant_on_grey():
    result, truth = pair(1, 2, 40, 40)
    gain = psnr(result, truth, luma="Y601") - psnr(result, truth)
    assert gain == pytest.approx(20 * math.log10(255 / 219), abs=1e-4)
    assert gain == pytest.approx(1.32, abs=0.005)


def test_the_border_does_not_count():
    result, truth = pair(1, 1, 50, 60)
    inside = result.copy()
    inside[:, :, 15:-15, 15:-15] = truth[:, :, 15:-15, 15:-15]
    assert np.isinf(psnr(inside, truth)).all()
    assert np.isfinite(psnr(inside, truth, border=14)).all()
    assert psnr(result, truth) == pytest.approx(
        psnr(result[:, :, 15:-15, 15:-15], truth[:, :, 15:-15, 15:-15], border=0)
    )


@given(st.integers(0, 2**32 - 1), st.floats(0.01, 0.5), st.integers(11, 16), st.integers(11, 16))
@settings(max_examples=30, deadline=None)
def test_ssim_is_symmetric_at_most_one_and_one_for_equals(seed, noise, height, width):
    result, truth = pair(1, 1, height, width, noise=noise, seed=seed)
    value = ssim(result, truth, border=0)[0, 0]
    assert -1 <= value < 1
    assert value == pytest.approx(ssim(truth, result, border=0)[0, 0])
    assert ssim(truth, truth, border=0)[0, 0] == pytest.approx(1, abs=1e-12)


def test_ssim_falls_as_noise_grows():
    values = [ssim(*pair(1, 1, 40, 40, noise=noise), border=0)[0, 0] for noise in (0.02, 0.1, 0.4)]
    assert values == sorted(values, reverse=True)


def test_arrays_and_light_fields_score_alike():
    result, truth = pair(2, 2, 42, 43, 3)
    expected = psnr(result, truth)
    assert np.array_equal(psnr(LightField(result), truth), expected)
    assert np.array_equal(psnr(LightField(result), LightField(truth)), expected)
    samples = np.rint(255 * truth).astype(np.uint8)
    assert psnr(result, samples) == pytest.approx(psnr(result, LightField(samples)))
    # a plane of luma is measured as it is, also where it leaves [0, 1]
    assert psnr(luma(result), luma(truth)) == pytest.approx(expected, abs=1e-4)
    assert psnr(luma(truth) + 2, luma(truth)) == pytest.approx(-20 * math.log10(2), abs=1e-4)


def test_mean_variance_and_worst_view():
    scores = Scores(np.array([[30.0, 32.0], [34.0, 28.0]]), np.array([[0.9, 0.8], [0.95, 0.85]]))
    assert (scores.psnr_mean, scores.psnr_variance) == (31, 5)  # population variance, dB²
    assert scores.psnr_worst == (28, (1, 1))
    assert scores.ssim_mean == pytest.approx(0.875)
    assert scores.ssim_variance == pytest.approx(0.003125)
    assert scores.ssim_worst == (0.8, (0, 1))
    report = json.loads(json.dumps(scores.to_json(), allow_nan=False))
    assert report["psnr"] == {
        "mean": 31,
        "variance": 5,
        "worst": {"value": 28, "view": [1, 1]},
        "views": [[30, 32], [34, 28]],
    }
    assert report["ssim"]["worst"] == {"value": 0.8, "view": [0, 1]}


def test_equal_views_are_infinitely_good():
    result, truth = pair(1, 3, 42, 42)
    result[0, 1] = truth[0, 1]
    scores = evaluate(result, truth)
    assert math.isinf(scores.psnr[0, 1])
    assert f"{scores.psnr_mean:.2f}" == "inf"
    assert scores.psnr_variance == pytest.approx(scores.psnr[0, [0, 2]].var())
    assert scores.psnr_worst[0] == scores.psnr[0, [0, 2]].min()
    report = json.loads(json.dumps(scores.to_json(), allow_nan=False))
    assert report["psnr"]["mean"] == report["psnr"]["views"][0][1] == "inf"
    same = evaluate(truth, truth)
    assert (same.psnr_mean, same.psnr_variance, same.ssim_variance) == (math.inf, 0, pytest.approx(0))
    assert same.psnr_worst == (math.inf, (0, 0))


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((2, 2, 42, 42, 3), "different grids of views, 2x2 and 2x3; choose the same views"),
        ((2, 3, 42, 41, 3), "different views, 42x41 and 42x42; crop both"),
        ((2, 3, 42, 42, 1), "different numbers of channels, 1 and 3"),
        ((2, 3, 42), "result: a light field has the axes"),
        ((2, 3, 42, 42, 4), "result: a light field has the axes"),
        ((0, 3, 42, 42, 3), "result: the array is empty"),
    ],
)
def test_what_cannot_be_compared(shape, message):
    with pytest.raises(InputError, match=message):
        evaluate(np.zeros(shape, np.float32), np.zeros((2, 3, 42, 42, 3), np.float32))


def test_what_cannot_be_measured():
    result, truth = pair(1, 2, 40, 40)
    with pytest.raises(InputError, match="40x40 leave less than 1x1 pixels inside a border of 20"):
        psnr(result, truth, border=20)
    with pytest.raises(InputError, match="40x40 leave less than 11x11 pixels inside a border of 15"):
        ssim(result, truth)
    with pytest.raises(InputError, match="values are uint8, uint16 or float, not int64"):
        psnr(np.zeros((1, 2, 40, 40), np.int64), truth)
    result[0, 1, 20, 20] = np.nan
    with pytest.raises(InputError, match=r"result: view \(0, 1\) holds NaN"):
        psnr(result, truth)
    for options in ({"border": -1}, {"border": 1.5}, {"luma": "Y"}, {"peak": 0}):
        with pytest.raises(OptionError, match=next(iter(options))):
            psnr(truth, truth, **options)
    with pytest.raises(OptionError, match="data_range"):
        ssim(truth, truth, border=0, data_range=-1)
