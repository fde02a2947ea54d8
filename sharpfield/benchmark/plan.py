"""What a benchmark is asked to run on every light field, checked before anything is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from sharpfield import catalogue
from sharpfield.benchmark import protocols
from sharpfield.benchmark.records import Run
from sharpfield.errors import OptionError
from sharpfield.observe import Camera, whole_factor
from sharpfield.upscaling import AUTO, DEFAULT_MEMORY, parse_memory

METHODS = ("bilinear", "gb-dr", "gb-sq")
DISPARITY = (-6, 6)  # the paper's, whatever `upscale` does by itself


@dataclass(frozen=True)
class Plan:
    """What to run on every light field.

    Parameters
    ----------
    methods, factors
        Every method at every factor.
    protocol
        Name of the protocol.
    preset, chroma, memory
        As for `upscale`.
    camera
        What the methods take for the camera; the protocol's own, which made the data, when None.
    options
        Options of the methods, by name; each goes to the methods that have it.
    reading
        How to read the light fields: arguments of `sharpfield.read`.
    """

    methods: tuple[str, ...] = METHODS
    factors: tuple[int, ...] = (2,)
    protocol: str = protocols.PAPER.name
    preset: str = catalogue.DEFAULT_PRESET
    camera: str | None = None
    chroma: str | None = None
    memory: str | None = None
    options: Mapping[str, Any] | None = None
    reading: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if not self.methods or not self.factors:
            raise OptionError("a benchmark needs at least one method and one factor")
        object.__setattr__(self, "methods", tuple(dict.fromkeys(self.methods)))
        object.__setattr__(self, "factors", tuple(dict.fromkeys(map(whole_factor, self.factors))))
        parse_memory(self.memory)
        if self.chroma not in (None, "bilinear", "bicubic"):
            raise OptionError(f"chroma is bilinear or bicubic, not {self.chroma!r}")
        for factor in self.factors:  # asked for wrongly? say so before reading anything
            if self.camera is not None:
                Camera.parse(self.camera, factor)
            for method in self.methods:
                catalogue.find(method, factor)
        for option in self.options or {}:
            if not any(option in self._own(method) for method in self.methods):
                raise OptionError(f"none of the methods {', '.join(self.methods)} has an option {option!r}")
        self.runs("")

    def runs(self, pixels: str) -> list[Run]:
        """Return the runs on the light field of that fingerprint, in the order of the tables."""
        protocol = protocols.find(self.protocol)
        made = []
        for factor in self.factors:
            for method in self.methods:
                own = self._own(method)
                given = {name: value for name, value in (self.options or {}).items() if name in own}
                settings = {
                    "camera": self.camera or protocol.camera,
                    "preset": self.preset,
                    "chroma": self.chroma,
                    "memory": self.memory or DEFAULT_MEMORY,
                    **given,
                }
                run = Run(pixels, method, factor, protocol.to_json(), settings, self._options(method, given))
                made.append(run)
        return made

    def _own(self, method: str) -> set[str]:
        return {each.name for each in fields(catalogue.find(method).options())}

    def _options(self, method: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return all options of a method; a window that is not given is the paper's."""
        given, own = dict(given), self._own(method)
        if "disparity" in own:
            given.setdefault("disparity", DISPARITY)
        # measured on each light field, so that what the method gets is not known here
        asked = {name: value for name, value in given.items() if (name, value) != ("disparity", AUTO)}
        return {**asdict(catalogue.make_options(method, self.preset, asked)), **given}
