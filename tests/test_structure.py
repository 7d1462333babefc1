"""The structure of the source: who may import whom, and where things stand."""

import ast
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from conftest import ROOT

PACKAGE = ROOT / "src" / "cxprobe"
MODULES = sorted(PACKAGE.rglob("*.py"))
SCRIPTS = sorted((ROOT / "pipelines").rglob("*.py"))
# Each layer may import from those before it. Parts of one layer may import one another, but lines of work may not.
LAYERS = (
    {"errors", "seeding", "segmentation", "secrets", "english"},
    {"files"},
    {"stats", "probing", "tagging"},
    {"constructions", "corpora"},
    {"run"},
    {"lm"},
    {"people", "report"},
    {"recognition", "scenarios", "pairs", "prompts", "interventions"},
    {"lines"},
    {"project"},
    {"site", "exports", "api"},
    {"cli"},
)
LINES = LAYERS[7]
LAYER_OF = {part: number for number, layer in enumerate(LAYERS) for part in layer}


def imported(path: Path) -> set[str]:
    """Return the modules below cxprobe that a file imports, as "pairs.make"; of ``from cxprobe import x`` x itself."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if module == "cxprobe":
                # What is no part of the package is a name that `cxprobe.api` has.
                names |= {alias.name if alias.name in LAYER_OF else "api" for alias in node.names}
            elif module.startswith("cxprobe."):
                names.add(module.removeprefix("cxprobe."))
        elif isinstance(node, ast.Import):
            names |= {alias.name.removeprefix("cxprobe.") for alias in node.names if alias.name.startswith("cxprobe.")}
    return names


def named(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


@pytest.mark.parametrize("path", [path for path in MODULES if part_of(path) != "__init__"], ids=named)
def test_a_module_imports_from_its_own_layer_and_those_below_it(path):
    part = part_of(path)
    for module in imported(path):
        other = module.split(".")[0]
        assert LAYER_OF[other] <= LAYER_OF[part], module
        assert other == part or {other, part} - LINES, f"{part} imports the line {other}"


def test_no_package_imports_another_in_a_circle():
    edges: dict[str, set[str]] = defaultdict(set)
    for path in MODULES:
        if part_of(path) != "__init__":
            edges[part_of(path)] |= {module.split(".")[0] for module in imported(path)} - {part_of(path)}
    while leaves := [part for part in LAYER_OF if part in edges and not edges[part] & edges.keys()]:
        for part in leaves:
            del edges[part]
    assert not edges


def test_only_one_module_knows_mlflow():
    users = [path for path in [*MODULES, *SCRIPTS] if "mlflow" in third_party(path)]
    assert [named(path) for path in users] == ["run/tracking.py"]


def test_only_the_package_of_models_loads_them():
    for path in [*MODULES, *SCRIPTS]:
        if path in SCRIPTS or part_of(path) != "lm":
            assert "transformers" not in third_party(path), path


def third_party(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            names.add((node.module or "").split(".")[0])
        elif isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
    return names - sys.stdlib_module_names
