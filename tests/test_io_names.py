"""Names to views: known namings, patterns, and every way in which names can be wrong."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sharpfield import InputError, OptionError
from sharpfield.io.names import arrange, named

NAMINGS = [
    "view_{v:02}_{u:02}.png",
    "{v:02}_{u:02}.tif",
    "{v}_{u}.bmp",
    "knights_{v:02}_{u:02}.PNG",
    "a_1_b{v}-{u}.jpg",
]


@pytest.mark.parametrize("naming", NAMINGS)
@pytest.mark.parametrize("first", [(0, 0), (1, 1), (5, 98)])
def test_known_namings_from_any_first_number(naming, first):
    names = {(v, u): naming.format(v=first[0] + v, u=first[1] + u) for v in range(3) for u in range(4)}
    found = arrange(reversed(names.values()), "knights")
    assert found.grid == (3, 4)
    assert dict(found.names) == names


@settings(max_examples=30, deadline=None)
@given(rows=st.integers(1, 5), columns=st.integers(1, 12), first=st.integers(0, 120), data=st.data())
def test_any_missing_view_is_named(rows, columns, first, data):
    views = [(v, u) for v in range(rows) for u in range(columns)]
    if len(views) < 4:
        return
    names = {view: f"view_{first + view[0]}_{first + view[1]}.png" for view in views}
    assert dict(arrange(names.values(), "x").names) == names
    inner = [(v, u) for v, u in views if 0 < u < columns - 1]
    if inner:
        gone = data.draw(st.sampled_from(inner))
        message = rf"missing view \(row {first + gone[0]}, column {first + gone[1]}\)"
        with pytest.raises(InputError, match=message):
            arrange([name for view, name in names.items() if view != gone], "x")


def test_pattern_chooses_and_says_what_it_left():
    names = [f"cam_{v}_{u}_left.png" for v in range(2) for u in range(3)] + ["depth_0_0.png"]
    found = arrange(names, "rig", pattern="cam_{v}_{u}_left.png")
    assert found.grid == (2, 3)
    assert found.names[1, 2] == "cam_1_2_left.png"
    assert found.notes == ("left aside: depth_0_0.png",)


def test_pattern_with_columns_first_one_axis_stars_and_no_ending():
    names = [f"x{u}y{v}_{v * 7}.png" for v in range(2) for u in range(3)]
    assert arrange(names, "rig", pattern="x{u}y{v}_*.png").grid == (2, 3)
    assert arrange(names, "rig", pattern="x{u}y{v}_*").grid == (2, 3)
    assert arrange([f"frame{i:03}.png" for i in range(7, 12)], "rig", pattern="frame{u}.png").grid == (1, 5)
    assert arrange([f"frame{i:03}.png" for i in range(7, 12)], "rig", pattern="frame{v:03}.png").grid == (
        5,
        1,
    )
    assert arrange(["p-1.png", "p0.png", "p1.png"], "rig", pattern="p{u}.png").names[0, 0] == "p-1.png"


def test_pictures_without_numbers_are_left_aside():
    found = arrange(["00_00.png", "00_01.png", "preview.png", "thumbs.jpg"], "rig")
    assert found.grid == (1, 2)
    assert found.notes == ("left aside: preview.png, thumbs.jpg",)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "no pictures"),
        (
            ["view_00_00.png"],
            r"no light field: it holds a single view \(view_00_00.png\); use a single-image",
        ),
        (["view_00_00.png", "about.png"], "no light field: it holds a single view"),
        (["a.png", "b.png"], r"do not say rows and columns \(a.png, b.png\); rename"),
        (
            ["a_0_0.png", "a_0_1.png", "b_0_0.png"],
            r"2 namings \(a_0_0.png, b_0_0.png\).*--pattern 'a_\{v\}_\{u\}.png'",
        ),
        (["a_0_0.png", "a_00_00.png", "a_0_1.png"], "a_00_00.png and a_0_0.png claim the same view"),
        (["a_0_0.png", "a_0_0.jpg"], "claim the same view"),
        (["a_0_0.png", "a_4_4.png"], r"missing views \(row 0, column 1\), .* and 20 more of the 5x5 grid"),
        (["p_20240101_120000.png", "p_20250101_235959.png"], "missing views"),
    ],
)
def test_wrong_names_get_one_clear_line(names, message):
    with pytest.raises(InputError, match=message) as caught:
        arrange(names, "rig")
    assert str(caught.value).startswith("rig: ")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("pattern", ["cam.png", "{v}_{v}.png", "{v}_{w}.png", "{}_{u}.png", "{v.x}_{u}.png"])
def test_patterns_without_meaning_are_refused(pattern):
    with pytest.raises(OptionError, match="pattern"):
        arrange(["1_1.png"], "rig", pattern=pattern)


def test_pattern_that_matches_nothing_names_what_is_there():
    with pytest.raises(
        InputError, match=r"no picture is named like 'x_\{v\}_\{u\}.png'; there are 1_1.png, 1_2.png"
    ):
        arrange(["1_1.png", "1_2.png"], "rig", pattern="x_{v}_{u}.png")


def test_names_for_writing():
    assert named("cam_{v}_{u:03}.png", 4, 5) == "cam_4_005.png"
    for pattern in ("../{v}_{u}.png", "/tmp/{v}_{u}.png", "*{v}_{u}.png", "{v:zz}_{u}.png"):
        with pytest.raises(OptionError, match="pattern"):
            named(pattern, 0, 0)


def test_benchmark_names_are_numbered_row_by_row():
    names = [f"input_Cam{i:03}.png" for i in range(12)]
    found = arrange([*names, "objectids_lowres.png"], "rig", config={"num_cams_x": "4", "num_cams_y": "3"})
    assert found.grid == (3, 4)
    assert found.names[1, 2] == "input_Cam006.png"
    assert arrange(names[:9], "rig").grid == (3, 3)
    assert arrange(names, "rig", grid=(2, 6)).names[1, 0] == "input_Cam006.png"
    assert arrange([f"{i}.png" for i in range(1, 7)], "rig", grid=(2, 3)).names[1, 1] == "5.png"
    assert (
        arrange([f"{i}_a.png" for i in range(1, 7)], "rig", pattern="{i}_a", grid=(2, 3)).names[1, 1]
        == "5_a.png"
    )


@pytest.mark.parametrize(
    ("count", "grid", "config", "message"),
    [
        (12, None, {}, "12 numbered views make no square grid and there is no parameters.cfg; say --grid"),
        (12, None, {"num_cams_x": "9", "num_cams_y": "9"}, r"12 numbered views are no grid of 9x9 \(81\)"),
        (12, None, {"num_cams_x": "many", "num_cams_y": "9"}, "no whole num_cams_x"),
        (12, None, {"num_cams_x": "0", "num_cams_y": "0"}, "says 0x0 views"),
        (12, (5, 5), {}, r"no grid of 5x5 \(25\); number 12, 13, 14 and 10 more is missing"),
    ],
)
def test_numbered_views_that_make_no_grid(count, grid, config, message):
    with pytest.raises(InputError, match=message):
        arrange([f"input_Cam{i:03}.png" for i in range(count)], "rig", grid=grid, config=config)


def test_numbers_without_a_grid_ask_for_it():
    with pytest.raises(InputError, match="--grid"):
        arrange([f"frame{i}.png" for i in range(9)], "rig")
    with pytest.raises(InputError, match="--grid ROWSxCOLUMNS"):
        arrange([f"frame{i}.png" for i in range(9)], "rig", pattern="frame{i}.png")
    with pytest.raises(InputError, match="span a grid of 3x3 views, not the 2x2 asked for"):
        arrange([f"{v}_{u}.png" for v in range(3) for u in range(3)], "rig", grid=(2, 2))


def gantry(rows, columns, *, v_step, u_step, tail):
    """Return names as the gantry's, with jitter; row RR is at V = v_step * RR."""
    return {
        (row, column): f"out_{row:02}_{column:02}_{-1681.3 + v_step * row + 0.3 * (column % 3):.6f}_"
        f"{-1293.9 + u_step * column - 0.4 * (row % 2):.6f}{tail}.png"
        for row in range(rows)
        for column in range(columns)
    }


