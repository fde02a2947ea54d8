"""The photographs that the networks learn from: which, under which licence, and as which pairs.

They are in packages of Debian 12 and in two Python packages; none of them is part of this project. Unpack the former
into one folder:

    apt-get download lomiri-wallpapers-16.04 lomiri-wallpapers-20.04 mate-backgrounds plasma-workspace-wallpapers
    for package in *.deb; do dpkg -x "$package" photographs; done
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sharpfield.color import to_luma_chroma
from sharpfield.interpolate import interpolate
from sharpfield.lightfield import LightField
from sharpfield.observe import Camera, degrade

Plane = NDArray[np.float32]

# licences as the packages' own copyright files say them
CC_BY = "CC BY 4.0"
CC_BY_SA_3 = "CC BY-SA 3.0"
CC_BY_SA_4 = "CC BY-SA 4.0"
GPL = "GPL-2+"
LGPL = "GPL-2+ (package), LGPL-3 (picture)"

_LOMIRI = "usr/share/backgrounds"
_MATE = "usr/share/backgrounds/mate/nature"
_PLASMA = "usr/share/wallpapers/{}/contents/images/2560x1600.jpg"

# a picture was taken for photographs only if it is one: no paintings, no computer graphics, no mere gradients
FROM_DEBIAN: dict[str, str] = {
    f"{_LOMIRI}/Bridge_by_Sander_Klootwijk.jpg": CC_BY_SA_4,
    f"{_LOMIRI}/Dragonfly_by_Bolly.jpg": CC_BY_SA_4,
    f"{_LOMIRI}/Picture_0B_by_freespace.jpg": CC_BY,
    f"{_LOMIRI}/Picture_1A_by_freespace.jpg": CC_BY,
    f"{_LOMIRI}/Wine_by_Jakkub_Mede.jpg": CC_BY,
    f"{_LOMIRI}/aitzgorri_by_Aitzol_Berasategi.jpg": CC_BY,
    f"{_LOMIRI}/free_by_Peter_Nerlich.jpg": CC_BY_SA_4,
    f"{_LOMIRI}/friends_by_Aitzol_Berasategi.jpg": CC_BY,
    f"{_LOMIRI}/greentock_by_Peter_Nerlich.jpg": CC_BY_SA_4,
    f"{_LOMIRI}/life_by_Aitzol_Berasategi.jpg": CC_BY,
    f"{_LOMIRI}/picosdeeuropa_by_Aitzol_Berasategi.jpg": CC_BY,
    f"{_LOMIRI}/seeding_by_Clements_Engelhardt.jpg": "CC0 1.0",
    f"{_LOMIRI}/sunset_by_Aitzol_Berasategi.jpg": CC_BY,
    f"{_LOMIRI}/Kleiber_by_Lukas_Baubkus.jpg": CC_BY_SA_3,
    f"{_MATE}/Blinds.jpg": GPL,
    f"{_MATE}/Dune.jpg": GPL,
    f"{_MATE}/Garden.jpg": GPL,
    f"{_MATE}/LadyBird.jpg": GPL,
    f"{_MATE}/RainDrops.jpg": GPL,
    f"{_MATE}/TwoWings.jpg": GPL,
    f"{_MATE}/Wood.jpg": GPL,
    f"{_MATE}/YellowFlower.jpg": GPL,
    _PLASMA.format("BytheWater"): LGPL,
    _PLASMA.format("ColdRipple"): LGPL,
    _PLASMA.format("ColorfulCups"): LGPL,
    _PLASMA.format("EveningGlow"): LGPL,
    _PLASMA.format("FallenLeaf"): LGPL,
    _PLASMA.format("Grey"): LGPL,
    _PLASMA.format("OneStandsOut"): LGPL,
    _PLASMA.format("Path"): LGPL,
}

# name in the package -> licence, as its documentation says it
FROM_SCIKIT_IMAGE: dict[str, str] = {
    "astronaut.png": "public domain (NASA)",
    "brick.png": "CC0",
    "camera.png": "CC0",
    "chelsea.png": "CC0",
    "coffee.png": "CC0",
    "grass.png": "CC0",
    "gravel.png": "CC0",
    "rocket.jpg": "public domain (SpaceX)",
}
FROM_SCIKIT_LEARN: dict[str, str] = {"china.jpg": "CC BY 2.0", "flower.jpg": "CC BY 2.0"}

# not learned from: what a network's progress is measured on
HELD_OUT = ("EveningGlow", "life_by", "coffee", "Wine_by", "Kleiber_by")

_LONGEST_EDGES = (1400, 800)  # a photograph is taken in, shrunk, once for each
_SHORTEST_SHRINK = 2  # what a JPEG file did to 8x8 blocks, and the lens to edges, is gone then


@dataclass(frozen=True)
class Pair:
    """A luma plane and what bicubic interpolation makes of what the camera leaves of it."""

    name: str
    truth: Plane
    start: Plane

    @property
    def held_out(self) -> bool:
        """Whether it is for measuring only."""
        return any(word in self.name for word in HELD_OUT)


def files(folder: Path) -> Iterator[Path]:
    """Yield the photographs; `folder` is where the Debian packages were unpacked."""
    import skimage
    import sklearn

    yield from (folder / name for name in FROM_DEBIAN)
    yield from (Path(skimage.__file__).parent / "data" / name for name in FROM_SCIKIT_IMAGE)
    yield from (Path(sklearn.__file__).parent / "datasets" / "images" / name for name in FROM_SCIKIT_LEARN)


def pictures(folder: Path) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Yield every photograph in each of its sizes: its name, and RGB (y, x, 3) in [0, 1] of 8 bits."""
    for path in files(folder):
        with Image.open(path) as opened:
            whole = opened.convert("RGB")
        small = path.suffix == ".png" or max(whole.size) <= _LONGEST_EDGES[1]
        shrinks = {
            max(-(-max(whole.size) // longest), 1 if small else _SHORTEST_SHRINK)
            for longest in _LONGEST_EDGES
        }
        for shrink in sorted(shrinks):
            picture = whole.reduce(shrink) if shrink > 1 else whole
            yield f"{path.parts[-4]}/{path.name}/{shrink}", np.asarray(picture, np.float32) / 255


def pairs(folder: Path, factor: int, blur: str = "box") -> list[Pair]:
    """Return the pairs of a factor: the light field's own way, with one view, 8 bits, bicubic interpolation."""
    camera = Camera.parse(blur, factor)
    made = []
    for name, picture in pictures(folder):
        height, width = (n - n % factor for n in picture.shape[:2])
        view = LightField(picture[np.newaxis, np.newaxis, :height, :width])
        low = to_luma_chroma(degrade(view, camera).views[0, 0])[0]
        made.append(Pair(name, to_luma_chroma(view.views[0, 0])[0], interpolate(low, factor, "bicubic")))
    return made
