"""Disparity of every view: a sweep over sheared views, and one step of its refinement.

kernels.py   compiled loops
sweep.py     all views sheared to every disparity, compared, smoothed; the least cost wins
"""

from sharpfield.sharp.disparity.sweep import Window, blurred, moved, sweep

__all__ = ["Window", "blurred", "moved", "sweep"]
