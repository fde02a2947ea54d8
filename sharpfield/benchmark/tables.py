"""Tables of records: Markdown, LaTeX and CSV; the paper's figures beside ours, the best in bold.

A `Table` is cells of values; only the writers know how bold and ± look.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass

from sharpfield import catalogue
from sharpfield.benchmark import published
from sharpfield.benchmark.records import Record

FORMATS = ("md", "latex", "csv")

_PUBLISHED = ", published"


@dataclass(frozen=True)
class Cell:
    """A figure: its value, its variance where it has one, digits after the point, and whether it is the best."""

    value: float
    variance: float | None = None
    digits: int = 2
    best: bool = False


@dataclass(frozen=True)
class Table:
    """A table: one row a light field, one column a method; None where there is nothing."""

    title: str
    note: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell | None, ...]], ...]


def tables(records: Sequence[Record]) -> list[Table]:
    """Return the tables of records: for each protocol and factor PSNR, SSIM, and what it cost."""
    groups: dict[tuple[str, int], list[Record]] = {}
    for record in records:
        groups.setdefault((record.run.protocol["name"], record.run.factor), []).append(record)
    made = []
    for (protocol, factor), group in groups.items():
        where = f"factor {factor}, protocol {protocol}"
        made.append(_psnr(group, where))
        for each in sorted({each for record in group for each in record.measured.ssim}):
            values = [
                record.scores(each).ssim_mean if each in record.measured.ssim else math.nan
                for record in group
            ]
            made.append(_plain(group, values, f"SSIM (data range {each}): mean over the views; {where}", 4))
        values = [record.seconds for record in group]
        made.append(_plain(group, values, f"seconds; {where}", 1, small=True))
        values = [math.nan if record.peak_bytes is None else record.peak_bytes / 1e9 for record in group]
        if not all(map(math.isnan, values)):
            made.append(_plain(group, values, f"peak memory in GB; {where}", 2, small=True))
    return made


def written(records: Sequence[Record], form: str) -> str:
    """Return the tables of records in one of `FORMATS`."""
    if form == "csv":
        return as_csv(records)
    made = tables(records)
    return "\n\n".join(map(as_latex if form == "latex" else as_markdown, made))


def labels(records: Sequence[Record]) -> dict[str, str]:
    """Return what to call each run by its key: the method, and what tells it from other runs of that method."""
    named = {}
    for method in {record.run.method for record in records}:
        runs = [record.run for record in records if record.run.method == method]
        asked = sorted({name for run in runs for name in run.settings})
        differ = [name for name in asked if len({repr(run.settings.get(name)) for run in runs}) > 1]
        for run in runs:
            said = ", ".join(f"{name} {_said(run.settings[name])}" for name in differ if name in run.settings)
            named[run.key] = f"{method} ({said})" if said else method
    return named


def as_markdown(table: Table) -> str:
    """Return a table in Markdown, its columns aligned, the title above and the note below."""

    def shown(cell: Cell | None) -> str:
        if cell is None:
            return ""
        text = _number(cell.value, cell.digits)
        spread = "" if cell.variance is None else f" ± {_number(cell.variance, cell.digits)}"
        return f"**{text}**{spread}" if cell.best else text + spread

    rows = [(_markdown_text(name), *map(shown, cells)) for name, cells in table.rows]
    header = ("light field", *map(_markdown_text, table.columns))
    widths = [max(3, *map(len, column)) for column in zip(header, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        padded = (
            cell.rjust(width) if at else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return f"| {' | '.join(padded)} |"

    rule = (
        "|" + "|".join("-" * (w + 2) if not at else "-" * (w + 1) + ":" for at, w in enumerate(widths)) + "|"
    )
    text = "\n".join([f"**{table.title}**", "", line(header), rule, *map(line, rows)])
    return f"{text}\n\n{table.note}" if table.note else text


def as_latex(table: Table) -> str:
    """Return a table in LaTeX, ruled as the paper's."""

    def shown(cell: Cell | None) -> str:
        if cell is None:
            return ""
        text = _number(cell.value, cell.digits).replace("inf", r"$\infty$")
        spread = "" if cell.variance is None else rf" $\pm$ {_number(cell.variance, cell.digits)}"
        return (rf"\textbf{{{text}}}" if cell.best else text) + spread

    caption = _latex_text(". ".join(filter(None, [table.title, table.note])))
    lines = [r"\begin{table*}", r"\centering", rf"\caption{{{caption}}}"]
    lines += [rf"\begin{{tabular}}{{| l |{' c |' * len(table.columns)}}}", r"\hline"]
    rows = [("", *map(_latex_text, table.columns))]
    rows += [(_latex_text(name), *map(shown, cells)) for name, cells in table.rows]
    for row in rows:
        lines += [" & ".join(row) + r" \\", r"\hline"]
    return "\n".join([*lines, r"\end{tabular}", r"\end{table*}"])


