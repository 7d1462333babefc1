"""Evaluation of all models of a task: a fault of one leaves the others, and a task of faults has no run."""

from dataclasses import asdict
from pathlib import Path

import pandas as pd
import pytest

from conftest import ROOT
from cxprobe.errors import DataError
from cxprobe.files.writing import write_json
from cxprobe.models.params import Member, ModelSpec, NgramFeatures, Rule
from cxprobe.project.params import load_params
from cxprobe.results.evaluate import Evaluation, baseline_table, evaluate, evaluate_members
from cxprobe.results.rates import Facet
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
    task = Evaluation(lambda *_: pd.DataFrame(), [], lambda _: [], lambda *_: None)
    outcome = evaluate(stage, task)
    assert set(outcome.faults) == set(MODELS)
    assert all("is missing; `dvc repro` makes it" in fault for fault in outcome.faults.values())
    assert (list(outcome.runs), dict(outcome.headline)) == ([], {})


BASELINES = {
    "character-ngrams": NgramFeatures(kind="character_ngrams", lengths=[2, 6]),
    "bag-of-words": NgramFeatures(kind="word_ngrams", lengths=[1, 1]),
    "positions": Rule(kind="positions"),
}
MEMBERS = [Member(slug, spec, "panel") for slug, spec in BASELINES.items()]
REAL = Member("bert", ModelSpec(name="bert", revision=None, sha256=None, dtype="float32"), "bert")


FACETS = [Facet(has_verdicts=True)]


def rates(*rows):
    table = pd.DataFrame(rows, columns=["construction", "model", "value", "low", "high", "n", "chance"])
    return table.assign(source="own", measure="accuracy", has_verdict=True)


def test_a_card_says_by_whom_a_data_set_is_solved():
    table = baseline_table(
        rates(
            ("length", "character-ngrams", 0.977, 0.95, 0.99, 300, 0.5),
            ("length", "positions", 0.6, 0.5, 0.7, 300, 0.5),
            ("length", "bert", 0.99, 0.95, 1, 300, 0.5),
        ),
        FACETS,
        limit=0.6,
        members=[*MEMBERS, REAL],
    )
    assert table["model"].tolist() == ["character-ngrams", "positions"]  # a real model solves it with the construction
    assert table["solved"].tolist() == [True, False]  # the limit itself is allowed
    assert [bool(text) for text in table["says"]] == [True, False]


def test_the_limit_is_the_same_share_of_the_way_from_chance_to_all():
    table = baseline_table(
        rates(("pairs", "positions", 0.5, 0.4, 0.6, 90, 0.5), ("reasoning", "positions", 0.5, 0.4, 0.6, 90, 1 / 3)),
        FACETS,
        limit=0.6,
        members=MEMBERS,
    )
    assert table["limit"].tolist() == pytest.approx([0.6, 1 / 3 + 0.2 * 2 / 3])
    assert table["solved"].tolist() == [False, True]
