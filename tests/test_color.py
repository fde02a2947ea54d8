"""Color: the transform of the paper's experiments and its inverse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sharpfield.color import luma, to_luma_chroma, to_rgb
from sharpfield.errors import InputError, OptionError


def test_worked_out_values():
    bright, chroma = to_luma_chroma(np.array([[1.0, 0.5, 0.25]], np.float32))
    assert bright == pytest.approx([(1 + 1 + 0.25) / 4])
    assert chroma[0] == pytest.approx([(-1 + 1 - 0.25) / 4, (0.25 - 1) / 4])


@given(arrays(np.uint8, st.tuples(st.integers(1, 3), st.integers(1, 4), st.just(3))))
def test_the_inverse_gives_every_8_bit_color_back(samples):
    rgb = samples / np.float32(255)
    back = to_rgb(*to_luma_chroma(rgb))
    assert back.dtype == np.float32
    assert np.abs(back - rgb).max() < 3e-7
    assert np.array_equal(np.rint(back * 255).astype(np.uint8), samples)


def test_dyadic_colors_come_back_to_the_bit():
    levels = np.arange(0, 257, 16, dtype=np.float32) / 256
    rgb = np.stack(np.meshgrid(levels, levels, levels), axis=-1)
    assert np.array_equal(to_rgb(*to_luma_chroma(rgb)), rgb)


def test_grey_is_its_own_luma_and_has_no_chroma():
    grey = np.random.default_rng(0).random((2, 3, 4, 5, 1), dtype=np.float32)
    bright, chroma = to_luma_chroma(grey)
    assert chroma is None
    assert np.array_equal(bright, grey[..., 0])
    assert np.array_equal(to_rgb(bright, None), grey)
    assert np.array_equal(luma(grey), grey[..., 0])


@pytest.mark.parametrize("kind", ["L", "Y601"])
def test_grey_counts_as_equal_channels(kind):
    grey = np.random.default_rng(0).random((4, 5, 1), dtype=np.float32)
    assert luma(grey, kind) == pytest.approx(luma(np.repeat(grey, 3, axis=-1), kind), abs=2e-7)


def test_luma_l_is_that_of_the_transform():
    rgb = np.random.default_rng(0).random((4, 5, 3), dtype=np.float32)
    assert luma(rgb) == pytest.approx(to_luma_chroma(rgb)[0], abs=2e-7)


def test_studio_range_runs_from_16_to_235():
    ends = np.array([[0, 0, 0], [1, 1, 1], [1, 0, 0]], np.float32)
    assert luma(ends, "Y601") * 255 == pytest.approx([16, 235, 16 + 65.481], abs=1e-4)


def test_errors():
    with pytest.raises(OptionError, match=r"'L'.*'Y601'.*not 'Y'"):
        luma(np.zeros((2, 3), np.float32), "Y")
    for function in (to_luma_chroma, luma):
        with pytest.raises(InputError, match="1 or 3 channels"):
            function(np.zeros((2, 4), np.float32))
