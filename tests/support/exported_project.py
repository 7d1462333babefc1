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
from cxprobe.lm.prompts import load_inference_prompts, load_reasoning_prompts
from cxprobe.pairs.frames import load_pairs
from cxprobe.pairs.make import build_pairs
from cxprobe.prompts.make import (
    build_choices,
    build_questions,
    item_table,
    load_continuations,
    load_material,
    load_pool,
)
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
    content = YAML(typ="safe").load(ROOT / "presets" / "embedded.yaml")
    content["grid"] |= {
        "sentences": ["comparative-correlative"],
        "mining": {"comparative-correlative": "documentation"},
        "labels": ["comparative-correlative"],
        "recognition": {"models": ["minilm"], "constructions": {"comparative-correlative": ["generated", "mined"]}},
        "scenarios": {"models": ["mini-mlm"], "constructions": [MEANING]},
        "pairs": {"models": ["by-rule"], "llms": [], "constructions": list(PAIRS)},
        "ways": {"models": [], "constructions": []},
        "prompts": {"llms": ["mock"], "models": ["mini-clm"], "constructions": [MEANING]},
    }
    content["models"] = {name: content["models"][name] for name in ("minilm", "mini-mlm", "mini-clm")}
    content["models"]["by-rule"] = {"kind": "blind", "members": {RULE: {"kind": "shorter"}}}
    content["series"] = {}
    content["build_pairs"]["per_cell"] = {"meaning": 1, "form": 3}
    content["build_prompts"]["premises"] = 1
    content["build_scenarios"]["share"] = 0.01
    with (folder / "params.yaml").open("w") as file:
        YAML(typ="safe").dump(content, file)


def make_small_data() -> Params:
    """Make the data of the project in the working directory, and what its blind model answers to pairs."""
    params = load_params()
    make_pairs(params)
    make_prompts(params)
    make_sentences()
    scenarios = load_scenarios(MEANING)
    items = enumerate_items(scenarios, share=params.build_scenarios.share, seed=params.seed)
    write_table(items, Path("data/build_scenarios") / MEANING / "items.parquet")
    texts = fill_texts(scenarios, items, seed=params.seed)
    write_table(texts, Path("data/build_scenarios") / MEANING / "texts.parquet")
    return params


def make_pairs(params: Params) -> None:
    people = load_people()
    for name in PAIRS:
        own = build_pairs(name, load_pairs(name, people), people, params.build_pairs, params.seed).pairs
        write_table(own, Path("data/build_pairs") / f"{name}.parquet")
        judged = own.assign(balanced=name != UNBALANCED, scheme="rule", score="preference", margin=0.0, accuracy=0.5)
        folder = Path("data/judge_pairs/by-rule") / RULE / name
        write_table(judged, folder / "items.parquet")
        write_table(judged.drop(columns=["context", "good", "bad"]), folder / "scores.parquet")


def make_prompts(params: Params) -> None:
    settings, seed = params.build_prompts, params.seed
    material = load_material(MEANING, settings, load_pool(MEANING, settings), seed=seed)
    inference, reasoning = load_inference_prompts(), load_reasoning_prompts()
    questions = build_questions(MEANING, material, inference, reasoning, settings, seed=seed)
    choices, answers = build_choices(MEANING, material, load_continuations(), settings, seed=seed)
    tables = {"questions": questions, "choices": choices, "answers": answers, "items": item_table(material, questions)}
    for stem, table in tables.items():
        write_table(table, Path("data/build_prompts") / MEANING / f"{stem}.parquet")


def make_sentences() -> None:
    for source in ("generated", "mined"):
        rows = [
            (f"{split}-{label}-{source}", f"The {label} of {split}.", label, split, 5, "The NOUN of NOUN.")
            for split in ("train", "test")
            for label in ("positive", "negative")
        ]
        table = pd.DataFrame(rows, columns=["id", "text", "label", "split", "length", "cluster_template"])
        folder = Path("data/build_recognition/comparative-correlative") / source
        write_table(table, folder / "sentences.parquet")
