"""The facts about a measured model, in a file beside its answers."""

from dataclasses import asdict
from pathlib import Path

from cxprobe.errors import DataError
from cxprobe.files.writing import read_json, write_json
from cxprobe.lm.params import ModelFacts

_FILE = "model.json"


def write_model_facts(facts: ModelFacts, folder: Path) -> None:
    """Write what a model is to ``model.json`` in the folder of its answers."""
    write_json(asdict(facts), folder / _FILE)


def read_model_facts(folder: Path) -> ModelFacts:
    """Read what `write_model_facts` wrote.

    Raises:
        DataError: The folder has no ``model.json``.
    """
    path = folder / _FILE
    if not path.is_file():
        raise DataError(f"{path} is missing; the measuring stage writes it: run `dvc repro`, or `dvc pull`")
    return ModelFacts(**read_json(path))
