"""Scenarios as stages: what is left out, what is refused, and the report."""

import pandas as pd
import pytest
from drawn_project import empty_params
from ruamel.yaml import YAML
from stage_work import do_work

from conftest import ROOT, change_params, save_tiny_mlm, write_toy_construction
from cxprobe.files.tables import read_table
from cxprobe.project.params import load_params
from cxprobe.run.record import read_model_facts
from cxprobe.run.stage import Outcome

BASELINES = {name.replace("_", "-"): {"kind": name} for name in ("fixed_word", "last_rule", "copier")}
MLM = {"name": "models/mlm", "revision": None, "sha256": None, "dtype": "float32"}


def configure(params: dict) -> None:
    params |= empty_params()
    params["models"] = {"mlm": MLM, "baselines": {"kind": "baselines", "members": BASELINES}}
    params["scenarios"] |= {"models": {"mlm": {}, "baselines": {}}, "constructions": ["toy"]}
    params["scenarios"]["make"]["share"] = 1.0


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A project's folder with the toy construction and a tiny model, to work in."""
    write_toy_construction(tmp_path / "constructions")
    save_tiny_mlm(tmp_path / "models" / "mlm")
    (tmp_path / "published").symlink_to(ROOT / "published")
    change_params(tmp_path, "{}", configure)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(step: str, item: str = "") -> Outcome:
    """Run a stage's work in the current folder."""
    return do_work(step, "scenarios", load_params(), item)


def score() -> Outcome:
    run("make")
    return run("measure", "mlm")


def scores_of(folder, inside: str = "mlm") -> pd.DataFrame:
    return read_table(folder / "data/measure_scenarios" / inside / "scores.parquet")


def change_scenarios(folder, change) -> None:
    path, yaml = folder / "constructions" / "toy" / "scenarios.yaml", YAML(typ="safe")
    content = yaml.load(path)
    change(content)
    yaml.dump(content, path)


def test_a_candidate_of_several_tokens_leaves_its_items_out_and_is_reported(folder):
    change_scenarios(folder, lambda content: content["words"]["adjectives"]["rows"].append(["hungry", "calm"]))
    outcome = score()
    dropped = read_table(folder / "data/measure_scenarios/mlm/dropped.parquet")
    reported = {"word": "hungry", "reason": "not one token", "items": 24, "construction": "toy"}
    assert dropped.to_dict("records") == [reported]
    scores = scores_of(folder)
    assert outcome.counts["items"] == scores["item"].nunique() == 72
    assert outcome.counts["dropped_items"] == 24
    assert len(scores) == outcome.counts["texts"] == 72 * 6
    assert not scores[["first", "second"]].isin(["hungry"]).any(axis=None)


def test_every_text_of_a_test_counts_and_is_calibrated_where_the_test_is(folder):
    def add_another_text(content):
        test = content["tests"]["S2"]
        other = test["text"].replace("the {ADJ1} one is [MASK]", "the {ANT1} one is [MASK]")
        test |= {"others": [{"text": other, "answer": "ANT2"}], "calibrated": False}

    change_scenarios(folder, add_another_text)
    score()
    run("measure", "baselines")
    table = run("evaluate").tables["rates"]
    of_rule = table.query("scenario != '' and calibration == 'none' and model == 'last-rule' and construction == 'toy'")
    accuracy = of_rule[of_rule["measure"] == "accuracy"].set_index("scenario")
    assert accuracy["value"].to_dict() == {"S1": 0, "S2": 0.5, "S3": 0}
    assert accuracy["n"].to_dict() == {"S1": 48, "S2": 96, "S3": 48}
    flips = of_rule[of_rule["measure"] == "flips"].set_index("scenario")
    assert (flips.at["S2", "value"], flips.at["S2", "n"]) == (0.5, 96)
    responses = read_table(folder / "data/evaluate_scenarios/responses.parquet")
    accuracies = responses.query("measure == 'accuracy' and calibration != 'none'")
    assert set(accuracies["scenario"]) == {"S1", "S3"}


def test_baseline_models_stand_beside_a_real_one_from_the_answers_to_the_report(folder):
    score()
    assert run("measure", "baselines").counts["copier.items"] == 48
    for name in BASELINES:
        facts = read_model_facts(folder / "data/measure_scenarios/baselines" / name)
        assert (facts.name, facts.kind, facts.state) == (name.replace("-", " "), "baseline", "none")
        assert set(scores_of(folder, f"baselines/{name}")) == set(scores_of(folder))
    outcome = run("evaluate")
    assert {tuple(one.metrics) for one in outcome.runs} == {()}  # as on the first page: the items are too few
    assert {run.model for run in outcome.runs} == {"mlm", *BASELINES}
    (mlm,) = (one for one in outcome.runs if one.model == "mlm")
    assert {part.part["calibration"] for part in mlm.children} > {"none"}
    assert {table for one in (*outcome.runs, *mlm.children) for table in one.tables} == {"rates"}
    base = scores_of(folder).query("scenario == 'S1'")
    accuracy = (base["log_p_first"] > base["log_p_second"]).mean()
    (plain,) = (part for part in mlm.children if part.part["calibration"] == "none")
    assert plain.metrics["accuracy/toy"] == pytest.approx(accuracy)
    comparisons = outcome.tables["comparisons"]
    assert set(comparisons["first"]) == {"mlm"}
    assert set(comparisons["second"]) <= set(BASELINES)
