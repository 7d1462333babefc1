"""Scenarios as stages: the probabilities of a plain loop, what is left out, and what is refused."""

import importlib.util

import numpy as np
import pytest
import torch
from ruamel.yaml import YAML
from transformers import AutoModelForMaskedLM, AutoTokenizer

from conftest import ROOT, save_tiny_gpt2, save_tiny_mlm, write_toy_construction
from cxprobe.errors import ConstructionError, DataError, ModelError
from cxprobe.params import ModelSpec, load_params
from cxprobe.stage import Outcome, Stage
from cxprobe.storage import read_json, read_table


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A project's folder with the toy construction and a tiny model, to work in."""
    write_toy_construction(tmp_path / "constructions")
    save_tiny_mlm(tmp_path / "models" / "mlm")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fill(name: str = "models/mlm", dtype: str = "float32") -> Outcome:
    """Run the stage's work in the current folder, with a model of this name."""
    spec = importlib.util.spec_from_file_location("fill_scenarios", ROOT / "pipelines" / "fill_scenarios.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    params = load_params(ROOT / "presets" / "embedded.yaml", ROOT / "constructions")
    model = ModelSpec(name=name, revision=None, sha256=None, dtype=dtype)
    settings = params.fill_scenarios.model_copy(update={"share": 1.0})
    params = params.model_copy(update={"models": {"mlm": model}, "fill_scenarios": settings})
    return script.fill_scenarios(Stage("fill_scenarios", {"model": "mlm", "construction": "toy"}, params))


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
def test_the_summary_is_that_of_the_probabilities(finished_project):
    scores = read_table(finished_project / "data/fill_scenarios/mlm/toy/scores.parquet")
    base = scores[scores["scenario"] == "S1"]
    accuracy = (base["log_p_first"] > base["log_p_second"]).mean()
    metrics = read_json(finished_project / "results/summarise_scenarios/toy/metrics.json")["mlm"]
    assert metrics["accuracy"]["none"]["S1"]["accuracy"] == accuracy
    assert metrics["accuracy"]["none"]["S1"]["n"] == 48
    assert metrics["flips"].keys() == {"none", "short"}
    assert metrics["flips"]["none"].keys() == {"S2", "S3"}
    table = read_table(finished_project / "results/summarise_scenarios/toy/accuracy.csv")
    assert table[["low", "accuracy", "high"]].apply(lambda row: row.is_monotonic_increasing, axis=1).all()
    assert (finished_project / "results/summarise_scenarios/toy/flips.png").exists()


def test_bfloat16_is_compared_with_float32(folder):
    metrics = fill(dtype="bfloat16").metrics
    assert 0.5 < metrics["float32_same"] <= 1
    assert 0 < metrics["float32_mean_difference"] < 1


def test_a_candidate_of_several_tokens_leaves_its_items_out_and_is_reported(folder):
    change_scenarios(folder, lambda content: content["words"]["adjectives"]["rows"].append(["hungry", "calm"]))
    outcome = fill()
    assert (outcome.metrics["items"], outcome.metrics["dropped_items"]) == (72, 24)
    assert outcome.tables["dropped"].to_dict("records") == [{"word": "hungry", "reason": "not one token", "items": 24}]
    scores = read_table(folder / "data/fill_scenarios/mlm/toy/scores.parquet")
    assert len(scores) == outcome.metrics["texts"] == 72 * 6
    assert not scores[["first", "second"]].isin(["hungry"]).any(axis=None)


def test_without_any_item_left_nothing_is_computed(folder):
    change_scenarios(
        folder, lambda content: content["words"]["adjectives"].update(rows=[["hungry", "angry"], ["happy", "sorry"]])
    )
    with pytest.raises(DataError, match=r"models\.mlm: in each of the 16 items of 'toy' a candidate is not one token"):
        fill()
    assert not (folder / "data").exists()


def test_what_cannot_be_asked_is_refused_before_anything_is_computed(folder):
    save_tiny_gpt2(folder / "models" / "causal")
    with pytest.raises(ModelError, match="fills no masks; take a masked one"):
        fill("models/causal")
    change_scenarios(folder, lambda content: content["tests"]["S1"].update(text="the {ADJ1} {NOUN1} is {ADJ2}"))
    with pytest.raises(ConstructionError, match=r"toy/scenarios\.yaml: tests\.S1\.text: .* has 0 masks"):
        fill()
    assert not (folder / "data").exists()
