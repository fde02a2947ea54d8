"""A lenslet image as Lytro's programs export it (ESLF): each block of 14x14 pixels holds one pixel of every view.

Pixel (r, c) of a block belongs to the view in row r and column c; the order is sharpfield's own. A round lenslet
does not light the corners of its block, so the outer views are dark: they are left out unless views are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sharpfield.errors import InputError
from sharpfield.io.content import read_bytes
from sharpfield.io.mosaic import is_picture, write_picture
from sharpfield.io.pictures import decode
from sharpfield.io.source import Format, Picture, ReadOptions, Samples, ViewSource
from sharpfield.lightfield import LightField
from sharpfield.progress import Progress, ProgressCallback, silent

GRID = (14, 14)

# a view with less than this part of the central views' brightness is dark
_DARK = 0.5

# in a mosaic the brightness does not depend on the place in a block: to this part of the mean, or of the noise
_UNEVEN, _UNEVEN_NOISE = 0.1, 3.0

# differences at edges of blocks and of tiles are told apart when one exceeds the other by this factor
_CLEAR = 1.1


def sniff(path: Path, options: ReadOptions) -> bool:
    """Whether a picture is named so, or, with a grid, is interleaved rather than tiled."""
    if not is_picture(path):
        return False
    if "eslf" in path.name.lower():
        return True
    if options.grid is None:
        return False
    try:
        return is_interleaved(decode(read_bytes(path), str(path)).samples, options.grid)
    except InputError:
        return False  # whoever reads it says what is wrong


@contextmanager
def open_eslf(path: Path, options: ReadOptions) -> Iterator[ViewSource]:
    """Open a lenslet image; without a grid, blocks have 14x14 pixels."""
    rows, columns = options.grid or GRID
    picture = decode(read_bytes(path), str(path))
    height, width, channels = picture.samples.shape
    y, x = height // rows, width // columns
    if not (x and y) or rows * columns == 1:
        raise InputError(
            f"{path}: {width}x{height} pixels hold no light field in blocks of {rows}x{columns}; correct --grid"
        )
    notes: tuple[str, ...] = (
        f"read as a lenslet image with blocks of {rows}x{columns} (if views are tiled: --from mosaic)",
    )
    if (y * rows, x * columns) != (height, width):
        notes = (
            *notes,
            f"{height - y * rows} rows and {width - x * columns} columns beyond the last block left out",
        )
    blocks: Samples = picture.samples[: y * rows, : x * columns].reshape(y, rows, x, columns, channels)
    v, u = slice(0, rows), slice(0, columns)
    if options.views is None:
        v, u = lit_views(blocks.mean(axis=(0, 2, 4)))
        if (v, u) != (slice(0, rows), slice(0, columns)):
            notes = (
                *notes,
                f"dark outer views left out: rows {v.start}:{v.stop} and columns {u.start}:{u.stop} of "
                f"{rows}x{columns} kept (all: --views 0:{rows},0:{columns})",
            )

    def load(row: int, column: int) -> Picture:
        return Picture(blocks[:, v.start + row, :, u.start + column], picture.bits)

    yield ViewSource(
        name=path.stem,
        source=str(path),
        grid=(v.stop - v.start, u.stop - u.start),
        size=(y, x),
        channels=channels,
        load=load,
        notes=(*picture.notes, *notes),
    )


def lit_views(brightness: NDArray[np.float64]) -> tuple[slice, slice]:
    """Return the largest block of rows and columns without a dark view, taking away side by side.

    Parameters
    ----------
    brightness
        Mean of every view, (v, u).
    """
    rows, columns = brightness.shape
    middle = brightness[rows // 3 : rows - rows // 3, columns // 3 : columns - columns // 3]
    lit = brightness >= _DARK * np.median(middle)
    top, bottom, left, right = 0, rows, 0, columns
    while bottom - top > 1 and right - left > 1 and not lit[top:bottom, left:right].all():
        block = lit[top:bottom, left:right]
        # the side with most dark views goes
        sides = {
            "top": 1 - block[0].mean(),
            "bottom": 1 - block[-1].mean(),
            "left": 1 - block[:, 0].mean(),
            "right": 1 - block[:, -1].mean(),
        }
        worst = max(sides, key=lambda side: sides[side])
        if sides[worst] == 0:
            break  # a dark view in the middle is the scene's, not the lens's
        top, bottom = top + (worst == "top"), bottom - (worst == "bottom")
        left, right = left + (worst == "left"), right - (worst == "right")
    return slice(top, bottom), slice(left, right)


def is_interleaved(picture: Samples, grid: tuple[int, int]) -> bool:
    """Tell a lenslet image from a mosaic of the same grid.

    Either the brightness depends on the place in the block (dark corners), or neighbours on both sides of a
    block's edge differ more than neighbours inside (they are opposite views), while in a mosaic they differ at
    the edges of tiles.
    """
    rows, columns = grid
    y, x = picture.shape[0] // rows, picture.shape[1] // columns
    if not (x and y):
        return False
    gray = picture[: y * rows, : x * columns].mean(axis=2, dtype=np.float32)
    by_place = gray.reshape(y, rows, x, columns).mean(axis=(0, 2))
    noise = gray.std() / np.sqrt(y * x)
    if by_place.std() > max(_UNEVEN * by_place.mean(), _UNEVEN_NOISE * noise):
        return True
    across = np.abs(np.diff(gray, axis=1)).mean(axis=0)
    down = np.abs(np.diff(gray, axis=0)).mean(axis=1)
    blocks = _step(across, columns) + _step(down, rows)
    tiles = _step(across, x) + _step(down, y)
    if max(blocks, tiles) > _CLEAR * min(blocks, tiles):
        return blocks > tiles
    return grid == GRID  # nothing tells; mosaics of 14x14 are not usual, lenslet images are


def _step(difference: NDArray[np.float32], period: int) -> float:
    """Return how much larger differences are at every period-th place than elsewhere."""
    if period < 2 or difference.size < period:
        return 1.0
    edge = np.zeros(difference.size, bool)
    edge[period - 1 :: period] = True
    return float(difference[edge].mean() / max(difference[~edge].mean(), 1e-6))


def write(
    lf: LightField,
    path: Path,
    *,
    overwrite: bool = False,
    bits: int | None = None,
    threads: int | None = None,
    progress: ProgressCallback = silent,
) -> None:
    """Write a lenslet image with blocks as large as the grid."""
    (rows, columns), (height, width) = lf.grid, lf.size
    picture = lf.views.transpose(2, 0, 3, 1, 4).reshape(height * rows, width * columns, lf.channels)
    write_picture(picture, lf, path, overwrite=overwrite, bits=bits)
    progress(Progress("writing the lenslet image", 1.0))


FORMAT = Format(
    name="eslf",
    description="lenslet image: each block of 14x14 pixels (or --grid) holds one pixel of every view; name_eslf.png",
    sniff=sniff,
    open=open_eslf,
    write=write,
    ending=r"_eslf\.(png|jpe?g|bmp|tiff?)",
    suffixes=("_eslf.png", "_eslf.jpg", "_eslf.bmp", "_eslf.tif"),
    keeps_grid=False,
)
