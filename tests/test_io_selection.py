"""Parts of a light field, as people write them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sharpfield import LightField, OptionError
from sharpfield.io.selection import parse_crop, parse_grid, parse_views, select

LF = LightField(np.arange(4 * 6 * 8 * 10, dtype=np.uint16).reshape(4, 6, 8, 10))


@pytest.mark.parametrize(
    ("text", "rows", "columns"),
    [
        ("2x4", slice(1, 3), slice(1, 5)),
        ("3x3", slice(0, 3), slice(1, 4)),
        (" 4 X 6 ", slice(0, 4), slice(0, 6)),
        ("1:3,2:5", slice(1, 3), slice(2, 5)),
        (":,:2", slice(0, 4), slice(0, 2)),
        ("0:4:2,1::3", slice(0, 4, 2), slice(1, 6, 3)),
    ],
)
def test_views(text, rows, columns):
    assert parse_views(text, (4, 6)) == (rows, columns)
    np.testing.assert_array_equal(select(LF, views=text).views, LF.views[rows, columns])


def test_crop():
    assert parse_crop("2:5,3:9", (8, 10)) == (slice(2, 5), slice(3, 9))
    assert parse_crop(":,4:", (8, 10)) == (slice(0, 8), slice(4, 10))
    np.testing.assert_array_equal(select(LF, crop="2:5,3:9").views, LF.views[:, :, 2:5, 3:9])


def test_grid():
    assert parse_grid("9x7") == (9, 7)
    for text in ("9", "0x9", "9x", "-1x3", "9,9", "axb", ""):
        with pytest.raises(OptionError, match="grid is ROWSxCOLUMNS"):
            parse_grid(text)


@pytest.mark.parametrize(
    "text", ["5x5", "0x1", "2", "", "1:3", "3:1,0:2", "0:5,0:6", "0:4,2:2", "a:b,0:1", "0:4:0,:", "1,2"]
)
def test_views_that_are_not_there_are_refused(text):
    with pytest.raises(OptionError, match="views") as caught:
        parse_views(text, (4, 6))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["8x10", "0:9,0:10", "0:8:2,0:10", "5:2,:", "::,::", "0:8"])
def test_crops_that_are_not_there_are_refused(text):
    with pytest.raises(OptionError, match="crop"):
        parse_crop(text, (8, 10))


@settings(max_examples=100, deadline=None)
@given(text=st.text(alphabet="0123456789:,x -", max_size=12))
def test_any_text_is_a_part_or_refused(text):
    for parse in (parse_views, parse_crop):
        try:
            rows, columns = parse(text, (4, 6))
        except OptionError:
            continue
        assert len(range(4)[rows]) > 0
        assert len(range(6)[columns]) > 0
