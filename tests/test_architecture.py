"""The rules of the house, checked on the source: who may import whom, and what the command line may load."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import sharpfield

ROOT = Path(sharpfield.__file__).parent

# a module imports only what stands above it; rooms on one line never import each other
ORDER = """
errors
progress
parallel
lightfield
io
geometry
color
kernels
resample
observe
interpolate
contract
solver
gb sharp methods
catalogue
tiles
upscaling
densifying
disparities
metrics
benchmark
synthetic
pictures
sidebyside
figures
viewer
animate
scale
demo
cli
__main__
"""
RANK = {room: rank for rank, line in enumerate(ORDER.split("\n")) for room in line.split()}

FILES = sorted(ROOT.rglob("*.py"))


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports(path: Path) -> Iterator[str]:
    """Yield the dotted name of everything that a file imports, wherever in the file it does."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(path)}: imports are absolute"
            if node.module == "sharpfield":
                yield from (f"sharpfield.{alias.name}" for alias in node.names)
            else:
                yield node.module or ""


def rooms_used(path: Path) -> set[str]:
    used = {name.split(".")[1] for name in imports(path) if name.startswith("sharpfield.")}
    return used - {"__version__"}


def libraries_used(path: Path) -> set[str]:
    return {name.split(".")[0] for name in imports(path)}


def test_every_room_has_its_place_in_the_order():
    rooms = {room_of(path) for path in FILES} - {"__init__"}
    assert rooms <= set(RANK), f"give {sorted(rooms - set(RANK))} a place in ORDER"


@pytest.mark.parametrize("path", [path for path in FILES if path != ROOT / "__init__.py"], ids=name_of)
def test_a_module_imports_only_what_stands_above_it(path):
    own = room_of(path)
    wrong = {used for used in rooms_used(path) if used != own and RANK[used] >= RANK[own]}
    assert not wrong, f"{name_of(path)} imports {sorted(wrong)}, which stand beside or below it"


@pytest.mark.parametrize("path", [path for path in FILES if path.name.endswith("kernels.py")], ids=name_of)
def test_kernels_import_nothing_of_the_project(path):
    assert rooms_used(path) == set()


@pytest.mark.parametrize(
    ("library", "rooms"),
    [
        ("matplotlib", {"figures"}),
        ("dask", {"scale"}),
        ("zarr", {"scale", "io"}),
        ("typer", {"cli"}),
        ("rich", {"cli"}),
    ],
)
def test_a_library_stays_in_its_room(library, rooms):
    users = {
        name_of(path) for path in FILES if library in libraries_used(path) and room_of(path) not in rooms
    }
    assert users == set()


def test_only_kernels_are_compiled():
    users = {path.name for path in FILES if "numba" in libraries_used(path)}
    users = {name for name in users if not name.endswith("kernels.py")}
    assert users <= {"png_filters.py"}  # undoes PNG's filters, byte by byte


def test_no_drawer_for_everything():
    drawers = {"util.py", "utils.py", "helpers.py", "misc.py", "common.py"}
    assert not [name_of(path) for path in FILES if path.name in drawers]


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_file_can_be_read_in_one_sitting_and_says_what_it_owns(path):
    text = path.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text)), f"{name_of(path)} has no docstring"
    assert text.count("\n") <= 400


@pytest.mark.parametrize(
    "module", ["sharpfield", "sharpfield.catalogue", "sharpfield.contract", "sharpfield.cli"]
)
def test_importing_loads_neither_numpy_nor_a_compiler(module):
    heavy = ["numpy", "scipy", "numba", "PIL", "h5py", "imageio", "tifffile"]
    code = f"import sys, {module}; print([name for name in {heavy} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_the_help_loads_neither_numpy_nor_a_compiler():
    code = (
        "import sys; from sharpfield.cli import main; status = main(['upscale', '--help']); "
        "print('LOADED', status, [name for name in ('numpy', 'numba') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip().endswith("LOADED 0 []")


def test_no_room_has_the_name_of_a_public_function():
    # importing such a room would put the room in the function's place: sf.name(..) would fail
    taken = {path.stem for path in ROOT.iterdir()}
    assert not taken & set(sharpfield.__all__)
