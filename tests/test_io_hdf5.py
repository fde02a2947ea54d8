"""HDF5 and MATLAB files: the layouts that are about, and files that point elsewhere or hold other things."""

from __future__ import annotations

import h5py
import numpy as np
import pytest
import scipy.io

import sharpfield as sf
from sharpfield.io import formats


def scene(grid=(2, 3), size=(6, 5), channels=3, seed=0, dtype=np.uint8):
    rng = np.random.default_rng(seed)
    return rng.integers(0, np.iinfo(dtype).max, (*grid, *size, channels), dtype, endpoint=True)


def line(function, *args, error=sf.InputError, **options):
    with pytest.raises(error) as caught:
        function(*args, **options)
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 500
    return text


def format_of(path):
    from sharpfield.io import ReadOptions

    return next(each.name for each in formats() if each.sniff(path, ReadOptions()))


# HCI 2013


def archive_2013(path, views, *, leave=(), depth=True, **changes):
    """Write a file as the archive has them: views right to left."""
    rows, columns, height, width, _ = views.shape
    attributes = {"vRes": rows, "hRes": columns, "yRes": height, "xRes": width}
    attributes |= {
        "dV": 0.1,
        "dH": 0.1,
        "focalLength": 9.37,
        "shift": 2.5,
        "camera": np.bytes_("blender"),
    } | changes
    with h5py.File(path, "w") as file:
        file["LF"] = views[:, ::-1]
        for name, value in attributes.items():
            if name not in leave:
                file.attrs[name] = value
        if depth:
            file["GT_DEPTH"] = np.arange(views[..., 0].size, dtype=np.float32).reshape(views.shape[:4])[
                :, ::-1
            ]
    return path


def test_archive_of_2013_is_turned_and_keeps_depth_and_geometry(tmp_path):
    views = scene()
    (tmp_path / "buddha").mkdir()
    path = archive_2013(tmp_path / "buddha" / "lf.h5", views)
    assert format_of(path) == "hci2013"
    lf = sf.read(path)
    np.testing.assert_array_equal(lf.views, views / np.float32(255))
    assert (lf.name, lf.bits, lf.notes) == ("buddha", 8, ())
    assert (lf.metadata["dH"], lf.metadata["focalLength"], lf.metadata["camera"]) == (0.1, 9.37, "blender")
    depth = np.arange(views[..., 0].size, dtype=np.float32).reshape(views.shape[:4])
    np.testing.assert_array_equal(lf.metadata["depth"], depth)
    part = sf.read(path, views="0:1,1:3", crop="2:4,0:5", flip="u")
    np.testing.assert_array_equal(part.views, lf.views[:1, ::-1][:, 1:3, 2:4])
    np.testing.assert_array_equal(part.metadata["depth"], depth[:1, ::-1][:, 1:3, 2:4])


def test_archive_of_2013_is_written_as_it_is_read(tmp_path):
    lf = sf.read(archive_2013(tmp_path / "a.h5", scene()))
    sf.write(lf, tmp_path / "b.h5", format="hci2013")
    assert format_of(tmp_path / "b.h5") == "hci2013"
    back = sf.read(tmp_path / "b.h5")
    np.testing.assert_array_equal(back.views, lf.views)
    np.testing.assert_array_equal(back.metadata["depth"], lf.metadata["depth"])
    assert back.metadata["shift"] == 2.5
    with h5py.File(tmp_path / "a.h5") as first, h5py.File(tmp_path / "b.h5") as second:
        np.testing.assert_array_equal(first["LF"][()], second["LF"][()])


def test_archive_of_2013_with_wrong_or_missing_attributes(tmp_path):
    views = scene()
    lf = sf.read(archive_2013(tmp_path / "a.h5", views, leave=("dV", "shift"), depth=False))
    assert lf.notes == ("attributes dV, shift missing",)
    text = line(sf.read, archive_2013(tmp_path / "b.h5", views, leave=("vRes", "hRes")))
    assert "not its attributes vRes, hRes" in text
    np.testing.assert_array_equal(
        sf.read(tmp_path / "b.h5", format="hdf5").views, views[:, ::-1] / np.float32(255)
    )
    assert "its attributes say 9x3 views of 5x6, /LF has 2x3" in line(
        sf.read, archive_2013(tmp_path / "c.h5", views, vRes=9)
    )
    with h5py.File(tmp_path / "a.h5", "a") as file:
        file["GT_DEPTH"] = np.zeros((6, 5))
    assert "/GT_DEPTH of shape (6, 5) left out" in sf.read(tmp_path / "a.h5").notes


# HDF5 of ours and of others


