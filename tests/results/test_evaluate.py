"""Evaluation of all models of a task: a fault of one leaves the others, and a task of faults has no run."""

from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from conftest import ROOT
from cxprobe.errors import DataError
from cxprobe.files.writing import write_json
from cxprobe.models.params import Member, ModelSpec
from cxprobe.project.params import load_params
from cxprobe.results.evaluate import (
    Evaluation,
    curves_of,
    evaluate_members,
    evaluate_task,
    headline_of,
    metrics_of,
    metrics_of_part,
    named_answers,
    series_runs,
)
from cxprobe.results.findings import findings_in
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

    class Some(Evaluation):
        def responses(self, member: Member, folder: Path) -> pd.DataFrame | None:
            if member.slug == "refused":
                raise DataError(f"{folder}: no")
            return None if member.slug == "not-asked" else pd.DataFrame({"folder": [folder.name]})

    evaluated, faults = evaluate_members(Some(stage))
    assert set(evaluated) == {"sound"}
    assert evaluated["sound"].responses["folder"].tolist() == ["sound"]
    assert set(faults) == {"other-state", "without-facts", "refused"}
    fault = "weights of other-state are 'trained', and params.yaml that they are 'random'"
    assert fault in faults["other-state"]
    assert "model.json is missing" in faults["without-facts"]


def test_where_every_model_fails_each_has_its_fault_and_there_is_no_run(stage):
    outcome = evaluate_task(Evaluation(stage))
    assert set(outcome.faults) == set(MODELS)
    assert all("is missing; " in fault and "`dvc repro`" in fault for fault in outcome.faults.values())
    assert (list(outcome.runs), dict(outcome.headline)) == ([], {})


RATE = {
    **dict.fromkeys(["control", "control_low", "control_high", "difference", "diff_low", "diff_high"], np.nan),
    **{"model": "m", "construction": "c", "source": "own", "measure": "accuracy"},
    **dict.fromkeys(["order", "feature", "layer", "condition"], ""),
    **{"value": 0.5, "low": 0.25, "high": 0.75, "n": 8, "decides": True},
}
BY_ORDER = RATE | {"order": "first", "value": 0.75, "decides": False}
LAYERS = [
    RATE | {"feature": feature, "layer": str(layer), "value": layer / 10, "decides": False}
    for feature in ("", "number")
    for layer in (2, 0, 1)
]


class Judged(Evaluation):
    """An evaluation whose rates are given."""

    sections = {"meaning": "meaning"}  # noqa: RUF012


def of_toy(**changes) -> dict:
    return RATE | {"verdict": "knows", "question": "form", "low": 0.45, "high": 0.55, "chance": 0.5} | changes


def test_the_metrics_of_a_run_are_the_mean_of_each_question_and_then_its_constructions(stage):
    answers = [
        of_toy(construction="c-form", value=0.75),
        of_toy(construction="d", value=0.25),
        of_toy(construction="all"),
        of_toy(construction="few", verdict="smoke_test"),
        of_toy(construction="wide", low=0.1, high=0.9),
        of_toy(construction="d", measure="other", verdict=""),
        of_toy(construction="d", order="first", decides=False),
        of_toy(construction="e", question="meaning", value=0.6),
        of_toy(construction="tense", question="blimp", source="blimp"),
    ]
    named = named_answers(pd.DataFrame(answers), Judged(stage))
    assert list(metrics_of(named).items()) == [
        ("meaning/mean", 60),
        ("pairs/mean", 50),
        ("blimp/mean", 50),
        ("meaning/e", 60),
        ("pairs/c", 75),
        ("pairs/d", 25),
        ("blimp/tense", 50),
    ]


def test_a_source_is_named_where_a_question_has_several(stage):
    answers = [of_toy(), of_toy(source="mined", model="n"), of_toy(question="meaning")]
    named = named_answers(pd.DataFrame(answers), Judged(stage))
    assert named["name"].tolist() == ["meaning/c", "pairs/c own", "pairs/c mined"]