def as_csv(records: Sequence[Record]) -> str:
    """Return the records as CSV, one line a run, with the published figure of the same method beside it."""
    text = io.StringIO()
    write = csv.writer(text, lineterminator="\n").writerow
    ranges = sorted({each for record in records for each in record.measured.ssim})
    write(
        [
            *("light_field", "paper_name", "factor", "protocol", "method", "label"),
            *("psnr_mean", "psnr_variance", "psnr_worst"),
            *(f"ssim_{part}_range{each}" for each in ranges for part in ("mean", "variance", "worst")),
            *("seconds", "peak_bytes", "published_psnr_mean", "published_psnr_variance"),
        ]
    )
    named = labels(records)
    for record in records:
        run, scores = record.run, record.scores()
        theirs = _published(record, run.method)
        ssim: list[str] = []
        for each in ranges:
            there = record.scores(each) if each in record.measured.ssim else None
            ssim += (
                ["", "", ""]
                if there is None
                else [
                    f"{there.ssim_mean:.6f}",
                    f"{there.ssim_variance:.3e}",
                    f"{there.ssim_worst[0]:.6f}",
                ]
            )
        write(
            [
                *(record.light_field, published.paper_name(record.light_field) or "", run.factor),
                *(run.protocol["name"], run.method, named[run.key]),
                *(f"{each:.4f}" for each in (scores.psnr_mean, scores.psnr_variance, scores.psnr_worst[0])),
                *ssim,
                *(record.seconds, "" if record.peak_bytes is None else record.peak_bytes),
                *(("", "") if theirs is None else (theirs.mean, theirs.variance)),
            ]
        )
    return text.getvalue().rstrip("\n")


def _psnr(records: Sequence[Record], where: str) -> Table:
    """Return the PSNR of all views as the paper shows it: ours, beside each its own, then its other systems."""
    names, columns, at = _layout(records)
    ours = {
        place: Cell(record.scores().psnr_mean, record.scores().psnr_variance) for place, record in at.items()
    }
    known = {name: record for (name, _), record in at.items()}
    theirs = {
        (name, system): Cell(figure.mean, figure.variance)
        for name, record in known.items()
        for system in published.SYSTEMS
        if (figure := _published(record, system)) is not None
    }
    order: list[tuple[str, bool]] = []  # (column or system, whether it is the paper's)
    methods = [at_method for _, at_method in columns]
    for number, (label, method) in enumerate(columns):
        order.append((label, False))
        if theirs and method in published.SYSTEMS and method not in methods[number + 1 :]:
            order.append((method, True))
    if theirs:
        order += [(system, True) for system in published.SYSTEMS if system not in methods]
    rows = []
    for name, title in names.items():
        mine = [ours.get((name, label)) for label, _ in columns]
        best = dict(zip((label for label, _ in columns), _with_best(mine), strict=True))
        paper = dict(
            zip(
                published.SYSTEMS,
                _with_best([theirs.get((name, system)) for system in published.SYSTEMS]),
                strict=True,
            )
        )
        rows.append((title, tuple(paper[column] if is_paper else best[column] for column, is_paper in order)))
    heads = tuple(column + _PUBLISHED if is_paper else column for column, is_paper in order)
    note = (
        f"Columns marked{_PUBLISHED[1:]} are the paper's own figures; the best of ours and of theirs is bold"
    )
    title = f"PSNR in dB: mean ± variance (dB²) over the views; {where}"
    return Table(title, note if theirs else "", heads, tuple(rows))


def _plain(
    records: Sequence[Record], values: Sequence[float], title: str, digits: int, small: bool = False
) -> Table:
    """Return a table of one figure a run; `small` when less is better."""
    names, columns, _ = _layout(records)
    named = labels(records)
    cells = {
        (record.run.fingerprint, named[record.run.key]): Cell(value, None, digits)
        for record, value in zip(records, values, strict=True)
        if not math.isnan(value)
    }
    rows = tuple(
        (title, tuple(_with_best([cells.get((name, label)) for label, _ in columns], small)))
        for name, title in names.items()
    )
    return Table(title, "", tuple(label for label, _ in columns), rows)


def _layout(
    records: Sequence[Record],
) -> tuple[dict[str, str], list[tuple[str, str]], dict[tuple[str, str], Record]]:
    """Return the rows (fingerprint to name), the columns (label, method) as the catalogue orders them, the cells."""
    named = labels(records)
    names = {record.run.fingerprint: record.light_field for record in records}
    order = {method: number for number, method in enumerate(catalogue.names())}
    columns = dict.fromkeys((named[record.run.key], record.run.method) for record in records)
    ranked = sorted(columns, key=lambda column: order.get(column[1], len(order)))
    at = {(record.run.fingerprint, named[record.run.key]): record for record in records}
    return names, ranked, at


def _with_best(cells: Sequence[Cell | None], small: bool = False) -> list[Cell | None]:
    """Mark the best of a row: all that print as it does. One alone is not the best of anything."""
    there = [cell for cell in cells if cell is not None]
    if len(there) < 2:
        return list(cells)
    best = (min if small else max)(there, key=lambda cell: cell.value)
    shown = _number(best.value, best.digits)
    return [
        None
        if cell is None
        else Cell(cell.value, cell.variance, cell.digits, _number(cell.value, cell.digits) == shown)
        for cell in cells
    ]


def _published(record: Record, system: str) -> published.Figure | None:
    """Return the paper's figure for the same light field, whole and measured in the same way, or None."""
    whole = not record.reading.get("crop") and record.grid == (5, 5)
    if record.run.protocol["name"] != published.PROTOCOL or not whole:
        return None
    return published.find(record.light_field, record.run.factor, system)


def _number(value: float, digits: int) -> str:
    return f"{value:.{digits}f}"


def _said(value: object) -> str:
    return ":".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _markdown_text(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("*", "\\*").replace("_", "\\_")


def _latex_text(text: str) -> str:
    special = {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "±": r"$\pm$",
        "²": r"$^2$",
        **{each: "\\" + each for each in "&%$#_{}"},
    }
    return "".join(special.get(each, each) for each in text)
