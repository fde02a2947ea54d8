"""A quilt for light field displays: `name_qs8x6a0.75.png`, views of one line of cameras tiled in a picture.

8 columns by 6 rows of tiles, each of the aspect ratio 0.75. View 0 is the leftmost camera and the tile at the
bottom left; the next ones go to the right, then up. As a light field it is one row of views.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from sharpfield.errors import InputError, OptionError
from sharpfield.io.content import read_bytes
from sharpfield.io.mosaic import is_picture, write_picture
from sharpfield.io.pictures import decode
from sharpfield.io.source import Format, Picture, ReadOptions, ViewSource
from sharpfield.lightfield import LightField
from sharpfield.progress import Progress, ProgressCallback, silent

_TAG = re.compile(
    r"_qs(?P<columns>\d{1,3})x(?P<rows>\d{1,3})(a(?P<aspect>\d*\.?\d+))?(?=[._]|$)", re.IGNORECASE
)


def sniff(path: Path, options: ReadOptions) -> bool:
    """Named as a quilt, and a picture."""
    return _TAG.search(path.name) is not None and is_picture(path)


@contextmanager
def open_quilt(path: Path, options: ReadOptions) -> Iterator[ViewSource]:
    """Open a quilt; its name says how many tiles."""
    columns, rows, aspect = _tag_of(path, InputError)
    picture = decode(read_bytes(path), str(path))
    height, width, channels = picture.samples.shape
    y, x = height // rows, width // columns
    if columns * rows < 2:
        raise InputError(
            f"{path}: a quilt of one tile is a single view, no light field; use a single-image upscaler"
        )
    if not (x and y):
        raise InputError(
            f"{path}: {width}x{height} pixels are too few for {columns}x{rows} tiles; correct its name"
        )
    notes = picture.notes
    if (rows * y, columns * x) != (height, width):
        notes = (
            *notes,
            f"{width - columns * x} columns and {height - rows * y} rows beyond the tiles left out",
        )

    def load(v: int, u: int) -> Picture:
        up, across = divmod(u, columns)
        top = height - (up + 1) * y  # the first row of tiles is at the bottom
        return Picture(picture.samples[top : top + y, across * x : (across + 1) * x], picture.bits)

    yield ViewSource(
        name=_TAG.sub("", path.stem) or path.stem,
        source=str(path),
        grid=(1, rows * columns),
        size=(y, x),
        channels=channels,
        load=load,
        notes=notes,
        metadata={"quilt": {"columns": columns, "rows": rows, "aspect": aspect}},
    )


def write(
    lf: LightField,
    path: Path,
    *,
    overwrite: bool = False,
    bits: int | None = None,
    threads: int | None = None,
    progress: ProgressCallback = silent,
) -> None:
    """Write one row of views as a quilt; the path's name says how they are tiled."""
    count = lf.grid[0] * lf.grid[1]
    if lf.grid[0] != 1:
        raise OptionError(
            f"{path}: a quilt holds one row of views, this light field has {lf.grid[0]}; "
            f"select one (--views 1x{lf.grid[1]})"
        )
    if _TAG.search(path.name) is None:
        raise OptionError(f"{path}: a quilt is named by its tiles; call it {suggested_name(path, lf)}")
    columns, rows, _ = _tag_of(path, OptionError)
    if columns * rows != count:
        raise OptionError(
            f"{path}: {columns}x{rows} tiles do not hold {count} views; call it {suggested_name(path, lf)}"
        )
    height, width = lf.size
    tiles = lf.views[0].reshape(rows, columns, height, width, lf.channels)[::-1]
    picture = np.ascontiguousarray(tiles.transpose(0, 2, 1, 3, 4)).reshape(rows * height, columns * width, -1)
    write_picture(picture, lf, path, overwrite=overwrite, bits=bits)
    progress(Progress("writing the quilt", 1.0))


def suggested_name(path: Path, lf: LightField) -> str:
    """Return a name for a quilt of a light field: tiles as nearly square as the number of views allows."""
    count = lf.grid[0] * lf.grid[1]
    rows = max(n for n in range(1, math.isqrt(count) + 1) if count % n == 0)
    aspect = f"{lf.size[1] / lf.size[0]:.3f}".rstrip("0").rstrip(".")
    stem = _TAG.sub("", path.stem) or "quilt"
    return f"{stem}_qs{count // rows}x{rows}a{aspect}{path.suffix or '.png'}"


def _tag_of(path: Path, kind: type[InputError] | type[OptionError]) -> tuple[int, int, float | None]:
    match = _TAG.search(path.name)
    if match is None or 0 in (int(match["columns"]), int(match["rows"])):
        raise kind(
            f"{path}: a quilt is named by its columns, rows and aspect, as in name_qs8x6a0.75.png; rename it"
        )
    return int(match["columns"]), int(match["rows"]), float(match["aspect"]) if match["aspect"] else None


FORMAT = Format(
    name="quilt",
    description="quilt for light field displays: name_qs8x6a0.75.png, one row of views, bottom left first",
    sniff=sniff,
    open=open_quilt,
    write=write,
    ending=r"_qs\d+x\d+(a\d*\.?\d+)?\.(png|jpe?g|bmp|tiff?)",
    suffixes=("_qs8x6a0.75.png", "_qs8x6.jpg", "_qs8x6.bmp", "_qs8x6.tif"),
)
