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
# Each layer may import from those before it. Parts of one layer may import one another, unless `APART` says otherwise.
LAYERS = (
    {"errors", "seeding", "segmentation", "secrets"},
    {"files"},
    {"text"},
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
LINES = LAYERS[8]
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


def test_only_the_list_of_lines_names_them_in_code_that_lines_share():
    for path in MODULES:
        if part_of(path) in LINES | {"lines", "api", "__init__"}:
            continue
        assert not {module.split(".")[0] for module in imported(path)} & LINES, path
        for node in ast.walk(ast.parse(path.read_text())):
            names = {node.value} if isinstance(node, ast.Constant) and isinstance(node.value, str) else set()
            # A kind of ratings, and the folder of prompts, have the names of lines.
            assert not names & LINES - {"pairs", "prompts"}, (path, names)


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


def test_a_package_says_what_it_is_and_hands_nothing_on():
    for path in PACKAGE.rglob("__init__.py"):
        tree = ast.parse(path.read_text())
        assert ast.get_docstring(tree), path
        if part_of(path) not in ("__init__", "cli"):
            assert len(tree.body) == 1, path


def test_a_script_is_short():
    for path in SCRIPTS:
        tree, text = ast.parse(path.read_text()), path.read_text()
        docstring = ast.get_docstring(tree) or ""
        assert len(text.splitlines()) - len(docstring.splitlines()) < 80, path


def test_a_public_name_has_one_definition():
    places = defaultdict(list)
    for path in MODULES:
        for node in ast.parse(path.read_text()).body:
            names = []
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                names = [node.name]
            elif isinstance(node, ast.Assign):
                names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                names = [node.target.id]
            for name in names:
                # A letter is a variable of types, without a meaning of its own; commands are named as people type them.
                if not name.startswith("_") and len(name) > 1 and part_of(path) not in ("api", "cli"):
                    places[name].append(named(path))
    assert not {name: paths for name, paths in places.items() if len(paths) > 1}


def test_nothing_about_a_construction_stands_in_python():
    names = {folder.name for folder in (ROOT / "constructions").glob("*/")}
    for path in [*MODULES, *SCRIPTS]:
        lines = path.read_text().splitlines()
        code = [line for line in lines if not line.lstrip().startswith((">>>", "..."))]  # an example names one
        assert not any(name in line for name in names for line in code), path


def test_no_module_is_called_utils():
    assert not [path for path in MODULES if path.stem in ("utils", "helpers", "common", "misc")]


def test_every_public_function_says_what_it_does():
    for path in MODULES:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                assert ast.get_docstring(node), (path, node.name)
