"""Which modules of cxprobe a file really reaches: imported names are followed through packages to what defines them."""

import ast
from functools import cache
from pathlib import Path

from conftest import ROOT

SOURCE = ROOT / "src"
PACKAGE = SOURCE / "cxprobe"


def file_of(module: str) -> Path | None:
    """Return the file of a module or package, or None if there is no such module."""
    path = SOURCE.joinpath(*module.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


@cache
def imported(path: Path) -> frozenset[tuple[str, str]]:
    """Return each imported (module, name) of the project's packages; the name is empty for ``import module``."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0].startswith("cxprobe"):
            found |= {(node.module, alias.name) for alias in node.names}
        if isinstance(node, ast.Import):
            found |= {(alias.name, "") for alias in node.names if alias.name.split(".")[0].startswith("cxprobe")}
    return frozenset(found)


def defining_file(module: str, name: str) -> Path:
    """Return the file in which an imported name is defined."""
    if name and (submodule := file_of(f"{module}.{name}")):
        return submodule
    file = file_of(module)
    assert file, f"{module} is imported and is no module"
    if file.name == "__init__.py":
        for inner, other in imported(file):
            if other == name:
                return defining_file(inner, other)
    return file


def is_below(file: Path, names: set[str]) -> bool:
    """Return whether a file belongs to one of the modules or packages of cxprobe that are named."""
    return file.is_relative_to(PACKAGE) and file.relative_to(PACKAGE).with_suffix("").parts[0] in names


def reached(path: Path, ignored: set[str] = frozenset()) -> set[Path]:
    """Return the files that a file reaches, directly or through others; what is ignored is not followed."""
    found: set[Path] = set()
    pending = [path]
    while pending:
        for module, name in imported(pending.pop()):
            file = defining_file(module, name)
            if file not in found and not is_below(file, ignored):
                found.add(file)
                pending.append(file)
    return found


def shortest(files: set[Path]) -> set[str]:
    """Return paths from the project's folder that stand for these modules.

    They are packages where all modules are reached. A package of one concern (`_one_concern`) is named as a whole in
    any case: dvc.lock, which DVC writes anew after every stage, would be half as long again.
    """
    files = files | {file for one in files if (package := _one_concern(one)) for file in package.rglob("*.py")}
    modules = {file for file in files if file.name != "__init__.py"}
    named: set[str] = set()
    for package in sorted({folder for file in modules for folder in file.parents if folder != PACKAGE}, key=str):
        if package.is_relative_to(PACKAGE) and not any(package.is_relative_to(ROOT / one) for one in named):
            inside = {file for file in package.rglob("*.py") if file.name != "__init__.py"}
            if inside and inside <= modules:
                named.add(str(package.relative_to(ROOT)))
    alone = {file for file in files if not any(file.is_relative_to(ROOT / one) for one in named)}
    return named | {str(file.relative_to(ROOT)) for file in alone if file.name != "__init__.py" or _defines(file)}


def _one_concern(file: Path) -> Path | None:
    """Return the package of a module that is in storage, or in a package of make or measure."""
    parts = file.relative_to(PACKAGE).parts if file.is_relative_to(PACKAGE) else ()
    if parts[:1] == ("storage",):
        return PACKAGE / "storage"
    return PACKAGE / parts[0] / parts[1] if parts[:1] in (("make",), ("measure",)) and len(parts) > 2 else None


def _defines(init: Path) -> bool:
    """Return whether a package's own file does more than to pass names on."""
    kept = (ast.Import, ast.ImportFrom, ast.Expr, ast.Assign)
    return any(not isinstance(node, kept) for node in ast.parse(init.read_text()).body)
