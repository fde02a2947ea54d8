"""The camera: blur B and decimation S of the paper's eq. 4 as one separable map, and `degrade`.

High-resolution pixel (y, x) belongs to low-resolution pixel (y // a, x // a), so the low-resolution sample i sits
at the high-resolution coordinate a i + (a - 1) / 2, the centre of its block, whatever the blur is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from numbers import Real
from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray

from sharpfield.errors import InputError, OptionError
from sharpfield.lightfield import LightField, require_light_field
from sharpfield.parallel import Workers
from sharpfield.resample import SeparableMap, Taps

Blur = Literal["box", "gaussian", "bicubic"]

FACTORS = range(2, 9)
_BLURS = ("box", "gaussian", "bicubic")
_LARGEST_SIGMA = 100.0  # pixels; beyond any lens, and the tables stay small


def whole_factor(factor: object) -> int:
    """Return the factor as an int, or say which factors there are."""
    whole = isinstance(factor, Real) and not isinstance(factor, bool) and factor in FACTORS
    if not whole:
        raise OptionError(f"factor must be a whole number from 2 to 8, not {factor!r}")
    return int(cast(int, factor))


def keys_cubic(distance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cubic convolution kernel of Keys (1981), a = -0.5."""
    t = np.abs(distance)
    near = (1.5 * t - 2.5) * t * t + 1
    far = ((-0.5 * t + 2.5) * t - 4) * t + 2
    return np.where(t <= 1, near, np.where(t < 2, far, 0.0))


