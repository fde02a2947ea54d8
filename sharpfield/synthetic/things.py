"""The things of the still life that are more than a painted disc: a pinwheel, a string of flags, grass."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sharpfield.synthetic import textures
from sharpfield.synthetic.stage import Stage
from sharpfield.synthetic.surface import Floats, Paint, Plane, Surface, disc, rectangle
from sharpfield.synthetic.textures import Noise, mix, rgb, step


def standing_disc(name: str, stage: Stage, x: float, radius: float, fraction: float, paint: Paint) -> Surface:
    """Return a disc that stands on the table at a depth and faces the camera."""
    mask, extent = disc(radius)
    return Surface(name, stage.facing(x, 0.99 * radius, fraction), paint, mask, extent)


def card(name: str, plane: Plane, paint: Paint, tall: float, wide: float, infinity: float) -> Surface:
    """Return a rectangle around its plane's anchor."""
    mask, extent = rectangle(-tall / 2, tall / 2, -wide / 2, wide / 2)
    return Surface(name, plane, paint, mask, extent, infinity)


def pinwheel(stage: Stage, x: float, radius: float, fraction: float) -> list[Surface]:
    """Return a star on a thin stick that stands on the table."""
    above = stage.foot(fraction) - 0.27 * stage.size[0]
    plane = stage.facing(x, above, fraction)
    thick = max(0.006 * stage.unit, 1.2)
    mask, extent = rectangle(0, above, -thick / 2, thick / 2)
    light, dark = rgb("#e8d9b5"), rgb("#8c6a3c")

    def wood(t: Floats, s: Floats) -> Floats:
        return mix(light, dark, np.clip(s / thick + 0.5, 0, 1))

    round_mask, round_extent = disc(radius)
    wheel = replace(plane, d0=plane.d0 + 0.01 * (stage.front - stage.back))
    return [
        Surface("stick", plane, wood, mask, extent),
        Surface("pinwheel", wheel, textures.pinwheel(radius), round_mask, round_extent, angle=8.0),
    ]


def bunting(stage: Stage, noise: Noise) -> Surface:
    """Return a string of little flags across the top, striped, dotted and checked, its right end the foremost."""
    unit, width = stage.unit, stage.size[1]
    right = width + stage.reach[1]
    plane = Plane(
        stage.depth(0.86), gx=(stage.front - stage.depth(0.86)) / (right - width / 2), cy=0.0, cx=width / 2
    )
    pitch, tall, thin = 0.115 * unit, 0.115 * unit, max(0.004 * unit, 0.9)
    colors = np.hstack([rgb(code) for code in ("#d8433b", "#f2b632", "#2f7f86", "#8a4f7d", "#5a8f4a")])
    cream = rgb("#fbf4e2")

    def string(s: Floats) -> Floats:
        return 0.085 * unit - np.float32(0.055 * unit) * (2 * s / width) ** 2

    def mask(t: Floats, s: Floats) -> NDArray[np.bool_]:
        drop = t - string(s)
        beside = np.abs(s - pitch * np.round(s / pitch))
        flag = (drop >= 0) & (beside <= 0.44 * pitch * (1 - drop / tall))
        return flag | (np.abs(drop) <= thin / 2)

    def paint(t: Floats, s: Floats) -> Floats:
        number = np.round(s / pitch).astype(np.intp)
        across, drop = s - pitch * np.round(s / pitch), t - string(s)
        small = 3.0
        stripes = textures.line(drop - 1, 2 * small, small)
        checks = np.abs(textures.line(drop, 2 * small, small) - textures.line(across, 2 * small, small))
        dots = step(
            np.float32(1.2) - np.hypot(drop - 5 * np.round(drop / 5), across - 5 * np.round(across / 5))
        )
        pattern = np.choose(number % 3, [stripes, dots, checks]).astype(np.float32)
        cloth = colors[:, number % 5]
        image = mix(cloth, cream, pattern) * (1 - np.float32(0.06) * np.clip(noise(t, s), -2, 2))
        return np.clip(mix(image, rgb("#4a3a2c"), step(thin / 2 + 0.3 - np.abs(drop))), 0, 1)

    # the string hangs in a parabola: beyond the picture's sides it leaves through the top
    return Surface("flags", plane, paint, mask, (-2 * unit, 0.09 * unit + tall, -2 * right, 2 * right))


def grass(stage: Stage, noise: Noise, random: np.random.Generator) -> Surface:
    """Return blades of grass at the lower left, in front of all but the flags."""
    unit, height = stage.unit, stage.size[0]
    tall, base = 0.44 * unit, height + stage.reach[0]
    blades = [
        (
            float(random.uniform(-0.08, 0.17) * unit),
            float(random.uniform(-0.04, 0.13) * unit),
            float(random.uniform(0.55, 1.0) * tall),
            float(random.uniform(0.009, 0.016) * unit),
        )
        for _ in range(11)
    ]
    plane = Plane(stage.depth(0.97), cy=base, cx=0.0)
    young, old = rgb("#a8c256"), rgb("#3f6b2f")

    def middle(t: Floats, foot: float, lean: float, long: float) -> tuple[Floats, Floats]:
        up = -t / long
        return foot + lean * up * up, up

    def mask(t: Floats, s: Floats) -> NDArray[np.bool_]:
        inside = np.zeros(np.broadcast(t, s).shape, bool)
        for foot, lean, long, wide in blades:
            at, up = middle(t, foot, lean, long)
            inside |= np.abs(s - at) <= wide * (1 - up)
        return inside

    def paint(t: Floats, s: Floats) -> Floats:
        tone, rib = np.zeros_like(t), np.zeros_like(t)
        for number, (foot, lean, long, wide) in enumerate(blades):
            at, up = middle(t, foot, lean, long)
            own = np.abs(s - at) <= wide * (1 - up)
            tone[own] = 0.15 + 0.6 * (1 - up[own]) + 0.09 * (number % 4 - 1.5)
            rib[own] = step(np.float32(0.45) - np.abs(s[own] - at[own]))
        tone = np.clip(tone + np.float32(0.10) * noise(t * np.float32(0.3), s * np.float32(2.0)), 0, 1)
        return mix(mix(young, old, tone), rgb("#d5df98"), np.float32(0.7) * rib)

    return Surface("grass", plane, paint, mask, (-tall, 0.0, -0.15 * unit, 0.34 * unit))
