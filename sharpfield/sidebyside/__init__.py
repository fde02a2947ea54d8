"""Light fields that are shown together: what figures and pages are made of, by one way.

subject.py      which light fields, what they are to each other, and how they are read
benchmarked.py  those that a benchmark kept
align.py        the same views and the same window of all of them
"""

from __future__ import annotations

from sharpfield.sidebyside.align import aligned, check_grids, windowed
from sharpfield.sidebyside.subject import Shown, Subject

__all__ = ["Shown", "Subject", "aligned", "check_grids", "windowed"]
