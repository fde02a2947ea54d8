"""Raw files of Lytro cameras, `.LFR` and `.LFP`: recognized, not decoded.

Decoding them needs the camera's own calibration images; several programs do it well. The reader says which, and
what to bring back.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sharpfield.errors import InputError
from sharpfield.io.content import begins
from sharpfield.io.source import Format, ReadOptions, ViewSource

# of a light field picture, and of the older storage files of the desktop program
_SIGNATURES = (b"\x89LFP\r\n\x1a\n", b"\x89LFM\r\n\x1a\n", b"\x89LFC\r\n\x1a\n")


def sniff(path: Path, options: ReadOptions) -> bool:
    """Begins as Lytro's container does, or is named so."""
    return path.is_file() and (path.suffix.lower() in (".lfr", ".lfp") or begins(path, *_SIGNATURES))


@contextmanager
def open_lytro(path: Path, options: ReadOptions) -> Iterator[ViewSource]:
    """Say what to do with a raw file."""
    raise InputError(
        f"{path}: is a raw Lytro picture, which needs the camera's calibration data; decode it with PlenoptiCam "
        "(bring back its folder of views), the Light Field Toolbox for MATLAB (bring back the .mat with LF) or "
        "Lytro Power Tools (bring back the _eslf.png)"
    )
    yield  # makes this a context as every reader is


FORMAT = Format(
    name="lytro",
    description="raw .LFR and .LFP of Lytro cameras: recognized, with the tools that decode them",
    sniff=sniff,
    open=open_lytro,
    ending=r"\.lf[pr]",  # refused as an output, rather than taken for the name of a folder
    reads=False,
)
