"""Scenarios under DVC: the probabilities of a plain loop, what is left out, and what is refused."""

import numpy as np
import pytest
import torch
from ruamel.yaml import YAML
from transformers import AutoModelForMaskedLM, AutoTokenizer

from conftest import change_params, run, save_tiny_gpt2
from cxprobe.storage import read_json, read_table

pytestmark = pytest.mark.pipeline

FILL = ("python", "pipelines/fill_scenarios.py", "--model", "mlm", "--construction", "toy")


def change_scenarios(folder, change):
    path = folder / "constructions" / "toy" / "scenarios.yaml"
    yaml = YAML(typ="safe")
    content = yaml.load(path)
    change(content)
    with path.open("w") as file:
        yaml.dump(content, file)


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


def test_bfloat16_is_compared_with_float32(project):
    change_params(project, project / "params.yaml", lambda params: params["models"]["mlm"].update(dtype="bfloat16"))
    run(project, *FILL)
    metrics = read_json(project / "results/fill_scenarios/mlm/toy/metrics.json")
    assert 0.5 < metrics["float32_same"] <= 1
    assert 0 < metrics["float32_mean_difference"] < 1


def test_a_candidate_of_several_tokens_leaves_its_items_out_and_is_reported(project):
    change_scenarios(project, lambda content: content["words"]["adjectives"]["rows"].append(["hungry", "calm"]))
    run(project, *FILL)
    assert read_json(project / "results/fill_scenarios/mlm/toy/metrics.json") == {
        "items": 72,
        "dropped_items": 24,
        "texts": 72 * 6,
        "distinct_texts": pytest.approx(24 * 3 + 8 * 3, abs=72),
    }
    dropped = read_table(project / "results/fill_scenarios/mlm/toy/dropped.csv")
    assert dropped.to_dict("records") == [{"word": "hungry", "reason": "not one token", "items": 24}]
    change_scenarios(
        project, lambda content: content["words"]["adjectives"].update(rows=[["hungry", "angry"], ["happy", "sorry"]])
    )
    refused = run(project, *FILL, check=False)
    assert refused.returncode == 2
    assert "models.mlm: in each of the 16 items of 'toy' a candidate is not one token" in refused.stderr


def test_what_cannot_be_asked_is_refused_before_anything_is_computed(project):
    save_tiny_gpt2(project / "models" / "causal")
    change_params(
        project,
        project / "params.yaml",
        lambda params: params["models"]["mlm"].update(name="models/causal"),
    )
    refused = run(project, *FILL, check=False)
    assert refused.returncode == 2
    assert "fills no masks; take a masked one" in refused.stderr
    change_scenarios(project, lambda content: content["tests"]["S1"].update(text="the {ADJ1} {NOUN1} is {ADJ2}"))
    refused = run(project, *FILL, check=False)
    assert refused.returncode == 2
    assert "constructions/toy/scenarios.yaml: tests.S1.text: " in refused.stderr
    assert "has 0 masks" in refused.stderr
