"""The method of Yoon et al.: its network, each view on its own, the factors that it knows, what it gives."""

from __future__ import annotations

import numpy as np
import pytest
from commandline import refused, run

import sharpfield as sf
from sharpfield import catalogue
from sharpfield.interpolate import interpolate
from sharpfield.methods.network.network import shipped
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


@pytest.mark.parametrize("factor", [2, 3])
def test_the_shipped_network_is_that_of_the_publication(factor):
    shapes = [layer.shape for layer in shipped(f"yoon-x{factor}").layers]
    assert shapes == [(64, 1, 9, 9), (32, 64, 5, 5), (1, 32, 5, 5)]


def test_yoon_is_its_network_on_interpolated_views():
    random = np.random.default_rng(0)
    low = random.random((1, 2, 7, 9), np.float32)
    with Workers(1) as workers:
        high = catalogue.find("yoon").load()(low, Camera(3), None, workers, silent)
    start = interpolate(low, 3, "bicubic")
    planes = np.pad(start[0, 1], 8, mode="edge")[np.newaxis]
    for n, layer in enumerate(shipped("yoon-x3").layers):
        planes = layer.apply(planes, rectify=n < 2)
    assert high[0, 1] == pytest.approx(planes[0], abs=1e-6)


def test_a_view_comes_out_the_same_whatever_stands_beside_it():
    low = np.random.default_rng(1).random((2, 2, 12, 14), np.float32)
    method = catalogue.find("yoon").load()
    with Workers(2) as workers:
        together = method(low, Camera(2), None, workers, silent)
        alone = method(low[1:, :1].copy(), Camera(2), None, workers, silent)
    assert np.array_equal(together[1, 0], alone[0, 0])


def test_a_factor_without_weights_is_refused(tmp_path):
    said = refused("upscale", tmp_path / "no", "--method", "yoon", "--factor", 5)
    assert said.startswith("2 yoon knows the factors 2, 3, not 5; take one of them")
    record = {each["name"]: each["factors"] for each in run("methods", "--json").json["methods"]}
    assert record["yoon"] == [2, 3]


def test_tiles_of_a_light_field_join_without_a_seam():
    low = degrade(fronto_parallel((1, 2), (240, 288), 1.5, seed=4, supersampling=2).lightfield, Camera(3))
    one = sf.upscale(low, 3, method="yoon")
    many = sf.upscale(low, 3, method="yoon", memory=1e6)
    assert many.metadata["upscale"]["tiles"] > 1
    assert np.abs(one.views - many.views).max() < 1e-5


@pytest.mark.data
@pytest.mark.parametrize("factor", [2, 3])
@pytest.mark.parametrize("name", LIGHT_FIELDS)
def test_yoon_is_at_least_as_good_as_srcnn(data_folder, name, factor):
    y, x = LIGHT_FIELDS[name]
    truth = sf.read(data_folder / name, views="1x1").crop(slice(y, y + 204), slice(x, x + 204))
    low = degrade(truth, Camera(factor))
    ours, srcnn = (sf.psnr(sf.upscale(low, factor, method=m), truth)[0, 0] for m in ("yoon", "srcnn"))
    assert ours > srcnn - 0.02  # on whole views it is 0.08 to 0.26 dB better; details differ
