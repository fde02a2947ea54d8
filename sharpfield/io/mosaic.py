"""A mosaic: all views of a light field tiled in one picture, row by row, from the top left."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from sharpfield.errors import InputError
from sharpfield.io.atomic import check_free, replacing
from sharpfield.io.content import first_bytes, read_bytes
from sharpfield.io.pictures import check_bits, decode, encode, kind_for, kind_of
from sharpfield.io.source import Format, Picture, ReadOptions, Samples, ViewSource
from sharpfield.lightfield import LightField
from sharpfield.progress import Progress, ProgressCallback, silent


def sniff(path: Path, options: ReadOptions) -> bool:
    """Any picture that no other format claims."""
    return is_picture(path)


def is_picture(path: Path) -> bool:
    """Whether the content of a file is a picture that can be decoded."""
    return kind_of(first_bytes(path, 16)) is not None


@contextmanager
def open_mosaic(path: Path, options: ReadOptions) -> Iterator[ViewSource]:
    """Open a mosaic; the grid must be said."""
    if options.grid is None:
        raise InputError(
            f"{path}: is a single picture; if it holds all views side by side say --grid ROWSxCOLUMNS such as 9x9, "
            "if it is a Lytro lenslet image say --from eslf, if it is one view give the folder of all views "
            "(for a photograph use a single-image upscaler)"
        )
    rows, columns = options.grid
    picture = decode(read_bytes(path), str(path))
    height, width, channels = picture.samples.shape
    if rows * columns == 1:
        raise InputError(
            f"{path}: a grid of 1x1 is a single view, no light field; use a single-image upscaler"
        )
    if height % rows or width % columns:
        raise InputError(
            f"{path}: {width}x{height} pixels do not divide into a grid of {rows}x{columns} views "
            f"({_nearest(height, rows)} rows and {_nearest(width, columns)} columns would); correct --grid"
        )
    y, x = height // rows, width // columns
    tiles: Samples = picture.samples.reshape(rows, y, columns, x, channels)

    def load(v: int, u: int) -> Picture:
        return Picture(tiles[v, :, u], picture.bits)

    yield ViewSource(
        name=path.stem,
        source=str(path),
        grid=(rows, columns),
        size=(y, x),
        channels=channels,
        load=load,
        notes=picture.notes,
    )


def _nearest(length: int, parts: int) -> int:
    """Return the number of parts nearest to the asked one that divides a length."""
    return min((n for n in range(1, length + 1) if length % n == 0), key=lambda n: (abs(n - parts), n))


def write(
    lf: LightField,
    path: Path,
    *,
    overwrite: bool = False,
    bits: int | None = None,
    threads: int | None = None,
    progress: ProgressCallback = silent,
) -> None:
    """Write all views into one picture."""
    write_picture(tile(lf), lf, path, overwrite=overwrite, bits=bits)
    progress(Progress("writing the mosaic", 1.0))


def tile(lf: LightField) -> Samples:
    """Return the views side by side as one picture (y, x, c)."""
    (rows, columns), (height, width) = lf.grid, lf.size
    return lf.views.transpose(0, 2, 1, 3, 4).reshape(rows * height, columns * width, lf.channels)


def write_picture(picture: Samples, lf: LightField, path: Path, *, overwrite: bool, bits: int | None) -> None:
    """Write one picture that holds a light field, with its bits unless others are asked for."""
    kind = kind_for(path.suffix or ".png")
    if bits is None:
        bits = 16 if lf.bits == 32 and kind == "png" else lf.bits
    check_bits(kind, bits)
    check_free(path, overwrite=overwrite, folder=False)
    with replacing(path, overwrite=overwrite) as temporary:
        temporary.write_bytes(encode(np.ascontiguousarray(picture), kind, bits))


FORMAT = Format(
    name="mosaic",
    description="all views side by side in one picture, row by row; needs the grid (--grid 9x9)",
    sniff=sniff,
    open=open_mosaic,
    write=write,
    ending=r"\.(png|jpe?g|bmp)",
    suffixes=(".png", ".jpg", ".jpeg", ".bmp"),
    keeps_grid=False,
)
