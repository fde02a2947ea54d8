"""Views to compressed pictures, at a quality that a page of a given size allows.

WebP: every browser since 2020 shows it, at half the size of JPEG. The color differences are kept sharp, for it is
the detail of the views that people judge.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sharpfield.errors import InputError, OptionError
from sharpfield.parallel import Workers
from sharpfield.progress import Progress, ProgressCallback, silent

MIME = "image/webp"
LOSSLESS = "lossless"
AUTO = "auto"

Quality = int | str  # 1..100, or "lossless"
Pixels = NDArray[np.uint8]  # (y, x) or (y, x, c)

# qualities that "auto" tries, best first; below the last one a comparison by eye says nothing
_LADDER = (95, 92, 90, 87, 84, 80, 75, 70, 65, 60)
_SECOND_BEST = 70  # of pictures whose quality falls faster, where the others have the best
_SAMPLES = 3  # views of each light field that are encoded to foresee the size
_BASE64 = 4 / 3
_LARGEST_WEBP = 16383


@dataclass(frozen=True)
class Sheaf:
    """The pictures of one light field (its views, or its error maps), each made only when it is needed.

    Parameters
    ----------
    count
        How many.
    picture
        Gives the pixels of one of them.
    falls
        Pictures that are less looked at give their bytes to the others: how many times as fast as the quality asked
        for theirs falls. Errors are mostly noise, which is dear.
    """

    count: int
    picture: Callable[[int], Pixels]
    falls: float = 0.0

    def encode(self, number: int, quality: Quality) -> bytes:
        """Return one picture as WebP."""
        return encode(self.picture(number), self.own(quality))

    def own(self, quality: Quality) -> Quality:
        """Return the quality of these pictures where so much is asked for."""
        if not isinstance(quality, int) or not self.falls:
            return quality
        return max(1, round(_SECOND_BEST - self.falls * (_LADDER[0] - quality)))


def check_quality(quality: Quality) -> None:
    """Refuse a quality that has no meaning."""
    if quality in (AUTO, LOSSLESS):
        return
    if isinstance(quality, bool) or not isinstance(quality, int) or not 1 <= quality <= 100:
        raise OptionError(f"quality is from 1 to 100, auto or lossless, not {quality!r}")


def encode(pixels: Pixels, quality: Quality) -> bytes:
    """Return one picture as WebP."""
    image = Image.fromarray(pixels[..., 0] if pixels.ndim == 3 and pixels.shape[2] == 1 else pixels)
    if max(image.size) > _LARGEST_WEBP:
        raise InputError(f"a view of {image.size[0]}x{image.size[1]} is too large for a page; crop it")
    stream = io.BytesIO()
    if quality == LOSSLESS:
        image.convert("RGB").save(stream, "WEBP", lossless=True, quality=40, method=3)
    else:
        image.convert("RGB").save(stream, "WEBP", quality=quality, method=4, use_sharp_yuv=True)
    return stream.getvalue()


def choose_quality(sheaves: Sequence[Sheaf], most_bytes: float, workers: Workers) -> int:
    """Return the best quality at which all pictures fit `most_bytes` of a page, foreseen from a few of them."""
    samples = [(sheaf, number, _spread(sheaf.count)) for sheaf in sheaves for number in _spread(sheaf.count)]
    for quality in _LADDER:

        def size(sample: tuple[Sheaf, int, list[int]], quality: int = quality) -> float:
            sheaf, number, chosen = sample
            return len(sheaf.encode(number, quality)) * sheaf.count / len(chosen)

        sizes = workers.map(size, samples)
        if sum(sizes) * _BASE64 <= 0.97 * most_bytes:
            return quality
    return _LADDER[-1]


def encode_all(
    sheaves: Sequence[Sheaf], quality: Quality, workers: Workers, progress: ProgressCallback = silent
) -> list[list[bytes]]:
    """Return every picture of every sheaf."""
    places = list(_places(sheaves))
    done = 0

    def one(place: tuple[int, int]) -> bytes:
        nonlocal done
        data = sheaves[place[0]].encode(place[1], quality)
        done += 1
        progress(Progress("compressing views", done / len(places)))
        return data

    found = iter(workers.map(one, places))
    return [[next(found) for _ in range(sheaf.count)] for sheaf in sheaves]


def _places(sheaves: Sequence[Sheaf]) -> Iterator[tuple[int, int]]:
    for index, sheaf in enumerate(sheaves):
        for number in range(sheaf.count):
            yield index, number


def _spread(count: int) -> list[int]:
    """Return a few numbers of 0..count-1: the middle, and near both ends."""
    return sorted({round(part * (count - 1)) for part in np.linspace(0, 1, _SAMPLES)})
