"""The stages of dvc.yaml as Markdown: the comment above each, what its script says, what it reads and writes."""

import ast
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from models_in_markdown import as_markdown

from cxprobe.errors import DataError
from cxprobe.files.schema import read_yaml
from cxprobe.lines import LINES

PIPELINE = Path("dvc.yaml")
TITLES = {"code": "Code", "asked": "What each model is asked", "models": "Models", "corpora": "Corpora"}
TITLES |= {name: line.title for name, line in LINES.items()}
TITLES["report"] = "The report"
"""Folder of pipelines/ -> its heading."""
CODE = "data/list_code/"  # the list of a script's modules, which every stage depends on


def describe_pipeline(folder: Path) -> str:
    """Return the pipeline of a project's folder: the head of dvc.yaml, then its stages by line of work."""
    text = (folder / PIPELINE).read_text()
    stages = read_yaml(folder / PIPELINE, DataError)["stages"]
    head = [line.removeprefix("#").removeprefix(" ") for line in text.splitlines() if line.startswith("#")]
    parts = ["# Stages", "This page is made from `dvc.yaml` and the docstrings of `pipelines/`."]
    for block in "\n".join(head).split("\n\n"):  # what is indented is a table of its own
        parts.append(f"```text\n{block}\n```" if block.startswith("  ") else as_markdown(block))
    scripts = {name: str(_body(stage)["cmd"]).split()[-1] for name, stage in stages.items()}
    for folder_name, title in TITLES.items():
        parts.append(f"## {title}")
        for name in (name for name in stages if scripts[name].startswith(f"{folder_name}/")):
            docstring = ast.get_docstring(ast.parse((folder / "pipelines" / f"{scripts[name]}.py").read_text())) or ""
            said = as_markdown(docstring.removeprefix(f"{name}: ").replace(" -> ", " → "))
            comment = as_markdown(_comment(text, name))
            parts += [f"### {name}", comment, f"*pipelines/{scripts[name]}.py*: {said}", _rows(name, stages[name])]
    return "\n\n".join(part for part in parts if part) + "\n"


def _comment(text: str, name: str) -> str:
    """Return the comment lines directly above a stage."""
    found = re.search(rf"((?:^  # .*\n)+)  {name}:\n", text, re.M)
    return " ".join(line.strip("# ") for line in found[1].splitlines()) if found else ""


def _body(stage: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a stage does: `foreach` keeps that a level deeper than `matrix`."""
    return stage.get("do", stage)  # type: ignore[no-any-return]


def _rows(name: str, stage: Mapping[str, Any]) -> str:
    """Return a list of what a stage runs for, depends on and writes."""
    body, over = _body(stage), stage.get("matrix") or {"entry": stage.get("foreach")}
    item = " ITEM" if any(over.values()) else ""
    rows = {
        "once for each": ", ".join(f"{key} of `{str(value).strip('${}')}`" for key, value in over.items() if value),
        "runs again with": _listed(body.get("params", [])),
        "reads": _listed(one for one in body["deps"] if not str(one).startswith(CODE)),
        "writes": _listed(one for key in ("outs", "metrics", "plots") for one in body.get(key, [])),
        "run it": f"`dvc repro {name}`, or by hand `{body['cmd']}{item}`",
    }
    return "\n".join(f"- {key}: {value}" for key, value in rows.items() if value)


def _listed(entries: Any) -> str:
    """Return the paths or keys of a list of dvc.yaml; an entry with options is a mapping with one key."""
    return ", ".join(f"`{next(iter(one)) if isinstance(one, Mapping) else one}`" for one in entries)
