"""The paper's kinds of figure, for print: `choice` is what of a subject they show, `drawing` lays it out."""

from __future__ import annotations

from sharpfield.figures.choice import Choice
from sharpfield.figures.drawing import FORMATS, KINDS, draw
from sharpfield.sidebyside import Shown, Subject

__all__ = ["FORMATS", "KINDS", "Choice", "Shown", "Subject", "draw"]
