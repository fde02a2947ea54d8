"""Pictures for people: their layout, their labels, and that pixels are shown as they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from sharpfield.errors import InputError, OptionError, OutputError
from sharpfield.lightfield import LightField
from sharpfield.pictures import (
    contact_sheet,
    detail_sheet,
    epipolar_image,
    error_map,
    heat,
    panel_sheet,
    picture,
    save_png,
)
from sharpfield.synthetic import fronto_parallel

PAPER = np.array((24, 26, 30))


@pytest.fixture
def flat() -> LightField:
    """2x3 views, each of one grey of its own."""
    greys = np.linspace(0.2, 0.8, 6, dtype=np.float32).reshape(2, 3, 1, 1, 1)
    return LightField(np.broadcast_to(greys, (2, 3, 30, 40, 3)).copy())


def _find(sheet: np.ndarray, part: np.ndarray) -> list[tuple[int, int]]:
    """Return where a part stands in a sheet, pixel for pixel."""
    windows = np.lib.stride_tricks.sliding_window_view(sheet, part.shape)[..., 0, :, :, :]
    return [(int(y), int(x)) for y, x in np.argwhere((windows == part).all(axis=(2, 3, 4)))]


def test_picture_rounds_half_up_and_makes_grey_three_channels() -> None:
    image = picture(np.array([[0.0, 0.5, 1.0, 2.0, np.nan]]))
    assert image.dtype == np.uint8
    np.testing.assert_array_equal(image[0, :, 0], [0, 128, 255, 255, 0])
    assert picture(np.zeros((2, 3, 1), np.uint8)).shape == (2, 3, 3)
    for bad in (np.zeros(3), np.zeros((2, 2, 4)), np.zeros((0, 2))):
        with pytest.raises(InputError, match=r"axes \(y, x\)"):
            picture(bad)
    with pytest.raises(InputError, match="int64"):
        picture(np.zeros((2, 2), np.int64))


def test_contact_sheet_shows_every_view_in_its_place(flat: LightField) -> None:
    sheet = contact_sheet(flat, 1000)
    places = []
    for v in range(2):
        for u in range(3):
            found = _find(sheet, picture(flat.views[v, u]))
            assert len(found) == 1
            places.append(found[0])
    y, x = np.array(places).reshape(2, 3, 2).transpose(2, 0, 1)
    assert (np.diff(y, axis=0) == 34).all()
    assert (np.diff(x, axis=1) == 44).all()
    assert (np.diff(y, axis=1) == 0).all()
    assert (sheet[: y[0, 0]] > 150).any(), "columns are labelled"
    assert (sheet[:, : x[0, 0]] > 150).any(), "rows are labelled"


@pytest.mark.parametrize("width", [60, 110, 150])
def test_contact_sheet_fits_the_width(flat: LightField, width: int) -> None:
    sheet = contact_sheet(flat, width)
    assert sheet.shape[1] <= width
    assert sheet.dtype == np.uint8
    with pytest.raises(OptionError, match="3 columns does not fit"):
        contact_sheet(flat, 30)


def test_detail_sheet_shows_the_pixels_enlarged_and_the_low_resolution_in_step() -> None:
    truth = fronto_parallel((1, 1), (41, 60), 0.0).lightfield.views[0, 0]
    low = truth[:40].reshape(20, 2, 30, 2, 3).mean(axis=(1, 3))  # lacks the odd last row
    sheet = detail_sheet({"truth": truth, "low": low}, (slice(5, 16), slice(10, 30)), 3)
    big = np.kron(picture(truth)[5:16, 10:30], np.ones((3, 3, 1), np.uint8))
    assert len(_find(sheet, big)) == 1
    coarse = np.kron(picture(low), np.ones((6, 6, 1), np.uint8))[15:48, 30:90]
    assert len(_find(sheet, coarse)) == 1
    tall = detail_sheet({"truth": truth, "low": low}, (slice(5, 16), slice(10, 30)), 3, columns=1)
    assert tall.shape[0] > 1.8 * sheet.shape[0]


def test_labels_are_legible() -> None:
    """A label is drawn whole, high enough to read, in contrast, and differs from another."""
    panel = np.full((20, 30, 3), 90, np.uint8)
    sheet = panel_sheet({"GB-SQ 41.57 dB, worst view 40.9": panel})
    top = _find(sheet, panel)[0][0]
    bar = sheet[:top].astype(int)
    ink = bar.mean(axis=2) > 200
    rows, columns = np.nonzero(ink)
    assert np.ptp(rows) >= 10, "letters are at least 10 pixels high"
    assert columns.min() > 0
    assert columns.max() < sheet.shape[1] - 1, "a label wider than its picture is not cut"
    assert bar.max() - bar.min() > 180
    other = panel_sheet({"GB-DR 41.09 dB, worst view 40.9": panel})
    assert other.shape[0] == sheet.shape[0]
    assert other.shape != sheet.shape or (other[:top] != sheet[:top]).any()


def test_panels_of_different_sizes_share_a_sheet() -> None:
    panels = {str(n): np.full((n, 2 * n, 3), 10 * n, np.uint8) for n in (8, 16, 12)}
    sheet = panel_sheet(panels, columns=2)
    assert all(len(_find(sheet, panel)) >= 1 for panel in panels.values())
    np.testing.assert_array_equal(sheet[-1, -1], PAPER)
    with pytest.raises(OptionError, match="at least one picture"):
        panel_sheet({})
    with pytest.raises(OptionError, match="at least one column"):
        panel_sheet(panels, columns=0)


def test_epipolar_lines_slope_with_the_disparity() -> None:
    lf = fronto_parallel((3, 5), (40, 50), 2.0, seed=3).lightfield
    across = epipolar_image(lf, row=20, thickness=1)
    assert across.shape == (5, 50, 3)
    np.testing.assert_array_equal(across[0], picture(lf.views[1, :, 20])[0])
    for u in range(4):
        np.testing.assert_array_equal(across[u + 1, :-2], across[u, 2:])
    down = epipolar_image(lf, column=7, u=4, thickness=3)
    assert down.shape == (9, 40, 3)
    np.testing.assert_array_equal(down[0], down[2])
    np.testing.assert_array_equal(down[3, :-2], down[0, 2:])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "either row= or column="),
        ({"row": 1, "column": 1}, "either row= or column="),
        ({"row": 1, "u": 1}, "give v="),
        ({"column": 1, "v": 1}, "give u="),
        ({"row": 30}, "row must be from 0 to 29"),
        ({"column": 3, "u": 3}, "u must be from 0 to 2"),
        ({"row": 3, "thickness": 0}, "thickness"),
    ],
)
def test_epipolar_image_of_what_is_not_there(flat: LightField, options: dict[str, int], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        epipolar_image(flat, **options)


def test_error_map_grows_with_the_error() -> None:
    truth = np.zeros((4, 9, 3))
    result = truth + np.linspace(0, 1 / 8, 9)[None, :, None]
    image = error_map(result, truth, gain=8)
    light = image[0].astype(int).sum(axis=1)
    assert (np.diff(light) > 0).all()
    np.testing.assert_array_equal(image[0, 0], (0, 0, 4))
    np.testing.assert_array_equal(image[0, -1], (252, 255, 164))
    np.testing.assert_array_equal(error_map(truth, result)[0], image[0])
    np.testing.assert_array_equal(error_map(result[..., 0], truth[..., 0]), image)
    with pytest.raises(InputError, match="one shape, not 4x9x3 and 4x8x3"):
        error_map(result, truth[:, :8])
    with pytest.raises(OptionError, match="gain"):
        error_map(result, truth, gain=0)


def test_heat_covers_its_range() -> None:
    image = heat(np.array([[-3.0, -2.0, 2.5, 9.0]]), -2.0, 2.5)
    np.testing.assert_array_equal(image[0, 0], image[0, 1])
    np.testing.assert_array_equal(image[0, 2], image[0, 3])
    with pytest.raises(OptionError, match="must ascend"):
        heat(np.zeros((2, 2)), 1, 1)
    with pytest.raises(InputError, match="values"):
        heat(np.zeros((2, 2, 3)))


@pytest.mark.parametrize(
    ("crop", "zoom", "error", "said"),
    [
        ((slice(0, 5), slice(0, 5)), 0, OptionError, "zoom"),
        ((slice(50, 60), slice(0, 5)), 2, OptionError, "not a window of images of 20x10"),
        ((slice(0, 5, 2), slice(0, 5)), 2, OptionError, "not a window"),
        ((slice(0, 5), slice(0, 5)), 2, InputError, "odd: 13x7 is not"),
    ],
)
def test_details_that_do_not_exist(crop: tuple[slice, slice], zoom: int, error: type, said: str) -> None:
    images = {"whole": np.zeros((10, 20)), "odd": np.zeros((7, 13))}
    with pytest.raises(error, match=said):
        detail_sheet(images, crop, zoom)
    with pytest.raises(OptionError, match="at least one image"):
        detail_sheet({}, crop)


def test_save_png_is_whole_or_not_there(tmp_path: Path, flat: LightField) -> None:
    path = save_png(flat.views[0, 1], tmp_path / "view.png")
    np.testing.assert_array_equal(np.asarray(Image.open(path)), picture(flat.views[0, 1]))
    with pytest.raises(OutputError, match="exists already"):
        save_png(flat.views[0, 0], path)
    save_png(flat.views[0, 0], path, overwrite=True)
    np.testing.assert_array_equal(np.asarray(Image.open(path)), picture(flat.views[0, 0]))
    with pytest.raises(InputError):
        save_png(np.zeros(3), tmp_path / "bad.png")
    assert [file.name for file in tmp_path.iterdir()] == ["view.png"]
