"""The order of the views: flips and transposes of the grid; the pictures themselves stay as they are."""

from __future__ import annotations

from sharpfield.errors import OptionError
from sharpfield.geometry.diagnosis import Geometry
from sharpfield.lightfield import LightField


def flip(lf: LightField, axis: str) -> LightField:
    """Return the light field with its rows ("v") or columns ("u") of views in the opposite order."""
    if axis not in ("u", "v"):
        raise OptionError(f"the order of views is flipped along 'u' or 'v', not {axis!r}")
    views = lf.views[:, ::-1] if axis == "u" else lf.views[::-1]
    return lf.with_views(views, notes=(*lf.notes, f"order of views flipped along {axis}"))


def transpose(lf: LightField) -> LightField:
    """Return the light field with rows and columns of views exchanged."""
    return lf.with_views(lf.views.swapaxes(0, 1), notes=(*lf.notes, "rows and columns of views exchanged"))


def set_right(lf: LightField, geometry: Geometry) -> LightField:
    """Return the light field in the order that `geometry` recommends: the transpose first, then the flips."""
    if geometry.transposed:
        lf = transpose(lf)
    if geometry.flip_v:
        lf = flip(lf, "v")
    if geometry.flip_u:
        lf = flip(lf, "u")
    return lf