def test_single_dataset_of_others(tmp_path):
    views = scene()
    with h5py.File(tmp_path / "a.hdf5", "w") as file:
        file["group/data"] = views
        file["mask"] = np.zeros((3, 3))
        file.attrs["f"] = np.float32([1, 2])
    lf = sf.read(tmp_path / "a.hdf5")
    np.testing.assert_array_equal(lf.views, views / np.float32(255))
    assert lf.notes == ("/group/data read as (v, u, y, x, c)",)
    assert lf.metadata["f"] == [1, 2]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "no dataset /views .* it holds nothing"),
        (
            {"a": np.zeros((2, 2, 3, 3, 3)), "b": np.zeros((2, 2, 3, 3, 3))},
            r"it holds a \(2, 2, 3, 3, 3\), b",
        ),
        ({"views": np.zeros((2, 2, 3, 3), np.int16)}, "int16"),
        ({"views": np.zeros((2, 2, 3, 3, 9))}, "9 channels last"),
        ({"views": np.array([[b"x", b"y"]])}, "has values of"),
        ({"views": np.zeros((2, 3))}, "is no light field"),
        ({"views": np.full((2, 2, 3, 3), 7.0)}, r"in \[0, 1\]"),
    ],
)
def test_hdf5_that_is_no_light_field(tmp_path, content, message):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for name, value in content.items():
            file[name] = value
    with pytest.raises(sf.InputError, match=message) as caught:
        sf.read(tmp_path / "a.h5")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["views", "LF"])
def test_hdf5_that_points_at_other_files_is_not_followed(tmp_path, name):
    secret = tmp_path / "secret.h5"
    with h5py.File(secret, "w") as file:
        file["data"] = scene()
    (tmp_path / "raw").write_bytes(bytes(scene().nbytes))
    layout = h5py.VirtualLayout((2, 3, 6, 5, 3), "u1")
    layout[...] = h5py.VirtualSource(secret, "data", (2, 3, 6, 5, 3))
    for kind in ("external link", "soft link", "external storage", "virtual dataset"):
        path = tmp_path / f"{kind}.h5"
        with h5py.File(path, "w") as file:
            if kind == "external link":
                file[name] = h5py.ExternalLink(str(secret), "data")
            elif kind == "soft link":
                file[name] = h5py.SoftLink("/elsewhere")
            elif kind == "external storage":
                file.create_dataset(name, (2, 3, 6, 5, 3), "u1", external=[(str(tmp_path / "raw"), 0, 540)])
            else:
                file.create_virtual_dataset(name, layout)
            for attribute, value in zip(("vRes", "hRes", "yRes", "xRes"), (2, 3, 6, 5), strict=True):
                file.attrs[attribute] = value
        for chosen in (None, "hdf5", "hci2013"):
            text = line(sf.read, path, format=chosen)
            assert "not followed" in text or "not opened" in text or "no dataset" in text


def test_hdf5_that_claims_more_than_the_memory(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("views", (9, 9, 100_000, 100_000, 3), "u1", chunks=(1, 1, 64, 64, 3))
    assert "GB of memory" in line(sf.read, tmp_path / "a.h5")


def test_record_that_was_changed(tmp_path):
    sf.write(sf.LightField(scene()), tmp_path / "a.h5")
    for text in (
        "",
        "{",
        "[]",
        "{}",
        '{"name": 1}',
        '{"name": "", "bits": 9, "notes": [], "metadata": {}, "arrays": {}}',
    ):
        with h5py.File(tmp_path / "a.h5", "a") as file:
            del file["sharpfield"]
            file["sharpfield"] = np.frombuffer(text.encode(), np.uint8) if text else np.zeros(0, np.uint8)
        assert "its description" in line(sf.read, tmp_path / "a.h5")


# MATLAB


def v73(path, variables):
    """Write a v7.3 file: 512 bytes of header, HDF5 after them, the axes reversed."""
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, value in variables.items():
            file[name] = np.transpose(value)
            file[name].attrs["MATLAB_class"] = np.bytes_("uint8")
    with path.open("r+b") as file:
        file.write(
            b"MATLAB 7.3 MAT-file, Platform: GLNXA64, Created on: Mon Jan  1 00:00:00 2024 HDF5 schema 1.00 ."
        )
    return path


def v5(path, variables):
    scipy.io.savemat(path, variables, do_compression=True)
    return path


@pytest.mark.parametrize("writer", [v5, v73])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32, np.float64])
def test_both_versions_and_all_layouts(tmp_path, writer, dtype):
    views = scene() if np.issubdtype(dtype, np.floating) else scene(dtype=dtype)
    stored = (views / 255).astype(dtype) if np.issubdtype(dtype, np.floating) else views
    top = 255 if np.issubdtype(dtype, np.floating) else np.iinfo(dtype).max
    expected = views.astype(np.float32) / np.float32(top)
    weighted = np.concatenate([stored, stored[..., :1]], axis=4)
    for name, variables, notes in [
        ("LF", {"LF": stored, "other": np.zeros((2, 2, 2, 2, 2))}, ()),
        ("HQ", {"LF_HQ": stored, "Lr": np.zeros((3, 3))}, ()),
        ("any", {"anything": stored, "x": np.zeros(3)}, ()),
        ("toolbox", {"LF": weighted}, ("weight channel dropped",)),
        ("grey", {"LF": stored[..., 0]}, ()),
    ]:
        path = writer(tmp_path / f"{name}.mat", variables)
        assert format_of(path) == "matlab"
        lf = sf.read(path)
        np.testing.assert_allclose(lf.views, expected[..., :1] if name == "grey" else expected, atol=1e-7)
        assert lf.notes == notes
        assert lf.bits == {1: 8, 2: 16}.get(np.dtype(dtype).itemsize, 32)


