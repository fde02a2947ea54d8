"""Disparity maps for people: the files byte by byte, the truth of a scene, tiles, the command as it is typed, info."""

from __future__ import annotations

import json
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
from commandline import refused, run
from PIL import Image

import sharpfield as sf
from sharpfield.disparities import Calibration, DisparityMaps, find_calibration, plan_depth_tiles
from sharpfield.errors import InputError, OptionError, OutputError
from sharpfield.geometry import Geometry, Percentiles
from sharpfield.io.maps import choose_output
from sharpfield.io.pfm import decode_pfm, encode_pfm
from sharpfield.parallel import Workers
from sharpfield.synthetic.scenes import fronto_parallel

WINDOW = (-2.5, 3.0)


@pytest.fixture(scope="module")
def scene():
    """3x3 views of 96x112 of the still life, with its true disparities."""
    return sf.render_scene((3, 3), (96, 112), supersampling=2)


@pytest.fixture(scope="module")
def maps(scene) -> DisparityMaps:
    return sf.depth(scene.lightfield, WINDOW)


@pytest.fixture(scope="module")
def plane() -> sf.LightField:
    """2x3 views of a plane of disparity 1.25."""
    return fronto_parallel((2, 3), (32, 40), 1.25, seed=3).lightfield


@pytest.fixture(scope="module")
def folder(plane, tmp_path_factory) -> Path:
    return sf.write(plane, tmp_path_factory.mktemp("plane") / "plane", bits=16)


def some_maps(view=None) -> DisparityMaps:
    """Values with nothing regular in them, on a 2x3 grid, or one map."""
    grid = (2, 3) if view is None else (1, 1)
    values = np.random.default_rng(5).normal(0, 3, (*grid, 4, 5)).astype(np.float32)
    return DisparityMaps(values, (2, 3), view, (-9.0, 9.0), None)


# -- PFM -----------------------------------------------------------------------------------------------------------


def test_a_pfm_is_three_lines_and_floats_from_the_bottom_row_up():
    plane = np.array([[1.0, 2.0, 3.0], [-4.0, 0.5, 1e6]], np.float32)
    by_hand = b"Pf\n3 2\n-1.0\n" + struct.pack("<6f", -4.0, 0.5, 1e6, 1.0, 2.0, 3.0)
    assert encode_pfm(plane) == by_hand
    assert np.array_equal(decode_pfm(by_hand), plane)


def test_a_pfm_of_the_other_byte_order_is_read():
    data = b"Pf 2 2\n1.0\n" + struct.pack(">4f", 3, 4, 1, 2)
    assert np.array_equal(decode_pfm(data), [[1, 2], [3, 4]])


def test_a_pfm_keeps_every_bit(maps):
    back = decode_pfm(encode_pfm(maps.disparity[0, 1]))
    assert back.dtype == np.float32
    assert np.array_equal(back, maps.disparity[0, 1])


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PF\n1 1\n-1.0\n" + bytes(12),  # three channels
        b"Pf\n2 2\n-1.0\n" + bytes(15),
        b"Pf\n2 2\n-1.0\n" + bytes(17),
        b"Pf\n0 2\n-1.0\n",
        b"Pf\n1 1\n0.0\n" + bytes(4),
        b"Pf\n1 1\n-.\n" + bytes(4),
        b"Pf\nwide high\n-1\n",
    ],
)
def test_what_is_no_pfm_is_refused(data):
    with pytest.raises(InputError, match="the file: "):
        decode_pfm(data, "the file")


# -- files ---------------------------------------------------------------------------------------------------------


def test_a_folder_of_pfm_with_its_record(tmp_path):
    maps = some_maps()
    maps.write(tmp_path / "out")
    names = [f"depth_{v:02}_{u:02}.pfm" for v in range(2) for u in range(3)]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["depth.json", *names]
    for view in np.ndindex(2, 3):
        data = (tmp_path / "out" / f"depth_{view[0]:02}_{view[1]:02}.pfm").read_bytes()
        assert np.array_equal(decode_pfm(data), maps.disparity[view])
    record = json.loads((tmp_path / "out" / "depth.json").read_text())
    assert (record["grid"], record["size"], record["view"]) == ([2, 3], [4, 5], None)
    assert "scale" not in record


