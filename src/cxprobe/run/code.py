"""The code that each stage depends on: the modules that its script reaches by imports, found again at each change.

The stage ``list_code`` writes them to ``data/list_code/``, one file a script, and each stage of dvc.yaml depends on its
own file. So a change of what a module does runs what uses the module, and a comment runs nothing.
"""

from pathlib import Path

from cxprobe.files.code import code_digest, reached_modules
from cxprobe.files.writing import digest, remove_left_behind, write_bytes

WITHOUT_EFFECT = frozenset({"cxprobe.run.tracking", "cxprobe.run.experiments"})
"""Modules that copy records into MLflow and write no output; a test shows it for each."""


def write_code(pipelines: Path, folder: Path) -> None:
    """Write the code of every script below a folder.

    Args:
        pipelines: The folder of scripts, as ``pipelines/<step>/<task>.py``.
        folder: Where to write ``<step>/<task>.txt``: a line for each file that the script reaches, with the digest of
            what it does.
    """
    remove_left_behind(folder)
    for script in sorted(pipelines.rglob("*.py")):
        lines = ""
        for name, path in sorted(reached_files(script, pipelines).items()):
            of_file = code_digest(path) if path.suffix == ".py" else digest(path)
            lines += f"{of_file}  {name}\n"
        write_bytes(lines.encode(), folder / script.relative_to(pipelines).with_suffix(".txt"))


def reached_files(script: Path, pipelines: Path) -> dict[str, Path]:
    """Return the files that decide on the numbers of a script.

    A package's module that draws pages has its ``templates`` beside it.

    Args:
        script: A script.
        pipelines: The folder of scripts.

    Returns:
        Name ("measure/pairs.py", "cxprobe.tasks.pairs.evaluate", or a path in the package) -> file.
    """
    modules = reached_modules(script, without=WITHOUT_EFFECT)
    package = Path(__file__).parents[1]
    templates = {path for file in modules.values() for path in (file.parent / "templates").rglob("*.*")}
    named = {template.relative_to(package).as_posix(): template for template in templates}
    return {script.relative_to(pipelines).as_posix(): script} | modules | named
