"""What there is to do: the light fields of an input, and the blocks of each."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sharpfield import catalogue
from sharpfield.contract import Need
from sharpfield.errors import InputError, OptionError
from sharpfield.io import open_views
from sharpfield.io.folder import picture_names
from sharpfield.io.zarr_store import is_store, open_stored
from sharpfield.observe import Camera
from sharpfield.scale.work import Settings, plain
from sharpfield.tiles import budget_tiling

# the interpreter, the libraries (Dask and Zarr among them) and the compiled code, before any pixel
BASE_BYTES = 330e6

# the process that starts local workers: scheduler, journal, no pixels
_HANDING_OUT_BYTES = 260e6

# blocks are not made smaller than this, low-resolution pixels, the halo not counted
_SMALLEST = 32
# nor larger than this, high-resolution pixels: a chunk is as large, and has to fit through a compressor
_LARGEST = 8192


@dataclass(frozen=True)
class Request:
    """What was asked for, the same for every light field of a series.

    Parameters
    ----------
    method, preset, options
        The method and what was said about its options.
    camera, chroma
        What made the views; how colors are interpolated.
    bits
        Of the result; those of each input when None.
    """

    method: str
    preset: str
    options: Mapping[str, Any]
    camera: Camera
    chroma: str
    bits: int | None = None

    def parameters(self) -> dict[str, Any]:
        """Return all that decides the pixels, as JSON holds it."""
        made = catalogue.make_options(self.method, self.preset, self.options)
        return {
            "method": self.method,
            "preset": self.preset,
            "factor": self.camera.factor,
            "camera": str(self.camera),
            "chroma": self.chroma,
            "bits": self.bits,
            **{f"option {name}": value for name, value in plain(made).items()},
        }


@dataclass(frozen=True)
class Member:
    """One light field of a job, as it was found.

    Parameters
    ----------
    name
        In a series; empty when it is the whole job.
    path
        Where it is.
    """

    name: str
    path: Path


@dataclass(frozen=True)
class Plan:
    """A light field cut into blocks.

    Parameters
    ----------
    member
        Which one.
    title, notes, metadata
        What its reader said about it.
    grid, size, channels, bits
        Of the input; the bits are those of the result.
    block
        Height and width of a block, in low-resolution pixels.
    margin
        The halo, in low-resolution pixels.
    settings
        What is done to it.
    """

    member: Member
    title: str
    notes: tuple[str, ...]
    metadata: Mapping[str, Any]
    grid: tuple[int, int]
    size: tuple[int, int]
    channels: int
    block: tuple[int, int]
    margin: int
    settings: Settings

    @property
    def blocks(self) -> tuple[int, int]:
        """How many blocks high and wide it is."""
        return math.ceil(self.size[0] / self.block[0]), math.ceil(self.size[1] / self.block[1])

    def cores(self) -> Iterator[tuple[str, tuple[int, int, int, int]]]:
        """Yield the name of each block and its window (y0, y1, x0, x1), low-resolution pixels."""
        (rows, columns), (height, width) = self.blocks, self.block
        for row in range(rows):
            for column in range(columns):
                y, x = row * height, column * width
                core = y, min(y + height, self.size[0]), x, min(x + width, self.size[1])
                yield f"{row}.{column}", core


def each_budget(memory: float, workers: int | None) -> float:
    """Return the bytes that one worker may use of a budget; without workers the whole budget is one's."""
    return memory if workers is None else max(memory - _HANDING_OUT_BYTES, 0.0) / workers


def members(source: Path) -> tuple[Member, ...]:
    """Return the light fields of an input: itself, or those of a Zarr group or a folder of light fields."""
    if is_store(source):
        inside = sorted((each for each in source.iterdir() if is_store(each)), key=_natural)
        inside = [each for each in inside if _is_light_field(each)]
        if inside and not _is_light_field(source):
            return tuple(Member(each.name, each) for each in inside)
        return (Member("", source),)
    if not source.is_dir() or picture_names(source):
        return (Member("", source),)
    inside = [each for each in sorted(source.iterdir(), key=_natural) if not each.name.startswith(".")]
    inside = [each for each in inside if not each.is_dir() or is_store(each) or picture_names(each)]
    found: dict[str, Member] = {}
    for each in inside:
        name = each.name if each.is_dir() and each.suffix != ".zarr" else each.stem
        if name in found:
            raise InputError(
                f"{source}: {found[name].path.name} and {each.name} would have the same name; rename one"
            )
        found[name] = Member(name, each)
    if not found:
        raise InputError(f"{source}: there is no light field in it; give a light field, or a folder of them")
    return tuple(found.values())


