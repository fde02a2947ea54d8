"""The results that a benchmark kept: which light fields of its folder belong together, to be shown side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sharpfield import catalogue
from sharpfield.benchmark.job import LOW, TRUTH
from sharpfield.benchmark.records import FILE, Record, Records
from sharpfield.benchmark.tables import labels
from sharpfield.errors import InputError
from sharpfield.metrics import PerView


@dataclass(frozen=True)
class Kept:
    """The results of one light field at one factor under one protocol.

    Parameters
    ----------
    light_field, factor, protocol
        What they are of.
    truth, low
        Folders of the high-resolution and of the low-resolution views.
    results
        Label of the method to the folder of its result, in the order of the tables.
    psnr
        Label of the method to the PSNR of every view, as it was measured before the result was rounded to be kept.
    """

    light_field: str
    factor: int
    protocol: str
    truth: Path
    low: Path
    results: Mapping[str, Path]
    psnr: Mapping[str, PerView]

    @property
    def name(self) -> str:
        """What to call a file that shows them."""
        return f"{self.truth.parents[1].name.rpartition('-')[0]}-x{self.factor}-{self.protocol}"


def is_benchmark(path: Path) -> bool:
    """Return whether a path is the folder of a benchmark, or its file of records."""
    return (path / FILE).is_file() if path.is_dir() else path.name == FILE and path.is_file()


def kept(path: Path, wanted: Sequence[Record] | None = None) -> list[Kept]:
    """Return all results that the benchmark in a folder kept (of the wanted records only), set by set."""
    folder = path if path.is_dir() else path.parent
    found = list(Records(folder).load()[0].values()) if wanted is None else wanted
    sets: dict[Path, list[Record]] = {}
    for record in found:
        if record.kept is not None and (folder / record.kept).is_dir():
            sets.setdefault((folder / record.kept).parent, []).append(record)
    if not sets:
        raise InputError(f"{path}: no results are kept there; run the benchmark again with --keep")
    order = {method: number for number, method in enumerate(catalogue.names())}
    made = []
    for place, records in sets.items():
        records.sort(key=lambda record: order.get(record.run.method, len(order)))
        named = labels(records)
        results = {named[record.run.key]: folder / str(record.kept) for record in records}
        first = records[0]
        made.append(
            Kept(
                first.light_field,
                first.run.factor,
                str(first.run.protocol["name"]),
                place / TRUTH,
                place / LOW,
                results,
                {named[record.run.key]: record.measured.psnr for record in records},
            )
        )
    return made
