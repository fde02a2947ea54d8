"""The main job on a scene of its own: render, degrade, super-resolve, measure; pictures and a page to look at.

Nothing is needed but the package: the scene's true high-resolution views are known, so every method's result can
be held against them.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpfield import pictures
from sharpfield.errors import OptionError, OutputError
from sharpfield.io import write
from sharpfield.io.atomic import check_free, replacing
from sharpfield.lightfield import LightField
from sharpfield.metrics import Scores, evaluate
from sharpfield.observe import Camera, degrade
from sharpfield.parallel import Workers
from sharpfield.progress import Progress, ProgressCallback, part, silent
from sharpfield.synthetic import Scene, render_scene
from sharpfield.upscaling import upscale
from sharpfield.viewer import PageOptions, Scored, how_measured, write_page

FACTOR = 2
BORDER = 15  # pixels left out of the scores, as in the paper
SIZE = (384, 512)
# with the part of the time that each takes, for the progress bar alone
METHODS = {"bilinear": 0.02, "bicubic": 0.02, "gb-dr": 0.3, "gb-sq": 0.28, "sharp": 0.38}
BEST = "sharp"

_RENDERED, _COMPILED, _RUN, _DRAWN = 0.14, 0.24, 0.88, 0.9  # how far the whole is when these are done

_SMALLEST = 96  # below it a detail and a border of 15 pixels leave nothing to show
_DETAIL = 72  # side of a detail, in pixels of the result
PAGE = "view.html"
_RECORD = "scores.json"  # also tells that a folder is a demo's, and may be replaced by another
_ERROR_GAIN = 4.0


@dataclass(frozen=True)
class Run:
    """What one method made of the low-resolution views."""

    method: str
    result: LightField
    scores: Scores
    seconds: float


@dataclass(frozen=True)
class Demo:
    """What the demo made: where, the runs in the order of the table, the pictures with what they show, the page."""

    folder: Path
    low: LightField
    runs: tuple[Run, ...]
    pictures: Mapping[str, str]
    page: Path
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """Return everything but the pixels as plain values."""
        return {
            "folder": str(self.folder),
            "factor": FACTOR,
            "grid": list(self.low.grid),
            "size_low": list(self.low.size),
            "seconds": round(self.seconds, 3),
            "methods": [
                {"method": run.method, "seconds": round(run.seconds, 3), **run.scores.to_json()}
                for run in self.runs
            ],
            "pictures": dict(self.pictures),
            "page": str(self.page),
        }


def run_demo(
    folder: str | Path,
    *,
    size: tuple[int, int] = SIZE,
    seed: int = 0,
    overwrite: bool = False,
    threads: int | None = None,
    progress: ProgressCallback = silent,
) -> Demo:
    """Render a still life, shrink it by two, super-resolve it by five methods, and show how well each did.

    Parameters
    ----------
    folder
        Where the views and the pictures go; written whole or not at all.
    size
        Height and width of the true views.
    seed
        Changes the textures of the scene.
    overwrite
        Replace an earlier demo's folder; never any other.
    threads
        How many threads; all processors when None.
    progress
        Told how far it is.

    Returns
    -------
    Demo
        The results and their scores.
    """
    final = Path(folder)
    if min(size) < _SMALLEST or any(n % FACTOR for n in size):
        raise OptionError(
            f"the demo's views are at least {_SMALLEST} pixels high and wide, both even, not {size[1]}x{size[0]}"
        )
    _check_ours(final, overwrite)
    started = time.perf_counter()
    with replacing(final, overwrite=overwrite, folder=True) as temporary:
        scene = render_scene(size=size, seed=seed, threads=threads, progress=part(progress, 0, _RENDERED))
        truth = scene.lightfield
        with Workers(threads) as workers:
            low = degrade(truth, Camera(FACTOR), workers=workers)
        _compile(low, threads, part(progress, _RENDERED, _COMPILED))
        runs, begin = [], _COMPILED
        for method, share in METHODS.items():
            end = begin + share * (_RUN - _COMPILED)
            runs.append(_run(method, low, truth, threads, part(progress, begin, end, f"{method}: ")))
            begin = end
        progress(Progress("writing views and pictures", _RUN))
        shown = _draw(temporary, scene, low, runs)
        for name, lf in {"truth": truth, "low": low, **{run.method: run.result for run in runs}}.items():
            write(lf, temporary / name, bits=8, threads=threads)
        _write_page(temporary / PAGE, truth, low, runs, threads, part(progress, _DRAWN, 1.0))
        demo = Demo(final, low, tuple(runs), shown, final / PAGE, time.perf_counter() - started)
        (temporary / _RECORD).write_text(json.dumps(demo.to_json(), indent=2) + "\n", encoding="utf-8")
    progress(Progress("done", 1.0))
    return demo


def _check_ours(folder: Path, overwrite: bool) -> None:
    """Refuse to replace a folder that no demo has made: its loss may not be meant."""
    check_free(folder, overwrite=overwrite, folder=True)
    if folder.is_dir() and any(folder.iterdir()) and not (folder / _RECORD).is_file():
        raise OutputError(f"{folder}: is no earlier demo's folder and is not replaced; choose another name")


def _compile(low: LightField, threads: int | None, progress: ProgressCallback) -> None:
    """Compile the kernels on a few pixels (cached after the first time), so that the times below are honest."""
    progress(Progress("compiling (the first time only)", 0.0))
    few = low.select(slice(2), slice(2)).crop(slice(40), slice(40))
    for number, method in enumerate(METHODS):
        upscale(few, FACTOR, method=method, threads=threads)
        progress(Progress("compiling (the first time only)", (number + 1) / len(METHODS)))


def _run(
    method: str, low: LightField, truth: LightField, threads: int | None, progress: ProgressCallback
) -> Run:
    started = time.perf_counter()
    result = upscale(low, FACTOR, method=method, threads=threads, progress=progress)
    seconds = time.perf_counter() - started
    return Run(method, result, evaluate(result, truth, border=BORDER), seconds)


def _write_page(
    path: Path,
    truth: LightField,
    low: LightField,
    runs: list[Run],
    threads: int | None,
    progress: ProgressCallback,
) -> None:
    """Write the page of all results; it opens with the low resolution on the left, the best method on the right."""
    named = {**{run.method: run.result for run in runs}, "low resolution": low, "truth": truth}
    *fields, original = (lf.with_views(lf.views, name=name) for name, lf in named.items())
    write_page(
        path,
        fields,
        truth=original,
        scored=Scored([*(run.scores.psnr for run in runs), None], how_measured("L", BORDER)),
        options=PageOptions(
            title=f"The built-in scene, raised {FACTOR} times", opens=(len(runs), list(METHODS).index(BEST))
        ),
        threads=threads,
        progress=progress,
    )


def _draw(folder: Path, scene: Scene, low: LightField, runs: list[Run]) -> dict[str, str]:
    """Write the pictures and return what each shows."""
    truth, middle = scene.lightfield, (low.grid[0] // 2, low.grid[1] // 2)
    by_name = {run.method: run for run in runs}
    best = by_name[BEST].result
    labels = {f"{run.method}  {run.scores.psnr[middle]:.2f} dB": run for run in runs}

    images = {
        "low resolution": low.views[middle],
        **{label: run.result.views[middle] for label, run in labels.items()},
        "truth": truth.views[middle],
    }
    details = [pictures.detail_sheet(images, crop, zoom=3) for crop in _crops(scene)]
    big = np.repeat(np.repeat(pictures.picture(low.views[middle]), FACTOR, 0), FACTOR, 1)
    halves = {
        "low resolution": big,
        f"{BEST} from {low.grid[0]} x {low.grid[1]} such views": best.views[middle],
    }
    errors = {
        label: pictures.error_map(run.result.views[middle], truth.views[middle], _ERROR_GAIN)
        for label, run in labels.items()
    }
    row = sum(scene.details["zone plate"][0].indices(truth.size[0])[:2]) // 2
    lines = {"bicubic": by_name["bicubic"].result, BEST: best, "truth": truth}
    epipolar = {
        f"{label}, row {row}": np.repeat(pictures.epipolar_image(lf, row=row, thickness=20), 2, 1)
        for label, lf in lines.items()
    }
    d = scene.disparity[middle]
    sheets: dict[str, tuple[NDArray[np.uint8], str]] = {
        "details.png": (
            np.vstack(details),
            "print, a clock, fine rings and wood, by each method",
        ),
        "before-after.png": (
            pictures.panel_sheet({k: pictures.picture(v) for k, v in halves.items()}),
            f"the middle view before and after {BEST}",
        ),
        "errors.png": (
            pictures.panel_sheet(errors, columns=2),
            f"distance from the truth, {_ERROR_GAIN:g} times brighter",
        ),
        "epipolar.png": (
            pictures.panel_sheet(epipolar, columns=1),
            f"row {row} in {low.grid[1]} views: straight lines are consistent views",
        ),
        "views.png": (pictures.contact_sheet(best), f"all views of the result, by {BEST}"),
        "disparity.png": (
            pictures.heat(d, float(d.min()), float(d.max())),
            "the true disparity: dark is far, light is near",
        ),
    }
    for name, (image, _) in sheets.items():
        pictures.save_png(image, folder / name)
    return {name: text for name, (_, text) in sheets.items()}


def _crops(scene: Scene) -> list[tuple[slice, slice]]:
    """Return windows of one size on the things that show most: small print, fine rings, a thin hand, an edge."""
    size = scene.lightfield.size
    side = min(_DETAIL, *size)

    def window(name: str, down: float, right: float) -> tuple[slice, slice]:
        found = []
        for extent, at, most in zip(scene.details[name], (down, right), size, strict=True):
            center = extent.start + at * (extent.stop - extent.start)
            start = min(max(round(center - side / 2), 0), most - side)
            found.append(slice(start, start + side))
        return found[0], found[1]

    return [
        window("page", 0.62, 0.32),
        window("clock", 0.42, 0.36),
        window("zone plate", 0.5, 0.5),
        window("log", 0.6, 0.35),
    ]
