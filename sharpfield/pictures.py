"""Pictures to look at a light field and at results: sheets of views and details, epipolar images, error maps.

All take arrays and give uint8 images (y, x, 3), with NumPy and Pillow alone. Labels stand on dark bars beside the
pixels, never on them; pixels are enlarged by whole factors without smoothing, so that what is seen is what is there.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image, ImageDraw, ImageFont

from sharpfield.errors import InputError, OptionError
from sharpfield.io.atomic import replacing
from sharpfield.lightfield import LightField

Picture = NDArray[np.uint8]  # (y, x, 3)

_PAPER, _INK = (24, 26, 30), (236, 236, 232)
_GAP = 4  # pixels between pictures
_TEXT = 15  # height of labels, in pixels

# a perceptual ramp from black over violet and orange to pale yellow: 0, 1/8, ... 1
_HEAT = np.array(
    [
        (0, 0, 4),
        (31, 12, 72),
        (85, 15, 109),
        (136, 34, 106),
        (186, 54, 85),
        (227, 89, 51),
        (249, 140, 10),
        (249, 201, 50),
        (252, 255, 164),
    ],
    np.float32,
)


def picture(image: ArrayLike) -> Picture:
    """Return an image (y, x), (y, x, 1) or (y, x, 3), uint8 or float in [0, 1], as uint8 (y, x, 3)."""
    array = np.asarray(image)
    if array.ndim == 2:
        array = array[..., None]
    if array.ndim != 3 or array.shape[2] not in (1, 3) or 0 in array.shape:
        raise InputError(
            f"a picture has the axes (y, x) or (y, x, c) with 1 or 3 channels, not {array.shape}"
        )
    if array.dtype != np.uint8:
        if not np.issubdtype(array.dtype, np.floating):
            raise InputError(f"a picture is uint8 or float in [0, 1], not {array.dtype}")
        array = np.floor(np.clip(np.nan_to_num(array), 0, 1) * 255 + 0.5).astype(np.uint8)
    return np.repeat(array, 3, axis=2) if array.shape[2] == 1 else array


def contact_sheet(lf: LightField, max_width: int = 1600) -> Picture:
    """Return all views as they lie in the grid, scaled down to fit `max_width`, with their rows and columns."""
    rows, columns = lf.grid
    bar = _TEXT + 2 * _GAP
    room = (max_width - bar - (columns + 1) * _GAP) // columns
    if room < 1:
        raise OptionError(f"a sheet of {columns} columns does not fit a width of {max_width} pixels")
    width = min(room, lf.size[1])
    height = max(1, round(lf.size[0] * width / lf.size[1]))
    down, right = height + _GAP, width + _GAP
    sheet = Image.new("RGB", (bar + columns * right + _GAP, bar + rows * down + _GAP), _PAPER)
    draw = ImageDraw.Draw(sheet)
    for u in range(columns):
        _label(draw, f"u={u}", bar + u * right + width / 2, bar / 2, width)
    for v in range(rows):
        for u in range(columns):
            view = Image.fromarray(picture(lf.views[v, u]))
            if (width, height) != view.size:
                view = view.resize((width, height), Image.Resampling.LANCZOS)
            sheet.paste(view, (bar + u * right, bar + v * down))
        side = Image.new("RGB", (height, bar), _PAPER)
        _label(ImageDraw.Draw(side), f"v={v}", height / 2, bar / 2, height)
        sheet.paste(side.rotate(90, expand=True), (0, bar + v * down))
    return np.asarray(sheet)


def detail_sheet(
    images: Mapping[str, ArrayLike], crop: tuple[slice, slice], zoom: int = 4, *, columns: int | None = None
) -> Picture:
    """Return the same detail of several images side by side, each under its label.

    Parameters
    ----------
    images
        Label to image (y, x, c). An image that is a whole factor smaller than the largest (the low resolution)
        shows the same detail in larger pixels.
    crop
        The rows and columns of the detail, in pixels of the largest image.
    zoom
        How many pixels of the sheet a pixel of the largest image becomes, along each axis.
    columns
        Details a row of the sheet; all in one row when None.
    """
    if not isinstance(zoom, int) or zoom < 1:
        raise OptionError(f"zoom must be a whole number of at least 1, not {zoom!r}")
    pictures = {label: picture(image) for label, image in images.items()}
    if not pictures:
        raise OptionError("a detail sheet needs at least one image")
    height, width = np.max([image.shape[:2] for image in pictures.values()], axis=0)
    y, x = range(height)[crop[0]], range(width)[crop[1]]
    if len(y) == 0 or len(x) == 0 or (y.step, x.step) != (1, 1):
        raise OptionError(f"the detail {_window(crop)} is not a window of images of {width}x{height}")
    details = {}
    for label, image in pictures.items():
        factor = _factor(label, image, (int(height), int(width)))
        inside = image[np.minimum(np.asarray(y) // factor, image.shape[0] - 1)]
        inside = inside[:, np.minimum(np.asarray(x) // factor, image.shape[1] - 1)]
        details[label] = _enlarged(inside, zoom, zoom)
    return panel_sheet(details, columns=columns)


def panel_sheet(panels: Mapping[str, Picture], *, columns: int | None = None) -> Picture:
    """Return pictures beside each other (in rows of `columns`; one row when None), each under its label."""
    if not panels:
        raise OptionError("a sheet needs at least one picture")
    columns = len(panels) if columns is None else columns
    if columns < 1:
        raise OptionError(f"a sheet has at least one column, not {columns}")
    bar = _TEXT + 2 * _GAP
    wide = max(max(image.shape[1] for image in panels.values()), *map(_text_width, panels))
    items = list(panels.items())
    rows = [items[start : start + columns] for start in range(0, len(items), columns)]
    heights = [bar + max(image.shape[0] for _, image in row) for row in rows]
    size = (min(columns, len(items)) * (wide + _GAP) + _GAP, sum(heights) + _GAP)
    sheet = Image.new("RGB", size, _PAPER)
    draw = ImageDraw.Draw(sheet)
    for number, row in enumerate(rows):
        top = sum(heights[:number])
        for column, (label, image) in enumerate(row):
            left = _GAP + column * (wide + _GAP)
            _label(draw, label, left + wide / 2, top + bar / 2, wide)
            sheet.paste(Image.fromarray(picture(image)), (left + (wide - image.shape[1]) // 2, top + bar))
    return np.asarray(sheet)


def epipolar_image(
    lf: LightField,
    *,
    row: int | None = None,
    v: int | None = None,
    column: int | None = None,
    u: int | None = None,
    thickness: int = 8,
) -> Picture:
    """Return one line of pixels as all views of a row (or column) of the grid see it, view under view.

    A scene point draws a line in it whose slope is its disparity: to the left, view by view, when d > 0.

    Parameters
    ----------
    row, v
        The line of pixels, in the row v of views (the middle one when None): (u, x) is shown.
    column, u
        Or the column of pixels, in the column u of views: (v, y) is shown, y to the right.
    thickness
        How many pixels of the picture a view's line is high.
    """
    if (row is None) == (column is None):
        raise OptionError("an epipolar image is of one row or of one column: give either row= or column=")
    if thickness < 1:
        raise OptionError(f"thickness must be at least 1, not {thickness}")
    if row is not None:
        if u is not None:
            raise OptionError("an epipolar image of a row goes across u: give v=, not u=")
        _check_index(row, lf.size[0], "row")
        v = lf.grid[0] // 2 if v is None else v
        _check_index(v, lf.grid[0], "v")
        lines = lf.views[v, :, row]
    else:
        assert column is not None
        if v is not None:
            raise OptionError("an epipolar image of a column goes across v: give u=, not v=")
        _check_index(column, lf.size[1], "column")
        u = lf.grid[1] // 2 if u is None else u
        _check_index(u, lf.grid[1], "u")
        lines = lf.views[:, u, :, column]
    return _enlarged(picture(lines), thickness, 1)


def error_map(result: ArrayLike, truth: ArrayLike, gain: float = 8.0) -> Picture:
    """Return the mean absolute difference over the channels as heat: white hot at 1 / gain and above."""
    one, other = np.asarray(result, np.float32), np.asarray(truth, np.float32)
    if one.shape != other.shape or one.ndim not in (2, 3):
        raise InputError(
            f"an error map compares two images of one shape, not {_shape(one)} and {_shape(other)}"
        )
    if not gain > 0:
        raise OptionError(f"gain must be above 0, not {gain!r}")
    difference = np.abs(one - other)
    return heat((difference.mean(axis=2) if difference.ndim == 3 else difference) * np.float32(gain))


def heat(values: ArrayLike, low: float = 0.0, high: float = 1.0) -> Picture:
    """Return values (y, x) as colours from black (low) to pale yellow (high): a disparity map, an error."""
    array = np.asarray(values, np.float32)
    if array.ndim != 2 or array.size == 0:
        raise InputError(f"a heat map shows values (y, x), not {_shape(array)}")
    if not low < high:
        raise OptionError(f"the range of a heat map must ascend; {low:g} is not less than {high:g}")
    at = np.clip((np.nan_to_num(array) - low) / (high - low), 0, 1) * (len(_HEAT) - 1)
    first = np.minimum(at.astype(np.intp), len(_HEAT) - 2)
    weight = (at - first)[..., None]
    return np.floor(_HEAT[first] * (1 - weight) + _HEAT[first + 1] * weight + 0.5).astype(np.uint8)


def save_png(image: ArrayLike, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Write a picture as PNG; its name appears when it is whole."""
    pixels, final = Image.fromarray(picture(image)), Path(path)
    with replacing(final, overwrite=overwrite) as temporary:
        pixels.save(temporary, format="PNG")
    return final


