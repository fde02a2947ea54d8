"""Every format out and in: exact where it is lossless, found from the content, whole or not at all."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sharpfield as sf
from sharpfield.io import ReadOptions, formats, open_views

DTYPES = {8: np.uint8, 16: np.uint16}


def scene(grid=(2, 3), size=(6, 5), channels=3, bits=8, seed=0, **fields):
    rng = np.random.default_rng(seed)
    shape = (*grid, *size, channels)
    if bits == 32:
        return sf.LightField(rng.random(shape, np.float32), bits=32, **fields)
    return sf.LightField(rng.integers(0, 1 << bits, shape, DTYPES[bits]), **fields)


def line(function, *args, error=sf.InputError, **options):
    with pytest.raises(error) as caught:
        function(*args, **options)
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 500
    return text


LOSSLESS = ["x.npz", "x.h5", "x.mat", "x.tif", "x.zip", "x", "mosaic.png", "x_eslf.png"]


@settings(max_examples=60, deadline=None)
@given(
    grid=st.tuples(st.integers(1, 4), st.integers(1, 4)).filter(lambda grid: grid != (1, 1)),
    size=st.tuples(st.integers(1, 7), st.integers(1, 7)),
    channels=st.sampled_from([1, 3]),
    bits=st.sampled_from([8, 16, 32]),
    name=st.sampled_from(LOSSLESS),
    seed=st.integers(0, 99),
)
def test_round_trip_through_every_lossless_format_is_exact(
    tmp_path_factory, grid, size, channels, bits, name, seed
):
    if bits == 32 and name in ("x.zip", "x", "mosaic.png", "x_eslf.png"):
        return
    lf = scene(grid, size, channels, bits, seed)
    path = tmp_path_factory.mktemp("round") / name
    assert sf.write(lf, path) == path
    options = {"format": "mosaic", "grid": grid} if "mosaic" in name else {}
    if "eslf" in name:
        options = {"grid": grid, "views": f"{grid[0]}x{grid[1]}"}
    back = sf.read(path, **options)
    np.testing.assert_array_equal(back.views, lf.views)
    assert back.bits == bits
    assert os.listdir(path.parent) == [name]


@pytest.mark.parametrize("name", ["x.npz", "x.h5", "x.tif", "x.mat"])
def test_floats_are_kept_though_they_came_from_bytes(tmp_path, name):
    lf = scene(bits=32)
    lf = lf.with_views(lf.views, bits=8)
    sf.write(lf, tmp_path / name)
    back = sf.read(tmp_path / name)
    np.testing.assert_array_equal(back.views, lf.views)
    assert back.bits == (32 if name == "x.mat" else 8)
    sf.write(lf, tmp_path / name, bits=8, overwrite=True)
    rounded = np.floor(lf.views * 255.0 + 0.5) / np.float32(255)
    np.testing.assert_allclose(sf.read(tmp_path / name).views, rounded, atol=1e-7)


@pytest.mark.parametrize("name", [*LOSSLESS, "x_qs3x1a0.75.png"])
def test_another_grid_than_the_files_own_is_refused(tmp_path, name):
    one_row = scene((1, 3))
    sf.write(one_row, tmp_path / name)
    if name in ("mosaic.png", "x_eslf.png"):  # only these have no grid of their own
        return
    assert sf.read(tmp_path / name, grid=(1, 3)).grid == (1, 3)
    text = line(sf.read, tmp_path / name, grid=(3, 1))
    assert text.startswith(f"{tmp_path / name}: ")
    assert "1x3" in text
    assert "3x1 asked for; leave out --grid" in text


def test_what_is_no_light_field_is_not_written(tmp_path):
    assert "make one of an array (sharpfield.LightField(array))" in line(
        sf.write, np.zeros((2, 2, 4, 4)), tmp_path / "x"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["x.npz", "x.h5", "x.tif"])
def test_metadata_and_notes_are_kept(tmp_path, name):
    metadata = {
        "baseline": np.float64(0.25),
        "cameras": ["a", "b", {"c": (1, None, True)}],
        "odd/key é": "ü",
        "depth": np.arange(12, dtype=np.float32).reshape(3, 4),
        "path": Path("x"),
    }
    lf = scene(name="knights", notes=("a note", "another"), metadata=metadata)
    sf.write(lf, tmp_path / name)
    back = sf.read(tmp_path / name)
    assert (back.name, back.notes, back.source) == ("knights", lf.notes, str(tmp_path / name))
    assert back.metadata["baseline"] == 0.25
    assert back.metadata["cameras"] == ["a", "b", {"c": [1, None, True]}]
    assert back.metadata["odd/key é"] == "ü"
    assert back.metadata["path"] == "x"
    np.testing.assert_array_equal(back.metadata["depth"], metadata["depth"])


@pytest.mark.parametrize("name", [*LOSSLESS, "q_qs3x2a1.png"])
def test_outputs_are_whole_or_not_there(tmp_path, name):
    lf = scene((1, 6))
    path = tmp_path / name

    def interrupt(event):
        raise KeyboardInterrupt

    if name not in ("mosaic.png", "x_eslf.png", "q_qs3x2a1.png", "x.mat"):  # these tell progress at the end
        with pytest.raises(KeyboardInterrupt):
            sf.write(lf, path, progress=interrupt)
        assert os.listdir(tmp_path) == []
    sf.write(lf, path)
    assert "--overwrite" in line(sf.write, lf, path, error=sf.OutputError)
    sf.write(lf, path, overwrite=True)
    assert os.listdir(tmp_path) == [name]


def test_every_format_says_how_it_looks():
    names = [each.name for each in formats()]
    assert len(set(names)) == len(names) == 12
    for each in formats():
        assert each.description
        assert len(each.description) < 160
        assert each.sniff(Path("absent"), ReadOptions()) is False


def test_options_that_a_format_does_not_take(tmp_path):
    lf = scene()
    assert "pattern has no meaning for npz" in line(
        sf.write, lf, tmp_path / "x.npz", pattern="{v}_{u}", error=sf.OptionError
    )
    assert "no format 'jpeg2000'" in line(
        sf.write, lf, tmp_path / "x", format="jpeg2000", error=sf.OptionError
    )
    assert "only read" in line(sf.write, lf, tmp_path / "x.lfr", format="lytro", error=sf.OptionError)
    assert "8, 16 or 32" in line(sf.write, lf, tmp_path / "x.h5", bits=12, error=sf.OptionError)
    assert "holds 8 bits" in line(
        sf.write, lf, tmp_path / "x.h5", bits=16, format="hci2013", error=sf.OptionError
    )
    assert os.listdir(tmp_path) == []
    sf.write(lf, tmp_path / "x", format="npz")
    assert sf.read(tmp_path / "x").grid == lf.grid
    assert "no format 'npy'" in line(sf.read, tmp_path / "x", format="npy", error=sf.OptionError)
    assert "grid is rows and columns" in line(sf.read, tmp_path / "x", grid=(0, 3), error=sf.OptionError)


@pytest.mark.parametrize("name", ["x.npz", "x.h5", "x.mat", "x.tif", "x.zip", "x"])
def test_parts_are_read_as_they_are_cut(tmp_path, name):
    lf = scene((4, 5), (8, 9))
    sf.write(lf, tmp_path / name)
    part = sf.read(tmp_path / name, views="2x3", crop="1:4,2:9")
    np.testing.assert_array_equal(part.views, lf.views[1:3, 1:4, 1:4, 2:9])
    turned = sf.read(tmp_path / name, transpose=True, flip="u", views="0:2,0:1")
    np.testing.assert_array_equal(turned.views, lf.views.swapaxes(0, 1)[:2, ::-1][:, :1])
    with open_views(tmp_path / name) as source:
        np.testing.assert_array_equal(source.load(3, 4).samples / np.float32(255), lf.views[3, 4])
    assert "views '9x9'" in line(sf.read, tmp_path / name, views="9x9", error=sf.OptionError)


def test_a_caller_who_stops_is_not_taken_for_a_damaged_file(tmp_path):
    def stop(event):
        raise KeyError("mine")

    for name in ("x.npz", "x.h5", "x.mat", "x.tif", "x.zip"):
        sf.write(scene(), tmp_path / name)
        with pytest.raises(KeyError, match="mine"):
            sf.read(tmp_path / name, progress=stop)


def test_unknown_files(tmp_path):
    (tmp_path / "a.xyz").write_bytes(b"hello, this is no light field")
    assert "is no light field that sharpfield knows" in line(sf.read, tmp_path / "a.xyz")
    (tmp_path / "b.png").write_bytes(b"")
    assert "empty file" in line(sf.read, tmp_path / "b.png")


@pytest.mark.parametrize("name", ["picture.LFR", "picture.lfp", "renamed.bin"])
def test_raw_lytro_files_are_explained(tmp_path, name):
    (tmp_path / name).write_bytes(b"\x89LFP\r\n\x1a\n" + bytes(100))
    text = line(sf.read, tmp_path / name)
    assert "raw Lytro picture" in text
    assert "PlenoptiCam" in text


# zip


def zipped(path, files, **options):
    with zipfile.ZipFile(path, "w", **options) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def view_files(tmp_path, lf, pattern=None):
    sf.write(lf, tmp_path / "views", pattern=pattern)
    return {path.name: path.read_bytes() for path in (tmp_path / "views").iterdir()}


def test_zip_with_a_folder_in_it_and_mac_leftovers(tmp_path):
    lf = scene()
    files = view_files(tmp_path, lf)
    inside = {f"knights/{name}": data for name, data in files.items()}
    junk = {"__MACOSX/knights/._view_00_00.png": b"x", "knights/.DS_Store": b"", "readme.txt": b"hello"}
    path = zipped(tmp_path / "a.zip", {**inside, **junk}, compression=zipfile.ZIP_DEFLATED)
    np.testing.assert_array_equal(sf.read(path).views, lf.views)
    path = zipped(tmp_path / "b.zip", {**inside, **{f"other/{name}": data for name, data in files.items()}})
    assert "pictures in 2 folders (knights/, other/)" in line(sf.read, path)
    assert "no pictures" in line(sf.read, zipped(tmp_path / "c.zip", junk))


def test_benchmark_and_gantry_names_in_folder_and_zip(tmp_path):
    lf = scene((2, 3))
    files = view_files(tmp_path, lf, "input_Cam{i:03}.png")
    config = b"[intrinsics]\nfocal_length_mm = 100.0\n[extrinsics]\nnum_cams_x = 3\nnum_cams_y = 2\n"
    files["parameters.cfg"] = config
    (tmp_path / "views" / "parameters.cfg").write_bytes(config)
    for path in (tmp_path / "views", zipped(tmp_path / "a.zip", files)):
        back = sf.read(path)
        np.testing.assert_array_equal(back.views, lf.views)
        assert back.metadata["parameters"]["focal_length_mm"] == "100.0"
    (tmp_path / "views" / "parameters.cfg").write_bytes(b"no section = 1\n")
    assert "parameters.cfg cannot be read" in line(sf.read, tmp_path / "views")


@pytest.mark.parametrize(
    "name", ["/etc/evil_00_00.png", "../evil_00_00.png", "a/../../b.png", "C:\\evil.png", "..\\x.png"]
)
def test_zip_that_points_outside_is_refused_and_writes_nothing(tmp_path, name):
    path = zipped(tmp_path / "a.zip", {**view_files(tmp_path, scene()), name: b"x"})
    before = sorted(tmp_path.rglob("*"))
    assert "unsafe" in line(sf.read, path)
    assert sorted(tmp_path.rglob("*")) == before


def test_zip_bomb_is_refused_before_it_unpacks(tmp_path):
    path = zipped(
        tmp_path / "a.zip", {"0_0.png": bytes(20 << 20), "0_1.png": b"x"}, compression=zipfile.ZIP_DEFLATED
    )
    assert "would unpack to 21 MB" in line(sf.read, path)


def test_zip_that_is_cut_or_changed(tmp_path):
    path = zipped(tmp_path / "a.zip", view_files(tmp_path, scene()), compression=zipfile.ZIP_DEFLATED)
    whole = path.read_bytes()
    for keep in (4, 30, len(whole) // 2, len(whole) - 5):
        path.write_bytes(whole[:keep])
        assert str(path) in line(sf.read, path)
    changed = bytearray(whole)
    changed[60:70] = bytes(10)
    path.write_bytes(changed)
    assert "is damaged" in line(sf.read, path)


# npz


def test_npz_of_others(tmp_path):
    lf = scene()
    np.savez(tmp_path / "a.npz", lightfield=np.round(lf.views * 255).astype(np.uint8), depth=np.zeros((3, 3)))
    np.testing.assert_array_equal(sf.read(tmp_path / "a.npz").views, lf.views)
    np.savez_compressed(tmp_path / "b.npz", anything=np.asfortranarray(lf.views), other=np.zeros(3))
    np.testing.assert_array_equal(sf.read(tmp_path / "b.npz").views, lf.views)
    np.savez(tmp_path / "c.npz", views=np.concatenate([lf.views, lf.views[..., :1]], axis=4))
    assert sf.read(tmp_path / "c.npz").notes == ("weight channel dropped",)


class Trap:
    """Would leave a file behind if it were ever unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (Path.touch, (self.path,))


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"views": np.zeros((2, 2, 3, 3), np.int32)}, "int32"),
        ({"views": np.zeros((2, 2, 3, 3, 7), np.uint8)}, "7 channels last"),
        ({"views": np.zeros((1, 1, 3, 3, 3), np.uint8)}, "single view"),
        ({"views": np.full((2, 2, 3, 3), 2.0)}, r"in \[0, 1\]"),
        ({"views": np.full((2, 2, 3, 3), np.nan)}, "NaN"),
        ({"views": np.zeros((0, 2, 3, 3))}, "no light field"),
        (
            {"a": np.zeros((2, 2, 3, 3, 3)), "b": np.zeros((2, 2, 3, 3, 3))},
            "nor a single 5-D one; it holds a",
        ),
        ({"x": np.zeros(3)}, "no array `views`"),
        ({}, "it holds nothing"),
    ],
)
def test_npz_that_is_no_light_field(tmp_path, arrays, message):
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(sf.InputError, match=message):
        sf.read(tmp_path / "a.npz")


