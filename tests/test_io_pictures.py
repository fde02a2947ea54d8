"""One picture from and to bytes: every kind, depth and mode; and damaged ones."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pytest
import tifffile
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageFile
from PIL.PngImagePlugin import PngInfo

from sharpfield import InputError, OptionError
from sharpfield.io import png
from sharpfield.io.pictures import decode, encode, kind_for, quantize


def saved(image, kind, **options):
    stream = io.BytesIO()
    image.save(stream, kind, **options)
    return stream.getvalue()


def tiff(array, **options):
    stream = io.BytesIO()
    tifffile.imwrite(stream, array, **options)
    return stream.getvalue()


def random_samples(height, width, channels, dtype=np.uint8, seed=0):
    top = np.iinfo(dtype).max
    return np.random.default_rng(seed).integers(0, top, (height, width, channels), dtype, endpoint=True)


@settings(max_examples=40, deadline=None)
@given(
    height=st.integers(1, 9),
    width=st.integers(1, 9),
    channels=st.sampled_from([1, 3]),
    form=st.sampled_from([("png", 8), ("png", 16), ("tiff", 8), ("tiff", 16), ("tiff", 32), ("bmp", 8)]),
    seed=st.integers(0, 99),
)
def test_lossless_kinds_come_back_exactly(height, width, channels, form, seed):
    kind, bits = form
    if bits == 32:
        view = np.random.default_rng(seed).random((height, width, channels), np.float32)
        expected = view
    else:
        expected = random_samples(height, width, channels, np.uint8 if bits == 8 else np.uint16, seed)
        view = expected.astype(np.float32) / np.float32((1 << bits) - 1)
    picture = decode(encode(view, kind, bits), "x")
    np.testing.assert_array_equal(picture.samples, expected)
    assert picture.samples.dtype == expected.dtype
    assert picture.bits == bits
    assert picture.notes == ()


def test_jpeg_comes_back_nearly():
    y, x = np.mgrid[:32, :48] / 48
    view = np.stack([y, x, (x + y) / 2], axis=2).astype(np.float32)
    picture = decode(encode(view, "jpeg", 8), "x")
    assert np.abs(picture.samples / 255 - view).max() < 0.03


def test_rounding_is_half_up():
    assert list(quantize(np.array([0.5 / 255, 1.5 / 255, 0.49 / 255, 1, 0], np.float64), 8)) == [
        1,
        2,
        0,
        255,
        0,
    ]
    half = np.array([0.5], np.float32)
    assert quantize(half, 8)[0] == 128
    assert quantize(half, 16)[0] == 32768


def test_every_level_survives_in_single_precision():
    for bits in (8, 16):
        levels = np.arange(1 << bits).astype(np.uint8 if bits == 8 else np.uint16)
        np.testing.assert_array_equal(
            quantize(levels.astype(np.float32) / np.float32((1 << bits) - 1), bits), levels
        )


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P", "1", "L", "RGB"])
def test_modes_of_png(mode):
    rgb = random_samples(6, 7, 3)
    image = Image.fromarray(rgb).convert("RGBA")
    image.putalpha(Image.fromarray(random_samples(6, 7, 1)[..., 0]))
    image = (image.convert("RGB") if mode == "P" else image).convert(mode)
    picture = decode(saved(image, "PNG"), "x")
    expected = {"RGBA": "RGB", "LA": "L", "P": "RGB", "1": "L"}.get(mode, mode)
    plain = image.convert("RGB") if mode == "P" else image.convert(expected)
    np.testing.assert_array_equal(picture.samples.squeeze(), np.asarray(plain))
    assert picture.notes == (("alpha channel dropped",) if mode in ("RGBA", "LA") else ())


def test_palette_with_transparency_says_so():
    image = Image.fromarray(random_samples(6, 7, 3)).quantize(16)
    for transparency in (3, bytes(range(16))):
        picture = decode(saved(image, "PNG", transparency=transparency), "x")
        np.testing.assert_array_equal(picture.samples, np.asarray(image.convert("RGB")))
        assert picture.notes == ("alpha channel dropped",)


def filtered_png(image, kinds, *, interlaced=False, color=None, cut=0):
    """Encode (y, x, c) uint16 with the filter kinds[y % len] on row y: an encoder with no code in common."""
    height, width, channels = image.shape
    color = {1: 0, 2: 4, 3: 2, 4: 6}[channels] if color is None else color
    step = 2 * channels

    def rows_of(part):
        out = b""
        before = bytes(part.shape[1] * step)
        for y, row in enumerate(part):
            raw = row.astype(">u2").tobytes()
            kind = kinds[y % len(kinds)]
            line = bytearray()
            for i, value in enumerate(raw):
                a = raw[i - step] if i >= step else 0
                b = before[i]
                c = before[i - step] if i >= step else 0
                guess = [
                    0,
                    a,
                    b,
                    (a + b) // 2,
                    min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2],
                ]
                line.append((value - guess[kind]) % 256)
            out += bytes([kind]) + bytes(line)
            before = raw
        return out

    if interlaced:
        passes = [
            (0, 0, 8, 8),
            (4, 0, 8, 8),
            (0, 4, 4, 8),
            (2, 0, 4, 4),
            (0, 2, 2, 4),
            (1, 0, 2, 2),
            (0, 1, 1, 2),
        ]
        stream = b"".join(rows_of(image[y::dy, x::dx]) for x, y, dx, dy in passes if image[y::dy, x::dx].size)
    else:
        stream = rows_of(image)

    def chunk(name, body):
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    header = struct.pack(">IIBBBBB", width, height, 16, color, 0, 0, int(interlaced))
    packed = zlib.compress(stream[: len(stream) - cut])
    half = len(packed) // 2
    return (
        png.SIGNATURE
        + chunk(b"IHDR", header)
        + chunk(b"tEXt", b"Comment\0light")
        + chunk(b"IDAT", packed[:half])
        + chunk(b"IDAT", packed[half:])
        + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("interlaced", [False, True])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("kinds", [(0, 1, 2, 3, 4), (4, 3, 2, 1, 0), (4,), (3,)])
def test_16_bit_png_with_every_filter(channels, interlaced, kinds):
    image = random_samples(9, 11, channels, np.uint16)
    picture = decode(filtered_png(image, kinds, interlaced=interlaced), "x")
    color = 1 if channels < 3 else 3
    np.testing.assert_array_equal(picture.samples, image[..., :color])
    assert picture.bits == 16
    assert picture.notes == (("alpha channel dropped",) if channels in (2, 4) else ())


def test_our_16_bit_grey_png_is_what_pillow_reads():
    grey = random_samples(9, 11, 1, np.uint16)
    with Image.open(io.BytesIO(png.encode_16(grey))) as image:
        np.testing.assert_array_equal(np.asarray(image), grey[..., 0])
    color = random_samples(9, 11, 3, np.uint16)
    with Image.open(io.BytesIO(png.encode_16(color))) as image:
        np.testing.assert_array_equal(np.asarray(image), color >> 8)


@pytest.mark.parametrize("compression", [None, "zlib"])
@pytest.mark.parametrize("planar", ["contig", "separate"])
def test_tiff_of_16_bits_and_float(compression, planar):
    color = random_samples(9, 11, 4, np.uint16)
    stored = np.moveaxis(color, 2, 0) if planar == "separate" else color
    options = {
        "photometric": "rgb",
        "planarconfig": planar,
        "compression": compression,
        "extrasamples": ["unassalpha"],
    }
    picture = decode(tiff(stored, **options), "x")
    np.testing.assert_array_equal(picture.samples, color[..., :3])
    assert (picture.bits, picture.notes) == (16, ("alpha channel dropped",))
    values = np.random.default_rng(0).random((9, 11)).astype(np.float64)
    picture = decode(tiff(values, compression=compression), "x")
    np.testing.assert_array_equal(picture.samples[..., 0], values.astype(np.float32))
    assert picture.bits == 32
    inverted = decode(tiff(color[..., 0], photometric="miniswhite"), "x")
    np.testing.assert_array_equal(inverted.samples[..., 0], 65535 - color[..., 0])


def test_tiff_of_8_bits_in_the_forms_that_programs_write():
    rgb = random_samples(9, 11, 3)
    image = Image.fromarray(rgb)
    for compression in ("tiff_lzw", "packbits", "tiff_deflate", None):
        np.testing.assert_array_equal(decode(saved(image, "TIFF", compression=compression), "x").samples, rgb)
    assert (
        np.abs(
            decode(saved(image, "TIFF", compression="jpeg", quality=100), "x").samples - rgb.astype(int)
        ).mean()
        < 20
    )
    np.testing.assert_array_equal(
        decode(saved(image.quantize(16), "TIFF"), "x").samples, np.asarray(image.quantize(16).convert("RGB"))
    )
    assert decode(saved(image.convert("CMYK"), "TIFF"), "x").notes == ("CMYK converted to RGB",)
    assert set(np.unique(decode(saved(image.convert("1"), "TIFF"), "x").samples)) <= {0, 255}
    pages = tiff(np.stack([rgb, rgb]), photometric="rgb")
    assert decode(pages, "x").notes == ("only the first of 2 pages used",)


def test_tiff_that_cannot_be_a_view_is_explained():
    with pytest.raises(InputError, match="x: has samples of int32"):
        decode(tiff(np.zeros((4, 5), np.int32)), "x")
    with pytest.raises(InputError, match=r"x: .*LZW compression; save it with ZIP"):
        decode(
            saved(
                Image.fromarray(random_samples(9, 9, 1, np.uint16)[..., 0]), "TIFF", compression="tiff_lzw"
            ),
            "x",
        )


def test_cmyk_and_oriented_jpeg():
    image = Image.fromarray(random_samples(8, 16, 3))
    assert decode(saved(image.convert("CMYK"), "JPEG"), "x").notes == ("CMYK converted to RGB",)
    straight = decode(saved(image, "JPEG"), "x").samples
    expected = {2: straight[:, ::-1], 3: straight[::-1, ::-1], 4: straight[::-1], 5: straight.swapaxes(0, 1)}
    expected |= {6: np.rot90(straight, -1), 7: np.rot90(straight.swapaxes(0, 1), 2), 8: np.rot90(straight)}
    for orientation, turned in expected.items():
        exif = Image.Exif()
        exif[0x0112] = orientation
        picture = decode(saved(image, "JPEG", exif=exif), "x")
        np.testing.assert_array_equal(picture.samples, turned)
        assert picture.notes == ("turned upright as its orientation tag says",)


def test_side_data_of_a_png_is_no_obstacle():
    info = PngInfo()
    info.add_itxt("long", "x" * 3_000_000, zip=True)
    image = Image.fromarray(random_samples(8, 9, 3))
    np.testing.assert_array_equal(decode(saved(image, "PNG", pnginfo=info), "x").samples, np.asarray(image))


def all_kinds():
    rgb = random_samples(24, 31, 3)
    deep = random_samples(24, 31, 3, np.uint16)
    image = Image.fromarray(rgb)
    return {
        "png8": saved(image, "PNG"),
        "png16": png.encode_16(deep),
        "jpeg": saved(image, "JPEG"),
        "progressive": saved(image, "JPEG", progressive=True),
        "bmp": saved(image, "BMP"),
        "tiff8": saved(image, "TIFF"),
        "tiff8lzw": saved(image, "TIFF", compression="tiff_lzw"),
        "tiff16": tiff(deep, photometric="rgb"),
        "tiff16zip": tiff(deep, photometric="rgb", compression="zlib"),
    }


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("kind", list(all_kinds()))
def test_a_truncated_picture_is_refused_by_name(kind, lenient, monkeypatch):
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", lenient)
    data = all_kinds()[kind]
    assert decode(data, "x").samples.shape == (24, 31, 3)
    for keep in (0, 1, 2, 8, 20, 60, len(data) // 3, len(data) // 2, len(data) - 40, len(data) - 13):
        with pytest.raises(InputError, match=r"^some/view\.x: ") as caught:
            decode(data[:keep], "some/view.x")
        assert "\n" not in str(caught.value)
    if kind.startswith("png"):
        with pytest.raises(InputError, match="damaged or truncated"):
            decode(data[:-1], "x")


@settings(max_examples=150, deadline=None)
@given(kind=st.sampled_from(list(all_kinds())), data=st.data())
def test_a_damaged_picture_is_read_or_refused_but_nothing_else(kind, data):
    content = bytearray(all_kinds()[kind])
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    message = ""
    try:
        assert decode(bytes(content), "x").samples.shape[2] in (1, 3)
    except InputError as error:
        message = str(error)
    assert not message or (message.startswith("x: ") and "\n" not in message)


def test_large_pictures_are_read_and_impossible_ones_refused(monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    image = Image.fromarray(random_samples(40, 50, 3))
    for kind in ("PNG", "JPEG", "BMP", "TIFF"):
        assert decode(saved(image, kind), "x").samples.shape == (40, 50, 3)
    header = struct.pack(">IIBBBBB", 2**31 - 1, 2**31 - 1, 16, 2, 0, 0, 0)
    chunks = png.read_chunks(png.encode_16(random_samples(2, 2, 3, np.uint16)))
    for depth in (8, 16):
        forged = png.Chunks(**{**vars(chunks), "header": header[:8] + bytes([depth]) + header[9:]}).minimal()
        with pytest.raises(InputError, match="GB of memory"):
            decode(forged, "x")


def test_other_content_and_impossible_bits():
    with pytest.raises(InputError, match="x: is empty"):
        decode(b"", "x")
    with pytest.raises(InputError, match="no PNG, TIFF, JPEG or BMP picture"):
        decode(saved(Image.fromarray(random_samples(4, 4, 3)), "GIF"), "x")
    with pytest.raises(OptionError, match="jpeg holds 8 bits a sample, not 16"):
        encode(np.zeros((2, 2, 1), np.float32), "jpeg", 16)
    with pytest.raises(OptionError, match="png, tiff, jpeg or bmp"):
        kind_for("gif")
    assert kind_for(".TIF") == "tiff"
