"""MATLAB's v5 MAT-files, read for their arrays of numbers; nothing else in a file is looked into.

After the public description of the format (MathWorks, "MAT-File Format"): a header of 128 bytes, then elements of
a type, a length and data; a variable is a `miMATRIX` element, mostly within a compressed one. SciPy reads these
files, too, but a damaged one brings it down with the whole process.
"""

from __future__ import annotations

import math
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sharpfield.errors import InputError
from sharpfield.io.source import Samples, check_memory

# element types that hold numbers, by their code
_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_MATRIX, _COMPRESSED = 14, 15

# classes of arrays of numbers, by their code: what MATLAB calls them and what they are
_CLASSES = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}
_STRUCT = 2

# flags, dimensions and name of a variable stand in its first bytes
_HEAD = 4096


@dataclass(frozen=True)
class Variable:
    """A variable of a file: name, shape and class (None where it is no array of real numbers), and its place."""

    name: str
    shape: tuple[int, ...]
    dtype: str | None
    is_struct: bool
    offset: int
    length: int
    compressed: bool


class MatFile:
    """The variables of a v5 file. Damage raises ValueError, struct.error, zlib.error or the like."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file:
            header = file.read(128)
            if len(header) < 128 or header[126:128] not in (b"IM", b"MI"):
                raise ValueError("its header is damaged")
            self.order = "<" if header[126:128] == b"IM" else ">"
            self.end = file.seek(0, 2)
            self.variables: dict[str, Variable] = {}
            at = 128
            while at + 8 <= self.end:
                file.seek(at)
                kind, length = struct.unpack(self.order + "II", file.read(8))
                if at + 8 + length > self.end:
                    raise ValueError("the file ends too early")
                if kind in (_MATRIX, _COMPRESSED):
                    found = self._variable(file.read(min(length, _HEAD)), at + 8, length, kind == _COMPRESSED)
                    self.variables.setdefault(found.name, found)
                at += 8 + length

    def read(self, name: str, field: str | None = None) -> Samples:
        """Return an array of numbers by the name of its variable, or of a field of a struct."""
        variable = self.variables[name]
        with self.path.open("rb") as file:
            file.seek(variable.offset)
            content = file.read(variable.length)
        if variable.compressed:
            content = self._unpacked(content)
        if field is not None:
            content = self._field(content, field)
        at, flags, shape, _ = self._head(content)
        dtype = _dtype(flags)
        if dtype is None:
            raise InputError(
                f"{self.path}: {name} holds no array of real numbers; save uint8, uint16, single or double"
            )
        kind, start, length, _ = self._element(content, at)
        stored = np.dtype(self.order + _TYPES[kind])
        count = math.prod(shape)
        if length < count * stored.itemsize:
            raise ValueError("its values end too early")
        check_memory(shape, str(self.path))
        # doubles that are whole are stored as bytes; only float64 needs no more than float32 here
        wanted = np.dtype(np.float32) if dtype in ("f4", "f8") else np.dtype(dtype)
        values = np.frombuffer(content, stored, count, start).astype(wanted, copy=False)
        return values.reshape(shape, order="F")

    def _variable(self, head: bytes, offset: int, length: int, compressed: bool) -> Variable:
        if compressed:
            head = zlib.decompressobj().decompress(head, _HEAD)[8:]
        _, flags, shape, name = self._head(head)
        kind = flags & 0xFF
        return Variable(name, shape, _dtype(flags), kind == _STRUCT, offset, length, compressed)

    def _unpacked(self, packed: bytes) -> bytes:
        """Unpack the one element in a compressed one; no further than it says it is long."""
        unpacker = zlib.decompressobj()
        tag = unpacker.decompress(packed, 8)
        kind, length = struct.unpack(self.order + "II", tag)
        if kind != _MATRIX:
            raise ValueError("a compressed part holds no variable")
        check_memory((length // 4,), str(self.path))
        content = unpacker.decompress(unpacker.unconsumed_tail, length)
        if len(content) < length:
            raise ValueError("its values end too early")
        return content

    def _head(self, content: bytes) -> tuple[int, int, tuple[int, ...], str]:
        """Return where the values begin, the flags, the shape and the name of a matrix."""
        _, start, length, at = self._element(content, 0)
        if length < 4:
            raise ValueError("a variable says nothing about itself")
        (flags,) = struct.unpack_from(self.order + "I", content, start)
        _, start, length, at = self._element(content, at)
        shape = struct.unpack_from(f"{self.order}{length // 4}i", content, start)
        if not 2 <= len(shape) <= 32 or min(shape) < 0:
            raise ValueError(f"a variable has the shape {shape}")
        _, start, length, at = self._element(content, at)
        return at, flags, shape, content[start : start + length].decode("latin-1")

    def _element(self, content: bytes, at: int) -> tuple[int, int, int, int]:
        """Return the type, start and length of the data of an element, and where the next one begins."""
        (first,) = struct.unpack_from(self.order + "I", content, at)
        if first >> 16:  # up to four bytes, within the tag
            kind, start, length, after = first & 0xFFFF, at + 4, first >> 16, at + 8
        else:
            kind, length = struct.unpack_from(self.order + "II", content, at)
            start = at + 8
            after = start + (length + 7) // 8 * 8
        return kind, start, length, after

    def _field(self, content: bytes, field: str) -> bytes:
        """Return the matrix in a field of a struct."""
        at, flags, shape, _ = self._head(content)
        if flags & 0xFF != _STRUCT or math.prod(shape) != 1:
            raise ValueError("a variable is not the struct it was taken for")
        _, start, _, at = self._element(content, at)
        (width,) = struct.unpack_from(self.order + "i", content, start)
        _, start, length, at = self._element(content, at)
        if width < 1:
            raise ValueError("a struct has no names of fields")
        for number in range(length // width):
            name = content[start + number * width : start + (number + 1) * width].split(b"\0")[0]
            kind, begin, size, after = self._element(content, at)
            if name.decode("latin-1") == field and kind == _MATRIX:
                return content[begin : begin + size]
            at = after
        raise InputError(
            f"{self.path}: LF is a struct without a field {field} (U, V, H, W, C); save that array"
        )


def _dtype(flags: int) -> str | None:
    """Return the type of an array of real numbers, or None for complex ones and all else."""
    complex_values = flags >> 11 & 1
    return None if complex_values else _CLASSES.get(flags & 0xFF)
