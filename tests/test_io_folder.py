"""Folders of views as people have them: round trips, namings, and one clear line for whatever is wrong."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

import sharpfield as sf
from sharpfield.io import formats, open_views, pictures


def scene(grid=(2, 3), size=(5, 7), channels=3, dtype=np.uint8, seed=0, **fields):
    rng = np.random.default_rng(seed)
    shape = (*grid, *size, channels)
    if np.issubdtype(dtype, np.floating):
        return sf.LightField(rng.random(shape, np.float32), bits=32, **fields)
    return sf.LightField(rng.integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True), **fields)


def put(folder, names, size=(6, 5), mode="RGB"):
    folder.mkdir(exist_ok=True)
    for number, name in enumerate(names):
        Image.new(mode, size, number).save(folder / name)


@settings(max_examples=40, deadline=None)
@given(
    grid=st.tuples(st.integers(1, 4), st.integers(1, 4)).filter(lambda grid: grid != (1, 1)),
    size=st.tuples(st.integers(1, 8), st.integers(1, 8)),
    channels=st.sampled_from([1, 3]),
    form=st.sampled_from([("png", np.uint8), ("png", np.uint16), ("tiff", np.uint8), ("tiff", np.uint16)])
    | st.sampled_from([("tiff", np.float32), ("bmp", np.uint8)]),
    pattern=st.sampled_from([None, "{v}_{u}", "cam_{v:03}_{u}", "c{u}r{v}"]),
    seed=st.integers(0, 99),
)
def test_round_trip_is_exact(tmp_path_factory, grid, size, channels, form, pattern, seed):
    kind, dtype = form
    lf = scene(grid, size, channels, dtype, seed)
    folder = tmp_path_factory.mktemp("round") / "out"
    assert sf.write(lf, folder, file_format=kind, pattern=pattern) == folder
    back = sf.read(folder, pattern=pattern)
    np.testing.assert_array_equal(back.views, lf.views)
    assert (back.bits, back.name, back.source) == (lf.bits, "out", str(folder))
    shutil.rmtree(folder.parent)


def test_default_names_and_the_pattern_of_a_person(tmp_path):
    lf = scene()
    sf.write(lf, tmp_path / "a")
    assert sorted(os.listdir(tmp_path / "a"))[:2] == ["view_00_00.png", "view_00_01.png"]
    sf.write(lf, tmp_path / "b", pattern="cam_{v}_{u}.tif")
    assert sorted(os.listdir(tmp_path / "b"))[-1] == "cam_1_2.tif"
    assert pictures.kind_of((tmp_path / "b" / "cam_1_2.tif").read_bytes()) == "tiff"
    sf.write(scene((1, 120), (1, 1)), tmp_path / "c")
    assert "view_000_119.png" in os.listdir(tmp_path / "c")


def test_bits_are_kept_asked_for_or_refused(tmp_path):
    deep = scene(dtype=np.uint16)
    for bits, file_format, expected in [(None, "png", 16), (8, "png", 8), (32, "tiff", 32), (8, "jpeg", 8)]:
        folder = tmp_path / f"{bits}{file_format}"
        sf.write(deep, folder, bits=bits, file_format=file_format)
        assert sf.read(folder).bits == expected
    sf.write(scene(dtype=np.float32), tmp_path / "float")
    assert sf.read(tmp_path / "float").bits == 16
    for bits, file_format in [(None, "jpeg"), (32, "png"), (7, "png"), (16, "bmp")]:
        with pytest.raises(sf.OptionError, match="bits a sample"):
            sf.write(deep, tmp_path / "never", bits=bits, file_format=file_format)
    with pytest.raises(sf.OptionError, match="png, tiff, jpeg or bmp"):
        sf.write(deep, tmp_path / "never", file_format="gif")
    with pytest.raises(sf.OptionError, match=r"two views .* one name"):
        sf.write(deep, tmp_path / "never", pattern="{u}.png")
    assert not (tmp_path / "never").exists()


def test_flips_and_transpose_reorder_the_grid(tmp_path):
    lf = scene((2, 3))
    sf.write(lf, tmp_path / "out")
    for flip, transpose, expected in [
        ("v", False, lf.views[::-1]),
        ("u", False, lf.views[:, ::-1]),
        ("vu", False, lf.views[::-1, ::-1]),
        ("", True, lf.views.swapaxes(0, 1)),
        ("v", True, lf.views.swapaxes(0, 1)[::-1]),
    ]:
        np.testing.assert_array_equal(
            sf.read(tmp_path / "out", flip=flip, transpose=transpose).views, expected
        )
    with pytest.raises(sf.OptionError, match="flip is"):
        sf.read(tmp_path / "out", flip="w")


def test_threads_do_not_matter_and_progress_tells_every_view(tmp_path):
    lf = scene((3, 4))
    told = []
    sf.write(lf, tmp_path / "a", threads=1, progress=told.append)
    one = sf.read(tmp_path / "a", threads=1, progress=told.append)
    many = sf.read(tmp_path / "a", threads=5)
    np.testing.assert_array_equal(one.views, many.views)
    assert len(told) == 24
    assert told[11].fraction == told[-1].fraction == 1


def test_other_files_are_left_alone(tmp_path):
    sf.write(scene(), tmp_path / "a")
    (tmp_path / "a" / "meta.json").write_text("{}")
    (tmp_path / "a" / "Thumbs.db").write_bytes(b"\0")
    (tmp_path / "a" / "._view_00_00.png").write_bytes(b"\0")
    (tmp_path / "a" / "inner_00_00.png").mkdir()
    assert sf.read(tmp_path / "a").notes == ()
    Image.new("RGB", (3, 3)).save(tmp_path / "a" / "preview.png")
    assert sf.read(tmp_path / "a").notes == ("left aside: preview.png",)


def test_alpha_is_dropped_and_said_even_when_one_view_has_it(tmp_path):
    put(tmp_path / "a", ["0_0.png", "0_1.png"])
    Image.new("RGBA", (6, 5), (9, 8, 7, 6)).save(tmp_path / "a" / "0_2.png")
    lf = sf.read(tmp_path / "a")
    assert lf.notes == ("alpha channel dropped",)
    np.testing.assert_array_equal(lf.views[0, 2, 0, 0], np.float32([9, 8, 7]) / np.float32(255))


def test_open_views_reads_one_view_at_a_time(tmp_path):
    lf = scene()
    sf.write(lf, tmp_path / "a")
    with open_views(tmp_path / "a") as source:
        assert (source.grid, source.size, source.channels) == ((2, 3), (5, 7), 3)
        np.testing.assert_array_equal(source.load(1, 2).samples / np.float32(255), lf.views[1, 2])
    # a Zarr store is a folder as well, and known by the files in it
    assert [each.name for each in formats()[:2]] == ["zarr", "folder"]


def line(function, *args, error=sf.InputError, **options):
    with pytest.raises(error) as caught:
        function(*args, **options)
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 400
    return text


def test_what_is_not_there_or_no_folder(tmp_path):
    assert "no such file or folder" in line(sf.read, tmp_path / "absent")
    (tmp_path / "file.xyz").write_text("hello")
    assert "give a folder of views" in line(sf.read, tmp_path / "file.xyz")
    (tmp_path / "empty").mkdir()
    assert "the folder is empty" in line(sf.read, tmp_path / "empty")
    (tmp_path / "empty" / "notes.txt").write_text("")
    assert "no pictures" in line(sf.read, tmp_path / "empty")
    (tmp_path / "empty" / "lf.h5").write_bytes(b"")
    assert "it holds lf.h5: give that one" in line(sf.read, tmp_path / "empty")
    (tmp_path / "empty" / "lf.h5").unlink()
    put(tmp_path / "empty" / "views", ["0_0.png", "0_1.png"])
    assert "its folder views has some: give that one" in line(sf.read, tmp_path / "empty")


def test_views_that_do_not_fit_together(tmp_path):
    put(tmp_path / "sizes", ["0_0.png", "0_1.png"])
    put(tmp_path / "sizes", ["0_2.png"], size=(7, 5))
    text = line(sf.read, tmp_path / "sizes")
    assert "different sizes: 0_0.png is 6x5, 0_2.png is 7x5" in text
    put(tmp_path / "kinds", ["0_0.png"])
    put(tmp_path / "kinds", ["0_1.png"], mode="L")
    assert "0_0.png is RGB, 0_1.png is grey" in line(sf.read, tmp_path / "kinds")


def test_incomplete_double_and_single(tmp_path):
    put(tmp_path / "gap", [f"{v}_{u}.png" for v in range(3) for u in range(3) if (v, u) != (1, 2)])
    assert "missing view (row 1, column 2)" in line(sf.read, tmp_path / "gap")
    put(tmp_path / "double", ["view_0_0.png", "view_0_1.png", "view_00_01.png"])
    assert "claim the same view" in line(sf.read, tmp_path / "double")
    put(tmp_path / "single", ["view_0_0.png"])
    assert "use a single-image upscaler" in line(sf.read, tmp_path / "single")
    put(tmp_path / "mixed", ["a_0_0.png", "a_0_1.png", "b_0_0.png", "b_0_1.png"])
    assert "2 namings" in line(sf.read, tmp_path / "mixed")
    assert sf.read(tmp_path / "mixed", pattern="b_{v}_{u}.png").grid == (1, 2)


def test_truncated_empty_and_false_pictures_are_named(tmp_path):
    sf.write(scene((1, 3), (40, 50)), tmp_path / "a")
    victim = tmp_path / "a" / "view_00_02.png"
    whole = victim.read_bytes()
    for content in (whole[: len(whole) // 2], whole[:-12], b"", b"not a picture"):
        victim.write_bytes(content)
        assert "view_00_02.png" in line(sf.read, tmp_path / "a")


def test_unreadable_files_are_named(tmp_path, monkeypatch):
    sf.write(scene(), tmp_path / "a")
    read_bytes = Path.read_bytes

    def refused(self):
        if self.name == "view_01_01.png":
            raise PermissionError(errno.EACCES, "Permission denied")
        return read_bytes(self)

    monkeypatch.setattr(Path, "read_bytes", refused)
    text = line(sf.read, tmp_path / "a")
    assert "view_01_01.png" in text
    assert "permission denied" in text


def test_more_than_the_memory_is_refused_before_anything_is_read(tmp_path, monkeypatch):
    sf.write(scene(), tmp_path / "a")
    monkeypatch.setattr("sharpfield.io.source.physical_memory", lambda: 2000)
    assert "GB of memory" in line(sf.read, tmp_path / "a")


def test_existing_outputs(tmp_path):
    lf = scene()
    sf.write(lf, tmp_path / "a")
    assert "--overwrite" in line(sf.write, lf, tmp_path / "a", error=sf.OutputError)
    sf.write(scene((1, 2)), tmp_path / "a", overwrite=True)
    assert sf.read(tmp_path / "a").grid == (1, 2)
    (tmp_path / "a" / "thesis.tex").write_text("")
    text = line(sf.write, lf, tmp_path / "a", overwrite=True, error=sf.OutputError)
    assert "thesis.tex" in text
    assert sf.read(tmp_path / "a").grid == (1, 2)
    (tmp_path / "file").write_text("")
    assert "is a file" in line(sf.write, lf, tmp_path / "file", overwrite=True, error=sf.OutputError)
    assert "cannot be written" in line(sf.write, lf, tmp_path / "file" / "x", error=sf.OutputError)


def test_a_full_disk_leaves_nothing(tmp_path, monkeypatch):
    def full(self, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    assert "the disk is full" in line(sf.write, scene(), tmp_path / "a", error=sf.OutputError)
    assert os.listdir(tmp_path) == []


@pytest.mark.data
def test_real_light_fields(data_folder):
    lf = sf.read(data_folder / "lytro_bikes")
    assert (lf.grid, lf.size, lf.channels, lf.bits, lf.name) == ((5, 5), (375, 540), 3, 8, "lytro_bikes")
    with Image.open(data_folder / "lytro_bikes" / "view_01_03.png") as image:
        np.testing.assert_array_equal(lf.views[1, 3], np.asarray(image) / np.float32(255))
