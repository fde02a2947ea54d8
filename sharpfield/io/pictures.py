"""One picture from and to bytes: PNG, TIFF, JPEG, BMP; 8 and 16 bits, float TIFF; grey or RGB.

Whatever is wrong with a picture comes out as one InputError that names it. Pillow decodes what has 8 bits,
through the class of the format found by content (`Image.open` would also try formats that start programs, and
stops at large pictures); 16-bit colour goes through `png` and tifffile, because Pillow reduces it silently.
"""

from __future__ import annotations

import logging
import math
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpfield.errors import InputError, OptionError
from sharpfield.io import png
from sharpfield.io.content import decoding
from sharpfield.io.source import Picture, Samples, check_memory

SUFFIXES = (".png", ".tif", ".tiff", ".jpg", ".jpeg", ".bmp")

# most bits a sample that a kind of picture can hold: (as integers, at all)
_BITS = {"png": (8, 16), "tiff": (8, 16, 32), "jpeg": (8,), "bmp": (8,)}

_ALPHA = "alpha channel dropped"

# no compression of TIFF makes a picture this much smaller
_INFLATION = 3000


def kind_of(data: bytes) -> str | None:
    """Return "png", "tiff", "jpeg" or "bmp" from the first bytes of a picture, or None."""
    if data.startswith(png.SIGNATURE):
        return "png"
    if data.startswith((b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")):
        return "tiff"
    if data.startswith(b"\xff\xd8\xff"):
        return "jpeg"
    return "bmp" if data.startswith(b"BM") else None


def kind_for(suffix: str) -> str:
    """Return the kind of picture that a suffix or a name ("tif", ".JPG") stands for."""
    name = suffix.lower().lstrip(".")
    kind = {"tif": "tiff", "jpg": "jpeg"}.get(name, name)
    if kind not in _BITS:
        raise OptionError(f"views are stored as png, tiff, jpeg or bmp, not {suffix!r}")
    return kind


def decode(data: bytes, label: str) -> Picture:
    """Decode a picture; `label` names its file in the InputError that anything wrong raises."""
    if not data:
        raise InputError(f"{label}: is empty; copy or export it again")
    kind = kind_of(data)
    if kind is None:
        raise InputError(
            f"{label}: its content is no PNG, TIFF, JPEG or BMP picture; convert it to one of them"
        )
    decoder = {"png": _decode_png, "tiff": _decode_tiff, "jpeg": _decode_jpeg, "bmp": _decode_bmp}[kind]
    with decoding(label):
        picture = decoder(data, label)
    if 0 in picture.samples.shape:
        raise InputError(f"{label}: has no pixels; copy or export it again")
    return picture


def encode(view: NDArray[np.float32], kind: str, bits: int) -> bytes:
    """Encode a view (y, x, c) of floats in [0, 1]; 8 and 16 bits round half up, 32 are float (TIFF only)."""
    check_bits(kind, bits)
    samples: Samples = view if bits == 32 else quantize(view, bits)
    if kind == "png" and bits == 16:
        return png.encode_16(samples)
    stream = BytesIO()
    if kind == "tiff":
        import tifffile

        tifffile.imwrite(
            stream,
            samples if samples.shape[2] == 3 else samples[..., 0],
            photometric="rgb" if samples.shape[2] == 3 else "minisblack",
            compression="zlib",
            predictor=bits != 32,
            metadata=None,
        )
    else:
        from PIL import Image

        image = Image.fromarray(samples if samples.shape[2] == 3 else samples[..., 0])
        extra: dict[str, Any] = {}
        if kind == "png":
            extra = {"compress_level": png.LEVEL}
        elif kind == "jpeg":  # at its best: no subsampling of colour
            extra = {"quality": 97, "subsampling": 0}
        image.save(stream, kind.upper(), **extra)
    return stream.getvalue()


def check_bits(kind: str, bits: int) -> None:
    """Raise OptionError when a kind of picture cannot hold this many bits a sample."""
    if bits not in _BITS[kind]:
        can = ", ".join(str(each) for each in _BITS[kind])
        raise OptionError(
            f"{kind} holds {can} bits a sample, not {bits}; choose the bits or another file format"
        )


def quantize(view: NDArray[np.float32], bits: int) -> Samples:
    """Round floats in [0, 1] half up to 8 or 16 bits."""
    top = (1 << bits) - 1
    # in double precision: single rounds 16-bit values before we do
    levels = np.floor(view.astype(np.float64) * top + 0.5)
    return np.clip(levels, 0, top).astype(np.uint8 if bits == 8 else np.uint16)


def _decode_png(data: bytes, label: str) -> Picture:
    chunks = png.read_chunks(data)
    check_memory((chunks.height, chunks.width, 4), label)
    if chunks.depth == 16:
        samples = png.decode_16(chunks)
        notes = (_ALPHA,) if samples.shape[2] in (2, 4) else ()
        return Picture(samples[..., : 1 if samples.shape[2] <= 2 else 3], 16, notes)
    from PIL.PngImagePlugin import PngImageFile

    return _from_pillow(PngImageFile(BytesIO(chunks.minimal())), label)


def _decode_jpeg(data: bytes, label: str) -> Picture:
    from PIL.JpegImagePlugin import JpegImageFile

    scan = data.find(b"\xff\xda")
    if scan < 0 or data.find(b"\xff\xd9", scan) < 0:
        # libjpeg fills what is missing with grey and is content
        raise ValueError("the file ends too early")
    image = JpegImageFile(BytesIO(data))
    picture = _from_pillow(image, label)
    orientation = int(image.getexif().get(0x0112, 1))
    return _oriented(picture, orientation)


def _decode_bmp(data: bytes, label: str) -> Picture:
    from PIL.BmpImagePlugin import BmpImageFile

    image = BmpImageFile(BytesIO(data))
    bits_a_pixel, compression = int.from_bytes(data[28:30], "little"), int.from_bytes(data[30:34], "little")
    if int.from_bytes(data[14:18], "little") >= 40 and compression in (0, 3):  # 1, 2: run lengths
        row = (image.width * bits_a_pixel + 31) // 32 * 4
        if int.from_bytes(data[10:14], "little") + row * image.height > len(data):
            raise ValueError("the file ends too early")
    return _from_pillow(image, label)


def open_tiff(source: Any) -> Any:
    """Open a TIFF file (a path or a stream); what its reader would print about a damaged one is not wanted."""
    import tifffile

    logger = logging.getLogger("tifffile")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    return tifffile.TiffFile(source)


def _decode_tiff(data: bytes, label: str) -> Picture:
    with open_tiff(BytesIO(data)) as file:
        picture = _tiff_page(file, 0, len(data), label)
        if picture is None:
            picture = _tiff_by_pillow(data, label)
        notes = (f"only the first of {len(file.pages)} pages used",) if len(file.pages) > 1 else ()
    return Picture(picture.samples, picture.bits, (*notes, *picture.notes))


def tiff_page(file: Any, index: int, length: int, label: str) -> Picture:
    """Decode one page of an open TIFF file of `length` bytes; anything wrong raises an InputError with the label."""
    with decoding(label):
        picture = _tiff_page(file, index, length, label)
    if picture is None:
        raise InputError(f"{label}: is of an unusual kind; save grey or RGB pages with ZIP or no compression")
    return picture


def _tiff_page(file: Any, index: int, length: int, label: str) -> Picture | None:
    """Decode a page with tifffile, or return None for what Pillow may know: palettes, CMYK, other compressions."""
    page: Any = file.pages[index]
    check_memory((page.imagelength, page.imagewidth, 4), label)
    if len(page.dataoffsets) != math.prod(page.chunked) or page.nbytes > _INFLATION * length:
        raise ValueError("its size does not fit its content")
    for start, count in zip(page.dataoffsets, page.databytecounts, strict=True):
        if start + count > length:
            raise ValueError("the file ends too early")
    depth = page.bitspersample
    depth = max(depth) if isinstance(depth, tuple) else depth
    plain = page.photometric in (0, 1, 2) and page.axes in ("YX", "YXS", "SYX") and depth >= 8
    if not plain:
        if depth > 8:
            raise InputError(f"{label}: is a TIFF of an unusual kind ({page.axes}); save it as grey or RGB")
        return None
    try:
        samples = page.asarray()
    except (ValueError, KeyError) as error:
        if "imagecodecs" not in str(error):
            raise
        if depth > 8:
            raise InputError(
                f"{label}: is a {depth}-bit TIFF with {page.compression.name} compression; "
                "save it with ZIP (deflate) or no compression, or pip install imagecodecs"
            ) from error
        return None
    if page.axes == "SYX":
        samples = np.moveaxis(samples, 0, -1)
    samples = samples.reshape(*samples.shape[:2], -1)
    notes: tuple[str, ...] = ()
    if samples.shape[2] in (2, 4):
        notes = (_ALPHA,)
        samples = samples[..., : samples.shape[2] - 1]
    samples = _widened(samples, depth, label)
    if page.photometric == 0:  # white is zero
        samples = 1 - samples if samples.dtype.kind == "f" else np.iinfo(samples.dtype).max - samples
    orientation = page.tags.get(274)
    bits = 32 if page.dtype.kind == "f" else 8 if depth == 8 else 16
    return _oriented(Picture(samples, bits, notes), int(orientation.value) if orientation else 1)


def _tiff_by_pillow(data: bytes, label: str) -> Picture:
    from PIL.Image import DecompressionBombError
    from PIL.TiffImagePlugin import TiffImageFile

    try:
        return _from_pillow(TiffImageFile(BytesIO(data)), label)
    except DecompressionBombError as error:
        raise InputError(f"{label}: is too large for its compression; save it with ZIP or none") from error


def _widened(samples: Samples, depth: int, label: str) -> Samples:
    """Return samples of 8 to 16 bits, or float, as uint8, uint16 or float32."""
    if samples.shape[2] not in (1, 3):
        raise InputError(f"{label}: has {samples.shape[2]} channels; save it as grey or RGB")
    if samples.dtype.kind == "f":
        return samples.astype(np.float32)
    if samples.dtype == np.uint8:
        return samples
    if samples.dtype.kind != "u" or samples.dtype.itemsize != 2:
        raise InputError(
            f"{label}: has samples of {samples.dtype}; save it with 8 or 16 bits a sample, or as float"
        )
    if depth < 16:
        return samples.astype(np.float32) / np.float32((1 << depth) - 1)
    return samples.astype(np.uint16)


def _from_pillow(image: Any, label: str) -> Picture:
    """Return a Pillow picture of at most 8 bits a sample as grey or RGB, with what was dropped."""
    check_memory((image.height, image.width, 4), label)
    mode, notes = image.mode, []
    if mode == "P":
        if "transparency" in image.info:
            notes.append(_ALPHA)
        image = image.convert("RGBA" if notes else "RGB").convert("RGB")
    elif mode in ("RGBA", "RGBX", "RGBa", "PA"):
        notes += [_ALPHA] if mode != "RGBX" else []
        image = image.convert("RGBA").convert("RGB")
    elif mode in ("LA", "La"):
        notes.append(_ALPHA)
        image = image.convert("LA").convert("L")
    elif mode == "1":
        image = image.convert("L")
    elif mode in ("CMYK", "YCbCr"):
        notes.append(f"{mode} converted to RGB")
        image = image.convert("RGB")
    elif mode not in ("L", "RGB"):
        raise InputError(
            f"{label}: has pixels of an unusual kind ({mode}); save it as grey or RGB with 8 or 16 bits"
        )
    image.load()
    samples = np.asarray(image)
    return Picture(samples.reshape(*samples.shape[:2], -1), 8, tuple(notes))


def _oriented(picture: Picture, orientation: int) -> Picture:
    """Turn a picture upright as its orientation tag (EXIF, TIFF: 1 to 8) asks."""
    samples = picture.samples
    if orientation >= 5:
        samples = samples.swapaxes(0, 1)
    if orientation in (3, 4, 7, 8):
        samples = samples[::-1]
    if orientation in (2, 3, 6, 7):
        samples = samples[:, ::-1]
    if orientation not in range(2, 9):
        return picture
    return Picture(samples, picture.bits, (*picture.notes, "turned upright as its orientation tag says"))
