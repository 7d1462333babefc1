"""What code does, as a digest: of its syntax tree, so that comments, docstrings and layout do not count.

Numbers that are kept for later runs are kept under the digest of the code that computed them. DVC runs a stage again if
the digest of a module that it reaches has changed (`cxprobe.run.code`).
"""

import ast
import hashlib
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]


def code_digest(path: Path) -> str:
    """Return the SHA-256 of what a Python file does: of its syntax tree without docstrings.

    Attribute docstrings (a text alone on a line) are left out too.
    """
    return _digest_and_imports(path, path.stat().st_mtime_ns)[0]


def reached_modules(start: str | Path, within: str = "", without: Collection[str] = ()) -> dict[str, Path]:
    """Return the modules of cxprobe that code reaches by imports; those inside of functions count.

    Imports for type checkers alone do not count.

    Args:
        start: A module, such as "cxprobe.lm.masked", which is one of them; or a script, which is not.
        within: How the names of modules begin that count; what only others lead to is left out.
        without: Modules that do not count.

    Returns:
        Name -> file, sorted by name.
    """
    reached: dict[str, Path] = {}
    waiting = [start] if isinstance(start, Path) else [_file_of(start)]
    if isinstance(start, str):
        reached[start] = waiting[0]
    while waiting:
        code = waiting.pop()
        for name in _digest_and_imports(code, code.stat().st_mtime_ns)[1]:
            path = _file_of(name)
            is_known = name in reached or name in without
            if not is_known and name.startswith(within) and path.is_file():
                reached[name] = path
                waiting.append(path)
    return dict(sorted(reached.items()))


@cache
def computing_code(*modules: str) -> str:
    """Return one digest of modules and of all that they reach within their own packages.

    Args:
        modules: Names of modules, such as "cxprobe.lm.masked".
    """
    files: dict[str, Path] = {}
    for module in modules:
        package = f"{module.rpartition('.')[0]}."
        files |= reached_modules(module, package)
    digests = [f"{name} {code_digest(path)}" for name, path in sorted(files.items())]
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


def _imported_names(tree: ast.AST) -> Iterator[str]:
    """Yield the dotted names below cxprobe that code imports; of ``from a import b`` both a and a.b."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("cxprobe."))
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "cxprobe":
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        else:
            yield from _imported_names(node)


@cache
def _digest_and_imports(path: Path, _modified: int) -> tuple[str, tuple[str, ...]]:
    """Return the digest of a file and what it imports; a file is parsed again only after it was modified."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = tuple(_imported_names(tree))
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            statements = getattr(node, name, None)
            if isinstance(statements, list):
                setattr(node, name, [statement for statement in statements if not _is_text(statement)])
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest(), names


def _file_of(module: str) -> Path:
    path = _PACKAGE.joinpath(*module.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )
