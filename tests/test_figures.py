"""`sharpfield figures`: what is drawn, from what, and what is refused. Pictures are checked by their pixels."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from commandline import refused, run
from PIL import Image

from sharpfield import LightField, upscale, write
from sharpfield.benchmark.plan import Plan
from sharpfield.benchmark.protocols import PAPER
from sharpfield.benchmark.runner import run_benchmark
from sharpfield.errors import InputError, OptionError
from sharpfield.figures import Choice, Shown, Subject, draw, drawing
from sharpfield.figures.choice import best_windows, load
from sharpfield.pictures import error_map
from sharpfield.synthetic import fronto_parallel


@pytest.fixture(scope="module")
def truth() -> LightField:
    return fronto_parallel((3, 3), (64, 80), 1.0, 4).lightfield


@pytest.fixture(scope="module")
def low(truth) -> LightField:
    return PAPER.degraded(truth, 2)


@pytest.fixture(scope="module")
def subject(truth, low) -> Subject:
    results = [Shown(method, upscale(low, 2, method=method)) for method in ("bilinear", "bicubic")]
    return Subject("plane", results, Shown("original", truth), Shown("low resolution", low))


def shown_images(figure) -> list[np.ndarray]:
    return [np.asarray(axes.get_images()[0].get_array()) for axes in figure.axes if axes.get_images()]


def labels(figure) -> list[str]:
    return [axes.get_xlabel().replace("\n", " ") for axes in figure.axes if axes.get_xlabel()]


def test_every_kind_is_drawn_as_png_and_pdf(subject, tmp_path):
    made = draw(subject, tmp_path / "deep" / "folder")
    assert [path.name for path in made] == [
        f"plane-{kind}.{form}"
        for kind in ("details", "epipolar", "errors", "views")
        for form in ("png", "pdf")
    ]
    for path in made:
        if path.suffix == ".pdf":
            assert path.read_bytes().startswith(b"%PDF")
        else:
            picture = np.asarray(Image.open(path).convert("L"))
            assert min(picture.shape) > 100
            assert picture.std() > 10


def test_the_same_figure_is_the_same_file(subject, tmp_path):
    for name in ("one", "two"):
        draw(subject, tmp_path / name, kinds=["epipolar"])
    for form in ("png", "pdf"):
        one, two = ((tmp_path / name / f"plane-epipolar.{form}").read_bytes() for name in ("one", "two"))
        assert one == two


def test_details_show_the_pixels_of_the_view_method_by_method(subject, truth, low):
    window = (slice(10, 30), slice(40, 64))
    loaded = load(subject, Choice(view=(1, 2), windows=(window,)))
    figure = drawing._details(loaded, [window])
    whole, *details = shown_images(figure)
    assert np.array_equal(whole, np.floor(truth.views[1, 2] * 255 + 0.5))
    expected = [low, *(shown.source for shown in subject.results), truth]
    for image, lf in zip(details, expected, strict=True):
        assert np.array_equal(image, np.floor(lf.views[1, 2] * 255 + 0.5))
    for axes in figure.axes[1:]:  # the window in pixels of the result, for the low resolution, too
        assert (axes.get_xlim(), axes.get_ylim()) == ((39.5, 63.5), (29.5, 9.5))
        assert axes.get_images()[0].get_extent() == [-0.5, 79.5, 63.5, -0.5]
    texts = labels(figure)
    assert texts[0] == "view (1, 2)"
    assert [text.split()[1] for text in texts[1:]] == ["low", "bilinear", "bicubic", "original"]
    assert texts[2].startswith("(b) bilinear ")
    assert texts[2].endswith(" dB")


def test_epipolar_images_show_one_line_of_the_row_of_views(subject, truth):
    loaded = load(subject, Choice(view=(1, 0)))
    images = shown_images(drawing._epipolar(loaded, 20))
    assert len(images) == 3  # the original, then the results
    lines = np.floor(truth.views[1, :, 20] * 255 + 0.5)
    assert np.array_equal(images[0], np.repeat(lines, 8, axis=0))


def test_error_maps_have_one_scale(subject, truth):
    loaded = load(subject, Choice())
    figure = drawing._errors(loaded, 5.0)
    images = shown_images(figure)
    result = subject.results[1].source
    assert np.array_equal(images[1], error_map(result.views[2, 2], truth.views[2, 2], 5.0))
    bar = figure.axes[-1]
    assert bar.get_ylim() == pytest.approx((0, 51))
    assert "view (2, 2)" in bar.get_ylabel()


def test_the_view_is_the_bottom_right_most_and_the_windows_are_where_the_first_method_errs_most(
    subject, truth
):
    loaded = load(subject, Choice())
    assert (loaded.v, loaded.u) == (2, 2)
    first, second = best_windows(loaded)
    error = np.abs(subject.results[0].source.views[2, 2] - truth.views[2, 2]).mean(axis=2)
    means = [error[window].mean() for window in (first, second)]
    assert means[0] >= means[1] > error.mean()
    overlap = all(max(a.start, b.start) < min(a.stop, b.stop) for a, b in zip(first, second, strict=True))
    assert not overlap


@pytest.mark.parametrize("size", [(8, 8), (24, 24), (25, 90), (300, 31)])
@pytest.mark.parametrize("known", [True, False])
def test_windows_lie_inside_views_of_any_size(size, known):
    views = np.random.default_rng(0).random((1, 2, *size, 1), dtype=np.float32)
    lf = LightField(views)
    subject = Subject(
        "x", [Shown("a", lf)], Shown("t", LightField(views[:, :, ::-1].copy())) if known else None
    )
    windows = best_windows(load(subject, Choice()))
    assert windows
    for y, x in windows:
        assert 0 <= y.start < y.stop <= size[0]
        assert 0 <= x.start < x.stop <= size[1]


def test_without_a_truth_there_are_no_error_maps(subject, tmp_path):
    made = draw(Subject("bare", subject.results), tmp_path, formats=["png"])
    assert [path.stem for path in made] == ["bare-details", "bare-epipolar", "bare-views"]


def test_one_grey_result_alone_can_be_shown(tmp_path):
    lf = LightField(np.random.default_rng(0).random((1, 1, 40, 30, 1), dtype=np.float32))
    assert len(draw(Subject("one", [Shown("a", lf)]), tmp_path, formats=["png"])) == 3


def test_of_a_file_only_the_row_that_is_shown_is_read(truth, tmp_path):
    write(truth, tmp_path / "truth")
    row, at = Shown("x", tmp_path / "truth").row(1)
    assert (row.grid, at) == ((1, 3), 1)
    (tmp_path / "truth" / "view_02_00.png").write_bytes(b"damaged")
    assert Shown("x", tmp_path / "truth").row(0)[0].grid == (1, 3)
    assert Shown("x", tmp_path / "truth", {"views": "2:3,0:2", "flip": "v"}).row(None)[0].grid == (1, 2)


def test_all_shown_must_show_the_same(subject, truth, low):
    cut = Shown("cut", truth.crop(slice(40), slice(80)))
    with pytest.raises(InputError, match="bilinear has views of 80x64 and cut of 80x40: no whole factor"):
        load(Subject("x", [*subject.results, cut]), Choice())
    with pytest.raises(InputError, match="low has views of 40x32 with 3 channels, bilinear of 80x64 with 3"):
        load(Subject("x", [*subject.results, Shown("low", low)]), Choice())
    with pytest.raises(InputError, match="t has rows of 2 views, bilinear of 3"):
        load(Subject("x", subject.results, Shown("t", truth.select(slice(3), slice(2)))), Choice())
    with pytest.raises(InputError, match="l has rows of 1 views"):
        load(Subject("x", subject.results, low=Shown("l", low.select(slice(3), slice(1)))), Choice())
    with pytest.raises(InputError, match="x: there is no result to show"):
        load(Subject("x", []), Choice())


def test_rows_that_the_factor_does_not_divide_are_left_out_and_other_sizes_are_resized(subject, truth):
    larger = LightField(np.pad(truth.views, ((0, 0), (0, 0), (0, 1), (0, 3), (0, 0)), mode="edge"))
    loaded = load(Subject("x", subject.results, Shown("t", larger)), Choice())
    assert loaded.truth is not None
    assert np.array_equal(loaded.truth.views, truth.views[2:])
    cut = Shown("cut", truth.crop(slice(40), slice(80)))
    loaded = load(Subject("x", [*subject.results, cut]), Choice(resample=True))
    assert loaded.results["cut"].size == truth.size


def test_what_has_no_meaning(subject, tmp_path):
    with pytest.raises(OptionError, match="no kind of figure is called 'graph'; there are details, epipolar"):
        draw(subject, tmp_path, kinds=["graph"])
    with pytest.raises(OptionError, match="no format of a figure is called 'svg'"):
        draw(subject, tmp_path, formats=["svg"])
    with pytest.raises(OptionError, match="v must be from 0 to 2, not 3"):
        load(subject, Choice(view=(3, 0)))
    with pytest.raises(OptionError, match="row must be from 0 to 63, not 64"):
        draw(subject, tmp_path, kinds=["epipolar"], choice=Choice(row=64))
    with pytest.raises(
        OptionError, match="the detail 0:65,0:10 is not inside views of 64 rows and 80 columns"
    ):
        load(subject, Choice(windows=((slice(0, 65), slice(0, 10)),)))
    with pytest.raises(OptionError, match="gain must be above 0"):
        Choice(gain=0)
    assert list(tmp_path.iterdir()) == []


# -- the command ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def kept(truth, tmp_path_factory) -> Path:
    """The folder of a benchmark that kept its results."""
    folder = tmp_path_factory.mktemp("kept")
    write(truth, folder / "a plane", bits=8)
    run_benchmark([folder / "a plane"], Plan(methods=("bilinear", "bicubic")), folder / "out", keep=True)
    return folder / "out"


def test_figures_of_what_a_benchmark_kept(kept, tmp_path):
    for path in (kept, kept / "records.jsonl"):
        said = run("figures", path, "--output", tmp_path, "--format", "png", "--overwrite")
        assert said.status == 0, said.err
        names = [Path(line).name for line in said.out.splitlines()]
        assert names == [
            f"a-plane-x2-paper-{kind}.png" for kind in ("details", "epipolar", "errors", "views")
        ]
    answer = refused("figures", kept, "--output", tmp_path, "--format", "png")
    assert "a-plane-x2-paper-details.png: exists already; use --overwrite" in answer


def test_figures_of_light_fields_side_by_side(subject, truth, low, tmp_path):
    for shown in subject.results:
        write(shown.source, tmp_path / shown.label)
    write(truth, tmp_path / "truth")
    write(low, tmp_path / "low")
    said = run(
        *("figures", tmp_path / "bilinear", tmp_path / "bicubic", "--truth", tmp_path / "truth"),
        *("--low", tmp_path / "low", "--output", tmp_path / "out", "--kinds", "details,errors"),
        *("--view", "0,1", "--detail", "0:20,0:20", "--detail", "30:50,40:70", "--json", "-q"),
    )
    assert said.status == 0, said.err
    assert [Path(path).name for path in said.json["figures"]] == [
        f"results-{kind}.{form}" for kind in ("details", "errors") for form in ("png", "pdf")
    ]


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["nothing"], "1 nothing: no such file or folder"),
        (["a", "b/a"], "2 two of the results are called a; rename one"),
        (["a", "--view", "first"], "2 --view takes row and column of a view"),
        (["a", "--detail", "1:2"], "2 --detail takes rows and columns of pixels"),
        (["a", "--detail", "9:2,0:3"], "2 --detail takes rows and columns of pixels"),
        (["a", "--detail", "0:2:3,0:3"], "2 --detail takes rows and columns of pixels"),
        (["a", *["--detail", "0:2,0:3"] * 5], "2 a figure shows at most 4 details, not 5"),
    ],
)
def test_what_is_asked_for_wrongly(words, answer, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert refused("figures", *words).startswith(answer)
    assert list(tmp_path.iterdir()) == []


def test_a_benchmark_is_shown_alone_and_with_what_it_kept(kept, tmp_path):
    assert "is not the folder of a benchmark" in refused("figures", kept, tmp_path)
    assert "--truth and --low go with results" in refused("figures", kept, "--truth", tmp_path)
    (tmp_path / "records.jsonl").write_text("")
    assert "no results are kept there; run the benchmark again with --keep" in refused("figures", tmp_path)


def test_without_matplotlib_it_says_what_to_install(subject, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(Exception, match=r"pip install 'sharpfield\[figures\]' brings it"):
        draw(subject, tmp_path)