def test_a_series_is_one_run_whose_metrics_are_curves_over_its_quantity(stage):
    (stage.data.parent / "make_pairs").mkdir(parents=True)
    Judged.facets = [Facet()]
    answers = [of_toy(model=model, value=value) for model, value in (("late", 0.75), ("early", 0.25), ("other", 1))]
    series = {"training": SimpleNamespace(axis="training_tokens", models={"early": 10.0, "late": 20.0})}
    [run] = series_runs(pd.DataFrame(answers), Judged(stage), series)
    assert run.series == {"pairs/mean": [(10, 25), (20, 75)], "pairs/c": [(10, 25), (20, 75)]}
    assert (run.role, run.model, [*run.figures]) == ("series", "training", ["1_overview"])


def test_the_metrics_of_a_part_are_what_decides_and_the_others_by_the_values_of_facets():
    metrics = metrics_of_part(
        pd.DataFrame([BY_ORDER | {"feature": "length", "value": 0.25}, BY_ORDER, RATE]), ["source"]
    )
    others = {"accuracy/own.order.first.feature.length": 0.25, "accuracy/own.order.first": 0.75}
    assert metrics == {"accuracy/own": 0.5} | others
    assert metrics_of_part(pd.DataFrame([RATE, RATE | {"value": 0.75, "decides": False}])) == {"accuracy": 0.5}
    refused = BY_ORDER | {"order": "3.templatic+data/own.tsv"}  # by MLflow
    assert "accuracy/order.3.templatic_data/own.tsv" in metrics_of_part(pd.DataFrame([RATE, refused]))


def test_a_facet_of_steps_has_a_curve_for_each_value_of_its_other_columns():
    rates, points = pd.DataFrame([BY_ORDER, *LAYERS]), [(0, 0.0), (1, 0.1), (2, 0.2)]
    assert curves_of(rates, Facet(["layer"], steps=True)) == {"accuracy/by_layer": points}
    by_feature = curves_of(rates, Facet(["feature", "layer"], steps=True))
    assert by_feature == {"accuracy/by_layer.feature.number": points}


def test_the_metrics_of_dvc_are_the_mean_rate_of_the_constructions_by_question_beside_that_of_their_controls():
    known = RATE | {"verdict": "knows", "question": "meaning", "control": 0.9}
    rates = [
        known,
        known | {"construction": "d", "value": 0.6, "control": 0.8},
        known | {"construction": "e", "value": 1.0, "control": np.nan, "question": "form"},
        known | {"construction": "all", "value": 0.1},
        known | {"construction": "f", "value": 0.1, "question": ""},
        known | {"model": "baseline", "verdict": ""},
        known | {"order": "first", "decides": False, "value": 0.1},
    ]
    found = headline_of(pd.DataFrame(rates))
    assert found == {"m": {"form": 100.0, "meaning": 55.0, "control": 85.0, "n": 24}}


def test_the_picture_of_a_run_has_the_rates_that_answer_a_question_beside_their_baselines_and_controls():
    judged = RATE | {"task": "t", "chance": 0.5, "baseline": "rival", "verdict": "knows", "question": "meaning"}
    limits = {"control": 0.9, "control_low": 0.8, "control_high": 1.0, "control_n": 4}
    rates = [
        judged | limits | {"construction": "c-form", "condition": "construction", "n": 4},
        judged | {"construction": "c-form", "condition": "rival", "decides": False, "verdict": "", "value": 0.3},
        judged | {"construction": "control", "question": ""},
    ]
    [found] = findings_in(pd.DataFrame(rates), lambda name: name[0])
    assert (found.construction, found.question, found.row["construction"]) == ("c", "meaning", "c-form")
    assert (found.baseline.name, found.baseline.rate.value) == ("rival", 0.3)
    assert found.control.value == 0.9
