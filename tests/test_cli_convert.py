"""`sharpfield convert` and `sharpfield formats`: every format in and out, exactly, whole and in parts."""

from __future__ import annotations

import importlib.util
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from commandline import refused, run

from sharpfield import LightField, read, write
from sharpfield.io import check_output, formats, open_light_field, streamed
from sharpfield.io.streamed import StreamedLightField

needs_zarr = pytest.mark.skipif(importlib.util.find_spec("zarr") is None, reason="zarr is not installed")

# a name that chooses each format that keeps 8 bits exactly, and what must be said to read it
EXACT = {
    "folder": ("out", ()),
    "zip": ("out.zip", ()),
    "npz": ("out.npz", ()),
    "hdf5": ("out.h5", ()),
    "tiff-stack": ("out.tif", ()),
    "matlab": ("out.mat", ()),
    "mosaic": ("out.png", ("--grid", "3x4", "--from", "mosaic")),
    "eslf": ("out_eslf.png", ("--grid", "3x4", "--views", "0:3,0:4")),
    "hci2013": ("out.lf", ("--from", "hci2013")),
    "zarr": ("out.zarr", ()),
}
NAMES = [pytest.param(name, marks=needs_zarr) if name == "zarr" else name for name in EXACT]
ARRAYS = [pytest.param("zarr", marks=needs_zarr), "npz", "hdf5", "tiff-stack", "matlab"]
WORDS = {"hci2013": ("--to", "hci2013")}


def light_field(grid=(3, 4), size=(14, 18), channels=3, bits=8, **more) -> LightField:
    random = np.random.default_rng(bits + channels)
    shape = (*grid, *size, channels)
    if bits == 32:
        return LightField(random.random(shape, np.float32), bits=32, **more)
    kind = {8: np.uint8, 16: np.uint16}[bits]
    return LightField(random.integers(0, 1 << bits, shape).astype(kind), **more)


@pytest.fixture
def folder(tmp_path) -> Path:
    return write(light_field(), tmp_path / "in")


@pytest.fixture
def nothing_fits(monkeypatch):
    """A machine so small that every light field stays in its file."""
    monkeypatch.setattr(streamed, "fits", lambda source: False)


def convert(source: Path, out: Path, *words: object) -> dict:
    said = run("convert", source, out, *words, "--json")
    assert said.status == 0, said.err
    assert said.json["output"] == str(out)
    return said.json


# --- there and back ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("streaming", [False, True], ids=["in memory", "view by view"])
def test_there_and_back_through_every_lossless_format(folder, tmp_path, monkeypatch, name, streaming):
    if streaming:
        monkeypatch.setattr(streamed, "fits", lambda source: False)
    path, how_to_read = EXACT[name]
    there = convert(folder, tmp_path / path, *WORDS.get(name, ()))
    assert (there["format"], there["exact"], there["bits"], there["notes"]) == (name, True, 8, [])
    back = convert(tmp_path / path, tmp_path / "back", *how_to_read)
    assert back["exact"] is True
    assert np.array_equal(read(tmp_path / "back").views, read(folder).views)
    for view in sorted(folder.iterdir()):
        assert (tmp_path / "back" / view.name).read_bytes() == view.read_bytes()


@pytest.mark.parametrize("name", [name for name in NAMES if name != "hci2013"])
def test_sixteen_bits_grey_stay(tmp_path, name):
    deep = write(light_field(channels=1, bits=16), tmp_path / "deep")
    path, how_to_read = EXACT[name]
    assert convert(deep, tmp_path / path)["exact"]
    assert convert(tmp_path / path, tmp_path / "back", *how_to_read)["bits"] == 16
    assert np.array_equal(read(tmp_path / "back").views, read(deep).views)
    assert read(tmp_path / "back").channels == 1


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("streaming", [False, True], ids=["in memory", "view by view"])
def test_floats_and_metadata_stay(tmp_path, monkeypatch, name, streaming):
    if streaming:
        monkeypatch.setattr(streamed, "fits", lambda source: False)
    lf = light_field(bits=32, metadata={"camera": "gantry", "steps": [1, 2]}, name="floats")
    write(lf, tmp_path / "in.npz")
    path, _ = EXACT[name]
    said = convert(tmp_path / "in.npz", tmp_path / path)
    assert (said["exact"], said["bits"]) == (True, 32)
    assert said["metadata_lost"] == (["camera", "steps"] if name == "matlab" else [])
    back = read(tmp_path / path)
    assert np.array_equal(back.views, lf.views)
    if name != "matlab":
        assert (back.name, dict(back.metadata)) == ("floats", dict(lf.metadata))