@pytest.mark.parametrize("writer", [v5, v73])
def test_doubles_that_hold_bytes_and_structs(tmp_path, writer):
    views = scene()
    lf = sf.read(writer(tmp_path / "a.mat", {"LF": views.astype(float)}))
    np.testing.assert_array_equal(lf.views, views / np.float32(255))
    assert lf.bits == 8
    assert lf.notes == ("float values 0..255 read as 8 bits",)
    path = tmp_path / "b.mat"
    if writer is v5:
        v5(path, {"LF": {"LF": views, "parameters": {"f": 1.0}}})
    else:
        v73(path, {"LF/LF": views, "LF/f": np.zeros((1, 1))})
    np.testing.assert_array_equal(sf.read(path).views, views / np.float32(255))


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"x": np.zeros((3, 3))}, r"no variable LF of five axes .* it holds x \(3, 3\)"),
        ({"a": np.zeros((2, 2, 3, 3, 3)), "b": np.zeros((2, 2, 3, 3, 3))}, "nor another single one"),
        ({"LF": np.zeros((6, 5, 3, 2, 9))}, "9 channels last; bring the axes into the order"),
        ({"LF": np.zeros((2, 2, 3, 3, 3), np.int32)}, "LF holds values of int32; save it as uint8"),
        ({"LF": np.full((2, 2, 3, 3, 3), 300.5)}, r"in \[0, 1\]"),
        ({"LF": np.full((2, 2, 3, 3, 3), np.nan)}, "NaN"),
        ({"LF": np.array([{"a": 1}, "text"], object)}, "no variable LF"),
        ({"LF": "text"}, "no variable LF"),
        ({"LF": {"not": 1.0}}, "LF is a struct without a field LF"),
        ({"LF": np.zeros((2, 2, 3, 3, 3), complex)}, "LF holds no real numbers; save it as uint8"),
    ],
)
def test_v5_that_is_no_light_field(tmp_path, variables, message):
    with pytest.raises(sf.InputError, match=message) as caught:
        sf.read(v5(tmp_path / "a.mat", variables))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", [1, 3, 4, 16, 17, 200])  # cell, object, text, function, opaque, unknown
def test_v5_with_objects_is_refused(tmp_path, kind):
    path = tmp_path / "a.mat"
    scipy.io.savemat(path, {"LF": scene()}, do_compression=False)
    data = bytearray(path.read_bytes())
    assert data[144] == 9  # 128 bytes of header, two tags of 8: the class of the variable, uint8
    data[144] = kind
    path.write_bytes(data)
    assert "a.mat: " in line(sf.read, path)


def test_files_that_are_only_named_mat(tmp_path):
    (tmp_path / "a.mat").write_bytes(b"hello" * 100)
    assert "no MATLAB file of version 5 or 7.3" in line(sf.read, tmp_path / "a.mat")
    scipy.io.savemat(tmp_path / "b.mat", {"x": np.zeros((3, 3))}, format="4")
    assert "no MATLAB file of version 5 or 7.3" in line(sf.read, tmp_path / "b.mat")


def test_v5_holds_two_gigabytes(tmp_path, monkeypatch):
    monkeypatch.setattr("sharpfield.io.matlab._LARGEST", 100)
    assert "write .h5 instead" in line(
        sf.write, sf.LightField(scene()), tmp_path / "a.mat", error=sf.OutputError
    )
    assert not (tmp_path / "a.mat").exists()
