"""From disk to disk, block by block: the same pixels as in one piece, gone on with, refused, and as a series."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import zarr
from commandline import refused, run
from hypothesis import given, settings
from hypothesis import strategies as st
from stopping import StopHereError, stop_after

import sharpfield as sf
from sharpfield.observe import Camera
from sharpfield.scale import upscale_store
from sharpfield.scale.plan import BASE_BYTES, Member, Request, each_budget, members, plan_blocks
from sharpfield.upscaling import upscale

SMALL_GB = {"iterations": 1, "proximal_steps": 1, "disparity": (-2, 2), "patch": 3}


def scene(grid=(2, 3), size=(33, 21), channels=3, seed=0, **fields):
    rng = np.random.default_rng(seed)
    return sf.LightField(rng.integers(0, 256, (*grid, *size, channels), np.uint8), **fields)


def line(function, *args, error=sf.OptionError, **options):
    with pytest.raises(error) as caught:
        function(*args, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def left_beside(path: Path) -> list[str]:
    return sorted(name for name in os.listdir(path) if name.startswith("."))


@settings(max_examples=12, deadline=None)
@given(
    size=st.tuples(st.integers(9, 40), st.integers(9, 40)),
    channels=st.sampled_from([1, 3]),
    factor=st.integers(2, 3),
    block=st.integers(8, 25),
    chroma=st.sampled_from(["bilinear", "bicubic"]),
)
def test_blocks_of_a_local_method_are_the_whole_to_the_last_bit(
    tmp_path_factory, size, channels, factor, block, chroma
):
    folder = tmp_path_factory.mktemp("scale")
    lf = scene(size=size, channels=channels)
    sf.write(lf, folder / "in.zarr")
    asked = {"method": "bicubic", "chroma": chroma}
    done = upscale_store(folder / "in.zarr", folder / "out.zarr", factor, bits=32, block=block, **asked)
    assert done.blocks == np.prod([-(-length // min(block, length)) for length in size])
    np.testing.assert_array_equal(sf.read(folder / "out.zarr").views, upscale(lf, factor, **asked).views)
    assert sorted(os.listdir(folder)) == ["in.zarr", "out.zarr"]


def test_one_block_of_gb_is_what_upscale_makes(tmp_path):
    lf = scene(grid=(2, 2))
    sf.write(lf, tmp_path / "in.zarr")
    upscale_store(tmp_path / "in.zarr", tmp_path / "out.zarr", bits=32, **SMALL_GB)
    whole = upscale(lf, **SMALL_GB)
    made = sf.read(tmp_path / "out.zarr")
    np.testing.assert_array_equal(made.views, whole.views)
    record = made.metadata["upscale"]
    assert record.items() <= whole.metadata["upscale"].items()
    assert record["options"]["disparity"] == [-2, 2]


def test_a_block_sees_its_halo(tmp_path):
    lf = scene(grid=(2, 2), size=(60, 24), channels=1)
    sf.write(lf, tmp_path / "in.zarr")
    upscale_store(tmp_path / "in.zarr", tmp_path / "out.zarr", bits=32, block=24, **SMALL_GB)
    # by hand: the second block from its rows and those of the halo, 3 times the reach of 2 high-resolution pixels
    part = lf.crop(slice(24 - 3, 48 + 3), slice(0, 24))
    alone = upscale(part, **SMALL_GB).views[:, :, 6:-6]
    np.testing.assert_array_equal(sf.read(tmp_path / "out.zarr").views[:, :, 48:96], alone)


def test_the_result_says_how_it_was_made(tmp_path):
    lf = scene(name="knights", metadata={"baseline": 2.5})
    sf.write(lf, tmp_path / "in.zarr")
    upscale_store(tmp_path / "in.zarr", tmp_path / "out.zarr", method="bicubic", block=16)
    made = sf.read(tmp_path / "out.zarr")
    assert (made.name, made.bits, made.metadata["baseline"]) == ("knights", 8, 2.5)
    np.testing.assert_allclose(made.views, upscale(lf, method="bicubic").views, atol=0.5001 / 255)
    group = zarr.open_group(tmp_path / "out.zarr", mode="r")
    record = group.attrs["sharpfield_run"]
    assert record["parameters"]["method"] == "bicubic"
    assert record["versions"]["sharpfield"] == sf.__version__
    assert len(record["input"]["fingerprint"]) == 32
    views = group["views"]
    assert views.metadata.dimension_names == ("v", "u", "y", "x", "c")
    assert views.chunks == (1, 1, 32, 32, 3)


def test_any_format_is_read_by_blocks(tmp_path):
    lf = scene()
    sf.write(lf, tmp_path / "views")
    sf.write(lf, tmp_path / "in.h5")
    for name in ("views", "in.h5"):
        upscale_store(tmp_path / name, tmp_path / f"{name}.zarr", method="bicubic", bits=32, block=16)
        want = upscale(lf, method="bicubic").views
        np.testing.assert_array_equal(sf.read(tmp_path / f"{name}.zarr").views, want)


@settings(max_examples=40, deadline=None)
@given(
    size=st.tuples(st.integers(8, 5000), st.integers(8, 5000)),
    factor=st.integers(2, 4),
    extra=st.floats(1e8, 1e10),
)
def test_blocks_cover_once_and_fit(tmp_path_factory, size, factor, extra):
    folder = tmp_path_factory.mktemp("plan") / "x.zarr"
    group = zarr.create_group(folder)
    group.create_array("views", shape=(3, 3, *size, 3), dtype="u1", chunks=(1, 1, 512, 512, 3))
    request = Request("gb-sq", "fast", {}, Camera(factor), "bicubic")
    plan = plan_blocks(Member("", folder), request, BASE_BYTES + extra)
    rows, columns = plan.blocks
    edges = [core for _, core in plan.cores()]
    assert len(edges) == rows * columns == len({name for name, _ in plan.cores()})
    assert sum((y1 - y0) * (x1 - x0) for y0, y1, x0, x1 in edges) == size[0] * size[1]
    for y0, y1, x0, x1 in edges:
        assert y0 % plan.block[0] == 0
        assert x0 % plan.block[1] == 0
        assert 0 <= y0 < y1 <= size[0]
        assert 0 <= x0 < x1 <= size[1]


def test_a_budget_too_small_is_said(tmp_path):
    sf.write(scene(), tmp_path / "in.zarr")
    text = line(upscale_store, tmp_path / "in.zarr", tmp_path / "out.zarr", memory="100MB")
    assert "give more --memory" in text
    assert os.listdir(tmp_path) == ["in.zarr"]
    # workers share what the process that starts them leaves
    assert each_budget(2e9, None) == 2e9
    assert 0.85e9 < each_budget(2e9, 2) < 0.9e9
    assert each_budget(1e8, 2) == 0


def begun(tmp_path, count=2, **options):
    sf.write(scene(), tmp_path / "in.zarr")
    asked = {"method": "bicubic", "block": 11, **options}
    with pytest.raises(StopHereError):
        upscale_store(tmp_path / "in.zarr", tmp_path / "out.zarr", progress=stop_after(count), **asked)
    assert left_beside(tmp_path) == [".out.zarr.unfinished", ".out.zarr.unfinished.lock"]
    assert not (tmp_path / "out.zarr").exists()
    return asked


def test_the_same_command_goes_on(tmp_path):
    asked = begun(tmp_path)
    marks = list((tmp_path / ".out.zarr.unfinished").glob("run-*/done/*/[0-9]*"))
    times = [mark.stat().st_mtime_ns for mark in marks]
    assert len(marks) == 2
    with pytest.raises(StopHereError):
        upscale_store(tmp_path / "in.zarr", tmp_path / "out.zarr", progress=stop_after(3), **asked)
    assert [mark.stat().st_mtime_ns for mark in marks] == times
    done = upscale_store(tmp_path / "in.zarr", tmp_path / "out.zarr", **asked)
    assert (done.blocks, done.repeated) == (6, 5)
    np.testing.assert_allclose(
        sf.read(tmp_path / "out.zarr").views, upscale(scene(), method="bicubic").views, atol=0.5001 / 255
    )
    assert left_beside(tmp_path) == []
    again = upscale_store(tmp_path / "in.zarr", tmp_path / "out.zarr", **asked)
    assert "whole already" in again.notes[0]


def test_blocks_stay_as_an_unfinished_run_cut_them(tmp_path):
    asked = begun(tmp_path)
    asked.pop("block")
    done = upscale_store(tmp_path / "in.zarr", tmp_path / "out.zarr", memory="4GB", threads=1, **asked)
    assert (done.blocks, done.repeated) == (6, 2)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"method": "bilinear"}, "method bicubic, now it is bilinear"),
        ({"factor": 3}, "factor 2, now it is 3"),
        ({"camera": "bicubic"}, "camera box, now it is bicubic"),
        ({"chroma": "bilinear"}, "chroma bicubic, now it is bilinear"),
        ({"bits": 16}, "bits None, now it is 16"),
        ({"block": 12}, "works in blocks of [11, 11], now it is 12"),
    ],
)
def test_other_parameters_are_refused_and_named(tmp_path, changed, said):
    asked = begun(tmp_path)
    before = sorted(path.name for path in (tmp_path / ".out.zarr.unfinished").rglob("*"))
    text = line(upscale_store, tmp_path / "in.zarr", tmp_path / "out.zarr", **{**asked, **changed})
    assert said in text
    assert "--overwrite" in text
    assert sorted(path.name for path in (tmp_path / ".out.zarr.unfinished").rglob("*")) == before
    upscale_store(tmp_path / "in.zarr", tmp_path / "out.zarr", **asked)
    if "block" not in changed:  # it decides no pixel of a finished result
        assert said in line(
            upscale_store, tmp_path / "in.zarr", tmp_path / "out.zarr", **{**asked, **changed}
        )
    done = upscale_store(tmp_path / "in.zarr", tmp_path / "out.zarr", **{**asked, **changed}, overwrite=True)
    assert done.repeated == 0


def test_options_of_a_method_are_compared(tmp_path):
    sf.write(scene(grid=(2, 2)), tmp_path / "in.zarr")
    upscale_store(tmp_path / "in.zarr", tmp_path / "out.zarr", **SMALL_GB)
    other = {**SMALL_GB, "disparity": (-2, 3)}
    text = line(upscale_store, tmp_path / "in.zarr", tmp_path / "out.zarr", **other)
    assert "disparity [-2, 2], now it is [-2, 3]" in text


def test_another_input_is_refused(tmp_path):
    asked = begun(tmp_path)
    sf.write(scene(seed=1), tmp_path / "in.zarr", overwrite=True)
    text = line(upscale_store, tmp_path / "in.zarr", tmp_path / "out.zarr", **asked)
    assert "has changed since the unfinished run made block" in text
    sf.write(scene(size=(34, 21)), tmp_path / "in.zarr", overwrite=True)
    text = line(upscale_store, tmp_path / "in.zarr", tmp_path / "out.zarr", **asked)
    assert "of another input: size [33, 21] then, [34, 21] now" in text
    upscale_store(tmp_path / "in.zarr", tmp_path / "out.zarr", **asked, overwrite=True)
    sf.write(scene(seed=2), tmp_path / "in.zarr", overwrite=True)
    text = line(upscale_store, tmp_path / "in.zarr", tmp_path / "out.zarr", **asked)
    assert "was made from another input, or" in text


def test_an_older_result_stays_until_the_new_one_is_whole(tmp_path):
    sf.write(scene(), tmp_path / "in.zarr")
    asked = {"method": "bicubic", "block": 11}
    upscale_store(tmp_path / "in.zarr", tmp_path / "out.zarr", **asked)
    other = {**asked, "method": "bilinear", "overwrite": True}
    with pytest.raises(StopHereError):
        upscale_store(tmp_path / "in.zarr", tmp_path / "out.zarr", progress=stop_after(2), **other)
    assert sf.read(tmp_path / "out.zarr").metadata["upscale"]["method"] == "bicubic"
    done = upscale_store(tmp_path / "in.zarr", tmp_path / "out.zarr", **other)
    assert done.repeated == 2
    assert sf.read(tmp_path / "out.zarr").metadata["upscale"]["method"] == "bilinear"
    assert left_beside(tmp_path) == []


def test_two_runs_do_not_share_an_output(tmp_path):
    sf.write(scene(), tmp_path / "in.zarr")

    def second(event):
        text = line(
            upscale_store, tmp_path / "in.zarr", tmp_path / "out.zarr", method="bicubic", error=sf.OutputError
        )
        assert "another run is at work on it" in text

    upscale_store(tmp_path / "in.zarr", tmp_path / "out.zarr", method="bicubic", progress=second)


def test_a_place_that_is_taken_is_refused(tmp_path):
    sf.write(scene(), tmp_path / "in.zarr")
    (tmp_path / "out.zarr").mkdir()
    text = line(
        upscale_store, tmp_path / "in.zarr", tmp_path / "out.zarr", method="bicubic", error=sf.OutputError
    )
    assert "exists already" in text
    for out in ("in.zarr", "in.zarr/deeper.zarr"):
        assert "is the input" in line(upscale_store, tmp_path / "in.zarr", tmp_path / out)
    assert sorted(os.listdir(tmp_path)) == ["in.zarr", "out.zarr"]


def test_a_series_is_one_job(tmp_path):
    frames = {f"frame{number}": scene(seed=number, size=(20 + number, 21)) for number in (1, 2, 10)}
    (tmp_path / "film").mkdir()
    sf.write(frames["frame1"], tmp_path / "film" / "frame1")
    sf.write(frames["frame2"], tmp_path / "film" / "frame2.npz")
    sf.write(frames["frame10"], tmp_path / "film" / "frame10.zarr")
    assert [each.name for each in members(tmp_path / "film")] == ["frame1", "frame2", "frame10"]
    told = []
    done = upscale_store(
        tmp_path / "film", tmp_path / "out.zarr", method="bicubic", block=16, progress=told.append
    )
    assert (done.light_fields, done.blocks) == (3, 12)
    fractions = [event.fraction for event in told]
    assert fractions == sorted(fractions)
    assert fractions[-1] == pytest.approx(1)
    assert {event.stage.split()[0] for event in told} == {"frame1", "frame2.npz", "frame10.zarr"}
    for name, lf in frames.items():
        want = upscale(lf, method="bicubic").views
        np.testing.assert_allclose(sf.read(tmp_path / "out.zarr" / name).views, want, atol=0.5001 / 255)
    # what came out is a series as well
    assert [each.name for each in members(tmp_path / "out.zarr")] == ["frame1", "frame2", "frame10"]
    assert (
        "whole already" in upscale_store(tmp_path / "film", tmp_path / "out.zarr", method="bicubic").notes[0]
    )


def test_one_bad_frame_does_not_stop_the_others(tmp_path):
    (tmp_path / "film").mkdir()
    for number in range(3):
        sf.write(scene(seed=number), tmp_path / "film" / f"{number}.npz")
    whole = (tmp_path / "film" / "1.npz").read_bytes()
    (tmp_path / "film" / "1.npz").write_bytes(whole[:100])
    asked = {"method": "bicubic"}
    text = line(upscale_store, tmp_path / "film", tmp_path / "out.zarr", error=sf.InputError, **asked)
    assert "1.npz: is damaged" in text
    assert "all else is done and kept" in text
    (tmp_path / "film" / "1.npz").write_bytes(whole)
    done = upscale_store(tmp_path / "film", tmp_path / "out.zarr", **asked)
    assert (done.blocks, done.repeated) == (3, 2)


def test_what_has_no_meaning(tmp_path):
    sf.write(scene(), tmp_path / "in.zarr")
    for options, said in (
        ({"workers": 0}, "workers must be a whole number of at least 1"),
        ({"block": 3}, "block must be a whole number of at least 8"),
        ({"workers": 2, "scheduler": "tcp://127.0.0.1:1"}, "give one of them"),
        ({"chroma": "nearest"}, "bilinear or bicubic"),
        ({"bits": 12}, "8, 16 or 32"),
        ({"method": "gb-xx"}, "no method is called"),
        ({"factor": 1}, "factor"),
        ({"memory": "lots"}, "memory is a size"),
    ):
        assert said in line(upscale_store, tmp_path / "in.zarr", tmp_path / "out.zarr", **options)
    assert "no such file" in line(
        upscale_store, tmp_path / "none.zarr", tmp_path / "out.zarr", error=sf.InputError
    )
    (tmp_path / "empty").mkdir()
    assert "no light field in it" in line(
        upscale_store, tmp_path / "empty", tmp_path / "out.zarr", error=sf.InputError
    )
    assert sorted(os.listdir(tmp_path)) == ["empty", "in.zarr"]


def test_the_command_line(tmp_path):
    lf = scene()
    sf.write(lf, tmp_path / "in.zarr")
    asked = ("upscale", tmp_path / "in.zarr", tmp_path / "out.zarr", "--method", "bicubic", "--block", 16)
    assert "6 blocks, bicubic" in run(*asked).out
    assert "whole already" in run(*asked).notes[0]
    assert "factor 2, now it is 3" in refused(*asked, "--factor", 3)
    said = run(*asked, "--overwrite", "--json")
    assert said.json["blocks"] == 6
    assert "--workers is for an OUT that ends in .zarr" in refused(
        "upscale", tmp_path / "in.zarr", tmp_path / "out", "--method", "bicubic", "--workers", 2
    )
    # IN.zarr alone goes beside itself, as a store
    assert run("upscale", tmp_path / "in.zarr", "--method", "bicubic").status == 0
    assert (tmp_path / "in-x2.zarr" / "zarr.json").is_file()
    # a part of an input is read into memory first
    window = run(
        "upscale", tmp_path / "in.zarr", tmp_path / "w.zarr", "--method", "bicubic", "--crop", "0:9,0:9"
    )
    assert window.status == 0
    assert sf.read(tmp_path / "w.zarr").size == (18, 18)
