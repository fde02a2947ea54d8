"""`sharpfield benchmark` as a person uses it: runs, records, kills, resumes, and what it refuses."""

from __future__ import annotations

import csv
import io
import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from commandline import Said, refused, run

from sharpfield import LightField, read, upscale, write
from sharpfield.benchmark import job as jobs
from sharpfield.benchmark.plan import Plan
from sharpfield.benchmark.protocols import BASICLFSR, PAPER
from sharpfield.benchmark.records import FILE, Records
from sharpfield.benchmark.runner import _death, run_benchmark
from sharpfield.errors import OptionError
from sharpfield.metrics import evaluate
from sharpfield.synthetic import fronto_parallel

ASKED = ("--methods", "bilinear,gb-sq", "--factors", "2,3")


@pytest.fixture(scope="module")
def scenes(tmp_path_factory) -> list[Path]:
    """Two small planes of 3x3 views, of different textures and sizes."""
    folder = tmp_path_factory.mktemp("scenes")
    made = []
    for name, size, seed in (("plane", (48, 54), 0), ("other", (54, 48), 1)):
        lf = fronto_parallel((3, 3), size, 1.0, seed).lightfield
        made.append(write(lf, folder / name, bits=8))
    return made


@pytest.fixture(scope="module")
def finished(scenes, tmp_path_factory) -> Path:
    """The folder of a benchmark of both scenes, run without disturbance."""
    folder = tmp_path_factory.mktemp("finished")
    said = benchmark(*scenes, *ASKED, "--output", folder)
    assert said.status == 0, said.err
    assert said.notes == [
        f"{path}: measured on 3x3 views, not on the 5x5 of the protocol paper" for path in scenes
    ]
    return folder


@pytest.fixture
def done(finished, tmp_path) -> Path:
    """A copy of it, to do something to."""
    return shutil.copytree(finished, tmp_path / "done")


def benchmark(*words: object) -> Said:
    return run("benchmark", *words)


def lines_of(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / FILE).read_text().splitlines()]


def identity(line: dict) -> tuple:
    return line["light_field"], line["method"], line["factor"]


def scores_of(said: Said) -> list[dict]:
    """The rows of a CSV table without what the clock and the memory of the moment decide."""
    rows = list(csv.DictReader(io.StringIO(said.out)))
    return [{k: v for k, v in row.items() if k not in ("seconds", "peak_bytes")} for row in rows]


# -- what a run gives ----------------------------------------------------------------------------------------------


def test_every_run_is_recorded_and_tabled(finished):
    said = benchmark("--output", finished)  # no light fields: the tables of what is recorded
    assert said.status == 0
    assert said.out.count("**PSNR in dB") == 2
    assert "| plane " in said.out
    lines = lines_of(finished)
    assert [identity(line) for line in lines] == [
        (name, method, factor)
        for name in ("plane", "other")
        for factor in (2, 3)
        for method in ("bilinear", "gb-sq")
    ]
    for line in lines:
        assert np.shape(line["psnr"]) == np.shape(line["ssim"]["1"]) == (3, 3)
        assert line["seconds"] >= 0
        assert set(line["versions"]) == {"sharpfield", "python", "numpy", "scipy", "numba"}
        assert line["machine"]["threads"] >= 1
    sq = lines[1]
    assert sq["options"]["disparity"] == [-6, 6]  # the paper's, whatever upscale itself would take
    assert sq["options"]["sigma"] == 0.7229
    assert sq["protocol"] == json.loads(json.dumps(PAPER.to_json()))


def test_a_record_is_what_the_steps_give_by_hand(scenes, tmp_path):
    said = benchmark(scenes[0], "--methods", "gb-sq", "--preset", "paper", "--output", tmp_path, "-q")
    assert said.status == 0
    truth = read(scenes[0])
    result = upscale(PAPER.degraded(truth, 2), 2, method="gb-sq", preset="paper", disparity=(-6, 6))
    scores = evaluate(result, truth)
    (line,) = lines_of(tmp_path)
    assert np.array(line["psnr"]) == pytest.approx(scores.psnr, abs=1e-9)
    assert np.array(line["ssim"]["1"]) == pytest.approx(scores.ssim, abs=1e-9)
    assert line["options"]["beta"] == 1.0