def test_16_bit_png_and_the_scale_beside_it(tmp_path):
    maps = some_maps()
    maps.write(tmp_path / "out", picture="png")
    record = json.loads((tmp_path / "out" / "depth.json").read_text())
    values = np.empty(maps.disparity.shape, np.int64)
    for v, u in np.ndindex(2, 3):
        with Image.open(tmp_path / "out" / f"depth_{v:02}_{u:02}.png") as image:
            assert image.mode.startswith("I")
            values[v, u] = np.asarray(image)
    assert (values.min(), values.max()) == (0, 65535)
    back = record["offset"] + record["scale"] * values
    assert np.abs(back - maps.disparity).max() <= 0.5001 * record["scale"]
    assert record["scale"] == pytest.approx(float(np.ptp(maps.disparity)) / 65535)


def test_a_zip_holds_what_a_folder_does(tmp_path):
    maps = some_maps()
    maps.write(tmp_path / "out", picture="png")
    maps.write(tmp_path / "out.zip", picture="png")
    with zipfile.ZipFile(tmp_path / "out.zip") as archive:
        inside = {name: archive.read(name) for name in archive.namelist()}
    assert inside == {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}


def test_an_archive_of_numpy(tmp_path, maps):
    maps.write(tmp_path / "out.npz")
    with np.load(tmp_path / "out.npz", allow_pickle=False) as found:
        assert found["disparity"].dtype == np.float32
        assert np.array_equal(found["disparity"], maps.disparity)
        assert found["grid"].tolist() == [3, 3]
        assert tuple(found["window"]) == WINDOW
        assert found["translation"].shape == (3, 3, 2)
        assert json.loads(str(found["record"]))["size"] == [96, 112]


def test_one_map_is_one_file(tmp_path):
    one = some_maps(view=(1, 2))
    one.write(tmp_path / "out.pfm")
    one.write(tmp_path / "out.png")
    one.write(tmp_path / "out.npz")
    assert np.array_equal(decode_pfm((tmp_path / "out.pfm").read_bytes()), one.disparity[0, 0])
    with Image.open(tmp_path / "out.png") as image:
        value = np.asarray(image).astype(float)
    record = json.loads((tmp_path / "out.json").read_text())
    assert record["view"] == [1, 2]
    assert np.abs(record["offset"] + record["scale"] * value - one.disparity[0, 0]).max() < record["scale"]
    with np.load(tmp_path / "out.npz", allow_pickle=False) as found:
        assert found["view"].tolist() == [1, 2]
        assert found["disparity"].shape == (1, 1, 4, 5)


def test_a_flat_map_as_png(tmp_path):
    flat = DisparityMaps(np.full((1, 1, 2, 2), 0.75, np.float32), (1, 2), (0, 1), (-1.0, 1.0), None)
    record = flat.write(tmp_path / "flat.png")
    with Image.open(tmp_path / "flat.png") as image:
        assert np.asarray(image).max() == 0
    assert record["offset"] == 0.75


