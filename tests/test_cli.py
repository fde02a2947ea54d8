"""The command line as a person meets it: help, versions, misspellings, results, and how it ends."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field, fields
from pathlib import Path

import naive
import numpy as np
import pytest
import typer
from commandline import refused, run
from typer.testing import CliRunner

import sharpfield
from sharpfield import LightField, catalogue, read, write
from sharpfield.cli import app, console, options
from sharpfield.cli.upscale import beside
from sharpfield.errors import OptionError
from sharpfield.gb.params import GBParams
from sharpfield.progress import Progress


@dataclass(frozen=True)
class Extra:
    shade: float = field(default=0.5, metadata={"help": "how dark"})
    loud_voice: bool = field(default=False, metadata={"help": "say more"})


COMMANDS = ["demo", "info", "upscale", "degrade", "evaluate", "methods"]


@pytest.fixture
def small(tmp_path) -> Path:
    """A folder of 2x3 smooth colored views of 24x32 (y, x)."""
    v, u, y, x = np.mgrid[0:2, 0:3, 0:24, 0:32].astype(np.float32)
    waves = [0.5 + 0.4 * np.sin(0.5 * (x + u) + k) * np.cos(0.4 * (y + v)) for k in range(3)]
    write(LightField(np.stack(waves, axis=-1)), tmp_path / "small")
    return tmp_path / "small"


@pytest.fixture(scope="module")
def scene(tmp_path_factory) -> Path:
    """A folder of 3x3 grey views of squares before a wall: disparity -0.5 and 1."""
    v, u, y, x = np.ogrid[:3, :3, :100, :110]
    front = ((y + v) % 48 < 20) & ((x + u) % 44 < 22)
    wall, squares = (naive.texture_plane((3, 3), (100, 110), d, seed) for d, seed in ((-0.5, 1), (1.0, 2)))
    views = np.where(front, 0.2 + 0.8 * squares, 0.8 * wall).astype(np.float32)
    return write(LightField(views), tmp_path_factory.mktemp("order") / "scene")


def process(*words: object, **more) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "sharpfield", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **more,
    )


def leftovers(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob(".*"))


# -- help ----------------------------------------------------------------------------------------------------------


def test_help_shows_the_commands_in_the_order_of_use_and_examples():
    said = run("--help")
    assert said.status == 0
    assert said.err == ""
    places = [re.search(rf"│ {name} ", said.out) for name in COMMANDS]
    assert all(places)
    starts = [place.start() for place in places]
    assert starts == sorted(starts)
    assert "sharpfield upscale knights" in said.out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name):
    said = CliRunner().invoke(app, [name, "--help"])
    assert said.exit_code == 0
    assert "Usage: sharpfield" in said.output.replace("root", "sharpfield")
    assert "--json" in said.output


def test_version():
    said = run("--version")
    assert (said.status, said.out) == (0, f"sharpfield {sharpfield.__version__}\n")


def test_no_command_shows_the_help_and_is_asked_for_wrongly():
    said = run()
    assert said.status == 2
    assert "Examples" in said.out


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["upscael"], "2 no such command 'upscael'"),
        (["upscale"], "2 missing argument 'IN'; see sharpfield upscale --help"),
        (["upscale", "a", "b", "c"], "2 got unexpected extra argument"),
        (["upscale", "a", "--facter", "2"], "2 no such option: --facter"),
        (["evaluate", "a", "b", "--border", "wide"], "2 invalid value for '--border'"),
    ],
)
def test_a_misspelling_gets_one_line_and_status_2(words, answer):
    assert refused(*words).startswith(answer)


# -- options made from dataclasses ---------------------------------------------------------------------------------


def test_the_options_of_the_methods_are_the_fields_of_their_dataclasses(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    text = run("upscale", "--help").out
    shown = set(re.findall(r"--[a-z-]+", text))
    assert {"--" + each.name.replace("_", "-") for each in fields(GBParams)} <= shown
    assert "paper 1.0" in text  # where the preset differs from the default


def test_the_fields_of_a_group_become_options_of_a_command():
    seen = []

    def command(path: str, *, extra: Extra) -> None:
        """Do something."""
        seen.append((path, extra))

    made = options.with_groups(command, extra=(Extra, "Extra"))
    single = typer.Typer()
    single.command()(made)
    runner = CliRunner()
    assert runner.invoke(single, ["--shade", "0.25", "--loud-voice", "here"]).exit_code == 0
    assert runner.invoke(single, ["there"]).exit_code == 0
    assert seen == [("here", Extra(0.25, True)), ("there", Extra())]
    help_text = runner.invoke(single, ["--help"]).output
    assert "how dark" in help_text
    assert "Do something." in help_text


@pytest.mark.parametrize("text", ["-6:6", "-12:12", "-2:4"])
def test_a_disparity_range_is_read_as_it_is_typed(text):
    low, high = options.parse_range(text)
    assert f"{low}:{high}" == text


def test_catalogue_knows_its_methods_and_says_which_when_asked_for_another():
    assert {"bilinear", "bicubic", "gb-dr", "gb-sq"} <= set(catalogue.names())
    for method in catalogue.methods():
        assert callable(method.load())
        assert set(catalogue.presets(method.name)) >= {"fast", "paper"}
        for preset in catalogue.presets(method.name):
            assert isinstance(catalogue.make_options(method.name, preset), method.options())
    with pytest.raises(OptionError, match="did you mean 'gb-sq'"):
        catalogue.find("gbsq")
    with pytest.raises(OptionError, match="no preset is called 'papr'"):
        catalogue.make_options("gb-sq", "papr")
    with pytest.raises(OptionError, match="gb-sq has no option 'pathc'"):
        catalogue.make_options("gb-sq", given={"pathc": 5})
    with pytest.raises(OptionError, match="it has none"):
        catalogue.make_options("bicubic", given={"patch": 5})
    assert catalogue.make_options("gb-sq", "paper", {"beta": 3.0}).beta == 3.0
    catalogue.make_options("bilinear", given={"disparity": (-2, 2)})  # common to all, used by some


def test_methods_lists_all_with_references():
    said = run("methods")
    assert said.status == 0
    for method in catalogue.methods():
        assert method.name in said.out
        assert method.reference in said.out
    record = run("methods", "--json").json["methods"]
    assert [each["name"] for each in record] == list(catalogue.names())
    assert [each["name"] for each in record if each["default"]] == [catalogue.DEFAULT_METHOD]


# -- results -------------------------------------------------------------------------------------------------------


def test_degrade_upscale_evaluate_as_a_person_types_it(small, tmp_path):
    low, back = tmp_path / "low", tmp_path / "low-x2"
    said = run("degrade", small, low, "--factor", 2)
    assert (said.status, said.err) == (0, "")
    assert said.out == f"{low}: 2 x 3 views of 16 x 12, 2 times smaller (box)\n"

    said = run("upscale", low, "--disparity", "-2:2", "--patch", 3, "--threads", 1)
    assert (said.status, said.err) == (0, "")
    assert said.out.startswith(f"{back}: 2 x 3 views of 32 x 24 (from 16 x 12), gb-sq, ")

    said = run("evaluate", back, small, "--border", 2, "--per-view")
    assert said.status == 0
    scores = sharpfield.evaluate(read(back), read(small), border=2)
    assert f"{scores.psnr_mean:.3f}" in said.out
    assert f"{scores.ssim_mean:.5f}" in said.out
    assert str(scores.psnr_worst[1]) in said.out
    assert "v=1" in said.out
    assert "u=2" in said.out
    record = run("evaluate", back, small, "--border", 2, "--luma", "Y601", "--json").json
    assert record["psnr"]["mean"] == pytest.approx(
        sharpfield.psnr(read(back), read(small), border=2, luma="Y601").mean()
    )
    assert len(record["ssim"]["views"]) == 2
    assert leftovers(tmp_path) == []


def test_equal_light_fields_score_inf(small):
    said = run("evaluate", small, small, "--border", 0)
    assert "inf" in said.out
    assert run("evaluate", small, small, "--border", 0, "--json").json["psnr"]["mean"] == "inf"


def test_truth_that_did_not_divide_by_the_factor_is_cropped_and_said_so(small, tmp_path):
    run("degrade", small, tmp_path / "low", "--factor", 5)
    run("upscale", tmp_path / "low", tmp_path / "back", "--factor", 5, "--method", "bicubic")
    said = run("evaluate", tmp_path / "back", small, "--border", 1)
    assert said.status == 0
    assert any(
        "cropped at the bottom and on the right from 32 x 24 to 30 x 20" in note for note in said.notes
    )
    assert "different views" in refused("evaluate", tmp_path / "low", small, "--border", 1)


def test_upscale_records_what_it_did(small, tmp_path):
    said = run(
        "upscale",
        small,
        tmp_path / "out",
        "--method",
        "gb-dr",
        "--preset",
        "paper",
        "--camera",
        "gaussian:0.8",
        "--disparity",
        "-1:2",
        "--patch",
        3,
        "--iterations",
        1,
        "--proximal-steps",
        2,
        "--json",
        "--quiet",
    )
    assert said.status == 0, said.err
    assert said.err == ""
    record = said.json
    assert record["output"] == str(tmp_path / "out")
    assert record["size"] == [48, 64]
    made = record["upscale"]
    assert (made["method"], made["preset"], made["factor"], made["camera"]) == (
        "gb-dr",
        "paper",
        2,
        "gaussian:0.8",
    )
    assert made["options"]["patch"] == 3
    assert made["options"]["disparity"] == [-1, 2]
    assert made["options"]["cg_tolerance"] == 1e-6


def test_quiet_says_nothing_but_results(small, tmp_path):
    said = run("upscale", small, tmp_path / "out", "--method", "bilinear", "-q")
    assert (said.status, said.out, said.err) == (0, "", "")
    assert run("info", small, "--quiet").out


def test_notes_of_the_reader_are_passed_on(small, tmp_path):
    (small / "readme.png").write_bytes((small / "view_00_00.png").read_bytes())
    said = run("upscale", small, tmp_path / "out", "--method", "bilinear")
    assert said.status == 0
    assert any("left aside: readme.png" in note for note in said.notes)


def test_sixteen_bits_and_floats_can_be_asked_for(small, tmp_path):
    assert run("upscale", small, tmp_path / "deep", "--method", "bicubic", "--bits", 16).status == 0
    assert read(tmp_path / "deep").bits == 16
    assert run("degrade", small, tmp_path / "float", "--bits", 32, "--noise", 0.01, "--seed", 3).status == 0
    assert read(tmp_path / "float").bits == 32


def test_a_part_of_the_input_into_a_file(small, tmp_path):
    words = ("--method", "bicubic", "--views", "2x2", "--crop", "2:12,0:20")
    assert run("upscale", small, tmp_path / "part.npz", *words).status == 0
    part = read(tmp_path / "part.npz")
    assert (part.grid, part.size) == ((2, 2), (20, 40))
    said = run("upscale", tmp_path / "part.npz", "--method", "bicubic", "--bits", 32)
    assert said.status == 0, said.err
    assert read(tmp_path / "part-x2").bits == 32
    assert leftovers(tmp_path) == []


def test_the_window_is_read_off_the_input_and_said(scene, tmp_path):
    quick = ("--iterations", 1, "--proximal-steps", 1, "--patch", 3)
    said = run("upscale", scene, tmp_path / "out", *quick, "--json")
    assert said.status == 0, said.err
    (note,) = said.notes
    low, high = said.json["upscale"]["options"]["disparity"]
    assert note.startswith(f"searching disparities {low}:{high} (measured ")
    assert said.json["upscale"]["search"]["auto"] is True
    plan = run("info", scene, "--json").json["upscale"][0]
    assert plan["disparity"] == [low, high]
    assert f"searches disparities {low}:{high}" in run("info", scene).out
    assert -6 <= low <= -4
    assert 5 <= high <= 7
    assert said.warnings == []
    asked = run("upscale", scene, tmp_path / "asked", *quick, "--disparity", "auto", "--preset", "paper")
    assert asked.notes == [note]
    given = run("upscale", scene, tmp_path / "given", *quick, "--disparity", "-2:3", "--json")
    assert (given.notes, given.warnings) == ([], [])
    assert given.json["upscale"]["options"]["disparity"] == [-2, 3]
    paper = run("upscale", scene, tmp_path / "paper", *quick, "--preset", "paper", "--json")
    assert (paper.notes, paper.warnings) == ([], [])
    assert paper.json["upscale"]["options"]["disparity"] == [-6, 6]


@pytest.mark.parametrize("more", [(), ("--disparity", "-4:5"), ("--preset", "paper")])
def test_a_wrong_order_of_views_is_a_warning_that_names_the_flags(scene, tmp_path, more):
    words = ("--flip", "u", "--transpose", "--iterations", 1, "--proximal-steps", 1, "--patch", 3, *more)
    said = run("upscale", scene, tmp_path / "out", *words, "--json")
    assert said.status == 0, said.err
    (warning,) = said.warnings
    assert "--transpose --flip v" in warning
    assert warning.endswith("(after the flags that were given; in all: neither --flip nor --transpose)")
    assert warning in said.json["notes"]
    assert not any("--transpose" in note for note in said.notes)  # said once
    quiet = run("upscale", scene, tmp_path / "quiet", *words, "--quiet")
    assert (quiet.status, quiet.err) == (0, "")


def test_the_flags_that_are_named_work_as_they_are_typed(scene, tmp_path):
    write(read(scene, flip="vu"), tmp_path / "turned")
    said = run("info", tmp_path / "turned").out
    assert "--flip v --flip u sets it right\n" in said
    assert "the order looks right" in run("info", tmp_path / "turned", "--flip", "v", "--flip", "u").out
    assert "the order looks right" in run("info", tmp_path / "turned", "--flip", "vu").out
    half = run("info", tmp_path / "turned", "--flip", "v").out
    assert "--flip u sets it right after the flags that were given; in all: --flip v --flip u" in half


@pytest.mark.parametrize("stored", range(8))
@pytest.mark.parametrize("given", range(1, 8))
def test_flags_in_all_set_right_what_some_flags_left_wrong(stored, given):
    from sharpfield.cli.options import Reading

    def turned(grid, transpose, flip):
        grid = grid.T if transpose else grid
        return grid[:: -1 if "v" in flip else 1, :: -1 if "u" in flip else 1]

    def order(number):
        return bool(number & 4), "v" * bool(number & 2) + "u" * bool(number & 1)

    grid = np.arange(6).reshape(2, 3)
    file = turned(grid, *order(stored))
    reading = Reading(transpose=order(given)[0], flip=order(given)[1])
    seen = turned(file, *order(given))
    for number in range(1, 8):  # what `info` finds in what it sees
        transpose, flip = order(number)
        if np.array_equal(turned(seen, transpose, flip), grid):
            flags = ["--transpose"] * transpose + [f"--flip {axis}" for axis in flip]
            total = reading.in_all(flags).partition("in all: ")[2]
            if total == "neither --flip nor --transpose":
                total = ""
            found = turned(file, "--transpose" in total, "".join(a for a in "vu" if f"--flip {a}" in total))
            assert np.array_equal(found, grid)
            return
    assert np.array_equal(seen, grid)


def test_a_method_that_searches_nothing_has_nothing_to_say(scene, tmp_path):
    said = run(
        "upscale", scene, tmp_path / "out", "--flip", "u", "--method", "bicubic", "--disparity", "auto"
    )
    assert (said.status, said.err) == (0, "")


def test_evaluate_says_how_the_truth_is_stored_not_the_result(small, tmp_path):
    turned = tmp_path / "turned"
    write(read(small, flip="u"), turned, pattern="cam{u}x{v}.png")
    words = ("--pattern", "cam{u}x{v}.png", "--flip", "u", "--border", 0, "--json")
    assert run("evaluate", small, turned, *words).json["psnr"]["mean"] == "inf"


def test_info_tells_what_there_is(small):
    said = run("info", small)
    assert said.status == 0, said.err
    assert "2 x 3" in said.out
    assert "32 x 24 pixels, RGB, 8 bits" in said.out
    assert "x2: 64 x 48 a view" in said.out
    assert said.out.endswith("\n")
    assert not said.out.endswith("\n\n")
    record = run("info", small, "--json").json
    assert (record["grid"], record["size"], record["channels"], record["bits"]) == ([2, 3], [24, 32], 3, 8)
    assert [plan["factor"] for plan in record["upscale"]] == [2, 3]
    assert "sentence" in record["geometry"]


def test_info_tells_a_reversed_order_and_the_flag_that_sets_it_right(data_folder):
    record = run("info", data_folder / "lytro_bikes", "--flip", "u", "--json").json
    assert record["geometry"]["flags"] == ["--flip u"]
    assert "--flip u" in run("info", data_folder / "lytro_bikes", "--flip", "u").out


@pytest.mark.parametrize(
    ("source", "target"),
    [("knights", "knights-x2"), ("a/knights/", "a/knights-x2"), ("k.zip", "k-x2"), ("k.v2", "k.v2-x2")],
)
def test_the_result_goes_beside_the_input(source, target):
    assert beside(Path(source), 2) == Path(target)


def test_the_folder_that_we_are_in_has_a_name_too(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert beside(Path("."), 3) == tmp_path / "here-x3"


# -- how it speaks, and how it ends --------------------------------------------------------------------------------


def test_progress_as_lines_comes_at_most_every_few_seconds(capsys):
    now = [0.0]
    lines = console._Lines(clock=lambda: now[0])
    for second in range(101):
        now[0] = second / 5
        lines(Progress("solving", second / 100))
    said = capsys.readouterr().err.splitlines()
    assert said == [
        " 25 %  solving, about 15 s left",
        " 50 %  solving, about 10 s left",
        " 75 %  solving, about 5.0 s left",
    ]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.04, "0.0 s"), (8.24, "8.2 s"), (59, "59 s"), (65, "1 min 05 s"), (7800, "2 h 10 min")],
)
def test_durations_read_as_people_say_them(seconds, text):
    assert console.duration(seconds) == text


def test_an_unexpected_error_is_one_line_and_debug_shows_the_traceback(small, tmp_path, monkeypatch):
    def broken(*args, **kwargs):
        raise ZeroDivisionError("nobody\nthought of this")

    monkeypatch.setattr("sharpfield.upscaling.upscale", broken)
    words = ("upscale", small, tmp_path / "out")
    assert refused(*words) == "1 unexpected ZeroDivisionError: nobody thought of this; --debug shows where"
    said = run(*words, "--debug")
    assert said.status == 1
    assert "Traceback" in said.err
    assert "broken" in said.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("error", "status"), [(KeyboardInterrupt, 130), (MemoryError, 1)])
def test_an_end_in_the_middle_is_clean(small, tmp_path, monkeypatch, error, status):
    def interrupted(*args, **kwargs):
        raise error

    monkeypatch.setattr("sharpfield.upscaling.upscale", interrupted)
    said = run("upscale", small, tmp_path / "out", "--disparity", "-2:2")
    assert said.status == status
    assert len(said.err.splitlines()) == 1
    assert not (tmp_path / "out").exists()
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_run_leaves_nothing(tmp_path, number, status):
    with process("demo", "--size", "1024x768", cwd=tmp_path, env={**os.environ, "NO_COLOR": "1"}) as child:
        deadline = time.monotonic() + 60
        while not leftovers(tmp_path) and time.monotonic() < deadline:  # its temporary folder: at work
            time.sleep(0.05)
        time.sleep(0.3)
        child.send_signal(number)
        out, err = child.communicate(timeout=60)
    assert child.returncode == status, err
    assert out == ""
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_json_is_alone_on_stdout(small, tmp_path):
    with process("upscale", small, tmp_path / "out", "--method", "bicubic", "--json") as child:
        out, err = child.communicate(timeout=120)
    assert child.returncode == 0, err
    assert out.startswith("{\n")
    assert out.endswith("}\n")
    assert json.loads(out)["upscale"]["method"] == "bicubic"


def test_a_reader_that_leaves_is_no_error():
    with process("methods", "--json") as child:
        child.stdout.close()
        err = child.stderr.read()
        child.wait(timeout=60)
    assert "Traceback" not in err
    assert "BrokenPipe" not in err
