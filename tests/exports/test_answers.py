"""The table of all answers: what was chosen, what is right, and which rows make the headlines; and rates as LaTeX."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from exported_project import FORM, MEANING, PAIRS, RULE, UNBALANCED
from typer.testing import CliRunner

from cxprobe.cli import app
from cxprobe.exports.formats import ANSWER_COLUMNS, answers_of_lines, export_latex
from cxprobe.files.tables import write_table
from cxprobe.files.writing import read_json
from cxprobe.lines import LINES
from cxprobe.prompts.evaluate import UNDRAWN
from cxprobe.recognition.evaluate import recognition_responses
from cxprobe.scenarios.rules import load_scenarios

pytest_plugins = ["exported_project"]


@pytest.fixture
def read(made_params, tmp_path, monkeypatch):
    """Write judged tables and read them as answers of one line of work."""

    def read(line: str, tables: dict[str, pd.DataFrame], **section) -> pd.DataFrame:
        (tmp_path / "constructions").symlink_to(Path("constructions").absolute())
        (tmp_path / "data").mkdir()
        for made in Path("data").glob("make_*"):
            (tmp_path / "data" / made.name).symlink_to(made.absolute())
        monkeypatch.chdir(tmp_path)
        for name, table in tables.items():
            step = "evaluate" if name == "responses" else "judge"
            write_table(table, Path("data") / f"{step}_{line}" / f"{name}.parquet")
        changed = getattr(made_params, line).model_copy(update=section)
        return answers_of_lines(made_params.model_copy(update={line: changed}), [line])

    return read


def test_a_probe_that_is_wrong_chose_the_other_label_and_a_tie_chose_none(read):
    probes = pd.DataFrame(
        {
            "id": ["s1", "s2", "s3"],
            "feature": "length",
            "value": 5,
            "label": ["positive", "negative", "positive"],
            "layer": [1, 1, 0],
            "draw": 0,
            "probability": [0.9, 0.9, 0.5],
            "cluster_template": ["x", "y", "x"],
        }
    )
    place = {"task": "recognition", "model": "minilm", "construction": "toy", "source": "generated"}
    responses = recognition_responses(probes, pd.DataFrame()).assign(**place)
    found = read("recognition", {"../evaluate_recognition/responses": responses})
    assert found["item"].tolist() == ["s1", "s2", "s3"]
    assert found["chosen"].tolist() == ["positive", "positive", ""]
    assert found["gold"].tolist() == probes["label"].tolist()
    assert found["decides"].tolist() == [True, True, False]  # of two layers, 2 // 2 is in the middle
    assert found["clusters"].tolist() == [["template=x"], ["template=y"], ["template=x"]]
    assert set(found["source"]) == {"generated"}


def test_a_scenario_names_the_word_that_was_chosen(read):
    scenarios = load_scenarios(MEANING)
    base = scenarios.base
    right, wrong = (
        ("first", "second") if scenarios.tests[base].answer == scenarios.candidates[0] else ("second", "first")
    )
    texts = pd.read_parquet(f"data/make_scenarios/{MEANING}/texts.parquet").query("scenario == @base").head(2)
    decisions = pd.DataFrame(
        {
            "model": "mini-mlm",
            "calibration": ["none", "none", "PMI"],
            "scenario": base,
            "base": True,
            "draw": 0,
            "item": [*texts["item"], texts["item"].iloc[0]],
            "accuracy": [1.0, 0.0, 0.5],
            "cluster_NAME1": ["Anna", "Beth", "Anna"],
        }
    )
    found = read("scenarios", {f"{MEANING}/accuracy": decisions})
    assert found["gold"].tolist() == [*texts[right], texts[right].iloc[0]]
    assert found["chosen"].tolist() == [texts[right].iloc[0], texts[wrong].iloc[1], ""]
    assert found["decides"].tolist() == [True, True, False]
    assert found["item"].tolist() == decisions["item"].tolist()


def test_the_texts_of_one_scenario_have_their_own_answers_and_names(read):
    (name, test) = next((name, test) for name, test in load_scenarios(MEANING).tests.items() if test.others)
    texts = pd.read_parquet(f"data/make_scenarios/{MEANING}/texts.parquet").query("scenario == @name")
    item = texts["item"].iloc[0]
    draws = range(len(test.texts))
    decisions = pd.DataFrame({"model": "mini-mlm", "calibration": "none", "scenario": name, "draw": draws})
    decisions = decisions.assign(base=False, item=item, accuracy=1.0, cluster_NAME1="Anna")
    found = read("scenarios", {f"{MEANING}/accuracy": decisions})
    assert found["gold"].tolist() == texts.loc[texts["item"] == item, "right"].tolist()
    assert found["gold"].nunique() == 2
    assert found["item"].tolist() == [item, *(f"{item}, text {number + 1}" for number in draws[1:])]


def test_pairs_have_a_row_for_each_score_and_those_that_decide_are_marked(read):
    scores = pd.DataFrame(
        {
            "model": RULE,
            "item": ["p", "q", "p", "q"],
            "construction": FORM,
            "source": "real",
            "measure": "accuracy",
            "variant": "A",
            "scheme": "causal",
            "score": ["sum", "sum", "per_token", "per_token"],
            "margin": [1.0, -2.0, 0.0, 0.1],
            "value": [1.0, 0.0, 0.5, 1.0],
            "decides": [True, False, False, False],
            "gold": "good",
            "chosen": ["good", "bad", "", "good"],
            "cluster_frame": ["f", "g", "f", "g"],
            "cluster_noun1": ["p", "q", "p", "q"],  # neither has a cluster of this kind
        }
    )
    found = read("pairs", {"responses": scores})
    assert found["chosen"].tolist() == ["good", "bad", "", "good"]
    assert found["decides"].tolist() == [True, False, False, False]  # q is in a cell where one answer is always right
    assert found["margin"].tolist() == scores["margin"].tolist()
    assert found["clusters"].tolist() == [["frame=f"], ["frame=g"]] * 2


def test_a_failed_request_is_neither_right_nor_wrong_and_margins_stand_beside_the_answers(
    made_params, tmp_path, monkeypatch
):
    row = {"task": "prompts", "model": "mini-clm", "construction": MEANING, "source": "templatic", "item": "i"}
    row |= {"measure": "accuracy", "value": 1.0, "chance": 1 / 3, "gold": "0", "chosen": "0", "decides": True}
    row |= {"asked": "pmi", "prompt": "plain", "shots": 0, "chain_of_thought": False, "examples": "none", "order": ""}
    row |= {"cluster_premise": "x", "cluster_wording": None}
    said = row | {"model": "mock", "asked": "reply", "order": "BCA"}
    rule = row | {"model": "negation", "asked": UNDRAWN, "prompt": "none", "decides": False}
    rows = [
        row,
        row | {"measure": "margin", "value": -1.5, "decides": False},
        said | {"measure": "failed", "value": 1.0, "item": "j"},
        said | {"measure": "failed", "value": 0.0},
        said | {"value": 0.0},
        rule,
    ]
    responses = pd.DataFrame(rows)
    monkeypatch.chdir(tmp_path)
    write_table(responses, Path("data/evaluate_prompts/responses.parquet"), optional=["cluster_wording"])
    found = LINES["prompts"].answers(made_params, Path("data"))
    assert found["model"].tolist() == ["mini-clm", "mock", "mock", "negation"]
    assert found["variant"].tolist() == ["plain/0/none/direct", *["plain/0/none/direct/BCA"] * 2, "none"]
    assert found["asked"].tolist() == ["pmi", "reply", "reply", "rule"]
    assert found["margin"].iloc[0] == -1.5
    assert found["margin"].iloc[1:].isna().all()
    assert np.isnan(found["correct"].iloc[1])
    assert found["correct"].drop(1).tolist() == [1, 0, 1]
    assert found["clusters"].tolist() == [["premise=x"]] * 4


def test_a_row_of_pairs_has_all_columns_and_a_construction_whose_cells_are_unbalanced_decides_nothing(made_params):
    answers = answers_of_lines(made_params, ["pairs"])
    assert list(answers) == list(ANSWER_COLUMNS)
    assert set(zip(answers["line"], answers["model"], answers["weights"], strict=True)) == {("pairs", RULE, "none")}
    decides = answers.groupby("construction")["decides"].all().to_dict()
    assert decides == dict.fromkeys(PAIRS, True) | {UNBALANCED: False}


def test_rates_as_latex_have_their_interval_and_n(made_params, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    row = {"model": "mini_mlm", "construction": "let-alone", "question": "meaning", "way": "pairs"}
    rate = {"accuracy": 0.442, "low": 0.37, "high": 0.52, "n": 336}
    write_table(pd.DataFrame([row | rate, row | dict.fromkeys(rate, "")]), Path("results/report/tables/overview.csv"))
    text = export_latex(made_params).files[""].decode()
    assert r"mini\_mlm & let-alone & meaning & pairs & 44 [37, 52] & 336 \\" in text
    assert r"\% [95 \% interval]" in text
    assert text.count("let-alone") == 1  # the row without a rate is left out


@pytest.mark.pipeline
def test_the_rows_that_decide_give_the_accuracies_of_every_recorded_run(project, monkeypatch):
    monkeypatch.chdir(project)
    done = CliRunner().invoke(app, ["export", "csv", "all.csv"])
    assert done.exit_code == 0, done.output
    answers = pd.read_csv("all.csv", keep_default_na=False, na_values={"correct": ""}, low_memory=False)
    deciding = answers[answers["decides"]]
    compared = 0
    for line in ("recognition", "scenarios", "pairs", "prompts"):
        own = deciding[deciding["line"] == line]
        step = "evaluate" if LINES[line].has_rates else "judge"
        for path in Path("results", f"{step}_{line}", "runs").rglob("record.json"):
            if "ways" in path.parts:  # of a probe on the vectors of pairs, whose answers are not among these rows
                continue
            record = read_json(path)
            run = own[own["model"] == record["params"].get("model")]
            of_toy = record["params"].get("construction") in ("toy", "all")  # toy is the only construction
            if not of_toy or "accuracy" not in record["metrics"] or run.empty:
                continue
            if line == "pairs":
                run = run[run["source"] == "real"]  # pairs with pseudowords have a rate of their own
            if step == "evaluate":
                run = run[run["source"] == record["params"]["source"]]
            assert run["correct"].mean() == pytest.approx(record["metrics"]["accuracy"], abs=1e-5), path
            assert run["correct"].notna().sum() == record["metrics"]["n"], path
            compared += 1
    assert compared >= answers.groupby(["line", "model"]).ngroups
