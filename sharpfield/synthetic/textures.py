"""Procedural textures: colours of surface points, made of noise, steps and waves.

A texture is a paint: it takes surface coordinates (t down, s right), in pixels, and gives the colour (3, n). Steps
are a quarter of a pixel soft and noise ends at 0.6 cycles a pixel, so a few samples a pixel suffice.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sharpfield.synthetic.surface import Floats, Paint

_TAU = 2 * np.pi


def rgb(code: str) -> Floats:
    """Return the colour "#rrggbb" as a column (3, 1)."""
    return np.array([int(code[i : i + 2], 16) / 255 for i in (1, 3, 5)], np.float32)[:, None]


def mix(first: Floats, second: Floats, weight: Floats) -> Floats:
    """Return `first` where the weight is 0 and `second` where it is 1."""
    return first + (second - first) * weight


def step(distance: Floats) -> Floats:
    """Return 0 below and 1 above distance 0 (in pixels), a quarter of a pixel soft."""
    return np.clip(distance * np.float32(4) + np.float32(0.5), 0, 1)


def line(position: Floats, period: float, width: float) -> Floats:
    """Return 1 on lines of a width at every multiple of a period, else 0 (all in pixels)."""
    return step(width / 2 - np.abs(position - period * np.round(position / period)))


class Noise:
    """Periodic noise with a power-law spectrum, mean 0 and variance 1, made once and looked up bilinearly.

    Parameters
    ----------
    random
        Where its phases come from.
    roughness
        The exponent p of the amplitude f^-p: 1 is cloudy (fBm), 0.3 is grain.
    """

    side, density = 1024, 2.0  # samples a side, samples a pixel: it repeats after 512 pixels

    def __init__(self, random: np.random.Generator, roughness: float = 1.0) -> None:
        fy = np.fft.fftfreq(self.side, 1 / self.density)[:, None]
        fx = np.fft.rfftfreq(self.side, 1 / self.density)[None, :]
        f = np.hypot(fy, fx)
        amplitude = np.maximum(f, 1 / 96) ** -roughness * np.exp(-((f / 0.6) ** 6))
        amplitude[0, 0] = 0
        spectrum = np.fft.rfft2(random.standard_normal((self.side, self.side))) * amplitude
        table = np.fft.irfft2(spectrum, s=(self.side, self.side))
        self._table = (table / table.std()).astype(np.float32).ravel()

    def __call__(self, t: Floats, s: Floats) -> Floats:
        """Return the noise at the points (t, s)."""
        shift, last = self.side.bit_length() - 1, self.side - 1
        t, s = t * np.float32(self.density), s * np.float32(self.density)
        t0, s0 = np.floor(t), np.floor(s)
        ft, fs = t - t0, s - s0
        i, j = t0.astype(np.intp) & last, s0.astype(np.intp) & last
        below, beside = ((i + 1) & last) << shift, (j + 1) & last
        i <<= shift
        look = self._table.take
        upper = look(i + j)
        upper += (look(i + beside) - upper) * fs
        lower = look(below + j)
        lower += (look(below + beside) - lower) * fs
        return upper + (lower - upper) * ft


class Raster:
    """A picture as a paint, its middle at the anchor, looked up bilinearly.

    Parameters
    ----------
    picture
        Colours (rows, columns, 3) in [0, 1], at least 2x2; beyond its rim it goes on with the rim's colours.
    density
        Samples a pixel.
    """

    def __init__(self, picture: NDArray[np.floating], density: float) -> None:
        self.shape, self.density = picture.shape[:2], float(density)
        self._planes = np.ascontiguousarray(np.moveaxis(picture, 2, 0), np.float32).reshape(3, -1)

    def __call__(self, t: Floats, s: Floats) -> Floats:
        """Return the colour at the points (t, s)."""
        (rows, columns), planes = self.shape, self._planes
        t = np.clip(t * self.density + (rows - 1) / 2, 0, rows - 1.001)
        s = np.clip(s * self.density + (columns - 1) / 2, 0, columns - 1.001)
        i, j = t.astype(np.intp), s.astype(np.intp)
        ft, fs = t - i.astype(np.float32), s - j.astype(np.float32)
        i = i * columns + j
        upper = planes.take(i, axis=1)
        upper += (planes.take(i + 1, axis=1) - upper) * fs
        i += columns
        lower = planes.take(i, axis=1)
        lower += (planes.take(i + 1, axis=1) - lower) * fs
        lower -= upper
        lower *= ft
        upper += lower
        return upper


def bricks(noise: Noise, random: np.random.Generator, height: float = 9.0, width: float = 22.0) -> Paint:
    """Return a brick wall."""
    tones = random.uniform(0, 1, 64).astype(np.float32)
    light, dark, mortar = rgb("#c9805c"), rgb("#7e3b2a"), rgb("#cbbfae")

    def paint(t: Floats, s: Floats) -> Floats:
        course = np.floor(t / height)
        s = s + course * np.float32(0.5 * width)
        which = (course * 7 + np.floor(s / width) * 13).astype(np.intp) & 63
        grain = noise(t, s)
        tone = np.clip(tones[which] + np.float32(0.16) * grain, 0, 1)
        joint = np.maximum(line(t, height, 1.5), line(s, width, 1.5))
        return mix(mix(light, dark, tone), mortar * (1 + np.float32(0.06) * grain), joint)

    return paint


def planks(noise: Noise, random: np.random.Generator, width: float = 34.0) -> Paint:
    """Return wooden planks that run along t, with their grain."""
    tones = random.uniform(-0.5, 0.5, 32).astype(np.float32)
    light, dark, gap = rgb("#d3a06a"), rgb("#8a5a34"), rgb("#3a2416")

    def paint(t: Floats, s: Floats) -> Floats:
        board = np.floor(s / width)
        shift = board * np.float32(37.0)
        slow = noise(t * np.float32(0.10) + shift, s * np.float32(0.45))
        fine = noise(t * np.float32(0.06) - shift, s * np.float32(2.2))
        rings = np.sin(s * np.float32(0.9) + slow * np.float32(3.2))
        tone = 0.45 + 0.25 * tones[board.astype(np.intp) & 31] + 0.13 * rings + 0.12 * fine
        return mix(mix(light, dark, np.clip(tone, 0, 1)), gap, line(s, width, 1.2))

    return paint


def zone_plate(radius: float, finest: float = 0.46) -> Paint:
    """Return rings whose frequency grows in proportion to the radius, up to `finest` cycles a pixel at the rim."""
    ink, paper, rim = rgb("#1d2b4f"), rgb("#f4ecd8"), rgb("#b8862f")
    inner = 0.93 * radius
    chirp = np.float32(np.pi * finest / inner)

    def paint(t: Floats, s: Floats) -> Floats:
        square = t * t + s * s
        wave = np.float32(0.5) + np.float32(0.5) * np.cos(chirp * square)
        return mix(mix(ink, paper, wave), rim, step(np.sqrt(square) - inner))

    return paint


def log_slice(noise: Noise, radius: float, ring: float = 3.4) -> Paint:
    """Return the end of a log: year rings some pixels wide, a crack, bark around."""
    calm = np.float32(0.22 * 40 / radius)  # the rings wander alike in logs of every size
    early, late, bark, lichen = rgb("#e9c48d"), rgb("#9c6130"), rgb("#4b3122"), rgb("#8a8560")

    def paint(t: Floats, s: Floats) -> Floats:
        r = np.hypot(t, s)
        warp = noise(t * calm + 90, s * calm)
        wave = np.sin((r + warp * (np.float32(0.07) * r + 1)) * np.float32(_TAU / ring))
        grain = noise(t, s)
        wood = mix(early, late, np.clip(0.42 + 0.40 * wave + 0.07 * grain + 0.25 * (r / radius - 0.5), 0, 1))
        angle = np.arctan2(t + warp, s - 0.1 * radius)
        crack = step((0.045 * r) * (r < 0.8 * radius) - np.abs(angle - 0.7) * r)
        rough = np.clip(0.35 + 0.4 * grain, 0, 1)
        return mix(mix(wood, bark, crack), mix(bark, lichen, rough), step(r - 0.9 * radius + 0.7 * warp))

    return paint


def citrus(noise: Noise, radius: float, segments: int = 10) -> Paint:
    """Return a slice of an orange: flesh in segments, pith, rind."""
    deep, bright, pith, rind = rgb("#ea7a12"), rgb("#ffc04d"), rgb("#fbe9c0"), rgb("#f08a17")
    sector = _TAU / segments

    def paint(t: Floats, s: Floats) -> Floats:
        r, angle = np.hypot(t, s), np.arctan2(t, s)
        grain = noise(t, s)
        pulp = noise(angle * np.float32(13.0), r * np.float32(0.22))  # the juice sacs point to the middle
        flesh = mix(bright, deep, np.clip(0.50 + 0.30 * pulp + 0.10 * grain, 0, 1))
        off = np.abs(angle - sector * np.round(angle / sector)) * r  # distance from the nearest membrane
        skin = np.maximum(step(0.028 * radius + 0.35 - off), step(0.10 * radius - r))
        flesh = mix(flesh, pith, np.maximum(skin, step(r - 0.84 * radius)))
        peel = rind * (1 + np.float32(0.05) * grain)
        return np.clip(mix(flesh, peel, step(r - 0.92 * radius)), 0, 1)

    return paint


def pinwheel(radius: float, spokes: int = 18) -> Paint:
    """Return a star of coloured spokes, ever finer towards the middle, with a hub."""
    colors = [rgb("#e2474b"), rgb("#f7f1e1"), rgb("#2f8f9d"), rgb("#f7f1e1")]

    def paint(t: Floats, s: Floats) -> Floats:
        r = np.hypot(t, s)
        turn = np.arctan2(t, s) * np.float32(spokes / np.pi)
        distance = r * np.float32(np.pi / spokes) + 1e-6  # pixels a spoke
        inside = np.abs(turn - 2 * np.round(turn / 2)) - np.float32(0.5)
        first = mix(colors[0], colors[2], (np.floor(turn / 2 + 0.5).astype(np.intp) & 1).astype(np.float32))
        star = mix(first, colors[1], step(inside * distance))
        return mix(star, rgb("#d9a441"), step(0.12 * radius - r))

    return paint


def speckles(noise: Noise, grain: Noise) -> Paint:
    """Return blots of colour with sharp rims, all grainy: something to match at every pixel."""
    paper, colors = rgb("#dccfb4"), (rgb("#2f6f8f"), rgb("#d1653f"), rgb("#3f7f4f"))

    def paint(t: Floats, s: Floats) -> Floats:
        image = paper
        for i, color in enumerate(colors):
            blot = noise(t * np.float32(1.5) + 171 * i, s * np.float32(1.5) - 143 * i)
            image = mix(image, color, step(6 * (blot - np.float32(0.7))))
        return np.clip(image * (1 + np.float32(0.09) * grain(t, s)), 0, 1)

    return paint


def shadowed(paint: Paint, spots: list[tuple[float, float, float, float]], darkness: float = 0.6) -> Paint:
    """Return a paint darkened softly around spots (t, s, half height, half width)."""

    def shaded(t: Floats, s: Floats) -> Floats:
        light = np.ones_like(t)
        for at_t, at_s, tall, wide in spots:
            square = ((t - at_t) / tall) ** 2 + ((s - at_s) / wide) ** 2
            light *= 1 - np.float32(darkness) * np.exp(-square)
        return paint(t, s) * light

    return shaded
