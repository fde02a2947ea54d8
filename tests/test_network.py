"""Trained networks: the compiled layer against its slow twin, tiles, borders, what is shipped, what srcnn gives."""

from __future__ import annotations

import numpy as np
import pytest
from commandline import refused, run
from hypothesis import given, settings
from hypothesis import strategies as st

import sharpfield as sf
from sharpfield import catalogue
from sharpfield.errors import OptionError
from sharpfield.interpolate import interpolate
from sharpfield.methods.network import network as networks
from sharpfield.methods.network.network import Layer, Network, shipped
from sharpfield.observe import Camera, degrade
from sharpfield.parallel import Workers
from sharpfield.progress import silent
from sharpfield.synthetic import fronto_parallel

LIGHT_FIELDS = {
    "hciold_buddha": (300, 400),
    "stanford_legotruck": (400, 500),
    "hcinew_bicycle": (156, 156),
    "lytro_bikes": (86, 170),
}


def slow_layer(planes: np.ndarray, weight: np.ndarray, bias: np.ndarray, rectify: bool) -> np.ndarray:
    """A valid convolution, pixel by pixel in double precision."""
    filters, _, tall, wide = weight.shape
    height, width = planes.shape[1] - tall + 1, planes.shape[2] - wide + 1
    out = np.empty((filters, height, width))
    for f in range(filters):
        for y in range(height):
            for x in range(width):
                window = planes[:, y : y + tall, x : x + wide].astype(float)
                out[f, y, x] = (window * weight[f]).sum() + bias[f]
    return np.maximum(out, 0) if rectify else out


def random_arrays(random: np.random.Generator, widths: tuple[int, ...], sides: tuple[int, ...]) -> dict:
    arrays = {}
    for n, (channels, filters, side) in enumerate(zip(widths, widths[1:], sides, strict=False), 1):
        arrays[f"weight{n}"] = random.normal(0, 0.3, (filters, channels, side, side)).astype(np.float32)
        arrays[f"bias{n}"] = random.normal(0, 0.1, filters).astype(np.float32)
    return arrays