def test_basiclfsr_works_on_the_studio_luma_alone(scenes, tmp_path):
    words = [scenes[0], "--methods", "bicubic,gb-sq", "--protocol", "basiclfsr", "--output", tmp_path]
    assert benchmark(*words).status == 0
    line = lines_of(tmp_path)[0]
    assert line["size"] == [48, 52]
    assert line["settings"]["camera"] == "bicubic"
    truth = BASICLFSR.prepare(read(scenes[0]), 2)
    result = upscale(BASICLFSR.degraded(truth, 2), 2, method="bicubic", camera="bicubic")
    scores = evaluate(result, truth, border=0)
    assert np.array(line["psnr"]) == pytest.approx(scores.psnr, abs=1e-9)
    assert set(line["ssim"]) == {"1", "2"}
    # the wrong camera is another run, in a column of its own
    said = benchmark(*words, "--camera", "box", "-q")
    assert len(lines_of(tmp_path)) == 4
    assert "gb-sq |" in said.out
    said = benchmark("--output", tmp_path)
    assert "gb-sq (camera bicubic) |" in said.out
    assert "gb-sq (camera box) |" in said.out


def test_options_go_to_the_methods_that_have_them(scenes, tmp_path):
    words = [scenes[0], "--methods", "bilinear,gb-sq", "--output", tmp_path, "-q"]
    words += ["--disparity", "-2:2", "--patch", "5"]
    assert benchmark(*words).status == 0
    bilinear, sq = lines_of(tmp_path)
    assert bilinear["options"] == {}
    assert (sq["options"]["disparity"], sq["options"]["patch"]) == ([-2, 2], 5)
    assert sq["settings"]["disparity"] == [-2, 2]
    assert benchmark(*words, "--disparity", "auto").status == 0
    auto = lines_of(tmp_path)[2]
    assert auto["options"]["disparity"] == "auto"
    low, high = auto["upscale"]["options"]["disparity"]  # what was measured
    assert low < high
    assert len(lines_of(tmp_path)) == 3


def test_the_peak_is_that_of_the_run_and_not_of_who_started_it(scenes, tmp_path):
    ballast = np.ones(100_000_000, np.float32)  # 400 MB
    assert benchmark(scenes[0], "--methods", "bilinear", "--output", tmp_path, "-q").status == 0
    assert ballast.nbytes == 400e6
    assert 50e6 < lines_of(tmp_path)[0]["peak_bytes"] < 350e6


def test_json_for_scripts(scenes, finished):
    said = benchmark(scenes[0], *ASKED, "--output", finished, "--json", "-q")
    done = said.json["runs"][0]
    assert len(said.json["runs"]) == 4
    assert (done["light_field"], done["method"], done["factor"]) == ("plane", "bilinear", 2)
    assert done["psnr"]["mean"] == pytest.approx(np.mean(done["psnr"]["views"]))
    assert said.json["records"] == str(finished / FILE)
    assert said.json["failures"] == []


def test_names_of_ones_own(scenes, done):
    said = benchmark(*scenes, *ASKED, "--output", done, "--as", "buddha", "--as", "truck")
    assert "8 of 8 runs were done before" in said.err  # the name is not what makes a run
    assert "| truck " in said.out
    assert "published" not in said.out  # 3x3 views are not what the paper measured


@pytest.mark.data
def test_bilinear_on_buddha_is_the_papers(data_folder, tmp_path):
    said = benchmark(
        data_folder / "hciold_buddha", "--methods", "bilinear", "--factors", "2,3", "--output", tmp_path
    )
    assert said.status == 0, said.err
    rows = [line for line in said.out.splitlines() if r"hciold\_buddha" in line and "±" in line]
    assert [line.split("|")[2].split()[0] for line in rows] == ["35.22", "32.58"]
    assert [line.split("|")[3].split()[0] for line in rows] == ["35.22", "32.58"]  # the published, beside it


