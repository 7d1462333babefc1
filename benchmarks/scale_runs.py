"""A project with as many judged runs as are wanted: those of a finished project, again and again under other names."""

import json
import re
import shutil
from itertools import count, islice
from pathlib import Path
from typing import Any


def copy_runs(project: Path, folder: Path, number: int) -> int:
    """Copy the judged runs of a finished project into a new one, each model under as many names as it takes.

    Args:
        project: A project in which `dvc repro` has finished.
        folder: The new project, which gets results/ and what makes it a project.
        number: How many runs there shall be.

    Returns:
        How many there are: ``number``, if the project has any run.
    """
    for name in ("params.yaml", "dvc.yaml"):  # by which cxprobe knows a project
        shutil.copyfile(project / name, folder / name)
    (folder / "constructions").mkdir()
    found = sorted(project.glob("results/judge_*/**/record.json"))
    every = ((path, copy) for copy in count(1) for path in found)
    for path, copy in islice(every, number if found else 0):
        target = folder / _renamed(path.parent.relative_to(project).as_posix(), *_named(path, copy))
        shutil.copytree(path.parent, target, ignore=lambda *_: ["record.json"], dirs_exist_ok=True)
        (target / "record.json").write_text(json.dumps(_record(path, copy)))
    return number if found else 0


def _record(path: Path, copy: int) -> dict[str, Any]:
    """Return a run's record as that of another model."""
    record: dict[str, Any] = json.loads(path.read_text())
    old, new = _named(path, copy)
    kept = {"params", "metrics", "series", "dataset"}
    changed = {
        key: json.loads(_renamed(json.dumps(value), old, new)) for key, value in record.items() if key not in kept
    }
    return record | changed | {"params": record["params"] | {"model": new}}


def _named(path: Path, copy: int) -> tuple[str, str]:
    old = json.loads(path.read_text())["params"]["model"]
    return old, old if copy == 1 else f"{old}-{copy}"


def _renamed(text: str, old: str, new: str) -> str:
    """Return a text with a name in the place of another, wherever that stands by itself."""
    return re.sub(rf"(?<![\w-]){re.escape(old)}(?![\w-])", new, text)
