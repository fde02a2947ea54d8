"""Zarr stores: exact there and back, by view and by window; what is damaged is named; those of others are read."""

from __future__ import annotations

import os

import numpy as np
import pytest
import zarr
from hypothesis import given, settings
from hypothesis import strategies as st

import sharpfield as sf
from sharpfield.io import ReadOptions, open_views
from sharpfield.io.streamed import stream
from sharpfield.io.zarr_store import even_chunk, open_stored, sniff

DTYPES = {8: np.uint8, 16: np.uint16}


def scene(grid=(2, 3), size=(6, 5), channels=3, bits=8, seed=0, **fields):
    rng = np.random.default_rng(seed)
    shape = (*grid, *size, channels)
    if bits == 32:
        return sf.LightField(rng.random(shape, np.float32), bits=32, **fields)
    return sf.LightField(rng.integers(0, 1 << bits, shape, DTYPES[bits]), **fields)


def refused(function, *args, error=sf.InputError, **options):
    with pytest.raises(error) as caught:
        function(*args, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@settings(max_examples=15, deadline=None)
@given(
    grid=st.tuples(st.integers(1, 3), st.integers(1, 3)).filter(lambda grid: grid != (1, 1)),
    size=st.tuples(st.integers(1, 7), st.integers(1, 7)),
    channels=st.sampled_from([1, 3]),
    bits=st.sampled_from([8, 16, 32]),
)
def test_there_and_back_is_exact(tmp_path_factory, grid, size, channels, bits):
    lf = scene(grid, size, channels, bits)
    path = tmp_path_factory.mktemp("zarr") / "x.zarr"
    sf.write(lf, path)
    back = sf.read(path)
    np.testing.assert_array_equal(back.views, lf.views)
    assert back.bits == bits
    assert os.listdir(path.parent) == ["x.zarr"]


def test_it_says_what_it_holds(tmp_path):
    depth = np.arange(2 * 3 * 6 * 5, dtype=np.float32).reshape(2, 3, 6, 5)
    lf = scene(name="knights", notes=("alpha channel dropped",), metadata={"depth": depth, "baseline": 2.5})
    sf.write(lf, tmp_path / "x.zarr")
    group = zarr.open_group(tmp_path / "x.zarr", mode="r")
    assert group.metadata.zarr_format == 3
    assert group["views"].metadata.dimension_names == ("v", "u", "y", "x", "c")
    back = sf.read(tmp_path / "x.zarr")
    assert (back.name, back.notes, back.metadata["baseline"]) == (lf.name, lf.notes, 2.5)
    np.testing.assert_array_equal(back.metadata["depth"], depth)


def test_any_format_goes_in_view_by_view(tmp_path):
    depth = np.random.default_rng(1).random((2, 3, 6, 5), np.float32)
    lf = scene(metadata={"depth": depth})
    sf.write(lf, tmp_path / "lf.h5", format="hci2013")
    with open_views(tmp_path / "lf.h5") as source:
        sf.write(stream(source), tmp_path / "x.zarr")
    back = sf.read(tmp_path / "x.zarr")
    np.testing.assert_array_equal(back.views, lf.views)
    np.testing.assert_allclose(back.metadata["depth"], depth, rtol=1e-6)


def test_a_window_reads_its_own_chunks_only(tmp_path):
    lf = scene(size=(1100, 9), channels=1)
    sf.write(lf, tmp_path / "x.zarr")
    assert even_chunk(1100) == 220
    for each in (tmp_path / "x.zarr" / "views").glob("c.1.2.0.*"):
        each.write_bytes(b"")
    stored = open_stored(tmp_path / "x.zarr")
    window = stored.window(1, 2, slice(700, 900), slice(2, 5))
    np.testing.assert_array_equal(window / np.float32(255), lf.views[1, 2, 700:900, 2:5])
    assert [path.name for path in stored.chunk_paths(1, 2, slice(700, 900), slice(2, 5))] == [
        "c.1.2.3.0.0",
        "c.1.2.4.0.0",
    ]


def test_a_damaged_or_lost_chunk_is_named(tmp_path):
    lf = scene()
    sf.write(lf.with_views(np.zeros_like(lf.views)), tmp_path / "x.zarr")  # black chunks are stored, too
    chunk = tmp_path / "x.zarr" / "views" / "c.1.2.0.0.0"
    whole = chunk.read_bytes()
    for wrong in (whole[:-3], b"", bytes([whole[0] ^ 1]) + whole[1:], whole + b"x"):
        chunk.write_bytes(wrong)
        assert f"{chunk}: is damaged or truncated" in refused(sf.read, tmp_path / "x.zarr")
    chunk.unlink()
    assert f"{chunk}: this chunk is missing" in refused(sf.read, tmp_path / "x.zarr")
    chunk.write_bytes(whole)
    sf.read(tmp_path / "x.zarr")


def test_damaged_descriptions_are_refused(tmp_path):
    sf.write(scene(), tmp_path / "x.zarr")
    head, views = tmp_path / "x.zarr" / "zarr.json", tmp_path / "x.zarr" / "views" / "zarr.json"
    for path, old, new in (
        (head, '"bits": 8', '"bits": 9'),
        (head, ": {", ": "),
        (views, '"views"', "3"),
        (views, "node", "no"),
    ):
        whole = path.read_text()
        path.write_text(whole.replace(old, new) if old in whole else whole[:40])
        assert str(tmp_path / "x.zarr") in refused(sf.read, tmp_path / "x.zarr")
        path.write_text(whole)


@pytest.mark.parametrize("version", [2, 3])
def test_stores_of_others(tmp_path, version):
    lf = scene()
    views = np.round(lf.views * 255).astype(np.uint8)
    zarr.save_array(tmp_path / "a.zarr", views, zarr_format=version)
    np.testing.assert_array_equal(sf.read(tmp_path / "a.zarr").views, lf.views)
    group = zarr.open_group(tmp_path / "b.zarr", mode="w", zarr_format=version)
    group.create_array("frames", data=views, chunks=(2, 1, 3, 5, 1), fill_value=0)
    group.create_array("times", data=np.arange(3))
    np.testing.assert_array_equal(sf.read(tmp_path / "b.zarr").views, lf.views)
    group.create_array("again", data=views)
    assert "nor a single one of five axes" in refused(sf.read, tmp_path / "b.zarr")
    zarr.open_group(tmp_path / "c.zarr", mode="w", zarr_format=version)
    assert "it holds nothing" in refused(sf.read, tmp_path / "c.zarr")


def test_only_stores_are_replaced(tmp_path):
    (tmp_path / "x.zarr").mkdir()
    (tmp_path / "x.zarr" / "thesis.tex").write_text("years")
    assert "no Zarr store" in refused(
        sf.write, scene(), tmp_path / "x.zarr", overwrite=True, error=sf.OutputError
    )
    assert (tmp_path / "x.zarr" / "thesis.tex").read_text() == "years"


def test_without_the_library_it_says_how_to_get_it(tmp_path, monkeypatch):
    sf.write(scene(), tmp_path / "x.zarr")
    monkeypatch.setitem(__import__("sys").modules, "zarr", None)
    assert "pip install 'sharpfield[scale]'" in refused(
        sf.read, tmp_path / "x.zarr", error=sf.SharpfieldError
    )
    assert sniff(tmp_path / "x.zarr", ReadOptions())
