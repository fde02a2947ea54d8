"""A folder of views, one picture a view: the form in which most light fields travel."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sharpfield.errors import InputError, OptionError, OutputError
from sharpfield.io.atomic import explain, replacing
from sharpfield.io.content import read_bytes
from sharpfield.io.hci2016 import CONFIG, parameters
from sharpfield.io.names import Arrangement, arrange, named
from sharpfield.io.pictures import SUFFIXES, check_bits, decode, encode, kind_for
from sharpfield.io.record import COMPANION, companion, of_companion
from sharpfield.io.source import Format, Picture, ReadOptions, ViewSource
from sharpfield.lightfield import LightField
from sharpfield.parallel import Workers
from sharpfield.progress import Progress, ProgressCallback, silent

# files that hold a whole light field
_WHOLE = (".h5", ".hdf5", ".mat", ".npz", ".zip", ".lfp", ".lfr")

# beside the views, what a folder of them may hold and still be replaced as a whole
_COMPANIONS = (".json", ".cfg", ".txt", ".md", ".pfm")


def sniff(path: Path, options: ReadOptions) -> bool:
    """Any folder."""
    return path.is_dir()


@contextmanager
def open_folder(path: Path, options: ReadOptions) -> Iterator[ViewSource]:
    """Open a folder of views."""
    names = picture_names(path)
    if not names:
        raise InputError(_no_pictures(path))
    config: dict[str, str] = {}
    if (path / CONFIG).is_file():
        config = parameters(read_bytes(path / CONFIG).decode("utf-8", "replace"), str(path))
    arrangement = arrange(names, str(path), pattern=options.pattern, grid=options.grid, config=config)

    def content(name: str) -> bytes:
        return read_bytes(path / name)

    made = read_bytes(path / COMPANION) if (path / COMPANION).is_file() else None
    metadata, notes = known(config, made)
    yield view_source(
        arrangement, content, name=path.resolve().name, place=str(path), metadata=metadata, notes=notes
    )


def known(config: Mapping[str, str], made: bytes | None) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return metadata and notes from the files beside the views: parameters of HCI 2016, and how they were made."""
    metadata: dict[str, Any] = {"parameters": config} if config else {}
    if made is None:
        return metadata, ()
    more, notes = of_companion(made)
    return {**metadata, **more}, notes


def view_source(
    arrangement: Arrangement,
    content: Callable[[str], bytes],
    *,
    name: str,
    place: str,
    metadata: Mapping[str, Any] | None = None,
    notes: tuple[str, ...] = (),
) -> ViewSource:
    """Return the views of pictures whose bytes `content` gives: files of a folder, members of an archive."""
    first_name = arrangement.names[0, 0]
    first = decode(content(first_name), f"{place}: {first_name}")
    height, width, channels = first.samples.shape

    def load(v: int, u: int) -> Picture:
        own_name = arrangement.names[v, u]
        picture = decode(content(own_name), f"{place}: {own_name}")
        y, x, c = picture.samples.shape
        if (y, x) != (height, width):
            raise InputError(
                f"{place}: views of different sizes: {first_name} is {width}x{height}, {own_name} is {x}x{y}; "
                "crop or export them to one size"
            )
        if c != channels:
            kinds = {1: "grey", 3: "RGB"}
            raise InputError(
                f"{place}: views of different kinds: {first_name} is {kinds[channels]}, {own_name} is {kinds[c]}; "
                "save them all alike"
            )
        return picture

    return ViewSource(
        name=name,
        source=place,
        grid=arrangement.grid,
        size=(height, width),
        channels=channels,
        load=load,
        notes=(*arrangement.notes, *notes),
        metadata=metadata or {},
    )