# -- killed and started again --------------------------------------------------------------------------------------


def start(*words: object) -> subprocess.Popen:
    command = [sys.executable, "-m", "sharpfield", "benchmark", *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def children(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(word) for word in listed.read_text().split()] if listed.exists() else []


def wait_until(true, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def gone(pid: int) -> bool:
    try:
        return "State:\tZ" in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return True


def interrupted(words: list[object], place: Path, end: signal.Signals, after: int) -> bytes:
    """Start a benchmark, end it in the middle of a run, and return the records that it left."""
    process, records = start(*words, "--output", place), place / FILE
    wait_until(lambda: records.exists() and records.read_bytes().count(b"\n") >= after)
    wait_until(lambda: bool(children(process.pid)) or not Path("/proc").exists())
    working = children(process.pid)
    process.send_signal(end)
    process.wait(30)
    # what it had started does not work on for nobody
    wait_until(lambda: all(gone(pid) for pid in working))
    return records.read_bytes()


def test_killed_in_the_middle_it_goes_on_where_it_was(scenes, finished, tmp_path):
    words = [*scenes, *ASKED, "--format", "csv", "-q"]
    before = interrupted(words, tmp_path, signal.SIGKILL, after=3)
    assert 3 <= before.count(b"\n") < 8
    resumed = benchmark(*words, "--output", tmp_path)
    assert resumed.status == 0
    assert scores_of(resumed) == scores_of(benchmark(*words, "--output", finished))
    assert len(scores_of(resumed)) == 8
    records = (tmp_path / FILE).read_bytes()
    assert records.startswith(before)  # nothing that was done is repeated or changed
    assert len({identity(line) for line in lines_of(tmp_path)}) == records.count(b"\n") == 8


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM], ids=lambda end: end.name)
def test_stopped_by_a_person_it_leaves_what_is_done_and_nothing_else(scenes, tmp_path, end):
    before = interrupted([*scenes, *ASKED, "--keep"], tmp_path, end, after=1)
    assert before.endswith(b"\n")
    assert not list(tmp_path.rglob(".*"))


def test_a_line_that_a_kill_cut_off_is_repaired(scenes, done):
    words = [*scenes, *ASKED, "--output", done, "--format", "csv"]
    before = scores_of(benchmark(*words))
    (done / FILE).write_bytes((done / FILE).read_bytes()[:-100])
    again = benchmark(*words)
    assert "7 of 8 runs were done before" in again.err
    assert scores_of(again) == before
    assert len(lines_of(done)) == 8


def test_what_is_done_is_not_done_again(scenes, finished, done):
    words = [*ASKED, "--output", done]
    first = benchmark(*scenes, *words)
    assert "8 of 8 runs were done before" in first.err
    # the same pixels by another way are the same light field
    copy = write(read(scenes[0]), done / "copy.npz", bits=8)
    said = benchmark(scenes[0], copy, *words)
    assert "4 of 4 runs were done before" in said.err
    assert f"{copy}: has the pixels of {scenes[0]} and is not run again" in said.notes
    assert (done / FILE).read_bytes() == (finished / FILE).read_bytes()


def test_records_of_another_version_of_sharpfield_count_and_are_told(scenes, done):
    records = done / FILE
    records.write_text(records.read_text().replace('"sharpfield": "', '"sharpfield": "0.0.9 or '))
    said = benchmark(*scenes, *ASKED, "--output", done)
    assert "8 of 8 runs were done before" in said.err
    assert "some of these runs were done by sharpfield 0.0.9 or" in said.err


