"""A project with as many judged models as are wanted, for the stages that put all of them side by side."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from scale_project import names_of

REPORT = "report_pairs"


def make_report_project(source: Path, folder: Path, times: int) -> int:
    """Copy a finished project so far as the report of minimal pairs needs it, with every model several times.

    Args:
        source: A project in which `dvc repro` has finished.
        folder: The new project.
        times: How often each model is there, under another name each time; panels of blind models are there once.

    Returns:
        The number of models and panels.
    """
    folder.mkdir(parents=True)
    for name in ("constructions", "pipelines", "published", "lexicon", "data/build_pairs"):
        shutil.copytree(source / name, folder / name)
    shutil.copyfile(source / "dvc.yaml", folder / "dvc.yaml")
    params = YAML(typ="safe").load(source / "params.yaml")
    own, grid = params["models"], params["grid"]["pairs"]
    names = {slug: [slug] if _is_panel(own[slug]) else names_of(slug, times) for slug in grid["models"]}
    for slug, copies in names.items():
        for copy in copies:
            shutil.copytree(source / "data" / "judge_pairs" / slug, folder / "data" / "judge_pairs" / copy)
            own[copy] = own[slug]
    grid["models"] = [copy for copies in names.values() for copy in copies]
    YAML(typ="safe").dump(params, folder / "params.yaml")
    return len(grid["models"])


def _is_panel(spec: Mapping[str, Any]) -> bool:
    return "members" in spec
