"""What a run leaves beside its result until it is whole: with which parameters it began, and which blocks are done.

Everything is in one folder, `.NAME.unfinished` beside the output: `parameters.json`, and under a name drawn when the
run began, `run-NAME`, the result, which becomes the output by one rename, and the marks of the blocks that are done. A
killed run leaves that folder, and the same command goes on with it. One that starts anew draws another name: workers of
a cluster that are still busy with blocks of the old one cannot write into it.
"""

from __future__ import annotations

import json
import os
import platform
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from sharpfield import __version__
from sharpfield.errors import OptionError, OutputError
from sharpfield.io.atomic import check_free, explain
from sharpfield.io.zarr_store import VIEWS, is_store, zarr_library

RUN = "sharpfield_run"
_ANEW = "give the same again, choose another output, or start anew with --overwrite"


class Journal:
    """The unfinished result of one job.

    Parameters
    ----------
    out
        Where the result will be.
    """

    def __init__(self, out: Path) -> None:
        self.out = out
        self.folder = out.parent / f".{out.name}.unfinished"
        self._run = self.folder / "run"  # `begin` draws its name, or reads it

    @property
    def result(self) -> Path:
        """Where the result grows."""
        return self._run / "result"

    def begin(self, parameters: Mapping[str, Any], *, overwrite: bool) -> bool:
        """Begin, or go on with what an earlier run left; return whether the result is whole already.

        Raises
        ------
        OptionError
            The earlier run had other parameters; the message names one that differs.
        OutputError
            The output is there and of something else, or cannot be written.
        """
        wanted = {"sharpfield": __version__, **json.loads(json.dumps(parameters))}
        self._recover()
        if self.out.exists() and not overwrite:
            if not is_store(self.out) or RUN not in (found := attributes(self.out)):
                check_free(self.out, overwrite=False, folder=True)
            _compare(found[RUN]["parameters"], wanted, f"{self.out}: was made")
            with suppress(OSError):
                shutil.rmtree(self.folder)
            return True
        check_free(self.out, overwrite=overwrite, folder=True)
        if self.out.exists() and not is_store(self.out):
            raise OutputError(f"{self.out}: is no Zarr store, so it is not replaced; choose another name")
        settings = self.folder / "parameters.json"
        if overwrite and self.folder.exists() and not self._goes_on(settings, wanted):
            shutil.rmtree(self.folder)
        if settings.is_file():
            begun = _begun(settings)
            _compare(begun["parameters"], wanted, f"{self.out}: its unfinished run was started")
        else:
            begun = {"run": f"run-{secrets.token_hex(4)}", "parameters": wanted}
        self._run = self.folder / begun["run"]
        self.result.mkdir(parents=True, exist_ok=True)
        store(settings, begun)
        return False

    def _goes_on(self, settings: Path, wanted: Mapping[str, Any]) -> bool:
        # a run that replaces an older output can have been killed as well; the same command goes on with it
        try:
            return self.out.exists() and _begun(settings)["parameters"] == wanted
        except OutputError:
            return False

    def _recover(self) -> None:
        """Put back an older output that was moved away when the run died between two renames."""
        old = self.folder / "old"
        if old.exists() and not self.out.exists():
            os.rename(old, self.out)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep a second run away from the same output; the system lets go when a run dies."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder.with_name(f"{self.folder.name}.lock")
        with path.open("w") as file:
            if not _locked(file.fileno()):
                raise OutputError(f"{self.out}: another run is at work on it; wait for it or stop it")
            try:
                yield
            finally:
                if not any(self.folder.glob("run-*/done/*/[0-9]*")) and not (self.folder / "old").exists():
                    shutil.rmtree(self.folder, ignore_errors=True)  # nothing is done: nothing to go on with
                if not self.folder.exists():
                    path.unlink(missing_ok=True)

    def marks(self, name: str) -> Path:
        """Return the folder of the marks of a light field's finished blocks."""
        return self._run / "done" / (name or "light field")

    def target(self, name: str) -> Path:
        """Return the unfinished store of a light field."""
        return self.result / name if name else self.result

    def plan(self, name: str) -> dict[str, Any] | None:
        """Return how an earlier run cut a light field, or None."""
        path = self.marks(name) / "plan.json"
        return _load(path) if path.is_file() else None

    def forget(self, name: str) -> None:
        """Begin a light field anew: its input has changed."""
        for path in (self.marks(name), self.target(name)):
            with suppress(FileNotFoundError):
                shutil.rmtree(path)

    def finish(self) -> None:
        """Put the whole result under the name of the output."""
        old = self.folder / "old"
        if self.out.exists():
            os.rename(self.out, old)
        os.rename(self.result, self.out)
        sync(self.out.parent)
        shutil.rmtree(self.folder, ignore_errors=True)


def _locked(handle: int) -> bool:
    """Lock an open file; False when another process has."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def store(path: Path, record: Mapping[str, Any]) -> None:
    """Write a small JSON file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with temporary.open("w", encoding="utf-8") as file:
            json.dump(record, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        sync(path.parent)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        raise OutputError(f"{path}: cannot be written: {explain(error)}") from error


def sync(path: Path) -> None:
    """Bring a file, or the names in a folder, to the disk, past the memory that a power cut empties."""
    if os.name == "nt" and path.is_dir():  # folders are not opened there
        return
    handle = os.open(path, os.O_RDONLY if os.name != "nt" else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def settle(place: Path) -> None:
    """Bring what describes a store to the disk, and remove what a process that was killed while writing has left."""
    for folder in (place, place / VIEWS):
        if not folder.is_dir():
            continue
        # the name under which Zarr writes a file before it renames it
        for each in folder.glob("*.partial"):
            each.unlink(missing_ok=True)
        if (folder / "zarr.json").is_file():
            sync(folder / "zarr.json")
        sync(folder)


def attributes(path: Path) -> dict[str, Any]:
    """Return what is written on a store."""
    return dict(zarr_library().open(store=str(path), mode="r").attrs)


def versions() -> dict[str, str]:
    """Return the versions of what made a result."""
    found = {"sharpfield": __version__, "python": platform.python_version()}
    for name in ("numpy", "scipy", "numba", "zarr", "dask", "distributed"):
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def _begun(path: Path) -> dict[str, Any]:
    """Return under which name a run began, and with which parameters."""
    record = _load(path)
    if not isinstance(record.get("parameters"), dict) or not isinstance(record.get("run"), str):
        raise OutputError(f"{path}: is not of this version; start anew with --overwrite")
    return record


def _load(path: Path) -> dict[str, Any]:
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(record, dict):
            raise ValueError("no record")
    except (OSError, ValueError) as error:
        raise OutputError(f"{path}: cannot be read ({error}); start anew with --overwrite") from error
    return record


def _compare(before: Mapping[str, Any], now: Mapping[str, Any], how: str) -> None:
    for name in sorted({*before, *now}, key=lambda name: (name != "method", name != "preset", name)):
        if before.get(name) != now.get(name):
            label = name.removeprefix("option ")
            raise OptionError(f"{how} with {label} {before.get(name)}, now it is {now.get(name)}; {_ANEW}")