def test_a_quilt_holds_one_row_of_views(folder, tmp_path):
    assert "select one (--views 1x4)" in refused("convert", folder, tmp_path / "q_qs2x2.png")
    assert convert(folder, tmp_path / "q_qs2x2.png", "--views", "1x4")["exact"]
    convert(tmp_path / "q_qs2x2.png", tmp_path / "back")
    assert np.array_equal(read(tmp_path / "back").views, read(folder, views="1x4").views)


def test_numbered_views_and_a_zip_and_a_picture_in_a_row(folder, tmp_path):
    """HCI's numbering, one zip, one mosaic: as people pass them on."""
    convert(folder, tmp_path / "numbered", "--names", "input_Cam{i:03}.png")
    assert (tmp_path / "numbered" / "input_Cam011.png").is_file()
    convert(tmp_path / "numbered", tmp_path / "all.zip", "--grid", "3x4")
    convert(tmp_path / "all.zip", tmp_path / "all.bmp")
    convert(tmp_path / "all.bmp", tmp_path / "back", "--grid", "3x4", "--from", "mosaic")
    assert np.array_equal(read(tmp_path / "back").views, read(folder).views)


@pytest.mark.data
@pytest.mark.parametrize("name", ["hdf5", "zip", "hci2013", "eslf"])
def test_a_real_light_field_there_and_back(data_folder, tmp_path, name):
    bikes = data_folder / "lytro_bikes"
    path = {"eslf": "bikes_eslf.png"}.get(name, "bikes." + name)
    to = () if name == "eslf" else ("--to", name)
    assert convert(bikes, tmp_path / path, "--views", "3x3", *to)["exact"]
    words = {"eslf": ("--grid", "3x3"), "hci2013": ("--from", name)}.get(name, ())
    assert convert(tmp_path / path, tmp_path / "back", *words)["exact"]
    assert np.array_equal(read(tmp_path / "back").views, read(bikes, views="3x3").views)


# --- parts, order, names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (("--views", "2x2"), {"views": "2x2"}),
        (("--views", "0:3:2,1:4"), {"views": "0:3:2,1:4"}),
        (("--crop", "2:9,3:17"), {"crop": "2:9,3:17"}),
        (("--flip", "v"), {"flip": "v"}),
        (("--flip", "uv", "--views", "1:3,0:2"), {"flip": "uv", "views": "1:3,0:2"}),
        (("--transpose", "--flip", "u"), {"transpose": True, "flip": "u"}),
        (
            ("--transpose", "--views", "4x1", "--crop", ":5,:6"),
            {"transpose": True, "views": "4x1", "crop": ":5,:6"},
        ),
    ],
)
@pytest.mark.parametrize("streaming", [False, True], ids=["in memory", "view by view"])
def test_a_part_and_an_order_are_those_of_read(folder, tmp_path, monkeypatch, words, asked, streaming):
    if streaming:
        monkeypatch.setattr(streamed, "fits", lambda source: False)
    said = convert(folder, tmp_path / "part.npz", *words)
    wanted = read(folder, **asked)
    assert (tuple(said["grid"]), tuple(said["size"])) == (wanted.grid, wanted.size)
    assert np.array_equal(read(tmp_path / "part.npz").views, wanted.views)


def test_names_in_and_names_out(folder, tmp_path):
    convert(folder, tmp_path / "cams", "--names", "cam-{u:02}-{v}")
    assert (tmp_path / "cams" / "cam-03-2.png").is_file()
    convert(
        tmp_path / "cams", tmp_path / "tiffs.zip", "--pattern", "cam-{u}-{v}.png", "--names", "{v}_{u}.tif"
    )
    assert np.array_equal(read(tmp_path / "tiffs.zip").views, read(folder).views)


def test_one_view_is_a_picture(folder, tmp_path):
    said = run("convert", folder, tmp_path / "one.png", "--views", "1x1")
    assert said.status == 0
    assert any("a picture and no light field" in note for note in said.notes)
    from PIL import Image

    with Image.open(tmp_path / "one.png") as picture:
        assert np.array_equal(np.asarray(picture) / np.float32(255), read(folder).views[1, 1])


# --- what is lost is said ---------------------------------------------------------------------------------------