def test_outputs_are_whole_or_not_at_all(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    maps = some_maps()
    maps.write(tmp_path / "kept")
    before = {path.name: path.read_bytes() for path in (tmp_path / "kept").iterdir()}
    monkeypatch.setattr("sharpfield.io.maps.encode_pfm", full)
    monkeypatch.setattr("sharpfield.io.maps.encode_16", full)
    for name, more in (("new", {}), ("new.zip", {}), ("kept", {"overwrite": True})):
        with pytest.raises(OutputError, match="disk is full"):
            maps.write(tmp_path / name, **more)
    with pytest.raises(OutputError, match="disk is full"):
        some_maps(view=(0, 0)).write(tmp_path / "one.png")
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    assert {path.name: path.read_bytes() for path in (tmp_path / "kept").iterdir()} == before


@pytest.mark.parametrize(
    ("name", "single", "picture", "answer"),
    [
        ("out.pfm", False, None, "holds one map"),
        ("out.png", False, None, "holds one map"),
        ("out", True, None, "one map is one file"),
        ("out.zip", True, None, "one map is one file"),
        ("out.exr", False, None, "not written as .exr"),
        ("out.npz", False, "png", "not written as png"),
        ("out.pfm", True, "png", "not written as png"),
        ("out", False, "jpeg", "pfm or png"),
    ],
)
def test_an_output_that_has_no_meaning(tmp_path, name, single, picture, answer):
    with pytest.raises(OptionError, match=answer):
        choose_output(tmp_path / name, single=single, picture=picture)


def test_the_text_beside_a_png_is_never_replaced_unasked(tmp_path):
    (tmp_path / "out.json").write_text("mine")
    with pytest.raises(OutputError, match=r"out\.json: exists already"):
        some_maps(view=(0, 0)).write(tmp_path / "out.png")
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


# -- disparities ---------------------------------------------------------------------------------------------------


def test_the_disparities_of_the_scene_are_found(scene, maps):
    # measured: median 0.039, 75 % within 0.1, 84 % within 0.25 (5x5 views of 128x128: 0.022, 81 %, 87 %)
    wrong = np.abs(maps.disparity - scene.disparity)
    assert np.median(wrong) < 0.045
    assert (wrong < 0.1).mean() > 0.73
    assert (wrong < 0.25).mean() > 0.82


@pytest.mark.parametrize("grid", [(1, 3), (4, 1), (2, 3)])
@pytest.mark.parametrize("d", [-0.6, 1.25])
def test_a_plane_on_any_grid(grid, d):
    lf = fronto_parallel(grid, (32, 40), d, seed=3).lightfield
    grey = lf.with_views(lf.views[..., :1])
    for each in (lf, grey):
        found = sf.depth(each, (-2, 2)).disparity
        assert found.shape == (*grid, 32, 40)
        inner = found[:, :, 6:-6, 6:-6]
        assert np.abs(np.median(inner) - d) < 0.02
        assert (np.abs(inner - d) < 0.1).mean() > 0.97


def test_auto_reads_the_window_off_the_pixels(scene, maps):
    auto = sf.depth(scene.lightfield)
    low, high = float(scene.disparity.min()), float(scene.disparity.max())
    assert -1 < auto.window[0] - low < 0.1
    assert -0.1 < auto.window[1] - high < 1
    assert np.median(np.abs(auto.disparity - maps.disparity)) < 0.01


def test_any_number_of_threads_gives_the_same_bits(scene, maps):
    again = sf.depth(scene.lightfield, WINDOW, threads=3)
    assert np.array_equal(np.asarray(again), np.asarray(maps))


def test_the_map_of_one_view_is_that_of_all(scene, maps):
    one = sf.depth(scene.lightfield, WINDOW, view=(2, 1))
    assert np.array_equal(one.disparity[0, 0], maps.disparity[2, 1])


def test_tiles_give_what_the_whole_gives():
    lf = sf.render_scene((1, 3), (48, 300), supersampling=1).lightfield
    tiling = plan_depth_tiles(lf, WINDOW, 1.0, lf.grid)
    assert len(tiling) > 1
    whole, tiled = sf.depth(lf, WINDOW), sf.depth(lf, WINDOW, memory=1)
    apart = np.abs(whole.disparity - tiled.disparity)
    assert (apart < 1e-3).mean() > 0.999  # sums of the filters begin elsewhere; a tie may fall otherwise
    assert np.median(apart) < 1e-5


def test_progress_ascends_to_the_end(plane):
    told = []
    sf.depth(plane, (0, 2), 1, told.append)
    far = [event.fraction for event in told]
    assert far == sorted(far)
    assert far[-1] == 1
    assert {event.stage for event in told} >= {"calibrating views", "sweeping disparities"}


def test_small_views_and_views_that_tell_nothing():
    random = np.random.default_rng(0)
    tiny = sf.depth(sf.LightField(random.random((2, 2, 8, 9), np.float32)))
    assert tiny.disparity.shape == (2, 2, 8, 9)
    assert np.isfinite(tiny.disparity).all()
    assert "guesses" in tiny.notes[-1]
    flat = sf.depth(sf.LightField(np.full((2, 2, 30, 32), 0.5, np.float32)))
    assert np.isfinite(flat.disparity).all()
    assert "no texture" in flat.notes[-1]


@pytest.mark.parametrize(
    ("disparity", "view", "answer"),
    [
        ((2, -2), None, "did you mean -2:2"),
        ((1, 1), None, "LO < HI"),
        ((0, float("nan")), None, "LO < HI"),
        ((-40, 2), None, "out of views of 40x32"),
        ("wide", None, "'auto' or two numbers"),
        (3, None, "'auto' or two numbers"),
        ((0, 2), (2, 0), "no view 2,0"),
        ((0, 2), (0, -1), "no view 0,-1"),
    ],
)
def test_what_has_no_meaning(plane, disparity, view, answer):
    with pytest.raises(OptionError, match=answer):
        sf.depth(plane, disparity, view=view)


def test_views_too_few_or_too_small(plane):
    with pytest.raises(InputError, match="one view has no disparity"):
        sf.depth(plane.select(slice(0, 1), slice(0, 1)))
    with pytest.raises(InputError, match="too small"):
        sf.depth(plane.crop(slice(0, 7), slice(0, 40)))


# -- calibration ---------------------------------------------------------------------------------------------------


def test_a_view_that_is_moved_is_found():
    from scipy import ndimage

    views = np.array(fronto_parallel((3, 3), (64, 72), 0.8, seed=1).lightfield.views[..., :1])
    straight = sf.LightField(views)
    moved = views.copy()
    moved[2, 1, ..., 0] = ndimage.shift(views[2, 1, ..., 0], (0.4, -0.3), order=3, mode="nearest")
    with Workers(1) as workers:
        known = Geometry(horizontal=Percentiles(0.7, 0.7, 0.8, 0.9, 0.9, 999), confidence=1.0)
        before = find_calibration(straight, known, workers)
        after = find_calibration(sf.LightField(np.clip(moved, 0, 1)), known, workers)
    assert isinstance(before, Calibration)
    assert isinstance(after, Calibration)
    assert before.largest < 0.05
    assert after.view == (2, 1)
    assert after.translation[2, 1] == pytest.approx([0.4, -0.3], abs=0.05)
    others = np.delete(after.distance.ravel(), 7)
    assert others.max() < 0.05
    assert after.to_json()["view"] == [2, 1]


def test_calibration_never_fails(plane):
    with Workers(1) as workers:
        assert find_calibration(plane, Geometry(), workers) is None
        two = plane.select(slice(0, 1), slice(0, 2))
        known = Geometry(horizontal=Percentiles(1.0, 1.0, 1.25, 1.5, 1.5, 999), confidence=1.0)
        assert find_calibration(two, known, workers) is None
        tiny = plane.crop(slice(0, 12), slice(0, 12))
        assert find_calibration(tiny, known, workers) is None


# -- the command ---------------------------------------------------------------------------------------------------


def test_depth_as_it_is_typed(folder, tmp_path):
    said = run("depth", folder, tmp_path / "maps", "--disparity", "0.5:2")
    assert said.status == 0
    assert "2 x 3 maps, 40 x 32, disparity " in said.out
    assert len(list((tmp_path / "maps").glob("depth_*.pfm"))) == 6
    again = run("depth", folder, tmp_path / "maps", "--disparity", "0.5:2", "--format", "png", "--overwrite")
    assert again.status == 0
    assert len(list((tmp_path / "maps").glob("depth_*.png"))) == 6
    assert list((tmp_path / "maps").glob("*.pfm")) == []


def test_depth_of_the_middle_view_tells_a_script_everything(folder, tmp_path):
    said = run("depth", folder, tmp_path / "middle.pfm", "--centre", "--disparity", "0.5:2", "--json")
    assert said.status == 0
    assert said.json["view"] == [1, 1]
    assert said.json["window"] == [0.5, 2.0]
    assert said.json["median"] == pytest.approx(1.25, abs=0.03)
    assert decode_pfm((tmp_path / "middle.pfm").read_bytes()).shape == (32, 40)
    chosen = run("depth", folder, tmp_path / "v.npz", "--view", "1,1", "--disparity", "0.5:2", "--quiet")
    assert (chosen.status, chosen.out, chosen.err) == (0, "", "")
    with np.load(tmp_path / "v.npz", allow_pickle=False) as found:
        assert np.array_equal(found["disparity"][0, 0], decode_pfm((tmp_path / "middle.pfm").read_bytes()))


def test_depth_takes_a_part_of_the_input(folder, tmp_path):
    words = ("--views", "0:1,0:3", "--crop", "0:24,4:36", "--disparity", "0:2")
    assert run("depth", folder, tmp_path / "part.npz", *words).status == 0
    with np.load(tmp_path / "part.npz", allow_pickle=False) as found:
        assert found["disparity"].shape == (1, 3, 24, 32)


def test_views_in_the_wrong_order_are_warned_of(tmp_path):
    lf = sf.render_scene((3, 3), (96, 112), supersampling=1).lightfield
    sf.write(lf.with_views(lf.views[::-1]), tmp_path / "turned")
    said = run("depth", tmp_path / "turned", tmp_path / "out.pfm", "--centre")
    assert said.status == 0
    assert any("--flip v" in text for text in said.warnings)
    assert run("depth", tmp_path / "turned", tmp_path / "b.pfm", "--centre", "--flip", "v").warnings == []


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["out.pfm"], "2 out.pfm: holds one map"),
        (["out", "--centre"], "2 out: one map is one file"),
        (["out.tif"], "2 out.tif: maps are not written as .tif"),
        (["out", "--disparity", "wide"], "2 --disparity is auto or two numbers"),
        (["out", "--disparity", "2:1"], "2 disparity LO:HI needs LO < HI"),
        (["out", "--format", "jpeg"], "2 the format of maps is pfm or png"),
        (["out.pfm", "--view", "middle"], "2 --view takes row and column"),
        (["out.pfm", "--view", "7,7"], "2 there is no view 7,7"),
        (["out.pfm", "--view", "0,0", "--centre"], "2 --centre and --view both"),
        (["out", "--threads", "0"], "2 threads must be"),
        (["out", "--memory", "lots"], "2 memory is a size"),
        (["out", "--views", "1x1"], "1 one view has no disparity"),
        (["out", "--crop", "0:5,0:5"], "1 views of 5x5 are too small"),
    ],
)
def test_bad_input_gets_one_line(folder, tmp_path, monkeypatch, words, answer):
    monkeypatch.chdir(tmp_path)
    assert refused("depth", folder, *words).startswith(answer)
    assert list(tmp_path.iterdir()) == []


