"""The structure of the source: who may import whom, and where things stand."""

import ast
from pathlib import Path

import pytest

from conftest import ROOT

PACKAGE = ROOT / "src" / "cxprobe"
MODULES = sorted(PACKAGE.rglob("*.py"))
SCRIPTS = sorted((ROOT / "pipelines").rglob("*.py"))
LINES = {"recognition", "scenarios", "pairs", "prompts"}
# What joins the lines of work: nothing else may import a line.
JOINS = {"api", "cli", "exports", "run/params.py", "report/site"}
# What all may use, and what these may use.
BASE = {"errors", "english", "seeding", "stats", "segmentation", "secrets", "files"}


def imported(path: Path) -> set[str]:
    """Return the modules below cxprobe that a file imports, as "pairs.make"."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("cxprobe."):
            found.add(node.module.removeprefix("cxprobe."))
        elif isinstance(node, ast.Import):
            found |= {alias.name.removeprefix("cxprobe.") for alias in node.names if alias.name.startswith("cxprobe.")}
    return found


def named(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def package_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_lines_of_work_import_shared_packages_and_never_one_another(path):
    own = package_of(path)
    if own == "__init__" or named(path).startswith(tuple(JOINS)):
        return
    others = {module.split(".")[0] for module in imported(path)} & LINES
    assert others <= ({own} & LINES), others


@pytest.mark.parametrize("path", [path for path in MODULES if package_of(path) in BASE], ids=named)
def test_the_base_imports_nothing_above_it(path):
    assert {module.split(".")[0] for module in imported(path)} <= BASE


def test_only_one_module_knows_mlflow():
    users = [
        path
        for path in [*MODULES, *SCRIPTS]
        if "import mlflow" in path.read_text().replace("from mlflow", "import mlflow")
    ]
    assert [named(path) for path in users] == ["run/tracking.py"]


def test_a_package_says_what_it_is_and_hands_nothing_on():
    for path in PACKAGE.rglob("__init__.py"):
        tree = ast.parse(path.read_text())
        assert ast.get_docstring(tree), path
        if package_of(path) not in ("__init__", "cli", "api"):
            assert len(tree.body) == 1, path


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
