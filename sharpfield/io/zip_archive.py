"""A zip of views: as a folder of them, read in memory, so that nothing of it ever lands on the disk.

Archives come from strangers: one with absolute names or `..` in them, one that would unpack to hundreds of times
its size, an encrypted or a damaged one is refused with the reason.
"""

from __future__ import annotations

import threading
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from sharpfield.errors import InputError
from sharpfield.io.atomic import check_free, replacing
from sharpfield.io.content import begins, decoding
from sharpfield.io.folder import known, plan, view_source
from sharpfield.io.hci2016 import CONFIG, parameters
from sharpfield.io.names import arrange, shown
from sharpfield.io.pictures import SUFFIXES, encode
from sharpfield.io.record import COMPANION, companion
from sharpfield.io.source import Format, ReadOptions, ViewSource
from sharpfield.lightfield import LightField
from sharpfield.parallel import Workers
from sharpfield.progress import Progress, ProgressCallback, silent

SIGNATURES = (b"PK\x03\x04", b"PK\x05\x06")

# pictures hardly shrink further; deflate at its utmost gives 1032
_BOMB_RATIO = 300
_BOMB_BYTES = 4 << 20


def sniff(path: Path, options: ReadOptions) -> bool:
    """Begins as a zip does."""
    return begins(path, *SIGNATURES)


@contextmanager
def open_zip(path: Path, options: ReadOptions) -> Iterator[ViewSource]:
    """Open a zip of views."""
    place = str(path)
    with decoding(place):
        archive = zipfile.ZipFile(path)
    with archive:
        members = _safe_members(archive, place)
        folder = _folder_of_views(members, place)
        lock = threading.Lock()

        def content(name: str) -> bytes:
            with decoding(f"{place}: {name}"), lock:  # one position in the file for all threads
                return archive.read(members[folder + name])

        names = [name[len(folder) :] for name in members if _is_view(name) and _parent(name) == folder]
        config: dict[str, str] = {}
        if folder + CONFIG in members:
            config = parameters(content(CONFIG).decode("utf-8", "replace"), place)
        arrangement = arrange(names, place, pattern=options.pattern, grid=options.grid, config=config)
        made = content(COMPANION) if folder + COMPANION in members else None
        metadata, notes = known(config, made)
        yield view_source(arrangement, content, name=path.stem, place=place, metadata=metadata, notes=notes)


def _safe_members(archive: zipfile.ZipFile, place: str) -> dict[str, zipfile.ZipInfo]:
    """Return the files of an archive, or say why it is not to be trusted."""
    members: dict[str, zipfile.ZipInfo] = {}
    for info in archive.infolist():
        name = info.filename.replace("\\", "/")
        if name.startswith("/") or ".." in name.split("/") or name[1:2] == ":":
            raise InputError(
                f"{place}: unsafe: {info.filename!r} points outside the archive; make the zip again"
            )
        if name and not name.endswith("/"):
            members[name] = info
    unpacked = sum(info.file_size for info in members.values())
    packed = sum(info.compress_size for info in members.values())
    if unpacked > _BOMB_BYTES and unpacked > _BOMB_RATIO * packed:
        raise InputError(
            f"{place}: would unpack to {unpacked / 1e6:.0f} MB, {unpacked // max(packed, 1)} times its size, "
            "as no archive of pictures does; unpack it yourself if you trust it, and give the folder"
        )
    return members


def _folder_of_views(members: dict[str, zipfile.ZipInfo], place: str) -> str:
    """Return the folder inside the archive that holds the views."""
    counts: dict[str, int] = defaultdict(int)
    for name in members:
        if _is_view(name):
            counts[_parent(name)] += 1
    if not counts:
        raise InputError(
            f"{place}: no pictures (PNG, TIFF, JPEG, BMP) in it; a light field is a zip of its views"
        )
    several = [folder for folder, count in counts.items() if count > 1] or list(counts)
    if len(several) > 1:
        raise InputError(
            f"{place}: pictures in {len(several)} folders ({shown([each or 'its root' for each in several])}); "
            "zip one light field alone"
        )
    return several[0]


def _is_view(name: str) -> bool:
    path = PurePosixPath(name)
    return name.lower().endswith(SUFFIXES) and not path.name.startswith(".") and "__MACOSX" not in path.parts


def _parent(name: str) -> str:
    return name[: name.rfind("/") + 1]


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
    """Write a zip of views; the pictures are compressed already, so they are stored as they are."""
    names, kind, bits = plan(lf, bits=bits, pattern=pattern, file_format=file_format)
    check_free(path, overwrite=overwrite, folder=False)
    depth = bits
    done = 0
    with (
        replacing(path, overwrite=overwrite) as temporary,
        zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED) as archive,
        Workers(threads) as workers,
    ):
        views = list(names)
        for start in range(0, len(views), 2 * workers.threads):  # so many encoded views in memory at a time
            batch = views[start : start + 2 * workers.threads]
            encoded = workers.map(lambda view: encode(lf.views[view], kind, depth), batch)
            for view, data in zip(batch, encoded, strict=True):
                archive.writestr(
                    zipfile.ZipInfo(names[view]), data
                )  # no date: the same input, the same bytes
                done += 1
                progress(Progress("writing views", done / len(names)))
        made = companion(lf)
        if made is not None:
            archive.writestr(zipfile.ZipInfo(COMPANION), made)


FORMAT = Format(
    name="zip",
    description="zip of views, named as in a folder",
    sniff=sniff,
    open=open_zip,
    write=write,
    ending=r"\.zip",
    suffixes=(".zip",),
    options=("pattern", "file_format"),
    streams=True,
)