def test_an_output_that_may_not_be(folder, tmp_path):
    (tmp_path / "out.npz").write_text("mine")
    assert "exists already" in refused("depth", folder, tmp_path / "out.npz")
    assert (tmp_path / "out.npz").read_text() == "mine"
    assert "is the input as well" in refused("depth", folder, folder, "--overwrite")
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "thesis.docx").write_text("years of work")
    said = refused("depth", folder, tmp_path / "thesis", "--overwrite")
    assert "holds thesis.docx" in said


def test_info_tells_how_far_views_are_off(tmp_path, scene):
    sf.write(scene.lightfield, tmp_path / "scene")
    said = run("info", tmp_path / "scene")
    assert said.status == 0
    assert "calibration  single views are off by up to 0.0" in said.out
    record = run("info", tmp_path / "scene", "--json").json["calibration"]
    assert record["largest"] < 0.1
    assert np.shape(record["translation"]) == (3, 3, 2)


def test_info_of_views_that_cannot_be_calibrated(tmp_path):
    sf.write(sf.LightField(np.full((2, 2, 30, 32), 0.5, np.float32)), tmp_path / "flat")
    said = run("info", tmp_path / "flat")
    assert said.status == 0
    assert "calibration  not measured" in said.out
    assert run("info", tmp_path / "flat", "--json").json["calibration"] is None


def test_the_truck_is_off_and_the_buddha_is_not(data_folder):
    found = {}
    for name in ("stanford_legotruck", "hciold_buddha"):
        said = run("info", data_folder / name, "--crop", "300:600,300:600", "--json")
        found[name] = said.json["calibration"]["largest"]
    assert 0.4 < found["stanford_legotruck"] < 0.7
    assert found["hciold_buddha"] < 0.05
