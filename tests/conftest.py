"""What several tests share: where the real light fields are, and small tiles of them."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> None:
    """Let Ctrl-C reach the processes that tests start, also where the tests run in the background of a shell.

    Such a shell has its jobs ignore it, and they hand that on.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what is kept from run to run out of the user's own folder, in processes that tests start, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SHARPFIELD_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Folder of the real light fields; the test is skipped where it is absent."""
    folder = SHARED / "data"
    if not folder.is_dir():
        pytest.skip("the real light fields are not beside the project")
    return folder


@pytest.fixture(scope="session")
def reference_folder() -> Path:
    """Folder of the published implementation's output; the test is skipped where it is absent."""
    folder = SHARED / "reference"
    if not folder.is_dir():
        pytest.skip("the reference output is not beside the project")
    return folder
