"""What every method of the catalogue promises, whoever wrote it: held against all of them, by name.

A method that lands later is covered by its line in the catalogue. It claims the grids that its plan lets through; the
others it must refuse in one clear line, before any work. One that has a long schedule is given a short one in QUICK.
"""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np
import pytest

import sharpfield as sf
from sharpfield import catalogue
from sharpfield.color import to_luma_chroma
from sharpfield.contract import Need
from sharpfield.errors import InputError, SharpfieldError
from sharpfield.observe import Camera, degrade
from sharpfield.parallel import Workers
from sharpfield.progress import Progress, silent
from sharpfield.synthetic import fronto_parallel

NAMES = catalogue.names()
GRIDS = [(1, 1), (1, 2), (3, 1), (2, 2), (2, 3), (3, 3), (4, 3)]
SIZE = (32, 40)  # of a low-resolution view

# options that make a method fast enough for here, where its own are not
QUICK: dict[str, dict[str, Any]] = {}


@cache
def scene(grid: tuple[int, int] = (3, 3), factor: int = 2, camera: str = "box") -> sf.LightField:
    """Low-resolution views of a plane that moves by 1.5 high-resolution pixels."""
    size = (SIZE[0] * factor, SIZE[1] * factor)
    whole = fronto_parallel(grid, size, 1.5, seed=2, supersampling=2).lightfield
    return degrade(whole, Camera.parse(camera, factor))


def options(name: str) -> dict[str, Any]:
    given = dict(QUICK.get(name, {}))
    return {"disparity": (-3, 3), **given}


def need(name: str, grid: tuple[int, int], size_hr: tuple[int, int]) -> Need:
    return catalogue.find(name).plan(catalogue.make_options(name, given=options(name)), grid, size_hr)


def supports(name: str, grid: tuple[int, int]) -> bool:
    try:
        need(name, grid, (2 * SIZE[0], 2 * SIZE[1]))
    except SharpfieldError:
        return False
    return True


@cache
def result(name: str, grid: tuple[int, int] = (3, 3), factor: int = 2, threads: int = 1) -> sf.LightField:
    return sf.upscale(scene(grid, factor), factor, method=name, threads=threads, **options(name))


@pytest.mark.parametrize("name", NAMES)
def test_a_usual_grid_is_supported(name):
    assert supports(name, (3, 3))


@pytest.mark.parametrize("grid", GRIDS, ids="{0[0]}x{0[1]}".format)
@pytest.mark.parametrize("name", NAMES)
def test_every_grid_is_done_or_refused_in_one_line(name, grid):
    if supports(name, grid):
        high = result(name, grid)
        assert high.grid == grid
        assert high.size == (2 * SIZE[0], 2 * SIZE[1])
        return
    events: list[Progress] = []
    with pytest.raises(InputError) as refused:
        sf.upscale(scene(grid), 2, method=name, progress=events.append, **options(name))
    said = str(refused.value)
    assert said
    assert "\n" not in said
    assert len(said) < 200
    assert "view" in said  # it is about the views, and says which there should be
    assert not events  # before any work


@pytest.mark.parametrize("factor", [2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_shape_type_and_range(name, factor):
    high = result(name, factor=factor)
    assert high.views.shape == (3, 3, SIZE[0] * factor, SIZE[1] * factor, 3)
    assert high.views.dtype == np.float32
    assert np.isfinite(high.views).all()
    assert high.views.min() >= 0
    assert high.views.max() <= 1
    assert high.metadata["upscale"]["method"] == name


@pytest.mark.parametrize("name", NAMES)
def test_what_runs_takes_luma_and_gives_luma_and_leaves_its_input(name):
    low, _ = to_luma_chroma(scene().views)
    kept = low.copy()
    method = catalogue.find(name)
    size_hr = (2 * SIZE[0], 2 * SIZE[1])
    high = method.load()(low, Camera(2), need(name, (3, 3), size_hr).options, Workers(1), silent)
    assert high.shape == (3, 3, *size_hr)
    assert high.dtype == np.float32
    assert np.array_equal(low, kept)


@pytest.mark.parametrize("value", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("name", NAMES)
def test_constant_views_stay_constant(name, value):
    flat = sf.LightField(np.full((3, 3, *SIZE, 1), value, np.float32))
    high = sf.upscale(flat, 2, method=name, **options(name))
    assert high.views == pytest.approx(value, abs=2e-3)  # half a level of 8 bits


@pytest.mark.parametrize("name", NAMES)
def test_the_same_again_and_with_any_number_of_threads(name):
    first = result(name)
    again = sf.upscale(scene(), 2, method=name, threads=1, **options(name))
    many = sf.upscale(scene(), 2, method=name, threads=3, **options(name))
    assert np.array_equal(again.views, first.views)
    assert np.array_equal(many.views, first.views)


@pytest.mark.parametrize("name", NAMES)
def test_progress_goes_from_beginning_to_end(name):
    events: list[Progress] = []
    sf.upscale(scene(), 2, method=name, threads=1, progress=events.append, **options(name))
    fractions = [event.fraction for event in events]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1
    assert all(0 <= fraction <= 1 for fraction in fractions)
    assert all(event.stage for event in events)


@pytest.mark.parametrize("camera", ["gaussian:0.9", "bicubic"])
@pytest.mark.parametrize("name", NAMES)
def test_any_camera_can_be_inverted(name, camera):
    low = scene(camera=camera)
    high = sf.upscale(low, 2, method=name, camera=camera, **options(name))
    assert np.isfinite(high.views).all()
    assert high.metadata["upscale"]["camera"] == camera
    # what the camera makes of the result is what it saw, about
    seen = degrade(high, Camera.parse(camera, 2), bits=None)
    assert float(np.sqrt(np.mean((seen.views - low.views) ** 2))) < 0.05


@pytest.mark.parametrize("name", NAMES)
def test_tiles_and_memory_are_planned(name):
    wanted = need(name, (3, 3), (2 * SIZE[0], 2 * SIZE[1]))
    assert 0 <= wanted.halo <= 200
    assert 4 <= wanted.bytes_per_pixel <= 2000


@pytest.mark.parametrize("name", NAMES)
def test_the_window_is_read_off_the_pixels_where_none_is_given(name):
    given = {key: value for key, value in options(name).items() if key != "disparity"}
    high = sf.upscale(scene(), 2, method=name, **given)
    assert high.size == (2 * SIZE[0], 2 * SIZE[1])
    searched = high.metadata["upscale"]["search"]
    assert (searched is not None) == ("disparity" in high.metadata["upscale"]["options"])


def test_options_have_names_of_their_own():
    # the command line takes the options of all methods at once
    kinds = {catalogue.find(name).options() for name in NAMES}
    names = [each.name for kind in kinds for each in fields(kind) if each.name != "disparity"]
    assert len(names) == len(set(names))