def test_npz_with_objects_is_not_opened(tmp_path):
    trap = np.empty((2, 2, 1, 1, 1), object)
    trap[:] = Trap(tmp_path / "sprung")
    np.savez(tmp_path / "a.npz", views=trap)
    assert "Python objects, which are never opened" in line(sf.read, tmp_path / "a.npz")
    assert not (tmp_path / "sprung").exists()


def test_npz_that_claims_more_than_there_is(tmp_path):
    path = tmp_path / "a.npz"
    for shape, message in [((2, 2, 10**6, 10**6, 3), "GB of memory"), ((9, 9, 300, 300, 3), "is damaged")]:
        with zipfile.ZipFile(path, "w") as archive, archive.open("views.npy", "w") as stream:
            np.lib.format.write_array_header_1_0(
                stream, {"descr": "|u1", "fortran_order": False, "shape": shape}
            )
            stream.write(bytes(1000))
        assert message in line(sf.read, path)


# TIFF stack


def test_tiff_stack_of_others(tmp_path):
    import tifffile

    lf = scene((2, 3), bits=16)
    pages = np.round(lf.views * 65535).astype(np.uint16).reshape(6, *lf.views.shape[2:])
    tifffile.imwrite(tmp_path / "a.tif", pages, photometric="rgb")
    np.testing.assert_array_equal(sf.read(tmp_path / "a.tif", grid=(2, 3)).views, lf.views)
    assert "6 pages make no square grid; say --grid" in line(sf.read, tmp_path / "a.tif")
    assert "has 6 pages, a grid of 2x2 needs 4" in line(sf.read, tmp_path / "a.tif", grid=(2, 2))
    with tifffile.TiffWriter(tmp_path / "b.tif") as file:
        for size in (3, 3, 3, 4):
            file.write(np.zeros((size, 3), np.uint8), photometric="minisblack", contiguous=False)
    assert "page 4: has the shape (4, 3, 1)" in line(sf.read, tmp_path / "b.tif")


def test_tiff_stack_whose_description_was_changed(tmp_path):
    sf.write(scene(), tmp_path / "a.tif")
    whole = (tmp_path / "a.tif").read_bytes()
    for old, new in [
        (b'"grid": [2, 3]', b'"grid": [9, 3]'),
        (b'"grid"', b'"dirg"'),
        (b'"bits": 8', b'"bits": 9'),
    ]:
        (tmp_path / "a.tif").write_bytes(whole.replace(old, new))
        assert "a.tif: " in line(sf.read, tmp_path / "a.tif")
