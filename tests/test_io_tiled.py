"""All views in one picture: mosaic, lenslet image, quilt."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image
from scipy.ndimage import gaussian_filter

import sharpfield as sf
from sharpfield.io.eslf import is_interleaved, lit_views


def smooth_scene(grid, size, seed=0, dark=False):
    """Return views of a smooth picture that moves by a pixel a view; with dark corners of the grid, or without."""
    rows, columns = grid
    height, width = size
    noise = np.random.default_rng(seed).random((height + rows, width + columns, 3))
    wide = gaussian_filter(noise, (2, 2, 0))
    wide = (wide - wide.min()) / (wide.max() - wide.min())
    views = np.stack([[wide[v : v + height, u : u + width] for u in range(columns)] for v in range(rows)])
    if dark:
        v, u = np.mgrid[:rows, :columns]
        radius = np.hypot(v - (rows - 1) / 2, u - (columns - 1) / 2)
        views = views * np.clip(1.6 - radius / 5, 0.02, 1)[..., None, None, None]
    return sf.LightField(np.round(views * 255).astype(np.uint8))


def line(function, *args, error=sf.InputError, **options):
    with pytest.raises(error) as caught:
        function(*args, **options)
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 500
    return text


def test_mosaic_is_row_by_row_from_the_top_left(tmp_path):
    lf = smooth_scene((2, 3), (8, 10))
    sf.write(lf, tmp_path / "a.png")
    with Image.open(tmp_path / "a.png") as image:
        whole = np.asarray(image) / np.float32(255)
    np.testing.assert_array_equal(whole[8:16, 20:30], lf.views[1, 2])
    back = sf.read(tmp_path / "a.png", grid=(2, 3))
    np.testing.assert_array_equal(back.views, lf.views)
    assert (back.name, back.notes) == ("a", ())


def test_mosaic_needs_a_grid_that_fits(tmp_path):
    sf.write(smooth_scene((2, 3), (8, 10)), tmp_path / "a.png")
    assert "is a single picture; if it holds all views side by side say --grid" in line(
        sf.read, tmp_path / "a.png"
    )
    assert "do not divide into a grid of 3x4" in line(
        sf.read, tmp_path / "a.png", grid=(3, 4), format="mosaic"
    )
    assert "a grid of 1x1 is a single view" in line(sf.read, tmp_path / "a.png", grid=(1, 1), format="mosaic")


@pytest.mark.parametrize("grid", [(14, 14), (9, 9), (5, 7)])
@pytest.mark.parametrize("dark", [False, True])
def test_lenslet_and_mosaic_are_told_apart(tmp_path, grid, dark):
    lf = smooth_scene(grid, (30, 40), dark=dark)
    sf.write(lf, tmp_path / "lenslet.png", format="eslf")
    sf.write(lf, tmp_path / "tiled.png", format="mosaic")
    views = f"0:{grid[0]},0:{grid[1]}"
    for name in ("lenslet.png", "tiled.png"):
        np.testing.assert_array_equal(sf.read(tmp_path / name, grid=grid, views=views).views, lf.views)


def test_lenslet_leaves_out_the_dark_views_and_says_which(tmp_path):
    lf = smooth_scene((14, 14), (20, 30), dark=True)
    sf.write(lf, tmp_path / "bikes_eslf.png")
    with Image.open(tmp_path / "bikes_eslf.png") as image:
        whole = np.asarray(image) / np.float32(255)
    np.testing.assert_array_equal(whole[3::14, 5::14], lf.views[3, 5])
    found = sf.read(tmp_path / "bikes_eslf.png")
    assert "dark outer views left out: rows 3:11 and columns 3:11 of 14x14 kept" in found.notes[1]
    np.testing.assert_array_equal(found.views, lf.views[3:11, 3:11])
    whole_grid = sf.read(tmp_path / "bikes_eslf.png", views="0:14,0:14")
    np.testing.assert_array_equal(whole_grid.views, lf.views)
    assert len(whole_grid.notes) == 1
    np.testing.assert_array_equal(sf.read(tmp_path / "bikes_eslf.png", views="5x5").views, lf.views[4:9, 4:9])


def test_lenslet_of_a_size_that_is_no_multiple(tmp_path):
    lf = smooth_scene((14, 14), (6, 7))
    sf.write(lf, tmp_path / "a_eslf.png")
    with Image.open(tmp_path / "a_eslf.png") as image:
        image.crop((0, 0, 7 * 14 - 5, 6 * 14 - 3)).save(tmp_path / "b_eslf.png")
    back = sf.read(tmp_path / "b_eslf.png", views="14x14")
    np.testing.assert_array_equal(back.views, lf.views[:, :, :5, :6])
    assert "11 rows and 9 columns beyond the last block left out" in back.notes
    Image.new("RGB", (10, 10)).save(tmp_path / "c_eslf.png")
    assert "10x10 pixels hold no light field in blocks of 14x14" in line(sf.read, tmp_path / "c_eslf.png")


def test_lit_views():
    even = np.ones((4, 6))
    assert lit_views(even) == (slice(0, 4), slice(0, 6))
    even[0] = even[:, 5] = 0.1
    assert lit_views(even) == (slice(1, 4), slice(0, 5))
    hole = np.ones((5, 5))
    hole[2, 2] = 0
    assert lit_views(hole) == (slice(0, 5), slice(0, 5))
    assert lit_views(np.zeros((3, 3))) == (slice(0, 3), slice(0, 3))


def test_noise_is_a_lenslet_image_only_in_the_usual_grid():
    noise = np.random.default_rng(0).integers(0, 255, (280, 280, 3), np.uint8)
    assert is_interleaved(noise, (14, 14))
    assert not is_interleaved(noise, (10, 10))


def test_quilt_begins_at_the_bottom_left(tmp_path):
    lf = smooth_scene((1, 6), (8, 6))
    sf.write(lf, tmp_path / "cat_qs3x2a0.75.png")
    with Image.open(tmp_path / "cat_qs3x2a0.75.png") as image:
        whole = np.asarray(image) / np.float32(255)
    np.testing.assert_array_equal(whole[8:, :6], lf.views[0, 0])
    np.testing.assert_array_equal(whole[:8, 12:], lf.views[0, 5])
    back = sf.read(tmp_path / "cat_qs3x2a0.75.png")
    np.testing.assert_array_equal(back.views, lf.views)
    assert back.name == "cat"
    assert back.metadata["quilt"] == {"columns": 3, "rows": 2, "aspect": 0.75}


def test_quilt_of_the_size_of_a_display(tmp_path):
    noise = np.random.default_rng(0).integers(0, 255, (60, 63, 3), np.uint8)
    Image.fromarray(noise).save(tmp_path / "a_qs8x6a0.75.PNG")
    lf = sf.read(tmp_path / "a_qs8x6a0.75.PNG")
    assert (lf.grid, lf.size) == ((1, 48), (10, 7))
    np.testing.assert_array_equal(lf.views[0, 0], noise[50:60, :7] / np.float32(255))
    assert lf.notes == ("7 columns and 0 rows beyond the tiles left out",)
    Image.fromarray(noise).save(tmp_path / "b_qs8x6.jpg")
    assert sf.read(tmp_path / "b_qs8x6.jpg").metadata["quilt"]["aspect"] is None


def test_quilts_that_cannot_be(tmp_path):
    lf = smooth_scene((1, 6), (8, 6))
    text = line(sf.write, lf, tmp_path / "cat_qs4x2a0.75.png", error=sf.OptionError)
    assert "4x2 tiles do not hold 6 views; call it cat_qs3x2a0.75.png" in text
    text = line(sf.write, lf, tmp_path / "cat.png", format="quilt", error=sf.OptionError)
    assert "call it cat_qs3x2a0.75.png" in text
    text = line(sf.write, smooth_scene((2, 3), (8, 6)), tmp_path / "c_qs3x2a1.png", error=sf.OptionError)
    assert "one row of views, this light field has 2; select one (--views 1x3)" in text
    Image.new("RGB", (10, 10)).save(tmp_path / "a_qs20x20a1.png")
    assert "too few for 20x20 tiles" in line(sf.read, tmp_path / "a_qs20x20a1.png")
    Image.new("RGB", (10, 10)).save(tmp_path / "a_qs1x1a1.png")
    assert "a quilt of one tile is a single view" in line(sf.read, tmp_path / "a_qs1x1a1.png")
    Image.new("RGB", (10, 10)).save(tmp_path / "a_qs0x3a1.png")
    assert "rename it" in line(sf.read, tmp_path / "a_qs0x3a1.png")
