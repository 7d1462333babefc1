"""Names of Python between backticks exist, in docstrings and on pages."""

import ast
import re
from pathlib import Path

import pytest
from written_pages import PAGES, code, name_of

from conftest import ROOT

griffe = pytest.importorskip("griffe", reason="needs the extra docs")

SOURCE = ROOT / "src"
MODULES = sorted(SOURCE.rglob("*.py"))
NAME = re.compile(r"(?<!`)`([A-Za-z_]\w*(?:\.\w+)*)`(?!`)")  # what is code and no name has two backticks


@pytest.fixture(scope="module")
def package():
    return griffe.load("cxprobe", search_paths=[SOURCE])


def is_there(package, name: str) -> bool:
    """Return whether a module of the package, or what it defines or imports, has a name that begins with cxprobe."""
    found = package
    for part in name.split(".")[1:]:
        if found.is_alias and not found.target_path.startswith("cxprobe"):
            return True  # what a package of others has is not looked up
        found = found.final_target if found.is_alias else found
        members = found.all_members if found.is_class else found.members
        if part not in members:  # griffe leaves out names that are assigned together
            return found.is_module and part in identifiers_of(ast.parse(found.filepath.read_text()))
        found = members[part]
    return True


def docstrings_of(tree: ast.AST) -> list[str]:
    """Return the docstrings of a module, its classes and functions, and the texts below its names."""
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)]
    return [text.value for text in texts if isinstance(text, ast.Constant) and isinstance(text.value, str)]


def identifiers_of(tree: ast.AST) -> set[str]:
    """Return every name that the code of a module defines or uses."""
    names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.alias)}
    names |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return names | {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}


def unknown_names(path: Path, package) -> list[str]:
    """Return the names in docstrings of a module that neither it nor, where they begin with cxprobe, another has."""
    tree = ast.parse(path.read_text())
    module = ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
    known, unknown = identifiers_of(tree), []
    for name in [name for text in docstrings_of(tree) for name in NAME.findall(text)]:
        whole = name if name.startswith("cxprobe.") else f"{module}.{name}"
        if name not in known | {"cxprobe"} and not is_there(package, whole):
            unknown.append(name)
    return unknown


def test_names_in_docstrings_exist(package):
    unknown = {name_of(path): unknown_names(path, package) for path in MODULES}
    assert {path: names for path, names in unknown.items() if names} == {}


@pytest.mark.parametrize("page", [page for page in PAGES if page.stem != "CHANGELOG"], ids=name_of)
def test_names_on_pages_exist(page, package):
    for name in [line for line in code(page) if re.fullmatch(r"cxprobe(\.\w+){2,}", line)]:
        assert is_there(package, name), name
