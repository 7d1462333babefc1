"""Scenarios as stages: the probabilities of a plain loop, what is left out, and what is refused."""

import importlib.util

import numpy as np
import pytest
import torch
from ruamel.yaml import YAML
from transformers import AutoModelForMaskedLM, AutoTokenizer

from conftest import ROOT, save_tiny_gpt2, save_tiny_mlm, write_toy_construction
from cxprobe.errors import ConstructionError, DataError, ModelError
from cxprobe.files.tables import read_table
from cxprobe.files.writing import read_json
from cxprobe.lm.language_models import read_model_facts
from cxprobe.lm.params import ModelSpec, Panel, Rule
from cxprobe.run.params import load_params
from cxprobe.run.stage import Outcome, Stage


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A project's folder with the toy construction and a tiny model, to work in."""
    write_toy_construction(tmp_path / "constructions")
    save_tiny_mlm(tmp_path / "models" / "mlm")
    monkeypatch.chdir(tmp_path)
    return tmp_path


BLIND = ("fixed-word", "last-rule", "copier")
PANEL = Panel(kind="blind", members={name: Rule(kind=name.replace("-", "_")) for name in BLIND})


def run_script(stage: str, kind: str, item: dict[str, str], name: str, dtype: str, *, blind: bool = False) -> Outcome:
    """Run a stage's work in the current folder, with the toy construction and a model of this name."""
    spec = importlib.util.spec_from_file_location(stage, ROOT / "pipelines" / kind / f"{stage}.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    params = load_params(ROOT / "params.yaml", ROOT / "constructions")
    model = ModelSpec(name=name, revision=None, sha256=None, dtype=dtype)
    scenarios = params.grid.scenarios.model_copy(
        update={"models": ["mlm", "panel"][: 1 + blind], "constructions": ["toy"]}
    )
    changes = {
        "models": {"mlm": model, "panel": PANEL},
        "grid": params.grid.model_copy(update={"scenarios": scenarios}),
        "build_scenarios": params.build_scenarios.model_copy(update={"share": 1.0}),
    }
    return getattr(script, stage)(Stage(stage, item, params.model_copy(update=changes)))


def fill(name: str = "models/mlm", dtype: str = "float32") -> Outcome:
    """Build the scenarios and fill them."""
    run_script("build_scenarios", "make", {}, name, dtype)
    return run_script("fill_scenarios", "measure", {"model": "mlm"}, name, dtype)


def change_scenarios(folder, change) -> None:
    path = folder / "constructions" / "toy" / "scenarios.yaml"
    yaml = YAML(typ="safe")
    content = yaml.load(path)
    change(content)
    with path.open("w") as file:
        yaml.dump(content, file)


@pytest.mark.pipeline
def test_the_probabilities_are_those_of_one_text_at_a_time(finished_project):
    scores = read_table(finished_project / "data/fill_scenarios/mlm/toy/scores.parquet")
    assert len(scores) == 48 * (3 + 3)
    model = AutoModelForMaskedLM.from_pretrained(finished_project / "models/mlm").eval()
    tokenizer = AutoTokenizer.from_pretrained(finished_project / "models/mlm")
    for row in scores[::7].itertuples():
        inputs = tokenizer(row.text, return_tensors="pt")
        with torch.no_grad():
            logits = model(**inputs).logits[0, inputs["input_ids"][0] == tokenizer.mask_token_id][0]
        expected = logits.log_softmax(-1)[tokenizer.convert_tokens_to_ids([row.first, row.second])]
        np.testing.assert_allclose([row.log_p_first, row.log_p_second], expected.numpy(), atol=1e-4)


@pytest.mark.pipeline
def test_what_is_judged_and_reported_is_that_of_the_probabilities(finished_project):
    scores = read_table(finished_project / "data/fill_scenarios/mlm/toy/scores.parquet")
    base = scores[scores["scenario"] == "S1"]
    accuracy = (base["log_p_first"] > base["log_p_second"]).mean()
    metrics = read_json(finished_project / "results/judge_scenarios/mlm/metrics.json")
    assert metrics["accuracy"] == metrics["test.S1"] == pytest.approx(accuracy, rel=1e-5)
    assert metrics["n"] == 48
    decisions = read_table(finished_project / "data/judge_scenarios/mlm/toy/accuracy.parquet")
    plain = decisions[(decisions["calibration"] == "none") & decisions["base"]]
    assert dict(zip(plain["item"], plain["accuracy"] == 1, strict=True)) == dict(
        zip(base["item"], base["log_p_first"] > base["log_p_second"], strict=True)
    )
    flips = read_table(finished_project / "results/judge_scenarios/mlm/runs/toy/own/flips.csv")
    assert set(flips["calibration"]) == {"none", "short"}
    assert set(flips["scenario"]) == {"S2", "S3"}
    reported = finished_project / "results/report_scenarios"
    table = read_table(reported / "tables/toy/accuracy.csv")
    assert table[["low", "accuracy", "high"]].apply(lambda row: row.is_monotonic_increasing, axis=1).all()
    assert (reported / "figures/toy_flips.png").exists()
    overview = read_table(reported / "accuracy.csv")
    assert overview["construction"].tolist() == ["toy"] * 9  # three models, three tests
    assert overview["accuracy"].tolist() == table.loc[table["calibration"] == "none", "accuracy"].tolist()


@pytest.mark.pipeline
def test_a_judged_run_has_the_same_files_whatever_the_construction(finished_project):
    folder = finished_project / "results/judge_scenarios/mlm/runs"
    for construction in ("toy", "all"):
        files = {path.name for path in (folder / construction / "own").iterdir()}
        assert {"accuracy.csv", "accuracy.png", "flips.csv", "flips.png", "record.json"} <= files


def test_bfloat16_is_compared_with_float32(folder):
    assert 0 < fill(dtype="bfloat16").counts["difference_from_float32"] < 0.045


def test_texts_and_items_are_built_once_for_all_models(folder):
    fill()
    texts, scores = (
        read_table(folder / "data" / path)
        for path in ("build_scenarios/toy/texts.parquet", "fill_scenarios/mlm/toy/scores.parquet")
    )
    assert scores[texts.columns].equals(texts)


def test_a_candidate_of_several_tokens_leaves_its_items_out_and_is_reported(folder):
    change_scenarios(folder, lambda content: content["words"]["adjectives"]["rows"].append(["hungry", "calm"]))
    outcome = fill()
    items = [
        read_table(folder / "data" / path / "toy/items.parquet") for path in ("build_scenarios", "fill_scenarios/mlm")
    ]
    assert [len(table) for table in items] == [96, 72]
    dropped = read_table(folder / "data/fill_scenarios/mlm/toy/dropped.parquet")
    assert dropped.to_dict("records") == [{"word": "hungry", "reason": "not one token", "items": 24}]
    scores = read_table(folder / "data/fill_scenarios/mlm/toy/scores.parquet")
    assert len(scores) == outcome.counts["texts"] == 72 * 6
    assert not scores[["first", "second"]].isin(["hungry"]).any(axis=None)


def test_without_any_item_left_nothing_is_computed(folder):
    change_scenarios(
        folder, lambda content: content["words"]["adjectives"].update(rows=[["hungry", "angry"], ["happy", "sorry"]])
    )
    with pytest.raises(DataError, match=r"models\.mlm, toy: in each of the 16 items a candidate is not one token"):
        fill()
    assert not (folder / "data/fill_scenarios").exists()


def test_what_cannot_be_asked_is_refused_before_anything_is_computed(folder):
    save_tiny_gpt2(folder / "models" / "causal")
    with pytest.raises(ModelError, match="fills no masks; take a masked one"):
        fill("models/causal")
    assert not (folder / "data/fill_scenarios").exists()
    change_scenarios(folder, lambda content: content["tests"]["S1"].update(text="the {ADJ1} {NOUN1} is {ADJ2}"))
    with pytest.raises(ConstructionError, match=r"toy/scenarios\.yaml: tests\.S1\.text: .* has 0 masks"):
        fill()


def test_blind_models_stand_beside_a_real_one_from_the_answers_to_the_report(folder):
    fill()
    filled = run_script("fill_scenarios", "measure", {"model": "panel"}, "models/mlm", "float32")
    assert filled.counts["items"] == 3 * 48
    texts = read_table(folder / "data/build_scenarios/toy/texts.parquet")
    for name in BLIND:
        own = folder / "data/fill_scenarios/panel" / name
        facts = read_model_facts(own)
        assert (facts.name, facts.kind, facts.state) == (name.replace("-", " "), "blind", "none")
        scores = read_table(own / "toy/scores.parquet")
        assert scores[texts.columns].equals(texts)
        real = read_table(folder / "data/fill_scenarios/mlm/toy/scores.parquet")
        assert list(scores.columns) == list(real.columns)
        assert read_table(own / "toy/dropped.parquet").empty
    run_script("judge_scenarios", "judge", {"model": "mlm"}, "models/mlm", "float32")
    judged = run_script("judge_scenarios", "judge", {"model": "panel"}, "models/mlm", "float32")
    assert set(judged.headline) == set(BLIND)
    assert judged.headline["fixed-word"] == {"accuracy": 0.5, "n": 48}
    assert [(run.model, run.construction) for run in judged.runs] == [
        (name, construction) for name in BLIND for construction in ("toy", "all")
    ]
    report = run_script("report_scenarios", "report", {}, "models/mlm", "float32", blind=True)
    assert set(report.tables["accuracy"]["model"]) == {"mlm", *BLIND}
    comparisons = report.tables["tables/comparisons"]
    assert set(comparisons["first"]) == {"mlm"}
    assert set(comparisons["second"]) <= set(BLIND)
    assert set(report.tables["tables/cards"]["model"]) == set(BLIND)
    assert {"figures/cards", "figures/toy_accuracy", "figures/toy_flips"} == set(report.figures)
    legend = [text.get_text() for text in report.figures["figures/toy_accuracy"].legends[0].get_texts()]
    assert legend == ["mlm", "best blind", "chance"]
