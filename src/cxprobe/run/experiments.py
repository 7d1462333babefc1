"""The experiments of MLflow (``experiments.yaml`` of each line of work) and their descriptions."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ruamel.yaml import YAML


@dataclass(frozen=True)
class Experiment:
    """An experiment of MLflow.

    Attributes:
        name: Its name.
        description: The paragraphs above the table of its runs, as Markdown.
    """

    name: str
    description: str


Experiments = Mapping[str, Experiment]
"""Experiments by their names."""


@cache
def load_experiments(path: Path) -> Experiments:
    """Return the experiments of a file by their names; shared_experiments.yaml has what several of them say."""
    shared = Path(__file__).with_name("shared_experiments.yaml")
    content = YAML(typ="safe").load(shared.read_text(encoding="utf-8") + path.read_text(encoding="utf-8"))
    content.pop("shared")
    return {name: Experiment(name, "\n\n".join(paragraphs)) for name, paragraphs in content.items()}
