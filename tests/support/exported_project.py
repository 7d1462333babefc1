"""A small project whose data have been made, with three of the real constructions, for the tests of the exports."""

import os
import shutil
from pathlib import Path

import pandas as pd
import pytest
from ruamel.yaml import YAML

from conftest import ROOT
from cxprobe.constructions.people import load_people
from cxprobe.files.tables import write_table
from cxprobe.pairs.frames import load_pairs
from cxprobe.pairs.make import build_pairs
from cxprobe.pairs.sources import without_gaps
from cxprobe.prompts.make import build_choices, build_questions, item_table, load_material
from cxprobe.prompts.wording import load_continuations, load_inference_prompts, load_reasoning_prompts
from cxprobe.run.params import Params, load_params
from cxprobe.scenarios.make import enumerate_items, fill_texts
from cxprobe.scenarios.rules import load_scenarios

MEANING, FORM, UNBALANCED = "let-alone", "anaphor-agreement", "npi-licensing"
PAIRS = (MEANING, FORM, UNBALANCED)
RULE = "shorter"  # the only blind model


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
    content = YAML(typ="safe").load(ROOT / "params.yaml")
    content["mining"]["constructions"] = {"comparative-correlative": "documentation"}
    content["recognition"] |= {
        "models": ["minilm"],
        "constructions": {"comparative-correlative": ["generated", "mined"]},
    }
    content["scenarios"] |= {"models": ["mini-mlm"], "constructions": [MEANING], "make": {"share": 0.01}}
    content["pairs"] |= {"models": ["by-rule"], "llms": [], "probed": [], "constructions": list(PAIRS)}
    content["pairs"]["make"]["per_cell"] = {"meaning": 1, "form": 3}
    content["pairs"]["probe"] = None
    content["prompts"] |= {"llms": ["mock"], "models": ["mini-clm"], "constructions": [MEANING]}
    content["prompts"]["make"]["premises"] = 1
    content["models"] = {name: content["models"][name] for name in ("minilm", "mini-mlm", "mini-clm")}
    content["models"]["by-rule"] = {"kind": "blind", "members": {RULE: {"kind": "shorter"}}}
    with (folder / "params.yaml").open("w") as file:
        YAML(typ="safe").dump(content, file)


def make_small_data() -> Params:
    """Make the data of the project in the working directory, and what its blind model answers to pairs."""
    params = load_params()
    make_pairs(params)
    make_prompts(params)
    make_sentences()
    scenarios = load_scenarios(MEANING)
    items = enumerate_items(scenarios, share=params.scenarios.make.share, seed=params.seed)
    texts = fill_texts(scenarios, items, seed=params.seed)
    for stem, table in {"items": items, "texts": texts}.items():
        write_table(table, Path("data/make_scenarios") / MEANING / f"{stem}.parquet")
    return params


def make_pairs(params: Params) -> None:
    people = load_people()
    tables = []
    for name in PAIRS:
        own = build_pairs(name, load_pairs(name, people), people, params.pairs.make, params.seed).pairs
        write_table(own, Path("data/make_pairs") / f"{name}.parquet")
        tables.append(own.assign(balanced=name != UNBALANCED))
    every = without_gaps(pd.concat(tables, ignore_index=True))
    judged = every.assign(model=RULE, scheme="rule", score="preference", margin=0.0, accuracy=0.5)
    write_table(judged, Path("data/judge_pairs/items.parquet"))
    write_table(judged.drop(columns=["context", "good", "bad"]), Path("data/judge_pairs/scores.parquet"))


def make_prompts(params: Params) -> None:
    settings, seed = params.prompts.make, params.seed
    material = load_material(MEANING, settings, seed=seed)
    inference, reasoning = load_inference_prompts(), load_reasoning_prompts()
    questions = build_questions(MEANING, material, inference, reasoning, settings, seed=seed)
    choices, answers = build_choices(MEANING, material, load_continuations(), settings, seed=seed)
    tables = {"questions": questions, "choices": choices, "answers": answers, "items": item_table(material, questions)}
    for stem, table in tables.items():
        write_table(table, Path("data/make_prompts") / MEANING / f"{stem}.parquet")


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