@dataclass(frozen=True)
class Camera:
    """What makes a low-resolution view of a high-resolution one: S B of the paper's eq. 4.

    Parameters
    ----------
    factor
        How many times smaller the low-resolution views are: a whole number from 2 to 8.
    blur
        `box`: the mean of the factor x factor block (the paper's). `gaussian`: of standard deviation `sigma`,
        mirrored at the border. `bicubic`: the antialiased bicubic of MATLAB's `imresize`.
    sigma
        Standard deviation of the Gaussian, in high-resolution pixels; only for `gaussian`.
    """

    factor: int
    blur: Blur = "box"
    sigma: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "factor", whole_factor(self.factor))
        if self.blur not in _BLURS:
            raise OptionError(f"camera {self.blur!r} is unknown; {_HOW_TO_SAY}")
        if self.blur != "gaussian":
            if self.sigma is not None:
                raise OptionError(f"camera {self.blur} takes no sigma; only gaussian does (gaussian:1.2)")
            return
        sigma = self.sigma
        if sigma is None:
            raise OptionError("camera gaussian needs a sigma in high-resolution pixels: gaussian:1.2")
        valid = isinstance(sigma, Real) and not isinstance(sigma, bool) and 0 < sigma <= _LARGEST_SIGMA
        if not valid:
            raise OptionError(
                f"sigma of camera gaussian must be above 0 and at most 100 pixels, not {sigma!r}"
            )
        object.__setattr__(self, "sigma", float(sigma))

    @classmethod
    def parse(cls, text: str, factor: int) -> Camera:
        """Return the camera that a text names: `box`, `gaussian:1.2` or `bicubic`."""
        blur, colon, number = text.strip().partition(":")
        blur = blur.strip().lower()
        if blur not in _BLURS:
            raise OptionError(f"camera {text!r} is unknown; {_HOW_TO_SAY}")
        if not colon:
            return cls(factor, cast(Blur, blur))
        try:
            sigma = float(number)
        except ValueError:
            raise OptionError(f"camera {text!r}: {number.strip()!r} is not a number; {_HOW_TO_SAY}") from None
        return cls(factor, cast(Blur, blur), sigma)

    def __str__(self) -> str:
        return self.blur if self.sigma is None else f"{self.blur}:{repr(self.sigma).removesuffix('.0')}"

    def map(self, size_hr: tuple[int, int]) -> SeparableMap:
        """Return the map from views of `size_hr` (y, x) to low resolution; made once for each size."""
        return _map(self, (int(size_hr[0]), int(size_hr[1])))

    def dense_map(self, size_hr: tuple[int, int]) -> SeparableMap:
        """Return B without S: for every pixel, what a sample whose block began there would see.

        `map` is every factor-th row and column of it.
        """
        y, x = (_windows(self, np.arange(n), n) for n in size_hr)
        return SeparableMap(y, x)

    def window(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return where a sample looks along an axis: offsets from its block's first pixel, and weights (of any sum)."""
        a = self.factor
        if self.blur == "box":
            return np.arange(a), np.ones(a)
        centre = (a - 1) / 2
        reach = 2.0 * a if self.blur == "bicubic" else 4.0 * cast(float, self.sigma)
        offsets = np.arange(math.floor(centre - reach), math.ceil(centre + reach) + 1)
        distance = offsets - centre
        if self.blur == "bicubic":
            # imresize with antialiasing: the kernel stretched by the factor, its taps brought to the sum 1
            return offsets, keys_cubic(distance / a)
        # relative to the nearest tap: a very small sigma leaves that one, and not 0 / 0
        square = distance**2
        return offsets, np.exp((square.min() - square) / (2 * cast(float, self.sigma) ** 2))


_HOW_TO_SAY = "say box, gaussian:SIGMA (as in gaussian:1.2) or bicubic"


@lru_cache(maxsize=64)
def _map(camera: Camera, size_hr: tuple[int, int]) -> SeparableMap:
    if any(n < camera.factor or n % camera.factor for n in size_hr):
        raise InputError(
            f"views of {size_hr[1]}x{size_hr[0]} do not divide into {camera.factor}x{camera.factor} blocks; "
            f"crop them to multiples of {camera.factor}"
        )
    y, x = (_axis(camera, n) for n in size_hr)
    return SeparableMap(y, x)


def _axis(camera: Camera, n_hr: int) -> Taps:
    """Return the taps of one axis."""
    return _windows(camera, camera.factor * np.arange(n_hr // camera.factor), n_hr)


def _windows(camera: Camera, first: NDArray[np.int64], n_hr: int) -> Taps:
    """Return the taps of samples whose blocks begin at the pixels `first`."""
    offsets, weight = camera.window()
    index = first[:, np.newaxis] + offsets
    return Taps.from_windows(index, np.broadcast_to(weight, index.shape), n_hr, "symmetric")


def degrade(
    lf: LightField,
    camera: Camera,
    *,
    noise: float = 0.0,
    seed: int = 0,
    bits: int | None = 8,
    workers: Workers | None = None,
) -> LightField:
    """V = S B U + n (paper, eq. 4), stored in `bits`: the low-resolution light field that a camera gives.

    Every channel goes through the camera on its own; then noise, clipping to [0, 1] and rounding.

    Parameters
    ----------
    lf
        High-resolution views; cropped at the bottom and on the right to a multiple of the factor.
    camera
        Factor and blur.
    noise
        Standard deviation of white Gaussian noise, in units of the white level.
    seed
        Seed of the noise; each view draws from its own stream, so threads do not change it.
    bits
        8 or 16: round half up to that many bits. None: keep floats.
    workers
        Threads to spread the views over.
    """
    require_light_field(lf)
    if not isinstance(camera, Camera):
        raise OptionError(f"camera is a Camera, such as sharpfield.Camera(2), not {camera!r}")
    if bits not in (8, 16, None):
        raise OptionError(f"bits must be 8, 16 or None (float), not {bits!r}")
    if not (isinstance(noise, Real) and 0 <= noise < math.inf):
        raise OptionError(f"noise must be a number of at least 0 (1 is the white level), not {noise!r}")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise OptionError(f"seed must be a whole number of at least 0, not {seed!r}")
    a = camera.factor
    height, width = (n - n % a for n in lf.size)
    if not (height and width):
        raise InputError(f"{lf.name}: views of {lf.size[1]}x{lf.size[0]} are too small to shrink by {a}")
    notes = lf.notes
    if (height, width) != lf.size:
        notes += (f"cropped from {lf.size[1]}x{lf.size[0]} to {width}x{height}, a multiple of {a}",)
    observe = camera.map((height, width))
    low = np.empty((*lf.grid, *observe.size_out, lf.channels), np.float32)

    def one(place: tuple[int, ...]) -> None:
        view = low[place]
        for c in range(lf.channels):
            view[..., c] = observe.apply(lf.views[place][:height, :width, c])
        if noise:
            stream = np.random.default_rng((seed, *place))
            view += np.float32(noise) * stream.standard_normal(view.shape, dtype=np.float32)
        np.clip(view, 0, 1, out=view)
        if bits is not None:
            view[...] = rounded_half_up(view, bits)

    places = list(np.ndindex(*lf.grid))
    if workers is None:
        for place in places:
            one(place)
    else:
        workers.map(one, places)
    return lf.with_views(low, bits=bits or 32, notes=notes)


def rounded_half_up(values: NDArray[np.float32], bits: int) -> NDArray[np.float32]:
    """Round values in [0, 1] to the nearest of 2^bits levels, halves up.

    The mean of four 8-bit samples lies half way between two levels one time in four, and float32 may hold it a
    hair below: what lies within a few units of the last place of float32 below a half counts as a half.
    """
    top = 2**bits - 1
    levels = values * np.float64(top)
    return np.asarray(np.floor(levels + (0.5 + top * 2.0**-22)) / top, dtype=np.float32)
