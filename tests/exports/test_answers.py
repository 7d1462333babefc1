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
    items = pd.DataFrame(
        {
            "model": "minilm",
            "id": ["s1", "s2", "s3"],
            "feature": "length",
            "label": ["positive", "negative", "positive"],
            "layer": [1, 1, 0],
            "accuracy": [1.0, 0.0, 0.5],
            "cluster_template": ["x", "y", "x"],
        }
    )
    found = read("recognition", {"toy/generated/items": items}, constructions={"toy": ["generated"]})
    assert found["chosen"].tolist() == ["positive", "positive", ""]
    assert found["gold"].tolist() == items["label"].tolist()
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


def test_the_margin_of_an_answer_is_how_far_the_right_one_is_ahead_of_the_best_other(read):
    judged = pd.DataFrame(
        {
            "model": "mini-clm",
            "id": ["i/plain/0/none/direct", "j/plain/0/none/direct"] * 2,
            "item": ["i", "j"] * 2,
            "construction": MEANING,
            "set": "templatic",
            "asked": ["sum", "sum", "pmi", "pmi"],
            "outcome": ["right", "wrong", "tied", "right"],
            "credit": [1.0, 0.0, 0.5, 1.0],
            "answer": ["0", "1", "", "2"],
            "gold": ["0", "2"] * 2,
            "drawn": True,
            "cluster_premise": ["x", "y"] * 2,
        }
    )
    values = {"i": [3.0, 1.0, 2.0], "j": [0.0, 5.0, 4.0]}
    scores = pd.DataFrame(
        [
            ("mini-clm", f"{item}/plain/0/none/direct", str(answer), score, value)
            for item, own in values.items()
            for score in ("sum", "pmi")
            for answer, value in enumerate(own)
        ],
        columns=["model", "id", "answer", "score", "value"],
    )
    replied = judged.head(2).assign(model="mock", asked="reply", outcome=["failed", "unparsed"], credit=0.0, answer="")
    found = read("prompts", {"items": pd.concat([judged, replied]), "scores": scores})
    scored, said = found[found["model"] == "mini-clm"], found[found["model"] == "mock"]
    assert scored["margin"].tolist() == [1.0, -1.0, 1.0, -1.0]
    assert scored["decides"].tolist() == [False, False, True, True]
    assert scored["variant"].tolist() == ["plain/0/none/direct"] * 4
    assert scored["correct"].tolist() == judged["credit"].tolist()
    # A request that failed is neither right nor wrong.
    assert np.isnan(said["correct"].iloc[0])
    assert said["correct"].iloc[1] == 0
    assert said["margin"].isna().all()
    assert said["decides"].all()


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
        for path in Path("results", f"judge_{line}", "runs").rglob("record.json"):
            if "ways" in path.parts:  # of a probe on the vectors of pairs, whose answers are not among these rows
                continue
            record = read_json(path)
            run = own[own["model"] == record["params"].get("model")]
            of_toy = record["params"].get("construction") in ("toy", "all")  # toy is the only construction
            if not of_toy or "accuracy" not in record["metrics"] or run.empty:
                continue
            if line == "pairs":
                run = run[run["source"] == "real"]  # pairs with pseudowords have a rate of their own
            assert run["correct"].mean() == pytest.approx(record["metrics"]["accuracy"], abs=1e-5), path
            assert run["correct"].notna().sum() == record["metrics"]["n"], path
            compared += 1
    assert compared >= answers.groupby(["line", "model"]).ngroups
