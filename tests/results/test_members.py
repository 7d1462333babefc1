"""Evaluation of all models of a task: a fault of one leaves the others, and a task of faults has no run."""

from dataclasses import asdict
from pathlib import Path

import pandas as pd
import pytest

from conftest import ROOT
from cxprobe.errors import DataError
from cxprobe.files.writing import write_json
from cxprobe.models.params import Member, ModelSpec
from cxprobe.project.params import load_params
from cxprobe.results.evaluate import Evaluation, evaluate
from cxprobe.results.members import evaluate_members
from cxprobe.run.record import ModelFacts
from cxprobe.run.stage import Stage

SPEC = {"name": "models/x", "revision": None, "sha256": None, "dtype": "float32"}
MODELS = {
    "sound": ModelSpec(**SPEC),
    "other-state": ModelSpec(**SPEC, weights="random", seed=1),  # model.json says that it is trained
    "without-facts": ModelSpec(**SPEC),
    "refused": ModelSpec(**SPEC),
    "not-asked": ModelSpec(**SPEC),
}


@pytest.fixture
def stage(tmp_path, monkeypatch) -> Stage:
    """A stage of pairs whose models are those above, in an empty folder."""
    params = load_params(ROOT / "params.yaml", ROOT / "constructions")
    pairs = params.pairs.model_copy(update={"models": {slug: {} for slug in MODELS}, "llms": {}})
    monkeypatch.chdir(tmp_path)
    whole = params.model_copy(update={"models": MODELS, "pairs": pairs})
    return Stage("evaluate_pairs", "", whole.params_of("pairs"))


def test_a_model_that_fails_has_neither_facts_nor_responses_and_the_others_have(stage):
    for slug in MODELS:
        folder = Path("data/measure_pairs") / slug
        folder.mkdir(parents=True)
        if slug != "without-facts":
            write_json(asdict(ModelFacts("models/x", "masked", 1, "none")), folder / "model.json")

    def responses_of(member: Member, folder: Path) -> str | None:
        if member.slug == "refused":
            raise DataError(f"{folder}: no")
        return None if member.slug == "not-asked" else f"{member.slug} in {folder.name}"

    evaluated = evaluate_members(stage, responses_of)
    assert evaluated.responses == {"sound": "sound in sound"}
    assert set(evaluated.facts) == set(evaluated.members) == {"sound"}
    assert set(evaluated.faults) == {"other-state", "without-facts", "refused"}
    fault = "weights of other-state are 'trained', and params.yaml that they are 'random'"
    assert fault in evaluated.faults["other-state"]
    assert "model.json is missing" in evaluated.faults["without-facts"]


def test_where_every_model_fails_each_has_its_fault_and_there_is_no_run(stage):
    task = Evaluation(lambda *_: pd.DataFrame(), [], lambda _: [], lambda *_: None, lambda _: "meaning")
    outcome = evaluate(stage, task)
    assert set(outcome.faults) == set(MODELS)
    assert all("is missing; `dvc repro` makes it" in fault for fault in outcome.faults.values())
    assert (list(outcome.runs), dict(outcome.headline)) == ([], {})
