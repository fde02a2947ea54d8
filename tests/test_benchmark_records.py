"""Records and tables: nothing lost by a kill at any byte, nothing damaged believed, and what the tables say."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sharpfield.benchmark import tables
from sharpfield.benchmark.protocols import BASICLFSR, PAPER, Measured
from sharpfield.benchmark.records import FILE, VERSION, Record, Records, Run
from sharpfield.errors import OutputError


def record(
    name="a_b", method="bilinear", factor=2, psnr=30.0, *, grid=(5, 5), protocol=PAPER, **more
) -> Record:
    """A record whose views have the PSNR psnr ± 1."""
    asked = {"camera": "box", "preset": "fast", "chroma": None, "memory": "2GB", **more.pop("settings", {})}
    run = Run("f" + name, method, factor, protocol.to_json(), asked, more.pop("options", {}))
    values = np.full(grid, psnr)
    values.flat[0] += 1
    values.flat[1] -= 1
    measured = Measured(values, dict.fromkeys(protocol.ssim_ranges, values / 100))
    return Record(run, name, grid, (64, 60), 1.25, 10**9, measured, **more)


def three() -> list[Record]:
    return [record(), record(method="gb-sq", psnr=33.0), record("c", notes=("cropped",), kept="results/x")]


def keys(records) -> list[str]:
    return [each.run.key for each in records]


def test_what_is_appended_is_loaded_again(tmp_path):
    place = Records(tmp_path / "deep" / "folder")
    assert place.load() == ({}, ())
    for each in three():
        place.append(each)
    found, remarks = place.load()
    assert list(found) == keys(three())
    assert remarks == ()
    for ours, theirs in zip(found.values(), three(), strict=True):
        assert json.dumps(ours.to_json()) == json.dumps(theirs.to_json())
        assert (ours.grid, ours.size, ours.notes) == (theirs.grid, theirs.size, theirs.notes)
        assert ours.scores().psnr_variance == pytest.approx(2 / 25)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_a_kill_at_any_byte_loses_at_most_the_line_that_it_cut(tmp_path_factory, data):
    place = Records(tmp_path_factory.mktemp("records"))
    for each in three():
        place.append(each)
    whole = place.path.read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    place.path.write_bytes(whole[:cut])
    ends = [match.end() for match in re.finditer(rb"\n", whole)]
    left = sum(end - 1 <= cut for end in ends)  # a line that lacks nothing but its end is whole
    found, remarks = place.load()
    assert list(found) == keys(three())[:left]
    assert remarks == ()
    place.append(record("later"))
    found, remarks = place.load()
    assert list(found) == [*keys(three())[:left], record("later").run.key]
    assert remarks == ()
    lines = place.path.read_bytes().splitlines(keepends=True)
    assert len(lines) == left + 1
    assert all(line.endswith(b"\n") and json.loads(line) for line in lines)


def test_of_two_records_of_a_run_the_later_counts(tmp_path):
    place = Records(tmp_path)
    for each in (record(), record("c"), record(kept="results/x")):
        place.append(each)
    found, _ = place.load()
    assert list(found) == keys([record("c"), record()])
    assert found[record().run.key].kept == "results/x"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{]", "it is damaged"),
        ('"text"', "string indices"),
        ("[]", "list indices"),
        ("{}", "it has no 'record'"),
        (json.dumps({**record().to_json(), "record": VERSION + 1}), "it is of version 2"),
        (json.dumps({**record().to_json(), "factor": "two"}), "its factor is 'two'"),
        (json.dumps({**record().to_json(), "psnr": []}), "the scores are not one of each view"),
        (json.dumps({k: v for k, v in record().to_json().items() if k != "seconds"}), "it has no 'seconds'"),
        ("\udcff\udcfe", "it is damaged"),
        ("\udc80", "it is damaged"),
    ],
)
def test_a_damaged_line_is_told_and_not_believed(tmp_path, line, why):
    place = Records(tmp_path)
    place.append(record("c"))
    with place.path.open("ab") as file:
        file.write(line.encode("utf-8", "surrogateescape") + b"\n\n")
    place.append(record("d"))
    found, (remark,) = place.load()
    assert list(found) == keys([record("c"), record("d")])
    assert remark.startswith(f"{place.path}: line 2 is not used, {why}")
    assert remark.endswith("; its run is done again")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from(sorted(record().to_json())), json_values)
@settings(max_examples=150, deadline=None)
def test_whatever_a_field_holds_the_record_is_used_whole_or_not_at_all(tmp_path_factory, name, value):
    place = Records(tmp_path_factory.mktemp("records"))
    place.append(record("c"))
    with place.path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({**record().to_json(), name: value}) + "\n")
    found, remarks = place.load()
    assert len(found) + len(remarks) == 2
    for form in tables.FORMATS:
        assert tables.written(list(found.values()), form)


def test_what_decides_the_result_is_in_the_key_and_nothing_else():
    one = record()
    assert one.run.key == record(notes=("x",), source="elsewhere", kept="k").run.key
    assert replace(one, light_field="another name").run.key == one.run.key
    others = [
        record("other pixels"),
        record(method="gb-sq"),
        record(factor=3),
        record(protocol=BASICLFSR),
        record(settings={"camera": "bicubic"}),
        record(settings={"preset": "paper"}),
        record(options={"patch": 5}),
    ]
    assert len({one.run.key, *keys(others)}) == 8
    # tuples come back from JSON as lists
    assert record(options={"w": (-6, 6)}).run.key == record(options={"w": [-6, 6]}).run.key


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be written: a part of its path is a file"):
        Records(tmp_path / "file" / "folder").append(record())
    (tmp_path / FILE).mkdir()
    with pytest.raises(OutputError, match=rf"{FILE}: cannot be written"):
        Records(tmp_path).append(record())


def test_a_full_disk_leaves_no_half_line(tmp_path, monkeypatch):
    place = Records(tmp_path)
    place.append(record())
    before = place.path.read_bytes()
    write = os.write
    monkeypatch.setattr("os.write", lambda handle, line: write(handle, line[: len(line) // 2]))
    with pytest.raises(OutputError, match="the disk is full"):
        place.append(record("c"))
    monkeypatch.undo()
    assert place.path.read_bytes() == before


# -- tables --------------------------------------------------------------------------------------------------------


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def markdown_rows(text: str) -> dict[str, list[list[str]]]:
    """Title of each table to its rows, the header first."""
    found: dict[str, list[list[str]]] = {}
    for line in text.splitlines():
        if line.startswith("**"):
            title = line.strip("*")
            found[title] = []
        elif line.startswith("|") and not line.startswith("|-"):
            found[title].append(cells(line))
    return found


def test_markdown_has_mean_and_variance_the_best_in_bold_and_columns_in_the_order_of_the_catalogue():
    text = tables.written([record(method="gb-sq", psnr=33.0), record(), record("c")], "md")
    rows = markdown_rows(text)
    psnr, ssim, seconds, memory = rows.values()
    assert next(iter(rows)) == "PSNR in dB: mean ± variance (dB²) over the views; factor 2, protocol paper"
    assert psnr == [
        ["light field", "bilinear", "gb-sq"],
        [r"a\_b", "30.00 ± 0.08", "**33.00** ± 0.08"],
        ["c", "30.00 ± 0.08", ""],  # one alone is not the best of anything
    ]
    assert ssim[1] == [r"a\_b", "0.3000", "**0.3300**"]
    assert seconds[1] == [r"a\_b", "**1.2**", "**1.2**"]
    assert memory[1] == [r"a\_b", "**1.00**", "**1.00**"]
    assert "published" not in text
    widths = {len(line) for line in text.splitlines()[2:6]}
    assert len(widths) == 1  # aligned, for those who read it as it is


def test_all_that_print_as_the_best_are_bold():
    runs = [record(psnr=30.001), record(method="bicubic", psnr=30.004), record(method="gb-sq", psnr=29.99)]
    first = next(iter(markdown_rows(tables.written(runs, "md")).values()))[1]
    assert first[1:] == ["**30.00** ± 0.08", "**30.00** ± 0.08", "29.99 ± 0.08"]


def test_the_published_figures_stand_beside_ours():
    runs = [
        record("hciold_buddha", method, factor, psnr)
        for factor in (2, 3)
        for method, psnr in (("bilinear", 35.22), ("gb-sq", 39.05))
    ] + [record("unknown")]
    two, three = (
        rows for title, rows in markdown_rows(tables.written(runs, "md")).items() if title.startswith("PSNR")
    )
    assert two[0] == [
        *("light field", "bilinear", "bilinear, published", "gb-sq", "gb-sq, published"),
        *("wanner, published", "mitra, published", "srcnn, published", "gb-dr, published"),
    ]
    assert two[1] == [
        *(r"hciold\_buddha", "35.22 ± 0.08", "35.22 ± 0.00", "**39.05** ± 0.08", "39.00 ± 0.14"),
        *("38.22 ± 0.11", "**39.12** ± 0.62", "37.73 ± 0.03", "38.59 ± 0.08"),
    ]
    assert two[2] == ["unknown", "30.00 ± 0.08", *[""] * 7]
    assert three[1][-1] == "**35.42** ± 0.02"


@pytest.mark.parametrize(
    "other",
    [
        {"protocol": BASICLFSR},
        {"factor": 4},
        {"grid": (3, 3)},
        {"reading": {"crop": "0:256,0:256"}},
    ],
)
def test_what_was_measured_otherwise_is_not_held_against_the_paper(other):
    assert "published" in tables.written([record("buddha")], "md")
    assert "published" not in tables.written([record("buddha", **other)], "md")


def test_runs_of_one_method_are_told_apart_by_what_differs():
    runs = [
        record(method="gb-sq", settings={"camera": "box", "patch": 7}),
        record(method="gb-sq", settings={"camera": "bicubic", "patch": 7}),
        record(method="bilinear", settings={"camera": "bicubic"}),
    ]
    named = tables.labels(runs)
    assert [named[key] for key in keys(runs)] == ["gb-sq (camera box)", "gb-sq (camera bicubic)", "bilinear"]
    wide = [record(method="gb-sq"), record(method="gb-sq", settings={"disparity": [-12, 12]})]
    assert list(tables.labels(wide).values()) == ["gb-sq", "gb-sq (disparity -12:12)"]


def test_basiclfsr_has_a_table_for_both_ranges():
    titles = list(markdown_rows(tables.written([record(protocol=BASICLFSR)], "md")))
    assert [title.split(":")[0] for title in titles if "SSIM" in title] == [
        "SSIM (data range 1)",
        "SSIM (data range 2)",
    ]


def test_latex_is_ruled_as_the_papers_and_escapes_names():
    strange = r"50% of_x&{y}#1\2~^$"
    text = tables.written([record(strange), record(strange, "gb-sq", psnr=33.0)], "latex")
    assert r"50\% of\_x\&\{y\}\#1\textbackslash{}2\textasciitilde{}\textasciicircum{}\$ & " in text
    assert r"30.00 $\pm$ 0.08 & \textbf{33.00} $\pm$ 0.08 \\" in text
    assert r"\begin{tabular}{| l | c | c |}" in text
    assert (
        r"\caption{PSNR in dB: mean $\pm$ variance (dB$^2$) over the views; factor 2, protocol paper}" in text
    )
    for name in ("table*", "tabular"):
        assert text.count(rf"\begin{{{name}}}") == text.count(rf"\end{{{name}}}") == 4
    assert text.isascii()


def test_csv_has_one_line_a_run_with_the_published_figure():
    runs = [record("buddha", "gb-sq", psnr=39.0), record("b,c", protocol=BASICLFSR, psnr=float("inf"))]
    lines = list(csv.DictReader(io.StringIO(tables.written(runs, "csv"))))
    assert lines[0]["psnr_mean"] == "39.0000"
    assert lines[0]["psnr_worst"] == "38.0000"
    assert (lines[0]["published_psnr_mean"], lines[0]["published_psnr_variance"]) == ("39.0", "0.14")
    assert (lines[0]["ssim_mean_range1"], lines[0]["ssim_mean_range2"]) == ("0.390000", "")
    assert lines[1]["light_field"] == "b,c"
    assert (lines[1]["psnr_mean"], lines[1]["published_psnr_mean"]) == ("inf", "")


def test_where_peak_memory_is_not_known_there_is_no_table_of_it():
    runs = [replace(record(), peak_bytes=None), replace(record(method="gb-sq"), peak_bytes=None)]
    assert "memory" not in tables.written(runs, "md")
    mixed = markdown_rows(tables.written([runs[0], record(method="gb-sq")], "md"))
    assert next(rows for title, rows in mixed.items() if "memory" in title)[1] == [r"a\_b", "", "1.00"]
