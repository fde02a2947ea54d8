"""What the matches say: the disparity range, the order of the views, and the flags that set it right."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from sharpfield.errors import OptionError
from sharpfield.geometry.matching import STEP, Mask, Votes
from sharpfield.geometry.survey import FEWEST, IN_ORDER, SMALLEST, TRANSPOSED, Field, Survey, survey
from sharpfield.lightfield import LightField
from sharpfield.parallel import Workers

DEFAULT_WINDOW = (-6, 6)  # the paper's search window, for views that tell nothing
FLAT = 0.05  # disparities closer than this (pixels) count as the same
UNEQUAL = 1.25  # steps of the camera that differ by more are worth a word
# majorities of polls, in standard deviations, that are acted on: neighbouring blocks see the same outline, so
# these are larger than for independent votes, and larger still where one direction has to do
CLEAR, CLEAR_ALONE = 3.0, 4.0

_NO_TEXTURE = "no texture to measure: the views are flat"
_NO_MATCH = "the views do not match one another: not views of one scene, too noisy, or farther apart than was searched"


@dataclass(frozen=True)
class Percentiles:
    """Percentiles of the disparity between adjacent views, in pixels of the views, and how many pixels told."""

    p0_5: float
    p1: float
    p50: float
    p99: float
    p99_5: float
    samples: int


@dataclass(frozen=True)
class Geometry:
    """What the pixels say about the views in the order in which they are stored.

    Parameters
    ----------
    horizontal, vertical
        Percentiles of the disparity along x and along y between adjacent views; None where it cannot be
        measured (a single column, a single row, no texture).
    confidence
        0..1: the share of textured pixels whose match is confirmed, by the views on the other side and by the
        other direction.
    transposed, flip_v, flip_u
        Rows and columns of views look exchanged; then (after a transpose) rows, columns look reversed.
    order_confidence
        0..1, how sure the order is, which side is near included; 0 when nothing tells.
    agreement
        Correlation of horizontal with vertical disparity over the pixels; None where not measured.
    ratio
        Vertical over horizontal spread of disparity, 1 for equal steps of the camera; None where not measured.
    sentence
        The diagnosis of the order for people, with the flags that set it right.
    """

    horizontal: Percentiles | None = None
    vertical: Percentiles | None = None
    confidence: float = 0.0
    transposed: bool = False
    flip_v: bool = False
    flip_u: bool = False
    order_confidence: float = 0.0
    agreement: float | None = None
    ratio: float | None = None
    sentence: str = ""

    @property
    def range(self) -> tuple[float, float] | None:
        """Joint range of both directions, 0.5 to 99.5 percentile, in pixels between adjacent views."""
        found = [one for one in (self.horizontal, self.vertical) if one is not None]
        return (min(one.p0_5 for one in found), max(one.p99_5 for one in found)) if found else None

    @property
    def flags(self) -> tuple[str, ...]:
        """Command-line flags that set the order right, in the order in which they apply."""
        wrong = {"--transpose": self.transposed, "--flip v": self.flip_v, "--flip u": self.flip_u}
        return tuple(flag for flag, needed in wrong.items() if needed)

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values, for `info --json` and records."""
        return asdict(self) | {"range": self.range, "flags": self.flags}


def disparity_window(geometry: Geometry, factor: int, pad: int = 1) -> tuple[int, int]:
    """Return the search window (lo, hi) in whole high-resolution pixels between adjacent views.

    Parameters
    ----------
    geometry
        Measured on the low-resolution views, in the order in which they will be used.
    factor
        By how much the views will be enlarged: disparities grow with it.
    pad
        Pixels added on both sides, at least 1: the range is made of percentiles, not of extremes.

    Returns
    -------
    tuple
        The paper's (-6, 6) where nothing could be measured.
    """
    if isinstance(pad, bool) or not isinstance(pad, int) or pad < 1:
        raise OptionError(f"the window is padded by a whole number of at least 1 pixel, not {pad!r}")
    if factor < 1:
        raise OptionError(f"the factor is at least 1, not {factor!r}")
    if geometry.range is None:
        return DEFAULT_WINDOW
    low, high = geometry.range
    return math.floor(low * factor) - pad, math.ceil(high * factor) + pad


