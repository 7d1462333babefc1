"""The plan of the house: who may import whom, and what a room shows at its door."""

import ast
import importlib
from pathlib import Path

import pytest

from conftest import ROOT

PACKAGE = ROOT / "src" / "cxprobe"
ROOMS = sorted(folder.name for folder in PACKAGE.iterdir() if (folder / "__init__.py").exists())
EDGES = {"stage", "tracking", "cli"}  # what reads and writes around the science


def imports(path: Path) -> set[str]:
    """Return the modules and rooms of cxprobe that a file imports, by their first name."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        found |= {name.split(".")[1] for name in names if name.startswith("cxprobe.")}
        if isinstance(node, ast.ImportFrom) and node.module == "cxprobe":
            found |= {alias.name for alias in node.names}
    return found


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_never_import_each_other_or_the_edges(room):
    for path in (PACKAGE / room).glob("*.py"):
        assert not imports(path) & ((set(ROOMS) - {room}) | EDGES), path


@pytest.mark.parametrize("module", [path for path in PACKAGE.glob("*.py") if path.stem not in EDGES | {"__init__"}])
def test_the_hallway_imports_no_room(module):
    assert not imports(module) & (set(ROOMS) | EDGES), module


def test_only_the_tracking_module_knows_mlflow():
    for path in [*PACKAGE.rglob("*.py"), *(ROOT / "pipelines").glob("*.py")]:
        assert path.stem == "tracking" or "import mlflow" not in path.read_text().replace(
            "from mlflow", "import mlflow"
        )


@pytest.mark.parametrize("room", ROOMS)
def test_the_door_of_a_room_says_what_it_is_and_shows_sorted_names(room):
    module = importlib.import_module(f"cxprobe.{room}")
    assert module.__doc__
    assert module.__all__ == sorted(module.__all__)
    assert all(hasattr(module, name) for name in module.__all__)


def test_pipelines_go_through_the_doors():
    for path in (ROOT / "pipelines").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("cxprobe."):
                assert node.module.count(".") == 1, (path, node.module)


def test_nothing_about_a_construction_stands_in_python():
    names = {folder.name for folder in (ROOT / "constructions").iterdir()}
    for path in [*PACKAGE.rglob("*.py"), *(ROOT / "pipelines").glob("*.py")]:
        assert not any(name in path.read_text() for name in names), path
