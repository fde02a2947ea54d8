"""Pages from the command line, as a person types it: view, evaluate --page, benchmark --page."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from commandline import refused, run

from sharpfield import read, upscale, write
from sharpfield.benchmark.protocols import PAPER
from sharpfield.io import record
from sharpfield.synthetic import fronto_parallel


@pytest.fixture(scope="module")
def scene(tmp_path_factory) -> Path:
    """A truth, a low resolution and a result, as folders of views."""
    folder = tmp_path_factory.mktemp("scene")
    truth = fronto_parallel((3, 3), (64, 80), 1.0, 4).lightfield
    low = PAPER.degraded(truth, 2)
    for name, lf in {"truth": truth, "low": low, "low-x2": upscale(low, 2, method="bicubic")}.items():
        write(lf, folder / name, bits=8)
    return folder


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def manifest(page: Path) -> dict:
    found = re.search(
        r'<script type="application/json" id="manifest">(.*?)</script>',
        page.read_text(encoding="utf-8"),
        re.DOTALL,
    )
    assert found is not None
    return json.loads(found[1])


def names(page: Path) -> list[str]:
    return [field["name"] for field in manifest(page)["fields"]]


def test_view_of_a_result_against_others_and_the_truth(scene):
    said = run(
        "view", scene / "low-x2", "--against", scene / "low", "--truth", scene / "truth", "-o", "a.html", "-q"
    )
    assert (said.status, said.out, said.err) == (0, "", "")
    shown = manifest(Path("a.html"))
    assert names(Path("a.html")) == ["low-x2", "low", "truth"]
    assert (shown["left"], shown["right"]) == (1, 0)
    assert dict(shown["fields"][0]["facts"])["Method"] == "bicubic"  # kept beside the views of the folder
    assert "Time" in dict(shown["fields"][0]["facts"])


def test_view_of_one_names_the_page_after_it_and_replaces_nothing(scene):
    said = run("view", scene / "low-x2", "--name", "ours", "--title", "Fine <b>", "--quality", 70)
    assert said.status == 0, said.err
    assert said.out.startswith("low-x2.html: 0.")
    assert said.out.endswith(" MB, quality 70; open it in a browser\n")
    assert names(Path("low-x2.html")) == ["ours"]
    assert manifest(Path("low-x2.html"))["title"] == "Fine <b>"
    assert "exists" in refused("view", scene / "low-x2")
    record = run("view", scene / "low-x2", "--overwrite", "--json", "-q").json
    assert record["bytes"] == Path("low-x2.html").stat().st_size


def test_views_of_other_grids_and_sizes(scene):
    write(read(scene / "truth").select(slice(1), slice(3)), "fewer")
    write(read(scene / "truth").crop(slice(64), slice(50)), "narrow")
    answer = refused("view", scene / "truth", "--against", "fewer", "-o", "x.html")
    assert answer.startswith("1 truth has 3x3 views and fewer 1x3; ")
    assert "--resample" in answer
    assert "no whole factor" in refused("view", scene / "truth", "narrow", "-o", "x.html")
    said = run("view", scene / "truth", "fewer", "narrow", "-o", "x.html", "--resample")
    assert said.status == 0, said.err
    assert "truth: the central 1x3 of the 3x3 views are compared" in said.notes
    assert "narrow: resized from 50x64 to 80x64" in said.notes
    assert manifest(Path("x.html"))["grid"] == [1, 3]


def test_a_window_of_the_views_and_one_view(scene):
    words = ("view", scene / "low-x2", "--against", scene / "low", "-q")
    assert run(*words, "--window", "10:31,20:50", "-o", "w.html").status == 0
    assert [field["size"] for field in manifest(Path("w.html"))["fields"]] == [[22, 30], [11, 15]]
    assert run("view", scene / "truth", "--views", "1x1", "-o", "one.html", "-q").status == 0
    assert manifest(Path("one.html"))["grid"] == [1, 1]


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["--quality", "fine"], "2 quality is from 1 to 100, auto or lossless, not 'fine'"),
        (["--quality", "0"], "2 quality is from 1 to 100"),
        (["--disparity", "1"], "2 --disparity takes two numbers LO:HI"),
        (["--disparity", "2:1"], "2 disparity is a range LO:HI with LO below HI"),
        (["--window", "0:100,0:10"], "2 crop"),
        (["--name", "a", "--name", "b"], "2 --name is given 2 times for 1 light fields"),
        (["--truth", "nothing"], "1 nothing: no such file or folder"),
    ],
)
def test_what_is_asked_for_wrongly(scene, words, answer):
    assert refused("view", scene / "truth", "-o", "x.html", *words).startswith(answer)
    assert not Path("x.html").exists()


def test_evaluate_makes_a_page_with_the_scores_it_prints(scene):
    words = ("evaluate", scene / "low-x2", scene / "truth", "--border", 4, "--luma", "Y601")
    said = run(*words, "--page", "e.html")
    assert said.status == 0, said.err
    assert said.out.splitlines()[-1].startswith("e.html: 0.")
    shown = manifest(Path("e.html"))
    assert shown["measured"] == "BT.601 luma, 4 pixels of border left out"
    record = run(*words, "--page", "e.html", "--overwrite", "--json", "-q").json
    np.testing.assert_allclose(shown["fields"][0]["psnr"], record["psnr"]["views"], atol=1e-3)
    assert record["page"] == {"path": "e.html", "bytes": Path("e.html").stat().st_size}
    assert "exists" in refused(*words, "--page", "e.html")


def test_benchmark_makes_a_page_of_all_methods(scene):
    words = ("benchmark", scene / "truth", "--methods", "bilinear,bicubic", "--output", "out", "--page")
    said = run(*words)
    assert said.status == 0, said.err
    page = Path("out/truth-x2-paper.html")
    assert any(note.startswith(f"{page}: 0.") for note in said.notes)
    assert names(page) == ["bilinear", "bicubic", "low resolution", "original"]
    shown = manifest(page)
    assert shown["title"] == "truth ×2, protocol paper"
    assert (shown["left"], shown["right"]) == (2, 1)  # the low resolution, and the better method
    record = run(*words, "--json", "-q").json  # again: nothing is run, the page is made anew
    for run_, field in zip(record["runs"], shown["fields"], strict=False):
        np.testing.assert_allclose(field["psnr"], run_["psnr"]["views"], atol=1e-3)
    assert record["pages"] == [{"path": str(page), "bytes": page.stat().st_size}]
    (page.parent / "results").rename("elsewhere")
    assert "no results are kept there" in refused("benchmark", "--output", "out", "--page")


@pytest.mark.parametrize("name", ["folder", "archive.zip"])
def test_folders_and_zips_keep_how_a_result_was_made(scene, name):
    made = read(scene / "low-x2")
    assert made.metadata["upscale"]["method"] == "bicubic"
    write(made, name)
    again = read(name)
    assert again.metadata["upscale"] == made.metadata["upscale"]
    np.testing.assert_array_equal(again.views, made.views)
    write(read(scene / "truth"), f"plain-{name}")
    assert "upscale" not in read(f"plain-{name}").metadata


def test_a_damaged_record_of_how_it_was_made_is_a_note(scene):
    write(read(scene / "low-x2"), "damaged")
    for text in ("{", "[]", '{"upscale": 3}'):
        (Path("damaged") / record.COMPANION).write_text(text)
        lf = read("damaged")
        assert lf.notes == ("sharpfield.json is damaged: how the views were made is not known",)
        assert "upscale" not in lf.metadata
