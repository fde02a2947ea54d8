"""Protocols: everything that decides the decibels and differs silently between papers, by name.

A protocol says which views are taken, how the low resolution is made of them, and on what and how PSNR and SSIM are
measured. `prepare`, `degraded` and `measure` are its three steps.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpfield import color, metrics
from sharpfield.errors import InputError, OptionError
from sharpfield.lightfield import LightField
from sharpfield.observe import Camera, degrade
from sharpfield.parallel import Workers


@dataclass(frozen=True)
class Protocol:
    """How data are made and measured.

    Parameters
    ----------
    name, title
        What people type, and what it is in one line.
    views
        So many rows and columns of views are taken, the central ones.
    camera
        What shrinks the views, as `Camera.parse` reads it.
    bits
        Bits that the low resolution is rounded to, half up; None for float.
    luma
        The luma that is measured: `L` or `Y601`.
    luma_only
        The light field is reduced to that luma first: methods see grey views. Else they see the colors.
    border
        Pixels left out on each side of a view when measuring.
    ssim_ranges
        Data ranges L of SSIM's constants; each is measured.
    multiples
        (factor, multiple): at that factor views are cropped to the multiple, at others to the factor itself.
    """

    name: str
    title: str
    views: int
    camera: str
    bits: int | None
    luma: color.LumaKind
    luma_only: bool
    border: int
    ssim_ranges: tuple[int, ...]
    multiples: tuple[tuple[int, int], ...] = ()

    def grid(self, stored: tuple[int, int]) -> tuple[int, int]:
        """Return how many rows and columns of views are taken of those that there are."""
        return min(self.views, stored[0]), min(self.views, stored[1])

    def to_json(self) -> dict[str, Any]:
        """Return what decides the figures, as JSON has it."""
        return {key: value for key, value in asdict(self).items() if key != "title"}

    def prepare(self, lf: LightField, factor: int) -> LightField:
        """Return the truth: cropped at the bottom and on the right, reduced to luma if the protocol says so."""
        multiple = dict(self.multiples).get(factor, factor)
        height, width = (length - length % multiple for length in lf.size)
        if not (height and width):
            raise InputError(
                f"{lf.name}: views of {lf.size[0]}x{lf.size[1]} are too small to shrink by {factor}"
            )
        if (height, width) != lf.size:
            note = f"cropped from {lf.size[0]}x{lf.size[1]} to {height}x{width}, a multiple of {multiple}"
            lf = replace(lf.crop(slice(height), slice(width)), notes=(*lf.notes, note))
        if not self.luma_only:
            return lf
        return lf.with_views(color.luma(lf.views, self.luma)[..., np.newaxis], bits=32)

    def degraded(self, truth: LightField, factor: int, workers: Workers | None = None) -> LightField:
        """Return the low-resolution light field that the protocol makes of the truth."""
        return degrade(truth, Camera.parse(self.camera, factor), bits=self.bits, workers=workers)

    def planes(self, lf: LightField) -> NDArray[np.float32]:
        """Return what is measured of a light field: luma (v, u, y, x)."""
        return lf.views[..., 0] if self.luma_only else color.luma(lf.views, self.luma)

    def measure(self, result: NDArray[np.float32], truth: NDArray[np.float32]) -> Measured:
        """Measure planes against planes, view by view."""
        # the planes are the luma already: grey, as which L takes them unchanged
        return Measured(
            metrics.psnr(result, truth, border=self.border),
            {
                each: metrics.ssim(result, truth, border=self.border, data_range=each)
                for each in self.ssim_ranges
            },
        )


@dataclass(frozen=True, eq=False)
class Measured:
    """PSNR in dB and SSIM for every data range, of every view (v, u)."""

    psnr: metrics.PerView
    ssim: Mapping[int, metrics.PerView]

    def scores(self, data_range: int) -> metrics.Scores:
        """Return the scores with the SSIM of one data range."""
        return metrics.Scores(self.psnr, self.ssim[data_range])

    def to_json(self) -> dict[str, Any]:
        """Return the figures of every view as JSON holds them; an infinite PSNR is the string "inf"."""
        psnr = [[float(one) if math.isfinite(one) else "inf" for one in row] for row in self.psnr]
        return {
            "psnr": psnr,
            "ssim": {str(each): values.tolist() for each, values in self.ssim.items()},
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Measured:
        """Return what `to_json` wrote; a ValueError says that it is damaged."""
        if not isinstance(record["ssim"], dict):
            raise ValueError("its SSIM is not that of data ranges")
        psnr = np.array(record["psnr"], dtype=np.float64)
        ssim = {int(each): np.array(values, dtype=np.float64) for each, values in record["ssim"].items()}
        if (
            psnr.ndim != 2
            or psnr.size == 0
            or not ssim
            or any(one.shape != psnr.shape for one in ssim.values())
        ):
            raise ValueError("the scores are not one of each view")
        return cls(psnr, ssim)


PAPER = Protocol(
    name="paper",
    title="the paper's tables: box, 8 bits, luma L, a border of 15 pixels left out, central 5x5 views",
    views=5,
    camera="box",
    bits=8,
    luma="L",
    luma_only=False,
    border=15,
    ssim_ranges=(1,),
)

BASICLFSR = Protocol(
    name="basiclfsr",
    title="the deep-learning benchmarks': antialiased bicubic, float, BT.601 studio Y, no border, central 5x5 views",
    views=5,
    camera="bicubic",
    bits=None,
    luma="Y601",
    luma_only=True,
    border=0,
    ssim_ranges=(1, 2),
    multiples=((2, 4), (4, 4)),
)

PROTOCOLS = {protocol.name: protocol for protocol in (PAPER, BASICLFSR)}


def find(name: str) -> Protocol:
    """Return the protocol of that name, or say which there are."""
    if name not in PROTOCOLS:
        raise OptionError(f"no protocol is called {name!r}; there are {', '.join(PROTOCOLS)}")
    return PROTOCOLS[name]
