"""Figures for print, drawn with matplotlib: details, epipolar images, error maps, the grid of views; PNG and PDF.

The only file that knows the plotting library. What is shown comes from `pictures`; here it is laid out and labelled.
Pixels are never smoothed, and text stays text in a PDF.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sharpfield import pictures
from sharpfield.errors import OptionError, SharpfieldError
from sharpfield.figures.choice import MOST_WINDOWS, Choice, Loaded, Window, best_windows, load
from sharpfield.io.atomic import check_free, replacing
from sharpfield.progress import Progress, ProgressCallback, silent
from sharpfield.sidebyside import Shown, Subject

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KINDS = ("details", "epipolar", "errors", "views")
FORMATS = ("png", "pdf")

_WIDTH = 7.16  # inches: a page of the paper's journal, both columns
_DPI = 300
_TEXT = 7  # points
_LABEL = 0.22  # inches of height that a label takes
_MARKS = ("#e5484d", "#2f80ed", "#2da44e", "#b57614")  # of the windows, where the whole view is shown
_SHEET_WIDTH = 2000  # pixels of the grid of views
_EPI_LINE = 8  # pixels that a view's line is high

assert len(_MARKS) == MOST_WINDOWS


def draw(
    subject: Subject,
    folder: str | Path,
    *,
    kinds: Sequence[str] = KINDS,
    choice: Choice | None = None,
    formats: Sequence[str] = FORMATS,
    overwrite: bool = False,
    progress: ProgressCallback = silent,
) -> list[Path]:
    """Draw figures of a subject and return their files, NAME-KIND.png and NAME-KIND.pdf.

    Parameters
    ----------
    subject
        Whose figures.
    folder
        Where they go.
    kinds
        Some of `KINDS`: `details` of a view across methods, `epipolar` images of one line across methods, `errors`
        against the truth, `views`, the grid of all views of the last method.
    choice
        Which view, which details, which line.
    formats
        Some of `FORMATS`.
    overwrite
        Replace files that are there.
    progress
        Told after every figure.
    """
    for given, known, what in ((kinds, KINDS, "kind of figure"), (formats, FORMATS, "format of a figure")):
        for each in given:
            if each not in known:
                raise OptionError(f"no {what} is called {each!r}; there are {', '.join(known)}")
    _check_library()
    kinds = [kind for kind in kinds if kind != "errors" or subject.truth is not None]
    files = {kind: [Path(folder) / f"{subject.name}-{kind}.{form}" for form in formats] for kind in kinds}
    for path in (path for paths in files.values() for path in paths):
        check_free(path, overwrite=overwrite, folder=False)
    choice = choice or Choice()
    loaded = load(subject, choice)
    windows = choice.windows or best_windows(loaded)
    made = []
    for number, kind in enumerate(kinds):
        progress(Progress(f"{subject.name}: {kind}", number / len(kinds)))
        if kind == "details":
            figure = _details(loaded, windows)
        elif kind == "epipolar":
            middle = (windows[0][0].start + windows[0][0].stop) // 2
            figure = _epipolar(loaded, middle if choice.row is None else choice.row)
        elif kind == "errors":
            figure = _errors(loaded, choice.gain)
        else:
            figure = _views(subject.results[-1])
        for path in files[kind]:
            _save(figure, path, overwrite)
            made.append(path)
    progress(Progress(f"{subject.name}: drawn", 1.0))
    return made


def _details(loaded: Loaded, windows: Sequence[Window]) -> Figure:
    """Lay out windows of one view, method by method, after the whole view with the windows marked in it."""
    columns: list[tuple[str, NDArray[np.float32]]] = []
    if loaded.low is not None:
        columns.append(("low resolution", loaded.view(loaded.low)))
    columns += [(loaded.label(name, lf), loaded.view(lf)) for name, lf in loaded.results.items()]
    if loaded.truth is not None:
        columns.append(("original", loaded.view(loaded.truth)))
    height, width = loaded.size
    # the whole view stands on the left, as high as the rows of details beside it
    tallest = max(_length(w[0]) / _length(w[1]) for w in windows)
    whole = width / height * tallest * len(windows)
    unit = _WIDTH / (whole + len(columns))
    figure = _figure(unit * tallest * len(windows) + 3 * _LABEL)
    grid = figure.add_gridspec(
        len(windows), len(columns) + 1, width_ratios=[whole, *[1] * len(columns)], wspace=0.04, hspace=0.12
    )
    axes = figure.add_subplot(grid[:, 0])
    shown = loaded.view(loaded.truth or list(loaded.results.values())[-1])
    _image(axes, pictures.picture(shown), loaded.place)
    for (y, x), mark in zip(windows, _MARKS, strict=False):
        corner, high, wide = (x.start - 0.5, y.start - 0.5), _length(y), _length(x)
        axes.add_patch(_rectangle(corner, wide, high, mark))
    for at, (y, x) in enumerate(windows):
        for number, (label, view) in enumerate(columns):
            factor = height / view.shape[0]
            axes = figure.add_subplot(grid[at, number + 1])
            last = at == len(windows) - 1
            letter = f"({chr(ord('a') + number)}) " if number < 26 else ""
            _image(axes, pictures.picture(view), letter + _broken(label) if last else "", factor)
            axes.set_xlim(x.start - 0.5, x.stop - 0.5)
            axes.set_ylim(y.stop - 0.5, y.start - 0.5)
            _frame(axes, _MARKS[at % len(_MARKS)])
    return figure


def _epipolar(loaded: Loaded, row: int) -> Figure:
    """Stack the epipolar images of one line: the original above, then method by method, as in the paper."""
    stack = [] if loaded.truth is None else [("original", loaded.truth)]
    stack += loaded.results.items()
    images = [(name, pictures.epipolar_image(lf, row=row, v=0, thickness=_EPI_LINE)) for name, lf in stack]
    height, width = images[0][1].shape[:2]
    each = min(max(_WIDTH * height / width, 0.3), 0.7) + _LABEL
    figure = _figure(each * len(images) + _LABEL)
    rows = figure.subplots(len(images), 1, squeeze=False)[:, 0]
    for axes, (name, image) in zip(rows, images, strict=True):
        _image(axes, image)
        axes.set_aspect("auto")
        axes.set_title(name, fontsize=_TEXT, pad=2, loc="left")
    title = f"row {row} as the {stack[0][1].grid[1]} views of row v = {loaded.v} see it"
    rows[-1].set_xlabel(title, fontsize=_TEXT, labelpad=3)
    return figure


def _errors(loaded: Loaded, gain: float) -> Figure:
    """Show how far every method is from the truth, as heat, with its scale."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize

    assert loaded.truth is not None
    truth, count = loaded.view(loaded.truth), len(loaded.results)
    columns = count if count <= 3 else math.ceil(math.sqrt(count))
    rows = -(-count // columns)
    height, width = loaded.size
    figure = _figure(rows * (0.94 * _WIDTH / columns * height / width + _LABEL))
    places = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, (name, lf) in zip(places, loaded.results.items(), strict=False):
        _image(axes, pictures.error_map(loaded.view(lf), truth, gain), loaded.label(name, lf))
    for axes in places[count:]:
        axes.set_axis_off()
    ramp = ListedColormap(pictures.heat(np.linspace(0, 1, 256, dtype=np.float32)[np.newaxis])[0] / 255)
    scale = ScalarMappable(Normalize(0, 255 / gain), ramp)
    bar = figure.colorbar(scale, ax=list(places), fraction=0.03, pad=0.01)
    bar.set_label(f"absolute error of {loaded.place}, levels of 255", fontsize=_TEXT)
    bar.ax.tick_params(labelsize=_TEXT)
    return figure


def _views(shown: Shown) -> Figure:
    """Show all views as they lie in the grid."""
    sheet = pictures.contact_sheet(shown.all(), _SHEET_WIDTH)
    figure = _figure(_WIDTH * sheet.shape[0] / sheet.shape[1] + _LABEL)
    _image(figure.subplots(), sheet, f"all views, {shown.label}")
    return figure


def _check_library() -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise SharpfieldError(
            "figures need matplotlib, which is not installed; pip install 'sharpfield[figures]' brings it"
        ) from None


def _figure(height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure((_WIDTH, height), layout="compressed")


def _image(axes: Axes, image: pictures.Picture, label: str = "", factor: float = 1.0) -> None:
    """Show an image, its pixels as they are; `factor` high-resolution pixels a pixel of it."""
    height, width = image.shape[:2]
    extent = (-0.5, width * factor - 0.5, height * factor - 0.5, -0.5)
    axes.imshow(image, interpolation="none", extent=extent)
    axes.set_xticks([])
    axes.set_yticks([])
    if label:
        axes.set_xlabel(label, fontsize=_TEXT, labelpad=2)


def _frame(axes: Axes, shade: str) -> None:
    for spine in axes.spines.values():
        spine.set_color(shade)


def _rectangle(corner: tuple[float, float], width: float, height: float, shade: str) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle(corner, width, height, fill=False, edgecolor=shade, linewidth=0.8)


def _save(figure: Figure, path: Path, overwrite: bool) -> None:
    """Write a figure, whole or not at all; without a date, so that the same figure is the same file."""
    import matplotlib

    form = path.suffix[1:]
    metadata: dict[str, Any] = {"CreationDate": None} if form == "pdf" else {"Software": "sharpfield"}
    with (
        replacing(path, overwrite=overwrite) as temporary,
        matplotlib.rc_context({"pdf.fonttype": 42, "font.size": _TEXT}),
    ):
        figure.savefig(
            temporary, format=form, dpi=_DPI, bbox_inches="tight", pad_inches=0.02, metadata=metadata
        )


def _broken(label: str) -> str:
    """Return a label in lines that fit under a detail: the method, what is special about it, its PSNR."""
    return label.replace("  ", "\n").replace(" (", "\n(")


def _length(window: slice) -> int:
    return int(window.stop - window.start)