def estimate_geometry(
    lf: LightField, *, max_disparity: float = 16.0, workers: Workers | None = None
) -> Geometry:
    """Measure the disparity range between adjacent views and find out how the views are ordered.

    Parameters
    ----------
    lf
        Any grid, 1xN and Nx1 included; any number of channels.
    max_disparity
        Largest shift between adjacent views that is searched, in pixels.
    workers
        Threads; the caller's own when None. The answer does not depend on how many.

    Returns
    -------
    Geometry
        In pixels of `lf` and in the order in which it is stored.
    """
    if not (math.isfinite(max_disparity) and max_disparity > 0):
        raise OptionError(f"max_disparity is a positive number of pixels, not {max_disparity!r}")
    if lf.grid == (1, 1):
        return Geometry(sentence="a single view has no disparity")
    if min(lf.size) < SMALLEST:
        return Geometry(
            sentence=f"views of {lf.size[1]}x{lf.size[0]} pixels are too small to measure disparity"
        )
    found = survey(lf, max_disparity, Workers(1) if workers is None else workers)
    return _diagnose(found, max_disparity)


def _diagnose(found: Survey, max_disparity: float) -> Geometry:
    transposed = found.in_order.z <= -CLEAR
    names = TRANSPOSED if transposed else IN_ORDER
    across, along = (found.fields.get(series) for series in names)
    relation = _relate(across, along)
    horizontal, vertical = (_percentiles(field, relation, found.scale) for field in (across, along))
    measured = [(field, p) for field, p in ((across, horizontal), (along, vertical)) if field and p]
    if not measured:
        textured = max(field.textured for field in found.fields.values())
        return Geometry(sentence=_NO_MATCH if textured >= FEWEST else _NO_TEXTURE)

    # what is near is near in both directions, once a disagreement of the two is undone
    x_votes, y_votes = (found.nearness.get(series, Votes()) for series in names)
    near = x_votes + (-y_votes if relation.sign < 0 else y_votes)
    alone = len(measured) == 1
    told = (relation.sign != 0 or alone) and abs(near.z) >= (CLEAR if relation.sign else CLEAR_ALONE)
    if relation.sign < 0:
        # one of the two is reversed for certain; if nothing tells which, it is the rows, as in Stanford's archive
        flip_u = told and near.z < 0
        flip_v = not flip_u
    else:
        flip_u = told and near.z < 0 and horizontal is not None
        flip_v = told and near.z < 0 and vertical is not None
    order_confidence = 0.0
    if (relation.sign or alone) and (told or near.z > 0):
        order_confidence = min(math.erf(abs(poll.z) / 3) for poll in (found.in_order, near))
    order = Geometry(
        horizontal=horizontal,
        vertical=vertical,
        confidence=float(np.mean([p.samples / field.precise for field, p in measured])),
        transposed=transposed,
        flip_v=flip_v,
        flip_u=flip_u,
        order_confidence=order_confidence,
        agreement=relation.correlation,
        ratio=relation.ratio,
    )
    sentence = _order_in_words(order, relation.sign, told) + _cautions(order, relation, found, max_disparity)
    return replace(order, sentence=sentence)


@dataclass(frozen=True)
class _Relation:
    """Vertical disparity = sign * ratio * horizontal + offset, where it holds; sign 0 where neither fits."""

    sign: int = 0
    ratio: float | None = None
    offset: float = 0.0
    correlation: float | None = None
    contradicted: Mask | None = None


