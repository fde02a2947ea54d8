"""What is printed and then photographed: a page of text, a clock's face, a soft backdrop; drawn large, as rasters."""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from scipy.ndimage import gaussian_filter

from sharpfield.synthetic.textures import Raster

_FINE = 4  # samples a pixel of what is drawn with a pen

_TITLE = "SHARPFIELD"
_WORDS = (
    "Every view of a light field sees the scene from its own place. What falls between the pixels of one "
    "view falls upon the pixels of another, so the grid of cameras knows more than any one of its pictures "
    "can show. Where the views agree, detail returns: the grain of the wood, the year rings of a log, the "
    "thin hand of the clock, and these small letters. A plane that recedes moves a little less with each "
    "row, and what stands in front hides in one view what the next one shows again. "
)


def _font(pixels: float) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size=max(pixels * _FINE, 1.0))


def _drawn(image: Image.Image) -> Raster:
    return Raster(np.asarray(image, np.float32) / 255, _FINE)


def page(height: float, width: float) -> Raster:
    """Return a page (in pixels) with a title and lines that shrink from 11 pixels to 5 as one reads on.

    On a page too narrow for that, everything is smaller.
    """
    image = Image.new("RGB", (round(width * _FINE), round(height * _FINE)), "#f3ead6")
    draw = ImageDraw.Draw(image)
    margin = 0.07 * width
    size = 30.0
    while size > 1 and draw.textlength(_TITLE, font=_font(size)) > (width - 2 * margin) * _FINE:
        size -= 0.5
    draw.text((width * _FINE / 2, margin * _FINE), _TITLE, fill="#a3262a", font=_font(size), anchor="mt")
    top = margin + 0.95 * size
    draw.line(
        [(margin * _FINE, top * _FINE), ((width - margin) * _FINE, top * _FINE)],
        fill="#a3262a",
        width=_FINE,
    )
    top += 2.5
    room, words, at = (width - 2 * margin) * _FINE, _WORDS.split(), 0
    body, largest = height - top - margin, min(11.0, 0.17 * width)
    while True:
        read = min((top - (height - margin - body)) / body, 1.0)
        size = largest * (1 - 0.55 * read)
        if top + size > height - margin:
            return _drawn(image)
        row = words[at % len(words)]
        at += 1
        while draw.textlength(f"{row} {words[at % len(words)]}", font=_font(size)) <= room:
            row += " " + words[at % len(words)]
            at += 1
        draw.text((margin * _FINE, top * _FINE), row, fill="#1f2430", font=_font(size), anchor="lt")
        top += 1.22 * size


def clock(radius: float) -> Raster:
    """Return a clock's face with minute marks, numerals and thin hands."""
    side = 2 * radius * _FINE
    image = Image.new("RGB", (round(side), round(side)), "#23323a")
    draw = ImageDraw.Draw(image)
    middle = side / 2

    def at(turn: float, reach: float) -> tuple[float, float]:
        angle = 2 * pi * turn
        return middle + middle * reach * sin(angle), middle - middle * reach * cos(angle)

    def ring(reach: float, fill: str) -> None:
        r = middle * reach
        draw.ellipse([middle - r, middle - r, middle + r, middle + r], fill=fill)

    ring(0.985, "#c2a36b")
    ring(0.93, "#7d6132")
    ring(0.91, "#fbf7ec")
    for minute in range(60):
        long, wide = (0.79, 1.5) if minute % 5 == 0 else (0.84, 0.7)
        draw.line([at(minute / 60, long), at(minute / 60, 0.88)], fill="#20242c", width=round(wide * _FINE))
    for hour in range(1, 13):
        draw.text(at(hour / 12, 0.66), str(hour), fill="#20242c", font=_font(0.20 * radius), anchor="mm")
    draw.text(at(0.5, 0.30), "five by five", fill="#5b6470", font=_font(0.125 * radius), anchor="mm")
    draw.line([at(0.64, 0.10), at(0.139, 0.44)], fill="#20242c", width=round(0.050 * middle))
    draw.line([at(0.20, 0.12), at(0.70, 0.72)], fill="#20242c", width=round(0.032 * middle))
    draw.line([at(0.42, 0.20), at(0.92, 0.80)], fill="#c8322b", width=round(0.9 * _FINE))
    ring(0.045, "#c8322b")
    return _drawn(image)


def backdrop(height: float, width: float, random: np.random.Generator) -> Raster:
    """Return a room out of focus: an evening gradient with soft discs of light."""
    rows, columns = round(height), round(width)
    ramp = np.linspace(0, 1, rows, dtype=np.float32)[:, None, None]
    top, bottom = np.array([0.10, 0.21, 0.29]), np.array([0.46, 0.47, 0.40])
    image = np.broadcast_to(top + (bottom - top) * ramp, (rows, columns, 3)).copy()
    palette = np.array([[1.0, 0.80, 0.45], [0.98, 0.60, 0.35], [0.55, 0.78, 0.80], [0.95, 0.90, 0.70]])
    unit = min(rows, columns)
    y, x = np.mgrid[:rows, :columns].astype(np.float32)
    for _ in range(26):
        radius = unit * random.uniform(0.025, 0.075)
        cy, cx = random.uniform(0.0, 0.65) * rows, random.uniform(0.0, 1.0) * columns
        disc = np.clip((radius - np.hypot(y - cy, x - cx)) / (0.18 * radius) + 0.5, 0, 1)
        glow = random.uniform(0.20, 0.55) * disc[..., None]
        image += (palette[random.integers(len(palette))] - image) * glow
    soft = 0.006 * unit + 0.6
    return Raster(gaussian_filter(image, (soft, soft, 0), mode="nearest"), 1.0)