def _is_light_field(path: Path) -> bool:
    try:
        open_stored(path)
    except InputError:
        return False
    return True


def _natural(path: Path) -> list[tuple[int, int, str]]:
    """Order names as people do: frame2 before frame10."""
    parts = re.split(r"(\d+)", path.name)
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]


def plan_blocks(
    member: Member, request: Request, memory: float, block: int | tuple[int, int] | None = None
) -> Plan:
    """Cut a light field into the fewest blocks that fit into a memory budget.

    Parameters
    ----------
    member
        The light field.
    request
        What is to be done.
    memory
        Bytes that one worker may use.
    block
        Height and width of the blocks in low-resolution pixels, instead of what fits.
    """
    title, notes, metadata, grid, size, channels, bits = _look(member.path)
    factor = request.camera.factor
    chosen = catalogue.find(request.method, factor)
    options = catalogue.make_options(request.method, request.preset, request.options)
    need = chosen.plan(options, grid, (size[0] * factor, size[1] * factor))
    margin = math.ceil(need.halo / factor)
    if block is None:
        fits = (memory - BASE_BYTES) / bytes_per_pixel(need, grid, factor, channels)
        tiling = budget_tiling(size, factor, need.halo, fits, _SMALLEST)
        sides = math.ceil(size[0] / len(tiling.rows)), math.ceil(size[1] / len(tiling.columns))
    else:
        sides = (block, block) if isinstance(block, int) else block
        sides = min(sides[0], size[0]), min(sides[1], size[1])
    sides = min(sides[0], _LARGEST // factor), min(sides[1], _LARGEST // factor)
    settings = Settings(request.method, need.options, request.camera, request.chroma, request.bits or bits)
    plan = Plan(member, title, (*notes, *need.notes), metadata, grid, size, channels, sides, margin, settings)
    needed = block_bytes(plan, need)
    if needed > 1.02 * memory:
        raise OptionError(
            f"{member.path}: a block of {sides[1]}x{sides[0]} pixels of all views takes {needed / 1e9:.2f} GB, more "
            f"than the {memory / 1e9:.2f} GB of a worker; give more --memory, or start fewer workers"
        )
    return plan


def bytes_per_pixel(need: Need, grid: tuple[int, int], factor: int, channels: int) -> float:
    """Return the memory that a block takes for each of its low-resolution pixels, halo included, all views."""
    views = grid[0] * grid[1]
    # the method's, the input as stored and as luma
    return views * (need.bytes_per_pixel * factor**2 + 4.0 * (channels + 1))


def block_bytes(plan: Plan, need: Need) -> float:
    """Return the memory that a worker needs for the largest block of a plan."""
    sides = [
        _most_seen(length, side, plan.margin) for length, side in zip(plan.size, plan.block, strict=True)
    ]
    each = bytes_per_pixel(need, plan.grid, plan.settings.camera.factor, plan.channels)
    return BASE_BYTES + sides[0] * sides[1] * each


def _most_seen(length: int, side: int, margin: int) -> int:
    """Return how many pixels the largest block sees along an axis: at the border of the views there is no halo."""
    return max(
        min(begin + side + margin, length) - max(begin - margin, 0) for begin in range(0, length, side)
    )


def _look(path: Path) -> tuple[str, tuple[str, ...], Any, tuple[int, int], tuple[int, int], int, int]:
    """Return title, notes, metadata, grid, size, channels and bits of a light field, without its pixels."""
    if is_store(path):
        stored = open_stored(path)
        axes, kind = stored.axes, stored.array.dtype
        if kind.kind not in "uf" or (kind.kind == "u" and kind.itemsize > 2):
            raise InputError(f"{path}: samples are uint8, uint16 or float, not {kind}; convert them before")
        bits = 8 * kind.itemsize if kind.kind == "u" else 32
        notes, metadata = tuple(stored.record["notes"]), stored.record["metadata"]
        return stored.record["name"], notes, metadata, axes.grid, axes.size, axes.channels, bits
    if not path.exists():
        raise InputError(f"{path}: no such file or folder; check the path")
    with open_views(path) as views:
        first = views.load(0, 0).samples
        bits = 8 * first.dtype.itemsize if first.dtype.kind == "u" else 32
        return views.name, views.notes, views.metadata, views.grid, views.size, views.channels, bits


def check_request(request: Request) -> None:
    """Refuse what has no meaning whatever the light field."""
    if request.chroma not in ("bilinear", "bicubic"):
        raise OptionError(f"chroma is bilinear or bicubic, not {request.chroma!r}")
    if request.bits not in (8, 16, 32, None):
        raise OptionError(f"bits is 8, 16 or 32 (float), not {request.bits!r}")
    request.parameters()
