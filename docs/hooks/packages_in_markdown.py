"""The packages and modules of the source as a table: the first paragraph of each one's docstring."""

import ast
from pathlib import Path

from models_in_markdown import as_markdown


def describe_packages(source: Path) -> str:
    """Return a heading for each package below a folder of source, and a row for each of its modules."""
    parts = ["# Packages and modules", "What each part of `src/` is for, in the words of its docstring."]
    for init in sorted(source.rglob("__init__.py"), key=lambda path: path.parent.parts):
        package = ".".join(init.parent.relative_to(source).parts)
        parts += [f"## `{package}`", _docstring(init)]
        modules = [path for path in sorted(init.parent.glob("*.py")) if path != init]
        rows = [f"| `{path.stem}` | {_first(_docstring(path))} |" for path in modules]
        parts.append("\n".join(["| module | what it is for |", "|---|---|", *rows]) if rows else "")
    return "\n\n".join(part for part in parts if part) + "\n"


def _docstring(path: Path) -> str:
    return as_markdown(ast.get_docstring(ast.parse(path.read_text())) or "")


def _first(text: str) -> str:
    return " ".join(text.split("\n\n")[0].split()).replace("|", "\\|")
