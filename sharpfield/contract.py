"""What a method is: its name, its options, and how to load what runs it.

A method raises the resolution of the luma of all views at once; `upscale` does the rest (tiles, color, progress).
Nothing here imports NumPy or a compiler, so the list of methods is cheap to show.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sharpfield.observe import Camera
    from sharpfield.parallel import Workers
    from sharpfield.progress import ProgressCallback


class Run(Protocol):
    """Low-resolution luma (v, u, y, x) float32 in, high-resolution luma (v, u, Y, X) float32 out."""

    def __call__(
        self,
        low: NDArray[np.float32],
        camera: Camera,
        options: Any,
        workers: Workers,
        progress: ProgressCallback,
    ) -> NDArray[np.float32]:
        """Raise the resolution of `low`, which `camera` made, by the camera's factor."""


@dataclass(frozen=True)
class NoOptions:
    """The options of a method that has none."""


@dataclass(frozen=True)
class Need:
    """What a method needs to run on a light field.

    Parameters
    ----------
    options
        The options, with what the light field makes impossible taken back.
    notes
        What was taken back, in words.
    halo
        How far around a tile the method must see for its inside to come out as in one piece, HR pixels.
    bytes_per_pixel
        Memory that it holds at its peak, per high-resolution pixel of all views.
    """

    options: Any
    notes: tuple[str, ...] = ()
    halo: int = 0
    bytes_per_pixel: float = 16


class Plan(Protocol):
    """Tell what a method needs for views (v, u) of a high-resolution size (Y, X), or raise why it cannot."""

    def __call__(self, options: Any, grid: tuple[int, int], size_hr: tuple[int, int]) -> Need:
        """Return the need; an OptionError or InputError says what to change."""


def plain_need(options: Any, grid: tuple[int, int], size_hr: tuple[int, int]) -> Need:
    """Tell the need of a method that treats every pixel from a few around it."""
    return Need(options, halo=8)


@dataclass(frozen=True)
class Method:
    """One way to raise the resolution of a light field.

    Parameters
    ----------
    name
        What people type.
    title
        What it does, in one line.
    reference
        The paper, or the section of ours, that it is from.
    options
        Called without arguments, returns the class of its options: a frozen dataclass that validates itself.
    load
        Called without arguments, returns what runs it; the compiler is imported then and not before.
    plan
        Tells what it needs to run on a light field.
    factors
        The factors that it can raise the resolution by; all that there are when None.
    """

    name: str
    title: str
    reference: str
    options: Callable[[], type[Any]]
    load: Callable[[], Run]
    plan: Plan = plain_need
    factors: tuple[int, ...] | None = None