def test_what_rounds_and_what_compresses_is_said(tmp_path):
    floats = write(light_field(bits=32), tmp_path / "in.npz")
    said = convert(floats, tmp_path / "pictures")
    assert (said["exact"], said["bits"]) == (False, 16)
    assert said["difference"] == pytest.approx(0.5 / 65535, rel=0.01)
    (note,) = said["notes"]
    assert "(stored as 16 bits)" in note
    coarse = convert(floats, tmp_path / "coarse.npz", "--bits", 8)
    assert coarse["difference"] == pytest.approx(0.5 / 255, rel=0.01)
    assert "up to 0.5/255 (stored as 8 bits)" in coarse["notes"][0]
    exact = convert(floats, tmp_path / "exact", "--bits", 32)
    assert (exact["exact"], exact["bits"]) == (True, 32)
    jpeg = convert(tmp_path / "coarse.npz", tmp_path / "jpeg", "--file-format", "jpeg")
    assert jpeg["difference"] > 1 / 255
    assert "reads back as it was" not in run("convert", tmp_path / "jpeg", tmp_path / "again.jpg").out


def test_metadata_that_a_format_does_not_keep_is_named(tmp_path):
    depth = np.random.default_rng(0).random((3, 4, 14, 18), np.float32)
    lf = light_field(metadata={"depth": depth, "dH": 0.1, "who": "us"})
    kept = write(lf, tmp_path / "in.h5")
    for path, words, lost in (
        ("out.npz", (), []),
        ("out", (), ["dH", "depth", "who"]),
        ("lf.h5", ("--to", "hci2013"), ["who"]),
        ("out.tif", (), ["depth"]),
    ):
        said = convert(kept, tmp_path / path, *words)
        assert sorted(said["metadata_lost"]) == lost
        assert all(any(name in note for note in said["notes"]) for name in lost)
    assert np.array_equal(read(tmp_path / "lf.h5").metadata["depth"], depth)


def test_grey_in_a_format_of_colors_is_said(tmp_path):
    grey = write(light_field(channels=1), tmp_path / "grey")
    said = convert(grey, tmp_path / "lf.h5", "--to", "hci2013")
    assert said["exact"] is True
    assert any("grey views became RGB" in note for note in said["notes"])


def test_what_a_reader_changed_is_passed_on(folder, tmp_path):
    (folder / "preview.png").write_bytes((folder / "view_00_00.png").read_bytes())
    said = run("convert", folder, tmp_path / "out.npz")
    assert any("left aside: preview.png" in note for note in said.notes)
    assert said.out.startswith(f"{tmp_path / 'out.npz'}: npz, 3 x 4 views of 18 x 14, RGB, ")
    assert said.out.endswith("every value reads back as it was\n")


def test_it_need_not_be_read_back(folder, tmp_path, monkeypatch):
    monkeypatch.setattr("sharpfield.io.comparison.compare", None)
    said = convert(folder, tmp_path / "out.npz", "--no-check")
    assert (said["exact"], said["metadata_lost"]) == (None, None)
    assert np.array_equal(read(tmp_path / "out.npz").views, read(folder).views)


def test_what_does_not_read_back_is_an_error(folder, tmp_path, monkeypatch):
    def spoiled(*args, **kwargs):
        kwargs["overwrite"] = False
        Path(args[1]).write_bytes(b"PK\x03\x04")

    monkeypatch.setattr("sharpfield.io.write", spoiled)
    assert "written, but it does not read back" in refused("convert", folder, tmp_path / "out.npz")


# --- larger than memory -----------------------------------------------------------------------------------------


def test_what_does_not_fit_stays_in_its_file(tmp_path, nothing_fits):
    write(light_field(grid=(9, 9), size=(64, 64)), tmp_path / "in.npz")
    with open_light_field(tmp_path / "in.npz", threads=1) as lf:
        assert isinstance(lf, StreamedLightField)
        assert (lf.grid, lf.size, lf.channels, lf.bits) == ((9, 9), (64, 64), 3, 8)
        write(lf, tmp_path / "warm.h5", threads=1)
        tracemalloc.start()
        write(lf, tmp_path / "out.h5", threads=1)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < lf.views.nbytes / 4
    assert np.array_equal(read(tmp_path / "out.h5").views, read(tmp_path / "in.npz").views)


def test_half_of_the_memory_is_the_limit(folder, monkeypatch):
    from sharpfield.io import open_views

    with open_views(folder) as source:
        size = 4 * 3 * 4 * 14 * 18 * 3
        for memory, fits in ((2 * size, True), (2 * size - 1, False), (None, True)):
            monkeypatch.setattr(streamed, "physical_memory", lambda memory=memory: memory)
            assert streamed.fits(source) is fits


