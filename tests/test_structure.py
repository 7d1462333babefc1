"""The structure of the source: who may import whom."""

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

from conftest import ROOT

PACKAGE = ROOT / "src" / "cxprobe"
MODULES = sorted(PACKAGE.rglob("*.py"))
SCRIPTS = sorted((ROOT / "pipelines").rglob("*.py"))
# Each layer may import from those before it. Parts of one layer may import one another, but tasks may not.
LAYERS = (
    {"errors", "seeding", "secrets"},
    {"files"},
    {"text"},
    {"stats", "probing", "tagging"},
    {"constructions", "corpora"},
    {"run"},
    {"models"},
    {"labels", "results"},
    {"contrasts", "interventions", "pairs", "prompts", "recognition", "scenarios"},
    {"registry"},
    {"project"},
    {"answers", "survey"},
    {"exports", "api"},
    {"cli"},
)
TASKS = LAYERS[8]
LAYER_OF = {part: number for number, layer in enumerate(LAYERS) for part in layer}


@cache
def imported(path: Path) -> set[str]:
    """Return the modules that a file imports; of ``from cxprobe import x`` "cxprobe.x"."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module == "cxprobe":
            # What is no part of the package is a name that `cxprobe.api` has.
            names |= {f"cxprobe.{alias.name if alias.name in LAYER_OF else 'api'}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return names


def part_of(module: str) -> str:
    """Return the part of a module: the package below cxprobe, or below cxprobe.tasks."""
    names = module.split(".")
    return names[2] if names[1:2] == ["tasks"] and len(names) > 2 else names[1]


def parts_below() -> dict[str, set[str]]:
    """Return each part of the package with the other parts that its modules import."""
    parts = defaultdict(set)
    for path in MODULES:
        module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        if path.name != "__init__.py" or path.parent not in (PACKAGE, PACKAGE / "tasks"):
            others = {part_of(name) for name in imported(path) if name.startswith("cxprobe.")}
            parts[part_of(module)] |= others - {part_of(module)}
    return parts


def users_of(package: str) -> list[str]:
    paths = [*MODULES, *SCRIPTS]
    return [
        path.relative_to(ROOT).as_posix()
        for path in paths
        if any(name.split(".")[0] == package for name in imported(path))
    ]


def test_a_part_imports_from_its_own_layer_and_those_below_it():
    for part, others in parts_below().items():
        assert [other for other in others if LAYER_OF[other] > LAYER_OF[part]] == [], part


def test_no_task_imports_another():
    for part in TASKS:
        assert not parts_below()[part] & TASKS, part


def test_no_package_imports_another_in_a_circle():
    edges = parts_below()
    while leaves := [part for part in edges if not edges[part] & edges.keys()]:
        for part in leaves:
            del edges[part]
    assert not edges


def test_only_one_module_knows_mlflow():
    assert users_of("mlflow") == ["src/cxprobe/run/tracking.py"]


def test_only_the_package_of_models_loads_them():
    assert [path for path in users_of("transformers") if not path.startswith("src/cxprobe/models/")] == []
