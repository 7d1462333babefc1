"""A small project whose data have been made, with some of the real constructions, for the tests of the exports."""

import os
import shutil
from pathlib import Path

import pandas as pd
import pytest
from ruamel.yaml import YAML
from stage_work import do_work

from conftest import ROOT
from cxprobe.cli.init import preset_text
from cxprobe.files.tables import write_table
from cxprobe.project.params import Params, load_params

MEANING = "let-alone"
PAIRS = (MEANING, "anaphor-agreement")
RULE = "shorter"  # the only baseline


@pytest.fixture(scope="session")
def made_project(tmp_path_factory):
    """The folder of a project whose data have been made, and its parameters. Never change it."""
    folder = tmp_path_factory.mktemp("small") / "project"
    write_small_project(folder)
    before = Path.cwd()
    os.chdir(folder)
    try:
        return folder, make_small_data()
    finally:
        os.chdir(before)


@pytest.fixture
def made_params(made_project, monkeypatch):
    """The parameters of the small project, which is the working directory."""
    folder, params = made_project
    monkeypatch.chdir(folder)
    return params


def write_small_project(folder: Path) -> None:
    """Write params.yaml, constructions and prompts; the working directory must be the folder for what follows."""
    for name in ("constructions", "prompts", "lexicon"):
        shutil.copytree(ROOT / name, folder / name)
    content = YAML(typ="safe").load(preset_text("bundled", ROOT / "presets"))
    content["mining"]["constructions"] = {"comparative-correlative": "documentation"}
    content["recognition"] |= {
        "models": {"minilm": {}},
        "constructions": {"comparative-correlative": ["generated", "mined"]},
    }
    content["scenarios"] |= {"models": {"mini-mlm": {}}, "constructions": [MEANING]}
    content["scenarios"]["make"]["share"] = 0.01
    content["pairs"] |= {"models": {"by-rule": {}}, "llms": {}, "constructions": list(PAIRS)}
    content["contrasts"] |= {"models": {}, "constructions": []}
    content["pairs"]["make"]["pairs_per_condition"] = {"meaning": 1, "form": 3, "control": 1}
    content["prompts"] |= {"models": {}, "llms": {"mock": {}}, "constructions": [MEANING]}
    content["prompts"]["make"]["premises"] = 1
    content["report"]["under_methods"] = []
    content["models"] = {name: content["models"][name] for name in ("minilm", "mini-mlm", "mini-clm")}
    content["models"]["by-rule"] = {"kind": "baselines", "members": {RULE: {"kind": "shorter"}}}
    with (folder / "params.yaml").open("w") as file:
        YAML(typ="safe").dump(content, file)


def make_small_data() -> Params:
    """Make the data of the project in the working directory."""
    params = load_params()
    for line in ("pairs", "prompts", "scenarios"):
        do_work("make", line, params)
    make_sentences()
    return params


def make_sentences() -> None:
    for source in ("generated", "mined"):
        rows = [
            (f"{split}-{label}-{source}", f"The {label} of {split}.", label, split, 5, "The NOUN of NOUN.")
            for split in ("train", "test")
            for label in ("positive", "negative")
        ]
        table = pd.DataFrame(rows, columns=["id", "text", "label", "split", "length", "cluster_template"])
        folder = Path("data/make_recognition/comparative-correlative") / source
        write_table(table, folder / "sentences.parquet")