def test_kept_results_are_those_that_were_measured(scenes, tmp_path):
    words = [scenes[0], "--methods", "bilinear,bicubic", "--output", tmp_path, "--protocol", "paper"]
    benchmark(*words)
    assert not (tmp_path / "results").exists()
    said = benchmark(*words, "--keep")  # recorded, but the results are not there: run again
    assert "done before" not in said.err
    bilinear = Records(tmp_path).load()[0].popitem()[1]
    assert bilinear.kept is not None
    place = (tmp_path / bilinear.kept).parent
    assert sorted(path.name.split("-")[0] for path in place.iterdir()) == [
        "bicubic",
        "bilinear",
        "low",
        "truth",
    ]
    assert np.array_equal(read(place / "truth").views, read(scenes[0]).views)
    assert read(place / "low").size == (24, 27)
    scores = evaluate(read(tmp_path / bilinear.kept), read(place / "truth"))
    assert scores.psnr == pytest.approx(bilinear.measured.psnr, abs=0.05)  # rounded to 8 bits
    assert "2 of 2 runs were done before" in benchmark(*words, "--keep").err


# -- what goes wrong -----------------------------------------------------------------------------------------------


def test_a_run_that_fails_does_not_stop_the_others(scenes, tmp_path):
    words = [scenes[0], "--views", "1x1", "--methods", "gb-sq,bilinear", "--output", tmp_path]
    said = benchmark(*words)
    assert said.status == 1
    assert len(said.errors) == 1
    assert "plane x2 gb-sq: one view is no light field" in said.errors[0]
    assert said.errors[0].endswith(f"; the other runs are recorded in {tmp_path}")
    assert "| plane " in said.out
    assert [identity(line) for line in lines_of(tmp_path)] == [("plane", "bilinear", 2)]


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["--methods", "magic"], "2 no method is called 'magic'"),
        (["--factors", "2,9"], "2 factor must be a whole number from 2 to 8, not 9"),
        (["--factors", "2.5"], "2 factor must be a whole number from 2 to 8, not '2.5'"),
        (["--factors", ","], "2 a benchmark needs at least one method and one factor"),
        (["--protocol", "mine"], "2 no protocol is called 'mine'; there are paper, basiclfsr"),
        (["--preset", "quick"], "2 no preset is called 'quick'"),
        (["--camera", "pinhole"], "2 camera 'pinhole' is unknown"),
        (["--chroma", "nearest"], "2 chroma is bilinear or bicubic, not 'nearest'"),
        (["--memory", "much"], "2 memory is a size like 2GB"),
        (["--format", "html"], "2 --format is md, latex or csv, not 'html'"),
        (["--disparity", "6:-6"], "2 disparity LO:HI needs LO < HI"),
        (["--methods", "bilinear", "--patch", "5"], "2 none of the methods bilinear has an option 'patch'"),
        (["--as", "a", "--as", "b"], "2 there are 1 light fields and 2 names"),
        (["--views", "7x7"], "2 views '7x7': the grid has 3x3 views"),
    ],
)
def test_what_is_asked_for_wrongly_is_told_before_any_work(scenes, tmp_path, words, answer):
    assert refused("benchmark", scenes[0], "--output", tmp_path / "out", *words).startswith(answer)
    assert not (tmp_path / "out").exists()


def test_light_fields_that_are_not_there(scenes, tmp_path):
    answer = refused("benchmark", scenes[0], tmp_path / "nothing", "--output", tmp_path / "out")
    assert answer.startswith(f"1 {tmp_path / 'nothing'}: no such file or folder")
    assert not (tmp_path / "out").exists()
    answer = refused("benchmark", "--output", tmp_path / "out")
    assert answer.startswith(f"1 {tmp_path / 'out'}: holds no records; give the light fields to run on")


def test_a_place_that_cannot_hold_records(scenes, tmp_path):
    (tmp_path / "file").write_text("")
    answer = refused("benchmark", scenes[0], "--methods", "bilinear", "--output", tmp_path / "file")
    assert "records.jsonl: cannot be read: a part of its path is a file" in answer


