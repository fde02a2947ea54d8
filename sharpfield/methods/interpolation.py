"""The two baselines that treat every view on its own: bilinear and bicubic interpolation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharpfield.contract import Method, NoOptions, Run
from sharpfield.progress import Progress

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sharpfield.observe import Camera
    from sharpfield.parallel import Workers
    from sharpfield.progress import ProgressCallback


def _load(kind: str) -> Run:
    from sharpfield.interpolate import interpolate

    def run(
        low: NDArray[np.float32],
        camera: Camera,
        options: NoOptions,
        workers: Workers,
        progress: ProgressCallback,
    ) -> NDArray[np.float32]:
        high = interpolate(low, camera.factor, kind, workers)
        progress(Progress(f"{kind} interpolation", 1.0))
        return high

    return run


bilinear = Method(
    name="bilinear",
    title="bilinear interpolation of every view on its own",
    reference="the paper's first baseline and its initial estimate (Algorithm 1)",
    options=lambda: NoOptions,
    load=lambda: _load("bilinear"),
)

bicubic = Method(
    name="bicubic",
    title="bicubic interpolation of every view on its own",
    reference="R. Keys, Cubic convolution interpolation for digital image processing, IEEE TASSP 1981",
    options=lambda: NoOptions,
    load=lambda: _load("bicubic"),
)
