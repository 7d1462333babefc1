"""The code that each stage depends on: the modules that its script reaches by imports, found again at each change.

The stage `list_code` writes them to ``data/list_code/``, one file a script, and each stage of dvc.yaml depends on its
own file. So an edit runs what uses the edited module, and dvc.yaml names no module.
"""

import ast
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from cxprobe.files.writing import remove_left_behind, write_bytes

# Modules that only pass values on, or that write the same numbers elsewhere: a change there changes no result.
_WITHOUT_EFFECT = re.compile(r"cxprobe\.(errors|secrets|run)(\..+)?|.+\.params")


def write_code(pipelines: Path, folder: Path) -> int:
    """Write the code of every script below a folder, and return how many scripts there are.

    Args:
        pipelines: The folder of scripts, as ``pipelines/<line>/<step>.py``.
        folder: Where to write ``<line>/<step>.txt``: a line for each file that the script reaches, with its SHA-256.
    """
    remove_left_behind(folder)
    scripts = sorted(pipelines.glob("*/*.py"))
    for script in scripts:
        files = reached_files(script)
        lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {name}\n" for name, path in sorted(files.items())]
        write_bytes("".join(lines).encode(), folder / script.parent.name / f"{script.stem}.txt")
    return len(scripts)


def reached_files(script: Path) -> dict[str, Path]:
    """Return the files whose code decides on what a script computes.

    Imports inside of functions count, those for type checkers do not. A package's module that draws pages has its
    ``templates`` beside it.

    Args:
        script: A script of pipelines/.

    Returns:
        Name ("pairs/score.py", "cxprobe.pairs.judge", or a path in the package) -> file.
    """
    package = Path(__file__).parents[1]
    reached = {f"{script.parent.name}/{script.name}": script}
    waiting = [script]
    while waiting:
        for name in _imported(ast.parse(waiting.pop().read_text(encoding="utf-8"))):
            path = package.joinpath(*name.split(".")[1:])
            file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
            if name in reached or not file.is_file() or _WITHOUT_EFFECT.fullmatch(name):
                continue
            reached[name] = file
            waiting.append(file)
            for template in sorted((file.parent / "templates").rglob("*.*")):
                reached[template.relative_to(package).as_posix()] = template
    return reached


def _imported(tree: ast.AST) -> Iterator[str]:
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
            yield from _imported(node)
