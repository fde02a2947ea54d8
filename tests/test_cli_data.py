"""Real light fields through the command line, as a person types it: the published figures on one tile."""

from __future__ import annotations

import pytest
from commandline import run

from sharpfield import read, write

pytestmark = pytest.mark.data


@pytest.mark.parametrize(
    ("name", "corner", "method", "least"),
    [
        ("hciold_buddha", (300, 400), "bilinear", 37.70),
        ("hciold_buddha", (300, 400), "gb-sq", 42.25),
        ("stanford_legotruck", (400, 500), "gb-sq", 37.80),
    ],
)
def test_a_real_tile_comes_out_as_published(data_folder, tmp_path, name, corner, method, least):
    y, x = corner
    write(read(data_folder / name).crop(slice(y, y + 200), slice(x, x + 200)), tmp_path / "truth")
    assert run("degrade", tmp_path / "truth", tmp_path / "low").status == 0
    said = run("upscale", tmp_path / "low", "--method", method)
    assert said.status == 0, said.err
    record = run("evaluate", tmp_path / "low-x2", tmp_path / "truth", "--json").json
    assert record["psnr"]["mean"] > least
    assert record["psnr"]["variance"] < 0.6