def write(
    lf: LightField,
    path: Path,
    *,
    overwrite: bool = False,
    bits: int | None = None,
    pattern: str | None = None,
    file_format: str | None = None,
    threads: int | None = None,
    progress: ProgressCallback = silent,
) -> None:
    """Write a folder of views, whole or not at all."""
    names, kind, bits = plan(lf, bits=bits, pattern=pattern, file_format=file_format)
    with replacing(path, overwrite=overwrite, folder=True) as temporary, Workers(threads) as workers:

        def store(view: tuple[int, int]) -> None:
            (temporary / names[view]).write_bytes(encode(lf.views[view], kind, bits))
            progress(Progress("writing views", (view[0] * lf.grid[1] + view[1] + 1) / len(names)))

        workers.map(store, names)
        made = companion(lf)
        if made is not None:
            (temporary / COMPANION).write_bytes(made)


def plan(
    lf: LightField, *, bits: int | None, pattern: str | None, file_format: str | None
) -> tuple[dict[tuple[int, int], str], str, int]:
    """Settle, before anything is written, the name of each view, the kind of picture and its bits."""
    kind = kind_for(file_format or "png")
    if pattern is None:
        digits = max(2, len(str(max(lf.grid) - 1)))
        pattern = f"view_{{v:0{digits}}}_{{u:0{digits}}}.{'jpg' if kind == 'jpeg' else kind}"
    elif pattern.lower().endswith(SUFFIXES):
        kind = kind_for(pattern.rpartition(".")[2])
    else:
        pattern += f".{'jpg' if kind == 'jpeg' else kind}"
    if bits is None:
        bits = 16 if lf.bits == 32 and kind == "png" else lf.bits
    check_bits(kind, bits)
    rows, columns = lf.grid
    names = {(v, u): named(pattern, v, u, v * columns + u) for v in range(rows) for u in range(columns)}
    if len(set(names.values())) < len(names):
        raise OptionError(f"pattern {pattern!r}: gives two views of the {rows}x{columns} grid one name")
    return names, kind, bits


def picture_names(path: Path) -> list[str]:
    """List the pictures in a folder by their endings; hidden files are not meant."""
    try:
        with os.scandir(path) as entries:
            return [
                entry.name
                for entry in entries
                if entry.name.lower().endswith(SUFFIXES)
                and not entry.name.startswith(".")
                and entry.is_file()
            ]
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {explain(error)}") from error


def _no_pictures(path: Path) -> str:
    """Say what a folder without pictures holds instead, where that helps."""
    with os.scandir(path) as entries:
        inside = sorted((entry.name, entry.is_dir()) for entry in entries)
    if not inside:
        return f"{path}: the folder is empty; a light field is a folder of its views"
    for name, is_folder in inside:
        if is_folder and picture_names(path / name):
            return (
                f"{path}: no pictures (PNG, TIFF, JPEG, BMP) in it; its folder {name} has some: give that one"
            )
        if not is_folder and name.lower().endswith(_WHOLE):
            return f"{path}: no pictures (PNG, TIFF, JPEG, BMP) in it; it holds {name}: give that one"
    return f"{path}: no pictures (PNG, TIFF, JPEG, BMP) in it; a light field is a folder of its views"


def check_replaceable(path: Path) -> None:
    """Refuse to replace a folder that holds more than a light field: its loss may not be meant."""
    for entry in sorted(path.iterdir()):
        if entry.is_dir() or not entry.name.lower().endswith((*SUFFIXES, *_COMPANIONS)):
            raise OutputError(
                f"{path}: holds {entry.name}, which is no view; only a folder of views is replaced as a whole, "
                "choose another name"
            )


FORMAT = Format(
    name="folder",
    description=(
        "folder of views (PNG, TIFF, JPEG, BMP): view_VV_UU, VV_UU, V_U, name_VV_UU, input_Cam000 (HCI 2016), "
        "out_RR_CC_V_U (Stanford), or a pattern"
    ),
    sniff=sniff,
    open=open_folder,
    write=write,
    options=("pattern", "file_format"),
    folder=True,
    check_replaceable=check_replaceable,
    streams=True,
)
