"""Outputs appear whole or not at all: written under a temporary sibling name, renamed at the end.

Everything that writes a result goes through `replacing`: an error or Ctrl-C removes the temporary, a killed
run leaves nothing under the final name, and an older result goes only when the new one is complete. What a killed
run left beside it, the next one of that name removes, where it can tell that nobody writes to it any more.
"""

from __future__ import annotations

import errno
import functools
import hashlib
import os
import platform
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sharpfield.errors import OutputError


@contextmanager
def replacing(path: str | Path, *, overwrite: bool = False, folder: bool = False) -> Iterator[Path]:
    """Give a temporary path to write to; on success it becomes `path`, otherwise it is removed.

    Parameters
    ----------
    path
        The final name. Missing parent folders are made.
    overwrite
        Replace what is there already; without it an existing path is refused.
    folder
        Make the temporary a folder; otherwise the caller writes the file itself.

    Yields
    ------
    Path
        The temporary name, in the same folder as `path` (so that the rename is one step).

    Raises
    ------
    OutputError
        The path exists (without `overwrite`), is of the other kind, cannot be written, or the disk is full.
    """
    final = Path(path)
    check_free(final, overwrite=overwrite, folder=folder)
    place = _own_path(final)
    temporary = place.parent / f".{place.name}.{secrets.token_hex(4)}.{_writer(os.getpid())}partial"
    made: list[Path] = []
    try:
        made = _make_parents(place.parent)
        _remove_abandoned(place)
        if folder:
            temporary.mkdir()
        yield temporary
        # asked again: another run may have written here in the meantime
        check_free(final, overwrite=overwrite, folder=folder)
        _rename(temporary, place)
    except BaseException as error:
        _remove(temporary)
        for parent in reversed(made):
            with suppress(OSError):
                parent.rmdir()
        if isinstance(error, OSError):
            raise OutputError(f"{final}: cannot be written: {explain(error)}") from error
        raise


def check_free(final: Path, *, overwrite: bool, folder: bool) -> None:
    """Raise OutputError when `final` may not be written, before any work is spent on it."""
    try:
        exists, is_folder = final.exists() or final.is_symlink(), final.is_dir()
    except OSError as error:
        raise OutputError(f"{final}: cannot be written: {explain(error)}") from error
    place, here = _own_path(final), Path.cwd()
    if final.name in ("", "..") or place == here or place in here.parents:
        raise OutputError(
            f"{final}: is the folder you are in or one above it; give the output a name of its own"
        )
    if not exists:
        return
    if is_folder != folder:
        kind, wanted = ("folder", "file") if is_folder else ("file", "folder")
        raise OutputError(f"{final}: is a {kind} already and the output is a {wanted}; choose another name")
    if not overwrite:
        raise OutputError(f"{final}: exists already; use --overwrite (overwrite=True) or choose another name")


def explain(error: OSError) -> str:
    """Say in words why the system refused a file, with what to do where there is something."""
    advice = {
        errno.ENOSPC: "the disk is full; free some space or choose another place",
        errno.EDQUOT: "your disk quota is used up; free some space or choose another place",
        errno.EACCES: "permission denied; choose a place that you may use",
        errno.EPERM: "permission denied; choose a place that you may use",
        errno.EROFS: "the file system is read-only; choose another place",
        errno.ENOTDIR: "a part of its path is a file, not a folder",
        errno.ENAMETOOLONG: "its name is too long",
    }
    return advice.get(error.errno or 0, error.strerror or str(error) or type(error).__name__)


def _make_parents(parent: Path) -> list[Path]:
    """Make the missing folders above an output and return them, outermost first."""
    missing: list[Path] = []
    while not parent.exists():
        missing.insert(0, parent)
        parent = parent.parent
    for each in missing:
        each.mkdir(exist_ok=True)
    return missing


def _own_path(path: Path) -> Path:
    """Return a path whose parent is named by its own name.

    One that leads through the output itself (x/../x) would end nowhere as soon as the old output moves away.
    """
    return Path(os.path.realpath(path.parent)) / path.name


@functools.cache
def _processes() -> str | None:
    """Return a mark of the space in which numbers of processes are unique, or None where the system tells none.

    Two machines, or two containers of one, may write to one folder: there the same number is another process.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
        space = f"{platform.node()} {boot} {os.stat('/proc/self/ns/pid').st_ino}"
    except (OSError, ValueError):  # not Linux
        return None
    return hashlib.sha256(space.encode()).hexdigest()[:8]


def _writer(process: int | str) -> str:
    """Return the part of a temporary's name that says which process writes to it, or nothing."""
    return f"{_processes()}-{process}." if _processes() else ""


def _remove_abandoned(place: Path) -> None:
    """Remove temporaries of the output `place` whose process is dead; all others may be in use."""
    if _processes() is None:
        return
    known = re.compile(rf"\.{re.escape(place.name)}\.[0-9a-f]{{8}}\.{_writer('([0-9]+)')}partial")
    with suppress(OSError), os.scandir(place.parent) as entries:
        for entry in list(entries):
            found = known.fullmatch(entry.name)
            if found and not _alive(int(found[1])):
                _remove(Path(entry.path))


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)  # asks only; on Linux alone, on Windows it would kill
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _rename(temporary: Path, final: Path) -> None:
    """Put the complete temporary in the place of whatever is under the final name."""
    if not temporary.is_dir():
        os.replace(temporary, final)
        return
    old = temporary.with_suffix(".old")
    try:
        os.rename(final, old)  # a folder that is not empty cannot be replaced in one step
    except FileNotFoundError:
        os.rename(temporary, final)
        return
    try:
        os.rename(temporary, final)
    except BaseException:
        os.rename(old, final)
        raise
    _remove(old)


def _remove(path: Path) -> None:
    """Remove a file, a link or a whole folder of ours, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()
