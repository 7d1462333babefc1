"""Digests of code: of the syntax tree, so that changes of comments, docstrings and layout do not count.

Stored numbers are named by the digest of the code that computed them. DVC runs a stage again if the digest of a module
that it imports, directly or indirectly, has changed: the stage ``list_code`` writes the digests to ``data/list_code/``,
one file a script or step of a task, and each stage of dvc.yaml depends on its own file.
"""

import ast
import hashlib
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

from cxprobe.files.writing import digest, remove_left_behind, write_bytes

WITHOUT_EFFECT = ("cxprobe.run.tracking",)
"""Modules that copy records into MLflow and write no output; a test shows it."""
STEPS = ("make", "embed", "measure", "ask", "evaluate")
"""The steps of a task: scripts of pipelines/, and modules of the task's package."""
_PACKAGE = Path(__file__).parents[1]


def code_digest(path: Path) -> str:
    """Return the SHA-256 of the syntax tree of a Python file, without docstrings.

    Attribute docstrings (strings that are statements) are left out too.
    """
    return _digest_and_imports(path, path.stat().st_mtime_ns)[0]


def reached_modules(start: Path, within: str = "", without: Collection[str] = ()) -> dict[str, Path]:
    """Return the modules of cxprobe that code imports, directly or indirectly.

    Imports inside functions count. Imports for type checkers (``if TYPE_CHECKING``) do not.

    Args:
        start: The file with the code.
        within: A prefix; modules whose names do not begin with it are neither returned nor followed.
        without: Names of modules that are neither returned nor followed.

    Returns:
        Name -> file, sorted by name.
    """
    reached: dict[str, Path] = {}
    waiting = [start]
    while waiting:
        code = waiting.pop()
        for name in _digest_and_imports(code, code.stat().st_mtime_ns)[1]:
            path = _file_of(name)
            is_skipped = name in reached or name in without or not name.startswith(within)
            if not is_skipped and path.is_file():
                reached[name] = path
                waiting.append(path)
    return dict(sorted(reached.items()))


@cache
def computing_code(*modules: str) -> str:
    """Return one digest of modules and of all modules of their own packages that they import.

    Args:
        modules: Names of modules, such as "cxprobe.models.masked".
    """
    files: dict[str, Path] = {}
    for module in modules:
        files[module] = _file_of(module)
        files |= reached_modules(files[module], f"{module.rpartition('.')[0]}.")
    digests = [f"{name} {code_digest(path)}" for name, path in sorted(files.items())]
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


def _imported_names(tree: ast.AST) -> Iterator[str]:
    """Yield the modules of cxprobe that code imports; for ``from a import b`` both a and a.b."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            yield from _imported_names(ast.Module(node.orelse, []))
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("cxprobe."))
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "cxprobe":
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        else:
            yield from _imported_names(node)


class _WithoutTexts(ast.NodeTransformer):
    """Leaves out the statements that are strings."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        """Return a statement that is an expression, or None for a string."""
        return None if isinstance(getattr(node.value, "value", None), str) else node


@cache
def _digest_and_imports(path: Path, _modified: int) -> tuple[str, tuple[str, ...]]:
    """Return the digest of a file and the names that it imports.

    The cache key includes the time of modification, so a modified file is parsed again.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = tuple(_imported_names(tree))
    return hashlib.sha256(ast.dump(_WithoutTexts().visit(tree)).encode()).hexdigest(), names


def _file_of(module: str) -> Path:
    path = _PACKAGE.joinpath(*module.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def write_code(pipelines: Path, folder: Path) -> None:
    """Write the code of every script, and of every step of a task.

    Args:
        pipelines: The folder of scripts, such as ``pipelines/report.py``; a script with the name of a step runs that
            step of the task that it is given.
        folder: Where to write ``<script>.txt`` and ``<step>/<task>.txt``: a line for each file that is reached, with
            the digest of what it does.
    """
    remove_left_behind(folder)
    for stem, files in reached_code(pipelines).items():
        lines = ""
        for name, path in sorted(files.items()):
            of_file = code_digest(path) if path.suffix == ".py" else digest(path)
            lines += f"{of_file}  {name}\n"
        write_bytes(lines.encode(), folder / f"{stem}.txt")


def reached_code(pipelines: Path) -> dict[str, dict[str, Path]]:
    """Return the files that decide on the numbers of each script, and of each step of a task.

    Returns:
        "report", or "measure/pairs" -> name ("measure.py", "cxprobe.tasks.pairs.measure", or a path in the package) ->
        file. A step depends on its script, and on the module of the task with the name of the step.
    """
    scripts = {script.stem: {script.name: script} | reached_files(script) for script in pipelines.glob("*.py")}
    reached = {name: files for name, files in scripts.items() if name not in STEPS}
    for step in STEPS:
        for module in _PACKAGE.glob(f"tasks/*/{step}.py"):
            task = module.parent.name
            own = {f"cxprobe.tasks.{task}.{step}": module}
            reached[f"{step}/{task}"] = scripts[step] | own | reached_files(module)
    return reached


def reached_files(start: Path) -> dict[str, Path]:
    """Return the files by which code decides on numbers, but for its own.

    A module that draws pages has its ``templates`` beside it, and one whose texts are data a .yaml with its name.
    """
    modules = reached_modules(start, without=WITHOUT_EFFECT)
    templates = {path for file in modules.values() for path in (file.parent / "templates").rglob("*.*")}
    templates |= {file.with_suffix(".yaml") for file in modules.values() if file.with_suffix(".yaml").is_file()}
    return modules | {template.relative_to(_PACKAGE).as_posix(): template for template in templates}
