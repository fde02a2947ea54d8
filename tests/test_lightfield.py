"""LightField: what it takes, what it refuses, and what it keeps."""

from __future__ import annotations

import numpy as np
import pytest

from sharpfield import InputError, LightField, OptionError


def test_integers_become_unit_floats_and_say_their_bits():
    eight = LightField(np.full((2, 3, 4, 5, 3), 255, np.uint8))
    sixteen = LightField(np.full((2, 3, 4, 5), 13107, ">u2"))
    assert eight.views.dtype == np.float32
    assert eight.views.max() == 1
    assert eight.bits == 8
    assert sixteen.views[0, 0, 0, 0, 0] == np.float32(0.2)
    assert sixteen.bits == 16
    assert (sixteen.grid, sixteen.size, sixteen.channels) == ((2, 3), (4, 5), 1)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ">f4"])
def test_floats_are_taken_as_they_are(dtype):
    values = np.linspace(0, 1, 24).reshape(1, 2, 3, 4).astype(dtype)
    lf = LightField(values)
    np.testing.assert_array_equal(lf.views[..., 0], values.astype(np.float32))


def test_views_are_a_copy_that_cannot_be_written():
    values = np.zeros((1, 2, 3, 4), np.float32)
    lf = LightField(values)
    values[:] = 1
    assert lf.views.max() == 0
    with pytest.raises(ValueError, match="read-only"):
        lf.views[:] = 1


def test_rounding_noise_is_clipped_but_wrong_ranges_are_refused():
    values = np.zeros((1, 2, 3, 4))
    values[0, 0, 0, :2] = -1e-6, 1 + 1e-6
    lf = LightField(values)
    assert lf.views.min() == 0
    assert lf.views.max() == 1
    with pytest.raises(
        InputError, match=r"in \[0, 1\], these reach from 0 to 255; divide by the white level"
    ):
        LightField(np.array([[[[0.0, 255.0]]]]))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros((2, 2, 4)), "has 3 axes"),
        (np.zeros((2, 2, 0, 4)), "empty"),
        (np.zeros((2, 2, 4, 4, 4)), "1 or 3 channels"),
        (np.zeros((2, 2, 4, 4), np.int64), "uint8, uint16 or float, not int64"),
        (np.full((2, 2, 4, 4), np.nan), "NaN or infinite"),
        (np.full((2, 2, 4, 4), np.inf), "NaN or infinite"),
    ],
)
def test_what_is_no_light_field_is_refused_by_name(values, message):
    with pytest.raises(InputError, match=message) as caught:
        LightField(values, name="knights")
    assert str(caught.value).startswith("knights: ")
    assert "\n" not in str(caught.value)


def test_select_crop_and_replace_keep_the_rest():
    values = np.random.default_rng(1).integers(0, 65536, (3, 4, 5, 6, 3), np.uint16)
    lf = LightField(values, name="n", source="s", notes=("a note",), metadata={"k": 1})
    part = lf.select(slice(1, 3), slice(2, 3)).crop(slice(0, 2), slice(1, 6))
    np.testing.assert_array_equal(part.views, lf.views[1:3, 2:3, 0:2, 1:6])
    assert (part.name, part.source, part.bits, part.notes, part.metadata) == (
        "n",
        "s",
        16,
        ("a note",),
        {"k": 1},
    )
    assert "3x4 views of 6x5" in repr(lf)
    with pytest.raises(OptionError, match="no view is left"):
        lf.select(slice(5, 6), slice(0, 1))
    with pytest.raises(OptionError, match="no pixel is left"):
        lf.crop(slice(2, 2), slice(0, 1))
