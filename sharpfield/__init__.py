"""sharpfield: raise the spatial resolution of every view of a light field at once, with no training.

The public names, in the order of the data flow. They load on first use, so that importing the package
(and `sharpfield --help`) loads neither NumPy nor the compiler.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from sharpfield.densifying import densify
    from sharpfield.disparities import depth
    from sharpfield.errors import InputError, OptionError, OutputError, SharpfieldError
    from sharpfield.io import read, write
    from sharpfield.lightfield import LightField
    from sharpfield.metrics import evaluate, psnr, ssim
    from sharpfield.observe import Camera, degrade
    from sharpfield.progress import Progress
    from sharpfield.scale import upscale_store
    from sharpfield.synthetic import render_scene
    from sharpfield.upscaling import upscale

_ROOM_OF = {
    "SharpfieldError": "errors",
    "InputError": "errors",
    "OutputError": "errors",
    "OptionError": "errors",
    "Progress": "progress",
    "LightField": "lightfield",
    "read": "io",
    "write": "io",
    "Camera": "observe",
    "degrade": "observe",
    "upscale": "upscaling",
    "densify": "densifying",
    "depth": "disparities",
    "psnr": "metrics",
    "ssim": "metrics",
    "evaluate": "metrics",
    "render_scene": "synthetic",
    "upscale_store": "scale",
}

__all__ = [  # noqa: RUF022  (in the order of the data flow)
    "__version__",
    "SharpfieldError",
    "InputError",
    "OutputError",
    "OptionError",
    "Progress",
    "LightField",
    "read",
    "write",
    "Camera",
    "degrade",
    "upscale",
    "densify",
    "depth",
    "psnr",
    "ssim",
    "evaluate",
    "render_scene",
    "upscale_store",
]


def __getattr__(name: str) -> Any:
    if name not in _ROOM_OF:
        raise AttributeError(f"module 'sharpfield' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"sharpfield.{_ROOM_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