@pytest.mark.parametrize("rows", [1, 4])
@pytest.mark.parametrize(
    ("v_step", "u_step", "tail", "flip_v", "flip_u"),
    [
        (-6.6, 6.5, "_", True, False),  # truck: V falls upward
        (6.6, -8.6, "", True, True),  # knights: V grows upward, columns from the right
        (-6.6, 6.5, "", True, False),
        (6.6, 6.5, "_", False, False),  # numbered from the top: the positions say so
        (-6.6, -6.5, "_", True, True),
    ],
)
def test_gantry_positions_decide_the_order(rows, v_step, u_step, tail, flip_v, flip_u):
    names = gantry(rows, 5, v_step=v_step, u_step=u_step, tail=tail)
    found = arrange(names.values(), "truck")
    assert found.grid == (rows, 5)
    flip_v &= rows > 1
    for (row, column), name in names.items():
        assert found.names[rows - 1 - row if flip_v else row, 4 - column if flip_u else column] == name
    assert len(found.notes) == flip_v + flip_u


def test_gantry_positions_may_be_whole_numbers_but_dates_are_none():
    names = [
        f"out_{row:02}_{column:02}_{-7 * row}_{6 * column}.png" for row in range(2) for column in range(3)
    ]
    found = arrange(names, "truck")
    assert found.grid == (2, 3)
    assert found.names[1, 2] == "out_00_02_0_12.png"  # the first row is at the bottom
    dated = [f"rig_2024_05_{row:02}_{column:02}.png" for row in range(2) for column in range(3)]
    assert arrange(dated, "rig").names[0, 2] == "rig_2024_05_00_02.png"


def test_gantry_with_a_missing_view_names_it_as_the_files_do():
    names = gantry(3, 3, v_step=-6.6, u_step=6.5, tail="_")
    del names[2, 1]
    with pytest.raises(InputError, match=r"missing view \(row 2, column 1\)"):
        arrange(names.values(), "truck")