def test_a_process_that_dies_says_how():
    assert "killed, as the system does when memory runs out" in _death(-9, "")
    assert _death(3, "Traceback\n  x\nOSError: no\n\n") == "its process ended with status 3: OSError: no"
    assert _death(3, "") == "its process ended with status 3: no message"


def test_a_light_field_that_changes_meanwhile_is_noticed(scenes, tmp_path, monkeypatch):
    monkeypatch.setattr("sharpfield.benchmark.runner.fingerprint", lambda lf: "0" * 32)
    outcome = run_benchmark([scenes[0]], Plan(methods=("bilinear",)), tmp_path)
    assert outcome.records == ()
    assert outcome.failures == (
        f"plane x2 bilinear: {scenes[0]}: has changed while the benchmark ran; run it again",
    )


# -- the pieces ----------------------------------------------------------------------------------------------------


def test_progress_grows_over_the_whole(scenes, tmp_path):
    events = []
    outcome = run_benchmark(scenes, Plan(methods=("bilinear",)), tmp_path, progress=events.append)
    assert len(outcome.records) == 2
    fractions = [event.fraction for event in events]
    assert fractions[-1] == 1
    assert all(0 <= one <= 1 for one in fractions)
    starts = [event.fraction for event in events if event.stage.endswith("reading views")]
    assert starts == sorted(starts)
    assert any(event.stage.startswith("run 2 of 2, other x2 bilinear: ") for event in events)


def test_a_job_in_this_process_gives_the_same_record(scenes, finished):
    apart = next(each for each in Records(finished).load()[0].values() if each.run.method == "gb-sq")
    job = jobs.Job(apart.run, "plane", str(scenes[0]), threads=1)
    here = jobs.do(jobs.Job.from_json(json.loads(json.dumps(job.to_json()))))
    assert here.run.key == apart.run.key
    assert np.array_equal(here.measured.psnr, apart.measured.psnr)
    assert (here.grid, here.size, here.machine["threads"]) == ((3, 3), (48, 54), 1)


def test_the_fingerprint_is_of_the_pixels_alone():
    views = np.random.default_rng(0).random((2, 3, 8, 9, 3), dtype=np.float32)
    one = jobs.fingerprint(LightField(views, name="a", source="b", notes=("c",)))
    assert one == jobs.fingerprint(LightField(views.copy()))
    assert len(one) == 32
    changed = views.copy()
    changed[1, 2, 7, 8, 2] = np.nextafter(changed[1, 2, 7, 8, 2], np.float32(1))
    assert jobs.fingerprint(LightField(changed)) != one
    assert jobs.fingerprint(LightField(views.reshape(3, 2, 8, 9, 3))) != one


def test_only_the_views_that_a_protocol_takes_are_read(tmp_path):
    lf = LightField(np.random.default_rng(0).random((6, 7, 8, 9, 1), dtype=np.float32))
    write(lf, tmp_path / "lf.npz")
    assert np.array_equal(jobs.read_views(tmp_path / "lf.npz", PAPER, {}).views, lf.views[0:5, 1:6])
    given = {"views": "2x2", "crop": "1:8,:"}
    assert np.array_equal(jobs.read_views(tmp_path / "lf.npz", PAPER, given).views, lf.views[2:4, 2:4, 1:8])
    turned = jobs.read_views(tmp_path / "lf.npz", PAPER, {"transpose": True, "format": "npz"})
    assert np.array_equal(turned.views, lf.views.swapaxes(0, 1)[1:6, 0:5])


def test_a_plan_says_what_is_wrong_with_it():
    with pytest.raises(OptionError, match="at least one method"):
        Plan(methods=())
    with pytest.raises(OptionError, match="none of the methods gb-sq has an option 'shade'"):
        Plan(methods=("gb-sq",), options={"shade": 1})
    assert Plan(methods=("gb-sq", "gb-sq"), factors=(2, 2)).factors == (2,)