def _relate(across: Field | None, along: Field | None) -> _Relation:
    """Compare horizontal and vertical disparity pixel by pixel, where both are sure."""
    if across is None or along is None:
        return _Relation()
    both = across.sure & along.sure
    if np.count_nonzero(both) < FEWEST:
        return _Relation()
    h, v = (
        np.clip(d, *np.percentile(d, (0.5, 99.5))) for d in (across.disparity[both], along.disparity[both])
    )
    ratio = correlation = None
    if min(h.std(), v.std()) > FLAT:
        correlation = float(np.corrcoef(h, v)[0, 1])
    if correlation is not None and abs(correlation) > 0.5:
        sign = 1 if correlation > 0 else -1
        ratio = float(v.std() / h.std())
    else:  # hardly any depth: what is left is the shift that nearly all pixels share
        same, opposite = (float(np.percentile(np.abs(v - s * h), 75)) for s in (1, -1))
        sign = (
            0 if abs(opposite - same) < FLAT or min(same, opposite) > STEP else 1 if same < opposite else -1
        )
    slope = sign * (ratio or 1.0)
    offset = float(np.median(v - slope * h))
    contradicted = both & (np.abs(along.disparity - slope * across.disparity - offset) >= STEP)
    return _Relation(sign, ratio, offset, correlation, contradicted)


def _percentiles(field: Field | None, relation: _Relation, scale: float) -> Percentiles | None:
    """Take the percentiles of the sure pixels but those that the other direction contradicts."""
    if field is None:
        return None
    told = field.sure
    if relation.sign and relation.contradicted is not None:
        told = told & ~relation.contradicted
    disparity = field.disparity[told] * scale
    if disparity.size < FEWEST:
        return None
    p0_5, p1, p50, p99, p99_5 = (float(p) for p in np.percentile(disparity, (0.5, 1, 50, 99, 99.5)))
    return Percentiles(p0_5, p1, p50, p99, p99_5, samples=disparity.size)


def _order_in_words(order: Geometry, sign: int, told: bool) -> str:
    """Say how the views are ordered, what sets it right, and what could not be told."""
    remedy = " ".join(order.flags)
    faults = ["rows and columns of views look exchanged"] if order.transposed else []
    if sign < 0 and not told:
        faults.append("rows or columns look stored in the opposite order")
        return (
            f"{', and '.join(faults)}: {remedy} sets it right, or the other flip (which one cannot be told)"
        )
    backwards = [word for wrong, word in ((order.flip_v, "rows"), (order.flip_u, "columns")) if wrong]
    if backwards:
        faults.append(f"{' and '.join(backwards)} look stored in the opposite order")
    if faults:
        return f"{', and '.join(faults)}: {remedy} sets it right"
    if order.horizontal is None or order.vertical is None:
        seen = "near surfaces hide far ones" if told else "the order cannot be told"
        return f"{seen}; one direction of disparity only, so rows and columns cannot be compared"
    if sign == 0 and order.agreement is None:
        return "hardly any depth, so the order of the views cannot be told"
    if sign == 0:
        return "horizontal and vertical disparity do not follow each other: are these views on a grid, rectified?"
    seen = (
        ", and near surfaces hide far ones"
        if told
        else "; whether rows and columns are both reversed cannot be told"
    )
    return f"the order looks right: horizontal and vertical disparity agree{seen}"


def _cautions(order: Geometry, relation: _Relation, found: Survey, max_disparity: float) -> str:
    """Say what else a method that expects one disparity for both directions should know."""
    text = ""
    if order.ratio is not None and not 1 / UNEQUAL < order.ratio < UNEQUAL:
        text += f"; the vertical step between views is {order.ratio:.2g} times the horizontal one"
    elif abs(relation.offset * found.scale) > STEP:
        text += f"; vertical disparity is {relation.offset * found.scale:+.1f} px off the horizontal one"
    if order.range and max(-order.range[0], order.range[1]) > 0.95 * max_disparity:
        text += f"; the disparity reaches the limit of {max_disparity:g} px that was searched"
    return text
