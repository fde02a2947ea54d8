"""The figures that the paper published, and which light field of a person's is which of the paper's.

`published.csv` holds the four tables whole: twelve HCI and eleven Stanford light fields, two factors, six systems.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

# the columns of the paper's tables, in its order; the names are those that our methods have
SYSTEMS = ("bilinear", "wanner", "mitra", "srcnn", "gb-dr", "gb-sq")
PROTOCOL = "paper"  # the protocol that they were measured with; others give other decibels

_DATASETS = ("hciold", "hci2013", "hci", "stanford", "stfgantry", "lightfield")
# what the archives call the light fields, where the paper says it otherwise; letters and digits alone
_ALSO = {
    "monasroom": "mona",
    "monaroom": "mona",
    "jellybeans": "beans",
    "legobulldozer": "bulldozer",
    "thestanfordbunny": "bunny",
    "stanfordbunny": "bunny",
    "eucalyptusflowers": "eucalyptus",
    "legoknights": "knights",
    "treasurechest": "treasure",
    "legotruck": "truck",
}


@dataclass(frozen=True)
class Figure:
    """PSNR in dB: mean over the views, and variance in dB²."""

    mean: float
    variance: float


@cache
def figures() -> dict[tuple[str, int, str], Figure]:
    """Return every published figure by (light field, factor, system), in the order of the paper."""
    text = files("sharpfield.benchmark").joinpath("published.csv").read_text(encoding="utf-8")
    return {
        (row["light_field"], int(row["factor"]), row["system"]): Figure(
            float(row["psnr_mean"]), float(row["psnr_variance"])
        )
        for row in csv.DictReader(text.splitlines())
    }


def light_fields() -> tuple[str, ...]:
    """Return the paper's names of its 23 light fields."""
    return tuple(dict.fromkeys(name for name, _, _ in figures()))


def paper_name(name: str) -> str | None:
    """Return what the paper calls a light field: `hciold_buddha` is buddha, `Lego Truck` is truck; None if not there.

    The names of the archives, with or without that of the data set before them, are known. The two `Tarot Cards` of
    Stanford are not: the paper does not say which of them its `cards` is.
    """
    ours = re.sub("[^a-z0-9]", "", name.lower())
    known = {known.lower(): known for known in light_fields()} | _ALSO
    for prefix in ("", *_DATASETS):
        found = known.get(ours.removeprefix(prefix))
        if found is not None:
            return found
    return None


def find(name: str, factor: int, system: str) -> Figure | None:
    """Return the published figure of a light field, by any of its names, or None where the paper has none."""
    known = paper_name(name)
    return None if known is None else figures().get((known, factor, system))
