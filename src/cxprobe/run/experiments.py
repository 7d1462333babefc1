"""The experiments of MLflow (``experiments.yaml`` of each task) and their descriptions."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from ruamel.yaml import YAML

Experiments = Mapping[str, str]
"""Name of an experiment -> the paragraphs above the table of its runs, as Markdown."""


@cache
def load_experiments(path: Path) -> Experiments:
    """Read the experiments of a file, whose anchors may be those of shared_experiments.yaml."""
    shared = Path(__file__).with_name("shared_experiments.yaml")
    content = YAML(typ="safe").load(shared.read_text(encoding="utf-8") + path.read_text(encoding="utf-8"))
    content.pop("shared")
    return {name: "\n\n".join(paragraphs) for name, paragraphs in content.items()}
