"""Every reader with damaged files: read, or refused in one line that names the file; and what fuzzing has found.

Longer runs of the same found a loop without end in the HDF5 library (attributes of variable length) and a crash of
SciPy's reader of .mat files; neither is called any more.
"""

from __future__ import annotations

import logging
import struct
import zipfile

import h5py
import numpy as np
import pytest
import tifffile
from hypothesis import given, settings
from hypothesis import strategies as st

import sharpfield as sf

NAMES = [
    "a.zip",
    "b.zip",
    "a.npz",
    "a.h5",
    "hci.h5",
    "a.mat",
    "v73.mat",
    "a.tif",
    "m.png",
    "a_eslf.png",
    "a_qs3x2a1.png",
]


HEADS = [
    b"",
    b"PK\x03\x04",
    b"\x89HDF\r\n\x1a\n",
    b"MATLAB 5.0 MAT-file" + bytes(107) + b"IM",
    b"II*\0",
    b"MM\0*",
    b"\x89PNG\r\n\x1a\n",
    b"\xff\xd8\xff",
    b"BM",
    b"\x89LFP\r\n\x1a\n",
    b"\x93NUMPY",
]


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    """Return a place for damaged files and one good file of every format: name -> content."""
    folder = tmp_path_factory.mktemp("fuzz")
    values = np.random.default_rng(0).integers(0, 60, (2, 3, 7, 9, 3), np.uint8)
    lf = sf.LightField(values, metadata={"depth": np.zeros((2, 3, 7, 9), np.float32)})
    sf.write(lf, folder / "a.zip")
    sf.write(lf, folder / "b.zip", file_format="tiff", bits=16)
    sf.write(lf, folder / "hci.h5", format="hci2013")
    sf.write(lf.with_views(lf.views.reshape(1, 6, 7, 9, 3)), folder / "a_qs3x2a1.png")
    for name in ("a.npz", "a.h5", "a.mat", "a.tif", "m.png", "a_eslf.png"):
        sf.write(lf, folder / name)
    with h5py.File(folder / "v73.mat", "w", userblock_size=512) as file:
        file["LF"] = values.T
    content = {name: (folder / name).read_bytes() for name in NAMES}
    content["v73.mat"] = b"MATLAB 7.3 MAT-file" + content["v73.mat"][19:]
    return folder, content


def read_or_refused(path, name):
    """Read a damaged file; whatever is wrong must be one line that names it. Return that line, or nothing."""
    try:
        sf.read(path, threads=1, grid=(2, 3) if name in ("m.png", "a_eslf.png") else None)
    except sf.InputError as error:
        message = str(error)
    else:
        return ""
    assert str(path) in message
    assert "\n" not in message
    assert len(message) < 600
    return message


@pytest.mark.parametrize("name", NAMES)
def test_truncated_anywhere_is_refused(samples, name):
    folder, content = samples
    whole = content[name]
    path = folder / f"cut_{name}"
    # the last bytes of HDF5 may be unused, those after the last picture part of a JPEG or a TIFF too
    for keep in {
        0,
        1,
        7,
        20,
        64,
        127,
        130,
        200,
        600,
        *(len(whole) * k // 8 for k in range(1, 8)),
        len(whole) - 20,
    }:
        if keep < len(whole):
            path.write_bytes(whole[:keep])
            assert read_or_refused(path, name)


@settings(max_examples=250, deadline=None)
@given(name=st.sampled_from(NAMES), data=st.data())
def test_changed_anywhere_is_read_or_refused(samples, name, data):
    folder, content = samples
    changed = bytearray(content[name])
    for _ in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(0, max(len(changed) - 1, 0)) | st.integers(0, min(300, len(changed) - 1)))
        piece = data.draw(
            st.sampled_from([b"\0", b"\xff", b"\x7f\xff\xff\xff", b"\0\0\0\x80"]) | st.binary(max_size=6)
        )
        changed[at : at + data.draw(st.sampled_from([0, len(piece), len(piece)]))] = piece
    path = folder / f"changed_{name}"
    path.write_bytes(changed)
    read_or_refused(path, name)


@settings(max_examples=150, deadline=None)
@given(
    head=st.sampled_from(HEADS),
    tail=st.binary(max_size=300),
    ending=st.sampled_from(["", ".png", ".npz", ".zip", ".mat", ".h5", ".tif", ".lfr"]),
)
def test_any_bytes_are_refused(tmp_path_factory, head, tail, ending):
    path = tmp_path_factory.getbasetemp() / f"any{ending}"
    path.write_bytes(head + tail)
    assert read_or_refused(path, "")


def test_found_a_zip_with_a_nameless_member(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("x", b"")
    data = (tmp_path / "a.zip").read_bytes()
    # the name of one byte is taken for an extra field, in both places where it stands
    (tmp_path / "a.zip").write_bytes(
        data.replace(struct.pack("<HH", 1, 0) + b"x", struct.pack("<HH", 0, 1) + b"x")
    )
    assert "no pictures" in read_or_refused(tmp_path / "a.zip", "") or "damaged" in read_or_refused(
        tmp_path / "a.zip", ""
    )


def test_found_a_tiff_that_claims_a_million_strips(tmp_path, caplog):
    sf.write(sf.LightField(np.zeros((2, 2, 5, 5), np.uint8)), tmp_path / "a.tif")
    with tifffile.TiffFile(tmp_path / "a.tif") as file:
        at = file.pages[0].tags["ImageLength"].valueoffset
        strip = file.pages[0].tags["RowsPerStrip"].valueoffset
    data = bytearray((tmp_path / "a.tif").read_bytes())
    data[at : at + 2] = b"\xff\xff"
    data[strip : strip + 2] = b"\x01\x00"
    (tmp_path / "a.tif").write_bytes(data)
    with caplog.at_level(logging.CRITICAL):
        assert "its size does not fit its content" in read_or_refused(tmp_path / "a.tif", "")


def test_found_a_variable_with_a_name_of_several_lines(tmp_path):
    import scipy.io

    scipy.io.savemat(tmp_path / "a.mat", {"ABCD": np.zeros((3, 3))}, do_compression=False)
    data = (tmp_path / "a.mat").read_bytes()
    (tmp_path / "a.mat").write_bytes(data.replace(b"ABCD", b"A\n\rD"))
    assert "it holds A??D (3, 3)" in read_or_refused(tmp_path / "a.mat", "")


def test_found_attributes_of_variable_length_are_not_read(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["views"] = np.zeros((2, 2, 3, 3), np.uint8)
        file.attrs["text"] = "of variable length"
        file.attrs["fixed"] = np.bytes_("of fixed length")
        file.attrs["number"] = 3
    assert sf.read(tmp_path / "a.h5").metadata == {"fixed": "of fixed length", "number": 3}
