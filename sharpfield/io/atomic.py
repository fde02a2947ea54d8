"""Outputs appear whole or not at all: written under a temporary sibling name, renamed at the end.

Everything that writes a result goes through `replacing`: an error or Ctrl-C removes the temporary, a killed
run leaves nothing under the final name, and an older result goes only when the new one is complete.
"""

from __future__ import annotations

import errno
import os
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
    temporary = final.parent / f".{final.name}.{secrets.token_hex(4)}.partial"
    made: list[Path] = []
    try:
        made = _make_parents(final.parent)
        if folder:
            temporary.mkdir()
        yield temporary
        # asked again: another run may have written here in the meantime
        check_free(final, overwrite=overwrite, folder=folder)
        _rename(temporary, final)
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
    if final.name in ("", "..") or final.absolute() == Path.cwd() or final.absolute() in Path.cwd().parents:
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
