"""The published figures: whole, equal to the paper's source where it is at hand, and found by the names people have."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from sharpfield.benchmark import published
from sharpfield.benchmark.tables import Cell, _with_best

HCI = [  # in the order of the tables
    "buddha",
    "buddha2",
    "couple",
    "cube",
    "horses",
    "maria",
    "medieval",
    "mona",
    "papillon",
    "pyramide",
    "statue",
    "stillLife",
]
STANFORD = [
    "amethyst",
    "beans",
    "bracelet",
    "bulldozer",
    "bunny",
    "cards",
    "chess",
    "eucalyptus",
    "knights",
    "treasure",
    "truck",
]


def test_all_23_light_fields_2_factors_and_6_systems_are_there():
    figures = published.figures()
    assert len(figures) == 23 * 2 * 6
    assert list(published.light_fields()) == [*HCI, *STANFORD]
    assert set(figures) == set(itertools.product([*HCI, *STANFORD], (2, 3), published.SYSTEMS))
    assert all(15 < figure.mean < 53 and 0 <= figure.variance < 8 for figure in figures.values())


def parsed_tables() -> dict:
    """The cells of the four tables of the paper's source: (light field, factor, column) to mean, variance, bold."""
    source = Path(__file__).resolve().parents[2] / "shared" / "paper.tex"
    if not source.is_file():
        pytest.skip("the paper's source is not beside the project")
    found = {}
    tables = re.findall(
        r"\\begin\{table\*\}.*?\\end\{table\*\}", source.read_text(encoding="utf-8"), re.DOTALL
    )
    tables = [table for table in tables if "psnr mean and variance" in table]
    assert len(tables) == 4
    for table in tables:
        factor = int(re.search(r"\\alpha = (\d)", table)[1])
        lines = [line.strip() for line in table.splitlines() if " & " in line]
        assert re.findall(r"Bilinear|wanner|mitra|dong|GB-DR|GB-SQ", lines[0]) == [
            *("Bilinear", "wanner", "mitra", "dong", "GB-DR", "GB-SQ")
        ]
        for line in lines[1:]:
            name, *cells = re.sub(r"\s*\\\\$", "", line).split(" & ")
            for column, cell in enumerate(cells):
                numbers = re.findall(r"\d+\.\d+", cell)
                assert len(numbers) == 2, cell
                found[name, factor, column] = (*map(float, numbers), "textbf" in cell)
    return found


def test_the_figures_are_those_of_the_paper():
    figures, parsed = published.figures(), parsed_tables()
    assert len(parsed) == len(figures)
    for (name, factor, column), (mean, variance, _) in parsed.items():
        ours = figures[name, factor, published.SYSTEMS[column]]
        assert (ours.mean, ours.variance) == (mean, variance), (name, factor, column)


def test_what_we_print_bold_is_what_the_paper_prints_bold():
    parsed = parsed_tables()
    for name, factor in {(name, factor) for name, factor, _ in parsed}:
        row = [parsed[name, factor, column] for column in range(6)]
        ours = _with_best([Cell(mean, variance) for mean, variance, _ in row])
        assert [cell.best for cell in ours] == [bold for _, _, bold in row], (name, factor)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("hciold_buddha", "buddha"),
        ("buddha", "buddha"),
        ("Buddha2", "buddha2"),
        ("stillLife", "stillLife"),
        ("HCI_old-StillLife", "stillLife"),
        ("monasRoom", "mona"),
        ("stanford_legotruck", "truck"),
        ("Lego Truck", "truck"),
        ("STFgantry_Lego_Knights", "knights"),
        ("The Stanford Bunny", "bunny"),
        ("Eucalyptus Flowers", "eucalyptus"),
        ("tarot-cards-large", None),
        ("hcinew_bicycle", None),
        ("lytro_bikes", None),
        ("", None),
        ("hci", None),
    ],
)
def test_the_names_that_people_have(ours, theirs):
    assert published.paper_name(ours) == theirs
    assert (published.find(ours, 2, "gb-sq") is None) == (theirs is None)


def test_the_papers_own_names_are_their_own():
    assert [published.paper_name(name) for name in published.light_fields()] == [*HCI, *STANFORD]


def test_what_the_paper_does_not_have():
    assert published.find("truck", 3, "gb-sq") == published.Figure(36.97, 0.05)
    assert published.find("truck", 4, "gb-sq") is None
    assert published.find("truck", 2, "bicubic") is None
