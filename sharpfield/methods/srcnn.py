"""min over the weights of the mean of |F(Y) - X|², F three convolutions, Y bicubic interpolation, X the truth.

C. Dong, C. C. Loy, K. He and X. Tang, Learning a deep convolutional network for image super-resolution, ECCV 2014:
every view on its own is interpolated (eq. 1's Y), then goes through the network 9-1-5 with 64 and 32 filters (eq. 1 to
3). Departures, each with its reason:

- Weights are ours (docs/models.md), one network a factor: trained for the box camera, on the block-centre grid and on
  the luma of this project; the authors' know another camera and another grid.
- Trained with Adam instead of plain gradient descent: the same minimum at a small part of the cost.
- At the border the interpolated view is repeated, where the paper's Matlab code leaves its border out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sharpfield.contract import Method, Need, NoOptions, Run

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sharpfield.observe import Camera
    from sharpfield.parallel import Workers
    from sharpfield.progress import ProgressCallback

FACTORS = (2, 3, 4)

# the margin that a network eats and the reach of bicubic interpolation at the largest factor, twice: the inner half of
# a tile's halo is blended into its neighbour
_HALO = 2 * (8 + 2 * FACTORS[-1])


def network_need(options: Any, grid: tuple[int, int], size_hr: tuple[int, int]) -> Need:
    """Tell the need of a small network on each view."""
    return Need(options, halo=_HALO, bytes_per_pixel=16)


def network_run(name: str, stage: str) -> Run:
    """Return what interpolates every view and sends it through the shipped network NAME-xFACTOR."""
    import numpy as np

    from sharpfield.interpolate import interpolate
    from sharpfield.methods.network.network import shipped

    def run(
        low: NDArray[np.float32],
        camera: Camera,
        options: NoOptions,
        workers: Workers,
        progress: ProgressCallback,
    ) -> NDArray[np.float32]:
        network = shipped(f"{name}-x{camera.factor}")
        start = interpolate(low, camera.factor, "bicubic", workers)
        high = np.empty_like(start)
        places = list(np.ndindex(*low.shape[:2]))
        network.run(
            [start[place][np.newaxis] for place in places],
            [high[p] for p in places],
            workers,
            progress,
            stage,
        )
        return high

    return run


srcnn = Method(
    name="srcnn",
    title="a small trained network on every view on its own",
    reference="C. Dong et al., Learning a deep convolutional network for image super-resolution, ECCV 2014",
    options=lambda: NoOptions,
    load=lambda: network_run("srcnn", "convolving"),
    plan=network_need,
    factors=FACTORS,
)
