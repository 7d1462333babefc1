"""The structure of the source: who may import whom, and what a package shows."""

import ast
import importlib
from pathlib import Path

import pytest
from imports import PACKAGE, imported

from conftest import ROOT

KINDS = ("make", "measure", "judge", "report")
PLUMBING = {"api", "cli", "exports", "stages", "tracking"}  # what joins, reads and writes around the science
PACKAGES = sorted(".".join(init.parent.relative_to(PACKAGE.parent).parts) for init in PACKAGE.rglob("__init__.py"))
MODULES = sorted(PACKAGE.rglob("*.py"))


def unit(module: str) -> str:
    """Return what a module belongs to: a package of one of the four kinds ("make.pairs"), or a shared one."""
    parts = module.split(".")[1:]
    if not parts:
        return ""
    return ".".join(parts[:2]) if parts[0] in KINDS and len(parts) > 1 else parts[0]


def module_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_packages_of_the_four_kinds_import_shared_code_alone(path):
    module = module_of(path)
    own = module.split(".")[1] if "." in module else ""
    if own in PLUMBING or not own:
        return
    for other, _ in imported(path):
        kind = other.split(".")[1] if "." in other else ""
        assert kind not in PLUMBING, other
        if kind in KINDS:
            same_package = own == kind and (kind in ("judge", "report") or unit(other) == unit(module))
            assert same_package or path.name == "__init__.py", other


def test_only_the_tracking_package_knows_mlflow():
    for path in [*MODULES, *(ROOT / "pipelines").rglob("*.py")]:
        if not path.is_relative_to(PACKAGE / "tracking"):
            assert "import mlflow" not in path.read_text().replace("from mlflow", "import mlflow"), path


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_says_what_it_is_and_has_all_its_public_names(package):
    module = importlib.import_module(package)
    assert module.__doc__
    assert not module.__doc__.startswith("TODO")
    assert all(hasattr(module, name) for name in getattr(module, "__all__", []))


def test_scripts_use_public_apis():
    for path in (ROOT / "pipelines").rglob("*.py"):
        for module, name in imported(path):
            public = getattr(importlib.import_module(module), "__all__", None)
            assert public is None or name in public, (path, module, name)


def test_scripts_are_thin():
    long = {path.name: lines for path in (ROOT / "pipelines").rglob("*.py") if (lines := count_lines(path)) > 60}
    assert not long


def count_lines(path: Path) -> int:
    return len(path.read_text().splitlines())


def test_nothing_about_a_construction_stands_in_python():
    names = {folder.name for folder in (ROOT / "constructions").glob("*/")}
    for path in [*MODULES, *(ROOT / "pipelines").rglob("*.py")]:
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
