"""Disparity range and order of the views, read off the pixels (no camera data needed).

The views of the middle row and of the middle column are matched to the middle view along x and along y. What
is seen there answers four questions: how far points move between adjacent views (percentiles of sure
matches), whether moving along u moves the picture along x (else the grid is transposed), whether rows and
columns agree in sign and size (else one of them is reversed), and which of two surfaces is the nearer one (its
outline moves with it, and it hides the other). That last one tells reversed rows from reversed columns, and both
from none.

    matching.py     one series of views, one tile: cost volume -> disparity, and what is sure
    nearness.py     which of two surfaces is nearer: edges that move, strips that are hidden
    survey.py       the middle row and column, coarse to fine, tile by tile
    diagnosis.py    Geometry: percentiles, order, the sentence for people; the range as a window
    window.py       where upscale searches by itself, and what it warns of
    order.py        flips and transposes of the grid, and undoing them
"""

from __future__ import annotations

from sharpfield.geometry.diagnosis import Geometry, Percentiles, disparity_window, estimate_geometry
from sharpfield.geometry.order import flip, set_right, transpose
from sharpfield.geometry.window import Search, choose_search, find_search, order_warnings

__all__ = [
    "Geometry",
    "Percentiles",
    "Search",
    "choose_search",
    "disparity_window",
    "estimate_geometry",
    "find_search",
    "flip",
    "order_warnings",
    "set_right",
    "transpose",
]
