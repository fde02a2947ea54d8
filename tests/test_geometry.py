"""Geometry read off the pixels: what is made with a known shift is measured, and every wrong order is named."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import imageio.v3 as iio
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from sharpfield.errors import OptionError
from sharpfield.geometry import (
    Geometry,
    Percentiles,
    disparity_window,
    estimate_geometry,
    flip,
    set_right,
    transpose,
)
from sharpfield.lightfield import LightField
from sharpfield.parallel import Workers

SCENES = ("hciold_buddha", "stanford_legotruck", "hcinew_bicycle", "lytro_bikes")
ORDERS = list(itertools.product((False, True), repeat=3))


def paint(seed: int, size: tuple[int, int], roughness: float = 1.2) -> np.ndarray:
    """Soft noise in 0.2 .. 0.8, much larger than a view needs."""
    noise = np.random.default_rng(seed).standard_normal((size[0] + 160, size[1] + 160))
    soft = ndimage.gaussian_filter(noise, roughness)
    return (0.5 + 0.12 * np.clip(soft / soft.std(), -2.5, 2.5)).astype(np.float32)


def moved(picture: np.ndarray, dy: float, dx: float, size: tuple[int, int]) -> np.ndarray:
    """A window of the picture after everything in it has moved by (dy, dx)."""
    shifted = ndimage.shift(picture, (dy, dx), order=3, mode="nearest")
    return np.clip(shifted[80 : 80 + size[0], 80 : 80 + size[1]], 0, 1)


def plane(disparity: tuple[float, float], grid=(3, 3), size=(72, 80), seed: int = 0) -> LightField:
    """One textured plane, (vertical, horizontal) disparity."""
    picture = paint(seed, size)
    views = [
        [
            moved(picture, -(v - grid[0] // 2) * disparity[0], -(u - grid[1] // 2) * disparity[1], size)
            for u in range(grid[1])
        ]
        for v in range(grid[0])
    ]
    return LightField(np.array(views, dtype=np.float32))


def discs(grid=(5, 5), size=(220, 240), far: float = -1.0, near: float = 1.5, seed: int = 3) -> LightField:
    """Textured discs that move with the disparity `near` before a textured wall that moves with `far`."""
    y, x = np.mgrid[: size[0] + 160, : size[1] + 160].astype(np.float32)
    cover = np.zeros_like(x)
    for cy, cx in itertools.product(range(0, size[0] + 160, 70), range(0, size[1] + 160, 70)):
        cover = np.maximum(cover, np.clip(22 - np.hypot(y - cy - 11, x - cx - 17), 0, 1))
    wall, front = paint(seed, size), paint(seed + 1, size, 0.9)
    views = np.empty((*grid, *size), np.float32)
    for v, u in np.ndindex(*grid):
        dv, du = v - grid[0] // 2, u - grid[1] // 2
        mask = moved(cover, -dv * near, -du * near, size)
        back = moved(wall, -dv * far, -du * far, size)
        views[v, u] = mask * moved(front, -dv * near, -du * near, size) + (1 - mask) * back
    return LightField(views)


@pytest.fixture(scope="module")
def scene() -> LightField:
    return discs()


def reordered(lf: LightField, order: tuple[bool, bool, bool]) -> LightField:
    """Store the views in an order that (transpose, flip v, flip u) sets right."""
    transposed, flip_v, flip_u = order
    lf = flip(lf, "u") if flip_u else lf
    lf = flip(lf, "v") if flip_v else lf
    return transpose(lf) if transposed else lf


def order_of(geometry: Geometry) -> tuple[bool, bool, bool]:
    return geometry.transposed, geometry.flip_v, geometry.flip_u


# --- flips, transposes ------------------------------------------------------------------------------------


def test_flip_and_transpose_move_views_and_leave_pictures():
    lf = plane((0.0, 1.0), grid=(2, 3), size=(30, 40))
    assert np.array_equal(flip(lf, "u").views[1, 0], lf.views[1, 2])
    assert np.array_equal(flip(lf, "v").views[0, 1], lf.views[1, 1])
    assert np.array_equal(transpose(lf).views[2, 1], lf.views[1, 2])
    assert transpose(lf).grid == (3, 2)
    assert "flipped along v" in flip(lf, "v").notes[-1]
    with pytest.raises(OptionError, match="'u' or 'v'"):
        flip(lf, "x")


@pytest.mark.parametrize("order", ORDERS)
def test_set_right_undoes_any_order(order):
    lf = LightField(np.random.default_rng(0).random((2, 3, 4, 5), dtype=np.float32))
    transposed, flip_v, flip_u = order
    diagnosis = Geometry(transposed=transposed, flip_v=flip_v, flip_u=flip_u)
    assert np.array_equal(set_right(reordered(lf, order), diagnosis).views, lf.views)


# --- the search window ------------------------------------------------------------------------------------


def measured(low: float, high: float) -> Geometry:
    return Geometry(horizontal=Percentiles(low, low, (low + high) / 2, high, high, samples=100))


def test_window_holds_the_range_of_both_directions():
    geometry = Geometry(
        horizontal=Percentiles(-0.84, -0.8, 0, 1.3, 1.42, 100), vertical=Percentiles(-1.1, -1, 0, 1, 1.2, 100)
    )
    assert geometry.range == (-1.1, 1.42)
    assert disparity_window(geometry, 1) == (-3, 3)
    assert disparity_window(geometry, 2) == (-4, 4)
    assert disparity_window(geometry, 3, pad=2) == (-6, 7)


@given(
    st.floats(-20, 20),
    st.floats(0, 20),
    st.integers(1, 8),
    st.integers(1, 4),
)
def test_window_is_padded_and_never_empty(low, width, factor, pad):
    first, last = disparity_window(measured(low, low + width), factor, pad)
    assert isinstance(first, int)
    assert isinstance(last, int)
    assert first < last
    assert first <= factor * low - pad + 1e-9
    assert last >= factor * (low + width) + pad - 1e-9


def test_window_of_nothing_measured_is_the_papers():
    assert disparity_window(Geometry(), 2) == (-6, 6)


@pytest.mark.parametrize("pad", [0, -1, 1.5, True])
def test_window_refuses_less_padding(pad):
    with pytest.raises(OptionError, match="at least 1"):
        disparity_window(measured(0, 1), 2, pad)
    with pytest.raises(OptionError, match="factor"):
        disparity_window(measured(0, 1), 0)


# --- disparity --------------------------------------------------------------------------------------------


@settings(max_examples=12, deadline=None)
@given(st.floats(-3, 3), st.integers(0, 50))
def test_a_plane_has_the_disparity_it_was_made_with(disparity, seed):
    geometry = estimate_geometry(plane((disparity, disparity), seed=seed))
    for found in (geometry.horizontal, geometry.vertical):
        assert found is not None
        assert found.p0_5 <= found.p1 <= found.p50 <= found.p99 <= found.p99_5
        assert found.p50 == pytest.approx(disparity, abs=0.06)
        assert found.p99 - found.p1 < 0.35
    assert 0 <= geometry.confidence <= 1


def test_percentiles_span_near_and_far(scene):
    geometry = estimate_geometry(scene)
    for found in (geometry.horizontal, geometry.vertical):
        assert found.p1 == pytest.approx(-1.0, abs=0.1)
        assert found.p99 == pytest.approx(1.5, abs=0.1)
    assert geometry.agreement > 0.9
    assert geometry.ratio == pytest.approx(1, abs=0.05)
    assert geometry.confidence > 0.7


@pytest.mark.parametrize("disparity", [-11.3, 12.6])
def test_large_disparities_are_found_from_coarse_to_fine(disparity):
    geometry = estimate_geometry(plane((disparity, disparity), grid=(3, 3), size=(200, 220)))
    assert geometry.horizontal.p50 == pytest.approx(disparity, abs=0.1)
    assert geometry.vertical.p50 == pytest.approx(disparity, abs=0.1)
    assert geometry.flags == ()


def test_disparity_beyond_the_search_is_not_made_up():
    geometry = estimate_geometry(plane((9.0, 9.0), size=(100, 100)), max_disparity=3.0)
    assert geometry.range is None or max(map(abs, geometry.range)) < 4.5
    assert "limit" in geometry.sentence or "match" in geometry.sentence
    with pytest.raises(OptionError, match="max_disparity"):
        estimate_geometry(plane((0.0, 0.0)), max_disparity=0)


@pytest.mark.parametrize("grid", [(1, 2), (1, 3), (1, 5), (1, 4)])
def test_one_row_or_column_measures_one_direction(grid):
    row = plane((0.7, 1.3), grid=grid, size=(90, 100))
    geometry = estimate_geometry(row)
    assert geometry.vertical is None
    assert geometry.horizontal.p50 == pytest.approx(1.3, abs=0.06)
    assert "cannot be compared" in geometry.sentence
    column = estimate_geometry(plane((0.7, 1.3), grid=grid[::-1], size=(90, 100)))
    assert column.horizontal is None
    assert column.vertical.p50 == pytest.approx(0.7, abs=0.06)


def test_two_by_two_views_and_colour():
    grey = discs(grid=(2, 2))
    colour = LightField(grey.views * np.array([1.0, 0.9, 0.6], np.float32))
    for lf in (grey, colour):
        geometry = estimate_geometry(lf)
        assert geometry.range[0] == pytest.approx(-1, abs=0.25)
        assert geometry.range[1] == pytest.approx(1.5, abs=0.25)
        assert not geometry.transposed


def test_gain_vignetting_and_noise_change_little(scene):
    random = np.random.default_rng(5)
    gain = random.uniform(0.7, 1.1, (*scene.grid, 1, 1, 1)).astype(np.float32)
    y, x = np.mgrid[-1 : 1 : scene.size[0] * 1j, -1 : 1 : scene.size[1] * 1j]
    centre = random.uniform(-0.2, 0.2, (*scene.grid, 2))
    vignette = np.array(
        [[1 - 0.3 * ((y - cy) ** 2 + (x - cx) ** 2) for cy, cx in row] for row in centre], np.float32
    )
    noise = random.normal(0, 0.02, scene.views.shape).astype(np.float32)
    real = LightField(np.clip(scene.views * gain * vignette[..., np.newaxis] + noise, 0, 1))
    geometry = estimate_geometry(real)
    assert geometry.range == pytest.approx((-1.0, 1.5), abs=0.25)
    assert geometry.flags == ()


def test_unequal_steps_and_offsets_of_the_camera_are_named(scene):
    uneven = scene.with_views(discs(grid=(5, 3)).views[::2])  # two steps of the camera down, one across
    geometry = estimate_geometry(uneven)
    assert geometry.ratio == pytest.approx(2, abs=0.1)
    assert "vertical step between views is 2 times" in geometry.sentence
    assert geometry.vertical.p1 == pytest.approx(-2, abs=0.2)


def test_the_answer_does_not_depend_on_threads(scene):
    with Workers(3) as workers:
        assert estimate_geometry(scene, workers=workers) == estimate_geometry(scene)


# --- order of the views -----------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ORDERS)
def test_every_order_is_recognised(scene, order):
    stored = reordered(scene, order)
    geometry = estimate_geometry(stored)
    assert order_of(geometry) == order
    assert geometry.order_confidence > 0.8
    assert all(flag in geometry.sentence for flag in geometry.flags)
    assert ("looks right" in geometry.sentence) == (not any(order))
    right = set_right(stored, geometry)
    assert np.array_equal(right.views, scene.views)
    assert estimate_geometry(right).flags == ()


@pytest.mark.parametrize("axis", ["u", "v"])
def test_order_of_a_single_row_or_column_is_told_by_what_is_hidden(scene, axis):
    middle, whole = slice(2, 3), slice(None)
    lf = scene.select(middle, whole) if axis == "u" else scene.select(whole, middle)
    assert estimate_geometry(lf).flags == ()
    assert estimate_geometry(flip(lf, axis)).flags == (f"--flip {axis}",)
    assert estimate_geometry(transpose(lf)).flags == ("--transpose",)


def test_one_plane_tells_disagreement_but_not_which_is_reversed():
    lf = plane((1.2, 1.2))
    right = estimate_geometry(lf)
    assert right.flags == ()
    assert "cannot be told" in right.sentence
    assert right.order_confidence < 0.5
    for axis in "uv":
        geometry = estimate_geometry(flip(lf, axis))
        assert geometry.flip_u != geometry.flip_v
        assert "or the other flip" in geometry.sentence
    assert estimate_geometry(transpose(plane((0.0, 1.2)))).transposed


def test_directions_that_do_not_follow_each_other_are_no_order():
    views = discs(grid=(3, 3)).views[..., 0].copy()
    middle = views[1, 1]
    y, x = np.mgrid[: middle.shape[0], : middle.shape[1]].astype(float)
    upward = np.where(x // 60 % 2, 1.0, -1.0)  # nothing to do with the discs
    for v in (0, 2):
        views[v] = ndimage.map_coordinates(middle, (y + (v - 1) * upward, x), order=3, mode="nearest")
    geometry = estimate_geometry(LightField(np.clip(views, 0, 1)))
    assert abs(geometry.agreement) < 0.5
    assert geometry.order_confidence == 0
    assert "do not follow each other" in geometry.sentence


# --- nothing to measure -----------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0.0, 0.5, 1.0])
def test_flat_views_have_no_texture(level):
    geometry = estimate_geometry(LightField(np.full((3, 3, 64, 70), level, np.float32)))
    assert geometry.horizontal is None
    assert geometry.vertical is None
    assert geometry.range is None
    assert geometry.confidence == 0
    assert geometry.flags == ()
    assert "no texture to measure" in geometry.sentence


def test_views_of_different_scenes_do_not_match():
    noise = np.random.default_rng(1).random((3, 3, 100, 100), dtype=np.float32)
    for views in (noise, ndimage.gaussian_filter(noise, (0, 0, 1.5, 1.5))):
        geometry = estimate_geometry(LightField(views))
        assert geometry.range is None
        assert "do not match" in geometry.sentence


def test_identical_views_have_no_depth():
    geometry = estimate_geometry(plane((0.0, 0.0)))
    assert geometry.range == pytest.approx((0, 0), abs=0.02)
    assert geometry.flags == ()
    assert "hardly any depth" in geometry.sentence


def test_texture_in_one_direction_measures_that_direction():
    stripes = plane((0.9, 0.9), size=(90, 96)).views.copy()
    stripes[:] = stripes.mean(axis=2, keepdims=True)  # vertical stripes: moves along y are invisible
    geometry = estimate_geometry(LightField(stripes))
    assert geometry.horizontal.p50 == pytest.approx(0.9, abs=0.1)
    assert geometry.vertical is None


def test_a_single_view_and_tiny_views_are_said_to_be_so():
    assert "single view" in estimate_geometry(plane((0, 0), grid=(1, 1))).sentence
    assert "too small" in estimate_geometry(plane((0, 0), size=(12, 40))).sentence


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 4), st.integers(1, 4), st.integers(8, 60), st.integers(8, 60), st.sampled_from([1, 3]))
def test_any_shape_gets_an_answer(rows, columns, height, width, channels):
    random = np.random.default_rng(rows * columns + height)
    geometry = estimate_geometry(
        LightField(random.random((rows, columns, height, width, channels), dtype=np.float32))
    )
    assert geometry.sentence
    json.dumps(geometry.to_json())


# --- real light fields ------------------------------------------------------------------------------------


def read(folder: Path) -> np.ndarray:
    return np.array([[iio.imread(folder / f"view_{v:02d}_{u:02d}.png") for u in range(5)] for v in range(5)])


def halved(views: np.ndarray) -> np.ndarray:
    """2 x 2 means, rounded half up."""
    height, width = views.shape[2] // 2, views.shape[3] // 2
    blocks = views[:, :, : 2 * height, : 2 * width].reshape(5, 5, height, 2, width, 2, 3)
    return np.floor(blocks.mean(axis=(3, 5), dtype=np.float32) + 0.5).astype(np.uint8)


@pytest.mark.data
@pytest.mark.parametrize("name", SCENES)
def test_real_light_fields(data_folder, name):
    expected = json.loads((data_folder / name / "meta.json").read_text())
    low, high = expected["disparity_px_per_adjacent_view_p1_p99"]
    full = read(data_folder / name)
    small = LightField(halved(full))
    for lf, factor in ((LightField(full), 1), (small, 2)):
        geometry = estimate_geometry(lf)
        assert geometry.flags == ()
        for found in (geometry.horizontal, geometry.vertical):
            assert found.p1 * factor == pytest.approx(low, abs=0.25)
            assert found.p99 * factor == pytest.approx(high, abs=0.25)
        first, last = disparity_window(geometry, 1)
        assert first <= low / factor - 0.5
        assert last >= high / factor + 0.5
    for order in ORDERS:
        assert order_of(estimate_geometry(reordered(small, order))) == order
