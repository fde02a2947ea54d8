"""Everything that people get wrong: one clear line, status 1 or 2, and nothing half-written."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from commandline import refused, run
from PIL import Image

from sharpfield import LightField, read, write


def make(folder: Path, grid=(2, 2), size=(16, 20), name="good") -> Path:
    random = np.random.default_rng(7)
    return write(LightField(random.random((*grid, *size, 3), np.float32)), folder / name)


@pytest.fixture
def good(tmp_path) -> Path:
    return make(tmp_path)


@pytest.fixture
def out(tmp_path) -> Path:
    return tmp_path / "out"


@pytest.fixture(autouse=True)
def nothing_half_written(tmp_path):
    yield
    assert not (tmp_path / "out").exists()
    assert [path.name for path in tmp_path.rglob(".*")] == []


def missing_view(good: Path) -> None:
    (good / "view_01_00.png").unlink()


def empty(good: Path) -> None:
    for path in good.iterdir():
        path.unlink()


def other_size(good: Path) -> None:
    Image.new("RGB", (19, 16)).save(good / "view_01_01.png")


def truncated(good: Path) -> None:
    whole = (good / "view_01_01.png").read_bytes()
    (good / "view_01_01.png").write_bytes(whole[: len(whole) // 2])


def twice(good: Path) -> None:
    (good / "view_1_1.png").write_bytes((good / "view_01_01.png").read_bytes())


def single(good: Path) -> None:
    for path in sorted(good.iterdir())[1:]:
        path.unlink()


def not_a_picture(good: Path) -> None:
    (good / "view_01_01.png").write_text("this is no picture")


@pytest.mark.parametrize(
    ("damage", "answer"),
    [
        (empty, "folder is empty"),
        (missing_view, "missing view (row 1, column 0) of the 2x2 grid"),
        (other_size, "views of different sizes"),
        (truncated, "view_01_01.png"),
        (not_a_picture, "view_01_01.png"),
        (twice, "claim the same view"),
        (single, "single view"),
    ],
)
@pytest.mark.parametrize("command", ["upscale", "degrade"])
def test_a_damaged_input(good, out, damage, answer, command):
    damage(good)
    said = refused(command, good, out)
    assert said.startswith("1 ")
    assert str(good) in said
    assert answer in said


def test_no_such_path(tmp_path, out):
    for words in (
        ("info", tmp_path / "no"),
        ("upscale", tmp_path / "no", out),
        ("degrade", tmp_path / "no", out),
    ):
        assert refused(*words) == f"1 {tmp_path / 'no'}: no such file or folder; check the path"
    assert "no such file or folder" in refused("evaluate", tmp_path / "no", tmp_path / "neither")


@pytest.mark.parametrize("factor", ["1", "0", "-2", "2.5", "9", "two"])
@pytest.mark.parametrize("command", ["upscale", "degrade"])
def test_a_factor_without_meaning(good, out, factor, command):
    said = refused(command, good, out, "--factor", factor)
    assert said.startswith("2 factor must be a whole number from 2 to 8")


@pytest.mark.parametrize(
    ("disparity", "answer"),
    [
        ("6:-6", "did you mean -6:6?"),
        ("3:3", "LO < HI"),
        ("-2.5:2", "two whole numbers"),
        ("6", "two whole numbers"),
        ("a:b", "two whole numbers"),
        ("-2:2:3", "two whole numbers"),
        ("-200:200", "at most"),
    ],
)
def test_a_disparity_range_without_meaning(good, out, disparity, answer):
    said = refused("upscale", good, out, "--disparity", disparity)
    assert said.startswith("2 ")
    assert answer in said


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["--method", "gb"], "no method is called 'gb'"),
        (["--preset", "slow"], "no preset is called 'slow'"),
        (["--camera", "pinhole"], "camera 'pinhole' is unknown"),
        (["--camera", "gaussian"], "needs a sigma"),
        (["--chroma", "nearest"], "chroma is bilinear or bicubic"),
        (["--memory", "much"], "memory is a size like 2GB"),
        (["--threads", "0"], "threads must be"),
        (["--bits", "12"], "--bits is 8, 16 or 32"),
        (["--file-format", "gif"], "gif"),
        (["--file-format", "jpeg", "--bits", "16"], "bits"),
        (["--patch", "4"], "patch is an odd number"),
        (["--method", "bicubic", "--patch", "5"], "bicubic has no option 'patch'"),
        (["--pattern", "cam_{a}_{b}.png"], "use {v} for the row and {u} for the column"),
        (["--flip", "x"], "flip is"),
        (["--grid", "nine"], "--grid takes rows and columns"),
        (["--grid", "0x3"], "grid is rows and columns"),
        (["--views", "9x9"], "views"),
        (["--crop", "5:3,0:4"], "crop"),
        (["--from", "hologram"], "no format 'hologram'"),
        (["--to", "hologram"], "no format 'hologram'"),
    ],
)
def test_an_option_without_meaning(good, out, words, answer):
    said = refused("upscale", good, out, *words)
    assert said.startswith("2 ")
    assert answer in said


def test_degrade_options_without_meaning(good, out):
    assert refused("degrade", good, out, "--noise", -1).startswith("2 noise must be")
    assert refused("degrade", good, out, "--seed", -1).startswith("2 seed must be")


def test_evaluate_options_without_meaning(good):
    assert refused("evaluate", good, good, "--border", -1).startswith("2 border must be")
    assert refused("evaluate", good, good, "--luma", "Y").startswith("2 luma is 'L'")
    assert "take a smaller border" in refused("evaluate", good, good)


def test_evaluate_of_different_light_fields(good, tmp_path):
    other = make(tmp_path, grid=(2, 3), name="other")
    assert "different grids of views" in refused("evaluate", good, other)


def test_views_smaller_than_a_patch(tmp_path, out):
    tiny = make(tmp_path, size=(3, 3), name="tiny")
    assert "at least 8 pixels a side" in refused("upscale", tiny, out)
    said = refused("upscale", tiny, out, "--method", "gb-sq")
    assert "smaller than a patch" in said
    assert "7 pixels" in said


def test_views_smaller_than_the_window_shrink_it_and_say_so(tmp_path):
    narrow = make(tmp_path, size=(16, 5), name="narrow")
    said = run("upscale", narrow, tmp_path / "wide", "--disparity", "-12:12", "--patch", 3)
    assert said.status == 0, said.err
    assert any("shrunk to -9:9" in note for note in said.notes)


def test_an_output_that_exists(good, tmp_path):
    taken = make(tmp_path, name="taken")
    before = read(taken)
    for command in ("upscale", "degrade"):
        assert "exists already; use --overwrite" in refused(command, good, taken)
    assert np.array_equal(read(taken).views, before.views)
    assert run("upscale", good, taken, "--method", "bilinear", "--overwrite").status == 0
    assert read(taken).size == (32, 40)


def test_an_output_that_exists_is_refused_before_the_input_is_read(good, tmp_path, monkeypatch):
    make(tmp_path, name="good-x2")
    monkeypatch.setattr("sharpfield.io.read", None)
    assert "good-x2: exists already" in refused("upscale", good)


def test_an_output_that_holds_more_than_views_is_refused_before_the_input_is_read(
    good, tmp_path, monkeypatch
):
    taken = make(tmp_path, name="taken")
    (taken / "thesis.docx").write_text("years of work")
    monkeypatch.setattr("sharpfield.io.read", None)
    for command in ("upscale", "degrade"):
        assert "holds thesis.docx, which is no view" in refused(command, good, taken, "--overwrite")
    assert (taken / "thesis.docx").read_text() == "years of work"


def test_an_output_of_the_other_kind_is_refused_before_the_input_is_read(good, tmp_path, monkeypatch):
    (tmp_path / "folder.npz").mkdir()
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("sharpfield.io.read", None)
    assert "is a folder already and the output is a file" in refused("upscale", good, tmp_path / "folder.npz")
    assert "is a file already and the output is a folder" in refused("upscale", good, tmp_path / "file")
    assert "only read, not written" in refused("upscale", good, tmp_path / "new", "--to", "lytro")


def test_an_output_that_is_the_input(good):
    said = refused("upscale", good, good.parent / "." / "good", "--overwrite")
    assert said.startswith("2 ")
    assert "is the input as well" in said


def test_an_output_named_through_itself_survives(good, tmp_path):
    make(tmp_path, name="taken")
    words = ("upscale", good, tmp_path / "taken" / ".." / "taken", "--method", "bilinear", "--overwrite")
    assert run(*words).status == 0
    assert read(tmp_path / "taken").size == (32, 40)


def test_an_output_below_a_file(good, tmp_path):
    (tmp_path / "file").write_text("a file")
    said = refused("upscale", good, tmp_path / "file" / "deep" / "out")
    assert said.startswith("1 ")
    assert str(tmp_path / "file") in said


def test_an_output_that_cannot_be_written_is_refused_before_the_work(good, monkeypatch):
    if not Path("/proc/self").is_dir():
        pytest.skip("no folder here that even root cannot write to")
    monkeypatch.setattr("sharpfield.upscaling.upscale", None)
    said = refused("upscale", good, "/proc/sharpfield/out")
    assert said.startswith("1 /proc/sharpfield/out: cannot be written")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_an_output_without_permission(good, tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    assert "permission denied" in refused("upscale", good, closed / "out")


def test_values_outside_the_range(tmp_path, out):
    import tifffile

    (tmp_path / "floats").mkdir()
    for v in range(2):
        view = np.full((16, 16), 0.5, np.float32)
        view[3, 4] = np.nan if v else 0.5
        tifffile.imwrite(tmp_path / "floats" / f"view_{v:02}_00.tiff", view)
    said = refused("upscale", tmp_path / "floats", out)
    assert "NaN" in said


def test_demo_never_replaces_a_folder_that_is_not_a_demo(good, tmp_path):
    assert "exists already" in refused("demo", "-o", good)
    assert "is no earlier demo's folder" in refused("demo", "-o", good, "--overwrite")
    assert len(list(good.iterdir())) == 4


@pytest.mark.parametrize("size", ["big", "512", "512x", "10x10", "511x384", "0x0", "-4x8"])
def test_demo_of_an_impossible_size(tmp_path, size):
    assert refused("demo", "-o", tmp_path / "out", "--size", size).startswith("2 ")
