"""The demo, small: what it leaves, and that the methods come out in the order that they should."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from commandline import run
from PIL import Image

from sharpfield import read
from sharpfield.demo import METHODS


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("demo") / "demo-output"
    said = run("demo", "--output", folder, "--size", "128x96", "--quiet")
    assert said.status == 0, said.err
    assert said.err == ""
    return folder, said.out


def test_it_prints_the_table_and_says_where_to_look(made):
    folder, text = made
    for method in METHODS:
        assert f"\n{method}" in text
    assert f"Look at these in {folder}" in text
    assert "\n  details.png  " in text
    assert max(map(len, text.replace(str(folder), "demo-output").splitlines())) <= 80
    assert "Took " in text


def test_it_leaves_views_and_pictures(made):
    folder, _ = made
    assert read(folder / "truth").size == (96, 128)
    assert read(folder / "low").size == (48, 64)
    for method in METHODS:
        assert read(folder / method).size == (96, 128)
    for name in ("details", "before-after", "errors", "epipolar", "views", "disparity"):
        with Image.open(folder / f"{name}.png") as image:
            assert min(image.size) >= 96
    assert [path.name for path in folder.parent.rglob(".*")] == []


def test_it_ends_with_a_page_and_says_where_it_is(made):
    folder, text = made
    assert text.endswith(f"open this page in a browser\n  {folder / 'view.html'}\n")
    page = (folder / "view.html").read_text(encoding="utf-8")
    record = json.loads((folder / "scores.json").read_text())
    found = re.search(r'id="manifest">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    shown = json.loads(found[1])
    assert [each["name"] for each in shown["fields"]] == [*METHODS, "low resolution", "truth"]
    for each, field in zip(record["methods"], shown["fields"], strict=False):
        assert field["psnr"] == [[round(one, 3) for one in row] for row in each["psnr"]["views"]]
        assert dict(field["facts"])["Method"] == each["method"]
    assert (shown["left"], shown["right"]) == (len(METHODS), list(METHODS).index("sharp"))


def test_the_graph_beats_interpolation(made):
    record = json.loads((made[0] / "scores.json").read_text())
    mean = {each["method"]: each["psnr"]["mean"] for each in record["methods"]}
    assert mean["bicubic"] > mean["bilinear"]
    assert mean["gb-sq"] > mean["bicubic"] + 0.5
    assert mean["sharp"] > mean["gb-sq"]
    assert mean["gb-dr"] > mean["bicubic"] + 0.5


def test_another_demo_replaces_it(made):
    said = run("demo", "--output", made[0], "--size", "96x96", "--seed", 5, "--overwrite", "--json", "-q")
    assert said.status == 0, said.err
    assert said.json["size_low"] == [48, 48]
    assert read(made[0] / "truth").size == (96, 96)
