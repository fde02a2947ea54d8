"""The paper's kinds of figure, for print. `subject` is what they are of, `drawing` lays them out (with matplotlib)."""

from __future__ import annotations

from sharpfield.figures.drawing import FORMATS, KINDS, draw
from sharpfield.figures.subject import Choice, Shown, Subject

__all__ = ["FORMATS", "KINDS", "Choice", "Shown", "Subject", "draw"]
