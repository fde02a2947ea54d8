"""Looking into files that may hold anything: their first bytes, and whatever a decoder stumbles over as one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sharpfield.errors import InputError, SharpfieldError
from sharpfield.io.atomic import explain

_LONGEST = 140


def begins(path: Path, *signatures: bytes) -> bool:
    """Whether a file begins with one of these; False where it is none or cannot be read."""
    return first_bytes(path, max(len(each) for each in signatures)).startswith(signatures)


def first_bytes(path: Path, count: int) -> bytes:
    """Return the first bytes of a file; none where it is none or cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(count)
    except OSError:
        return b""


def read_bytes(path: Path) -> bytes:
    """Return the content of a file, or say why not."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {explain(error)}") from error


@contextmanager
def decoding(label: str) -> Iterator[None]:
    """Turn whatever a decoder raises over a damaged file into one InputError that names it.

    For the decoder's own calls only: a mistake of ours inside would look like a damaged file.
    """
    try:
        yield
    except SharpfieldError:
        raise
    except MemoryError as error:
        raise InputError(
            f"{label}: is larger than the memory; read a part of it, or make it smaller"
        ) from error
    except Exception as error:  # decoders share no base: OSError, zlib.error, struct.error, KeyError, ..
        reason = " ".join((str(error) or type(error).__name__).split())[:_LONGEST]
        raise InputError(f"{label}: is damaged or truncated ({reason}); copy or export it again") from error
