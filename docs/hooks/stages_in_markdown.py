"""The stages of dvc.yaml as Markdown: the comment above each, what its script says, what it reads and writes."""

import ast
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from models_in_markdown import as_markdown

from cxprobe.errors import DataError
from cxprobe.files.schema import read_yaml

PIPELINE = Path("dvc.yaml")
KINDS = {
    "make": "Make: data",
    "measure": "Measure: the raw answers of one model",
    "judge": "Judge: raw answers to rates",
    "report": "Report: all models side by side",
}
CODE = ("src/", "pipelines/")


def describe_pipeline(folder: Path) -> str:
    """Return the pipeline of a project's folder: the head of dvc.yaml, then its stages by kind."""
    text = (folder / PIPELINE).read_text()
    stages = read_yaml(folder / PIPELINE, DataError)["stages"]
    parts = ["# Stages", "This page is made from `dvc.yaml` and the docstrings of `pipelines/`.", _head(text)]
    kinds = {name: _script(stage).parts[1] for name, stage in stages.items()}
    for kind, title in KINDS.items():
        parts.append(f"## {title}")
        for name in (name for name in stages if kinds[name] == kind):
            parts += [f"### {name}", *_stage(folder, name, stages[name], _comment(text, name))]
    return "\n\n".join(part for part in parts if part) + "\n"


def _head(text: str) -> str:
    """Return the comment at the top of dvc.yaml; what is indented there is a table of its own."""
    lines = [line.removeprefix("#").removeprefix(" ") for line in text.splitlines() if line.startswith("#")]
    blocks = "\n".join(lines).split("\n\n")
    return "\n\n".join(_fenced(block) if block.startswith("  ") else as_markdown(block) for block in blocks)


def _fenced(block: str) -> str:
    return f"```text\n{block}\n```"


def _comment(text: str, name: str) -> str:
    """Return the comment lines directly above a stage."""
    found = re.search(rf"((?:^  #.*\n)+)\n?  {name}:\n", text, re.M)
    lines = found[1].splitlines() if found else []
    return " ".join(line.strip("# ") for line in lines if not line.startswith("  # ----"))


def _body(stage: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a stage does: `foreach` keeps that a level deeper than `matrix`."""
    return stage.get("do", stage)  # type: ignore[no-any-return]


def _script(stage: Mapping[str, Any]) -> Path:
    return Path(str(_body(stage)["cmd"]).split()[1])


def _stage(folder: Path, name: str, stage: Mapping[str, Any], comment: str) -> list[str]:
    body = _body(stage)
    docstring = ast.get_docstring(ast.parse((folder / _script(stage)).read_text())) or ""
    rows = {
        "once for each": _items(stage),
        "runs again with": ", ".join(f"`{one}`" for one in _names(body.get("params", []))),
        "reads": ", ".join(f"`{one}`" for one in _names(body["deps"]) if not one.startswith(CODE)),
        "writes": ", ".join(f"`{one}`" for key in ("outs", "metrics", "plots") for one in _names(body.get(key, []))),
        "run it": f"`dvc repro {name}`",
    }
    said = as_markdown(docstring.removeprefix(f"{name}: ").replace(" -> ", " → "))
    listed = "\n".join(f"- {key}: {value}" for key, value in rows.items() if value)
    return [as_markdown(comment), f"*{_script(stage)}*: {said}", listed]


def _items(stage: Mapping[str, Any]) -> str:
    over = stage.get("matrix") or {"entry": stage.get("foreach", "")}
    return ", ".join(f"{key} of `{str(value).strip('${}')}`" for key, value in over.items())


def _names(listed: list[Any]) -> list[str]:
    """Return the paths or keys of a list of dvc.yaml; an entry with options is a mapping with one key."""
    return [next(iter(one)) if isinstance(one, Mapping) else str(one) for one in listed]