def whole(arrays: dict, planes: np.ndarray) -> np.ndarray:
    """The same network without tiles, by the slow layer; the border is repeated."""
    count = len(arrays) // 2
    margin = sum(arrays[f"weight{n}"].shape[2] // 2 for n in range(1, count + 1))
    found = np.pad(planes, ((0, 0), (margin, margin), (margin, margin)), mode="edge")
    for n in range(1, count + 1):
        found = slow_layer(found, arrays[f"weight{n}"], arrays[f"bias{n}"], rectify=n < count)
    return found[0]


@settings(max_examples=25, deadline=None)
@given(
    channels=st.integers(1, 3),
    filters=st.integers(1, 5),
    side=st.sampled_from([1, 3, 5]),
    height=st.integers(1, 4),
    width=st.integers(1, 19),
    rectify=st.booleans(),
    seed=st.integers(0, 99),
)
def test_a_layer_is_its_slow_twin(channels, filters, side, height, width, rectify, seed):
    random = np.random.default_rng(seed)
    planes = random.random((channels, height + side - 1, width + side - 1), np.float32)
    weight = random.normal(size=(filters, channels, side, side)).astype(np.float32)
    bias = random.normal(size=filters).astype(np.float32)
    kept = planes.copy()
    found = Layer(weight, bias).apply(planes, rectify)
    assert found.dtype == np.float32
    assert found == pytest.approx(slow_layer(planes, weight, bias, rectify), abs=2e-5)
    assert np.array_equal(planes, kept)


def test_a_layer_refuses_another_number_of_planes():
    layer = Layer(np.zeros((2, 3, 1, 1), np.float32), np.zeros(2, np.float32))
    with pytest.raises(ValueError, match="a layer of 3 planes was given 2"):
        layer.apply(np.zeros((2, 4, 4), np.float32), rectify=True)


@pytest.mark.parametrize("size", [(9, 14), (1, 1), (5, 12), (17, 3)])
def test_tiles_and_borders_give_what_the_whole_gives(monkeypatch, size):
    monkeypatch.setattr(networks, "_TILE", (5, 6))
    random = np.random.default_rng(3)
    arrays = random_arrays(random, (2, 6, 3, 1), (5, 1, 3))
    network = Network.of(arrays)
    assert network.margin == 3
    planes = [random.random((2, *size), np.float32) for _ in range(3)]
    found: dict[int, list[np.ndarray]] = {}
    for threads in (1, 3):
        found[threads] = [np.empty(size, np.float32) for _ in planes]
        with Workers(threads) as workers:
            network.run(planes, found[threads], workers, silent, "testing")
    for image, one, three in zip(planes, found[1], found[3], strict=True):
        assert one == pytest.approx(whole(arrays, image), abs=1e-5)
        assert np.array_equal(one, three)


@pytest.mark.parametrize("factor", [2, 3, 4])
def test_the_shipped_network_is_that_of_the_publication(factor):
    shapes = [layer.shape for layer in shipped(f"srcnn-x{factor}").layers]
    assert shapes == [(64, 1, 9, 9), (32, 64, 1, 1), (1, 32, 5, 5)]


def test_srcnn_is_its_network_on_interpolated_views():
    random = np.random.default_rng(0)
    low = random.random((1, 2, 7, 9), np.float32)
    with Workers(1) as workers:
        high = catalogue.find("srcnn").load()(low, Camera(3), None, workers, silent)
    start = interpolate(low, 3, "bicubic")
    layers = shipped("srcnn-x3").layers
    planes = np.pad(start[0, 1], 6, mode="edge")[np.newaxis]
    for n, layer in enumerate(layers):
        planes = layer.apply(planes, rectify=n < 2)
    assert high[0, 1] == pytest.approx(planes[0], abs=1e-6)


@pytest.mark.parametrize("name", ["srcnn"])
def test_a_factor_without_weights_is_refused_before_any_work(name):
    lf = sf.LightField(np.zeros((1, 1, 8, 8, 1), np.float32))
    events: list = []
    with pytest.raises(OptionError, match=f"{name} knows the factors 2, 3, 4, not 5; take one of them"):
        sf.upscale(lf, 5, method=name, progress=events.append)
    assert not events


def test_the_command_line_refuses_it_before_reading(tmp_path):
    for words in (
        ("upscale", tmp_path / "no", "--method", "srcnn", "--factor", 5),
        ("upscale", tmp_path / "no", tmp_path / "out.zarr", "--method", "srcnn", "--factor", 5),
        ("benchmark", tmp_path / "no", "--methods", "bilinear,srcnn", "--factors", "2,5"),
    ):
        assert refused(*words).startswith("2 srcnn knows the factors 2, 3, 4, not 5")


def test_methods_tells_the_factors():
    assert "(factors 2, 3, 4)" in run("methods").out
    record = {each["name"]: each["factors"] for each in run("methods", "--json").json["methods"]}
    assert record["srcnn"] == [2, 3, 4]
    assert record["bicubic"] == [2, 3, 4, 5, 6, 7, 8]


def test_tiles_of_a_light_field_join_without_a_seam():
    low = degrade(fronto_parallel((1, 2), (240, 288), 1.5, seed=4, supersampling=2).lightfield, Camera(3))
    one = sf.upscale(low, 3, method="srcnn")
    many = sf.upscale(low, 3, method="srcnn", memory=1e6)
    assert many.metadata["upscale"]["tiles"] > 1
    assert np.abs(one.views - many.views).max() < 1e-5


@pytest.mark.data
@pytest.mark.parametrize("factor", [2, 3])
@pytest.mark.parametrize("name", LIGHT_FIELDS)
def test_srcnn_is_better_than_bicubic(data_folder, name, factor):
    y, x = LIGHT_FIELDS[name]
    truth = sf.read(data_folder / name, views="1x1").crop(slice(y, y + 204), slice(x, x + 204))
    low = degrade(truth, Camera(factor))
    ours, bicubic = (sf.psnr(sf.upscale(low, factor, method=m), truth)[0, 0] for m in ("srcnn", "bicubic"))
    assert ours > bicubic + 0.5
