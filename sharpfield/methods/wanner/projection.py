"""All views projected into one: how much each sample counts there, and the normal equations of all of them.

A sample of view j with the disparity d sees, in view i, what a camera of view i would see (j - i) d pixels aside. With
B for the camera's blur at every pixel, and a cubic interpolation between pixels, that is one row of M B u; the rows of
all samples give A = Bᵀ (Mᵀ W M) B, and Mᵀ W M couples only pixels less than four rows and columns apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sharpfield.methods.wanner import kernels
from sharpfield.methods.wanner.params import WannerParams
from sharpfield.observe import Camera
from sharpfield.resample import SeparableMap, Taps

Plane = NDArray[np.float32]
Planes = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class NormalEquations:
    """A u = b of the data term of one view, A = Bᵀ N B.

    Parameters
    ----------
    stencil
        N = Mᵀ W M (25, Y, X): each pair of neighbouring pixels once.
    right_side
        b = Bᵀ Mᵀ W v.
    blur
        B.
    """

    stencil: NDArray[np.float32]
    right_side: Plane
    blur: SeparableMap

    def apply(self, image: Plane) -> Plane:
        """Return A image."""
        seen = self.blur.apply(image)
        spread = np.empty_like(seen)
        kernels.apply_stencil(self.stencil, seen, spread)
        return self.blur.adjoint(spread, out=seen)

    def gradient(self, image: Plane, out: Plane) -> None:
        """Write A image - b."""
        np.subtract(self.apply(image), self.right_side, out=out)

    def curvature(self) -> Plane:
        """Return the diagonal of a diagonal matrix that lies above A: the row sums of the absolute values."""
        blur = SeparableMap(*(Taps(t.index, np.abs(t.weight), t.n_in) for t in (self.blur.y, self.blur.x)))
        seen = blur.apply(np.ones(blur.size_in, np.float32))
        spread = np.empty_like(seen)
        kernels.bound_stencil(self.stencil, seen, spread)
        # pixels that no sample looks at stay as they are
        return np.maximum(blur.adjoint(spread), np.float32(1e-6))


def normal_equations(
    low: Planes,
    disparity: Planes,
    place: tuple[int, int],
    camera: Camera,
    blur: SeparableMap,
    params: WannerParams,
) -> NormalEquations:
    """Return the normal equations of the view at `place`.

    Parameters
    ----------
    low
        Luma of the low-resolution views (v, u, y, x).
    disparity
        Of their samples, in high-resolution pixels.
    blur
        The camera's blur at every high-resolution pixel.
    """
    factor, size = camera.factor, low.shape[2:]
    stencil = np.zeros((kernels.STENCIL, *blur.size_in), np.float32)
    right_side = np.zeros(blur.size_in, np.float32)
    weight = np.empty(size, np.float32)
    for other in _within_reach(low.shape[:2], place, params.reach):
        # a point of disparity d is d further left in the next view to the right: from `other` it moves back
        down, right = float(other[0] - place[0]), float(other[1] - place[1])
        if other == place:
            weight[:] = 1
        else:
            kernels.sample_weights(
                low[other],
                disparity[other],
                low[place],
                disparity[place],
                down,
                right,
                factor,
                params.agreement,
                params.stretch,
                params.contrast,
                weight,
            )
        kernels.add_samples(low[other], disparity[other], weight, down, right, factor, stencil, right_side)
    return NormalEquations(stencil, blur.adjoint(right_side), blur)


def _within_reach(grid: tuple[int, ...], place: tuple[int, int], reach: int) -> Iterator[tuple[int, int]]:
    for v, u in np.ndindex(*grid):
        if max(abs(v - place[0]), abs(u - place[1])) <= reach:
            yield v, u