def _enlarged(image: Picture, down: int, right: int) -> Picture:
    return np.repeat(np.repeat(image, down, axis=0), right, axis=1)


def _factor(label: str, image: Picture, size: tuple[int, int]) -> int:
    """Return by which whole factor an image is smaller than the largest (whose last rows it may lack)."""
    height, width = image.shape[:2]
    factor = round(size[0] / height)
    if not (0 <= size[0] - factor * height < factor and 0 <= size[1] - factor * width < factor):
        raise InputError(
            f"{label}: {width}x{height} is not the largest image's {size[1]}x{size[0]}, nor a whole factor smaller"
        )
    return factor


def _check_index(value: int, count: int, name: str) -> None:
    if not 0 <= value < count:
        raise OptionError(f"{name} must be from 0 to {count - 1}, not {value}")


def _font() -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size=_TEXT)


def _text_width(text: str) -> int:
    return int(_font().getlength(text)) + 2


def _label(draw: ImageDraw.ImageDraw, text: str, x: float, y: float, room: float) -> None:
    """Write a text around (x, y), unless it is wider than its room."""
    if _text_width(text) <= room:
        draw.text((x, y), text, fill=_INK, font=_font(), anchor="mm")


def _shape(array: NDArray[np.floating]) -> str:
    return "x".join(map(str, array.shape)) or "a number"


def _window(crop: tuple[slice, slice]) -> str:
    return f"rows {crop[0].start}:{crop[0].stop}, columns {crop[1].start}:{crop[1].stop}"
