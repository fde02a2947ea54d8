"""Scenes with known depth, rendered: the demo and the tests live on them.

`surface` is the geometry, `textures` and `prints` the paints, `render` the rays, `stage` and `things` what the
still life is made of, `scenes` the two scenes.
"""

from __future__ import annotations

from sharpfield.synthetic.render import Scene, render
from sharpfield.synthetic.scenes import fronto_parallel, render_scene
from sharpfield.synthetic.surface import Plane, Surface

__all__ = ["Plane", "Scene", "Surface", "fronto_parallel", "render", "render_scene"]