def test_a_format_of_one_piece_takes_it_into_memory(folder, tmp_path, nothing_fits):
    assert convert(folder, tmp_path / "out.png")["exact"]
    with open_light_field(folder, stream=False) as lf:
        assert type(lf) is LightField


def test_views_of_different_depths_are_all_kept(tmp_path, nothing_fits):
    mixed = write(light_field(), tmp_path / "mixed")
    deep = write(light_field(bits=16), tmp_path / "deep")
    (mixed / "view_02_03.png").write_bytes((deep / "view_02_03.png").read_bytes())
    for out in ("out", "out.h5", "out.zip"):
        said = convert(mixed, tmp_path / out)
        assert said["exact"]
        assert np.array_equal(read(tmp_path / out).views, read(mixed).views)


def test_a_damaged_view_is_found_before_anything_is_written(folder, tmp_path, nothing_fits):
    whole = (folder / "view_02_03.png").read_bytes()
    (folder / "view_02_03.png").write_bytes(whole[: len(whole) // 2])
    said = refused("convert", folder, tmp_path / "out.npz")
    assert said.startswith("1 ")
    assert "view_02_03.png" in said
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


# --- what is asked for wrongly ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("out", "words", "answer"),
    [
        ("in", ("--overwrite",), "2 {out}: is the input as well"),
        ("taken.npz", (), "1 {out}: exists already; use --overwrite"),
        ("other", ("--overwrite",), "1 {out}: holds notes.docx, which is no view"),
        ("new", ("--to", "lytro"), "2 {out}: lytro is only read, not written"),
        ("new.lfp", (), "2 {out}: lytro is only read, not written"),
        ("new", ("--to", "hologram"), "2 {out}: there is no format 'hologram'"),
        ("new.npz", ("--names", "{v}_{u}.png"), "2 {out}: pattern has no meaning for npz"),
        ("new.npz", ("--file-format", "png"), "2 {out}: file_format has no meaning for npz"),
        ("new", ("--names", "view.png"), "2 pattern 'view.png': says no row"),
        ("new", ("--bits", "12"), "2 --bits is 8, 16 or 32"),
        ("new.jpg", ("--bits", "16"), "2 jpeg holds 8 bits"),
        ("new.h5", ("--to", "hci2013", "--bits", "16"), "2 {out}: hci2013 holds 8 bits"),
        ("new", ("--views", "9x9"), "2 views '9x9'"),
        ("new", ("--crop", "1:2"), "2 crop is"),
        ("new", ("--grid", "7"), "2 --grid takes"),
        ("new", ("--flip", "w"), "2 flip is"),
        ("new", ("--from", "mosaic", "--grid", "3x4"), "1 {source}: "),
    ],
)
def test_what_cannot_be_is_one_line(folder, tmp_path, out, words, answer):
    write(light_field(), tmp_path / "taken.npz")
    write(light_field(), tmp_path / "other")
    (tmp_path / "other" / "notes.docx").write_text("mine")
    before = sorted(path.name for path in tmp_path.iterdir())
    said = refused("convert", folder, tmp_path / out, *words)
    assert said.startswith(answer.format(out=tmp_path / out, source=folder)), said
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_an_output_is_replaced_when_asked(folder, tmp_path):
    write(light_field(size=(5, 5)), tmp_path / "taken.npz")
    assert convert(folder, tmp_path / "taken.npz", "--overwrite")["exact"]
    assert read(tmp_path / "taken.npz").size == (14, 18)


# --- the list of formats ----------------------------------------------------------------------------------------


def test_every_ending_chooses_its_format(tmp_path):
    for each in formats():
        assert (each.write is None) == (each.name == "lytro")
        for suffix in each.suffixes:
            assert check_output(tmp_path / f"name{suffix}").name == each.name
    assert check_output(tmp_path / "name").name == "folder"


@pytest.mark.parametrize("columns", ["40", "80", "200"])
def test_formats_lists_all(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    said = run("formats")
    assert said.status == 0
    text = " ".join(said.out.split())
    for each in formats():
        assert f"{each.name} " in text
        assert all(suffix in text for suffix in each.suffixes)
    record = run("formats", "--json").json["formats"]
    assert [each["name"] for each in record] == [each.name for each in formats()]
    assert [each["name"] for each in record if not each["reads"]] == ["lytro"]
    assert [each["name"] for each in record if not each["writes"]] == ["lytro"]
