"""The options of GB: the paper's numbers, what is refused, and what a light field makes of them."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError, fields, replace

import pytest

from sharpfield.errors import InputError, OptionError
from sharpfield.gb.params import PRESETS, GBParams, plan


def test_the_numbers_of_section_vii():
    paper = GBParams(**PRESETS["paper"])
    assert (paper.disparity, paper.window, paper.patch) == ((-6, 6), 13, 7)
    assert (paper.data_weight_warp, paper.graph_weight) == (0.2, 0.0055)
    assert (paper.sigma, paper.iterations, paper.start) == (0.7229, 2, "bilinear")
    assert (paper.beta, paper.beta_growth) == (1, 1)
    assert (paper.proximal_tolerance, paper.cg_tolerance, paper.cg_iterations) == (1e-4, 1e-6, 20)


def test_the_default_changes_the_schedule_of_the_solver_alone():
    assert PRESETS["fast"] == {}
    fast, paper = GBParams(), GBParams(**PRESETS["paper"])
    schedule = {"beta", "beta_growth", "proximal_steps", "cg_tolerance", "cg_iterations"}
    for each in fields(GBParams):
        if each.name not in schedule:
            assert getattr(fast, each.name) == getattr(paper, each.name), each.name


def test_every_option_says_what_it_is():
    assert all(each.metadata["help"] for each in fields(GBParams))


def test_frozen():
    with pytest.raises(FrozenInstanceError):
        GBParams().patch = 5


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"disparity": (6, -6)}, "did you mean -6:6"),
        ({"disparity": (2, 2)}, "LO < HI, not 2:2; did you mean 1:3"),
        ({"disparity": (-6.5, 6)}, "whole numbers"),
        ({"disparity": (-1.0, 1.0)}, "whole numbers"),
        ({"disparity": (-128, 127)}, "at most 255"),
        ({"patch": 6}, "odd"),
        ({"patch": 0}, "odd"),
        ({"patch": -7}, "odd"),
        ({"patch": 33}, "odd"),
        ({"sigma": 0}, "sigma"),
        ({"sigma": -1.0}, "sigma"),
        ({"sigma": math.nan}, "sigma"),
        ({"beta": 0}, "beta"),
        ({"beta_growth": 0.9}, "beta_growth"),
        ({"proximal_tolerance": 0}, "proximal_tolerance"),
        ({"cg_tolerance": -1e-6}, "cg_tolerance"),
        ({"data_weight_warp": -0.1}, "data_weight_warp"),
        ({"graph_weight": math.nan}, "graph_weight"),
        ({"iterations": 0}, "iterations"),
        ({"proximal_steps": 0}, "proximal_steps"),
        ({"cg_iterations": -3}, "cg_iterations"),
        ({"start": "nearest"}, "bilinear or bicubic"),
    ],
)
def test_values_without_meaning_are_refused(values, said):
    with pytest.raises(OptionError, match=said) as caught:
        GBParams(**values)
    assert "\n" not in str(caught.value)


def test_window_radius_and_reach():
    params = GBParams(disparity=(-2, 4), patch=5)
    assert (params.window, params.radius, params.reach) == (7, 2, 4)
    assert GBParams(disparity=(-9, -3)).reach == 9
    assert GBParams(disparity=(-127, 127)).window == 255
    assert GBParams(patch=1).radius == 0


# --- what a light field makes of them ---------------------------------------------------------------------------


def test_a_light_field_that_holds_the_window_changes_nothing():
    need = plan(GBParams(), (5, 5), (200, 300))
    assert need.options == GBParams()
    assert need.notes == ()
    assert need.halo == 18


def test_small_views_shrink_the_window_and_say_so():
    need = plan(GBParams(disparity=(-20, 30)), (3, 3), (12, 40))
    assert need.options == replace(GBParams(), disparity=(-11, 11))
    (note,) = need.notes
    assert "-20:30" in note
    assert "-11:11" in note
    assert "40x12" in note
    assert need.halo == 33


@pytest.mark.parametrize("size", [(6, 40), (40, 6), (2, 2)])
def test_views_smaller_than_a_patch_are_refused_with_the_smallest_that_works(size):
    with pytest.raises(InputError, match="at least 7 pixels"):
        plan(GBParams(), (3, 3), size)
    least = tuple(max(n, 7) for n in size)
    plan(GBParams(), (3, 3), least)
    with pytest.raises(InputError, match="at least 9 pixels"):
        plan(GBParams(patch=9), (3, 3), least)


@pytest.mark.parametrize("disparity", [(12, 15), (-30, -12), (11, 13)])
def test_a_window_outside_the_views_is_refused(disparity):
    with pytest.raises(OptionError, match="leads out of views of 40x12"):
        plan(GBParams(disparity=disparity), (3, 3), (12, 40))


def test_one_view_is_refused():
    with pytest.raises(InputError, match="bicubic"):
        plan(GBParams(), (1, 1), (100, 100))


def test_memory_grows_with_the_grid_and_with_wide_codes():
    per_pixel = [plan(GBParams(), grid, (100, 100)).bytes_per_pixel for grid in ((1, 2), (3, 3), (9, 9))]
    assert per_pixel == sorted(per_pixel)
    narrow = plan(GBParams(disparity=(-7, 8)), (5, 5), (100, 100)).bytes_per_pixel
    wide = plan(GBParams(disparity=(-8, 8)), (5, 5), (100, 100)).bytes_per_pixel
    assert narrow < wide
