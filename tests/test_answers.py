"""Answers from elsewhere: rates of tables like those that authors publish, against plain loops."""

import gzip
import json
import shutil
from decimal import ROUND_HALF_UP, Decimal
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_line import call
from exported_project import MEANING, made_project  # noqa: F401 (a fixture)
from scipy.stats import spearmanr, ttest_ind, ttest_rel
from stage_work import do_work, run
from whole_project import change

import cxprobe
from conftest import ROOT
from cxprobe.errors import CxprobeError, DataError
from cxprobe.exports import export_items
from cxprobe.files.texts import read_texts
from cxprobe.project.params import Params, load_params

# Three hypotheses about each premise, of which a reply has the columns of those that were published.
REPLIES = pd.DataFrame(
    {
        "id": [str(number) for number in range(6)],
        "construction": ["let-alone"] * 3 + ["way"] * 3,
        "premise": ["p"] * 3 + ["q"] * 3,
        "gold": ["0", "1 (neutral)", "contradiction", "0", "1", "2"],
        "reply": ["Answer: 0", "1", "0\n\n1. A step.\nThe relation is 2.", "", "who knows", "0"],
    }
)


def rate(table: pd.DataFrame, measure: str, **cells: str) -> float:
    """Return the one value of a measure with these cells; other columns of groups are empty."""
    others = [name for name in table.columns[1:] if name not in ("value", "low", "high", "n", "clusters", "chance")]
    is_asked = (table[others] == [cells.get(name, "") for name in others]).all(axis=1)
    [value] = table[is_asked & (table["measure"] == measure)]["value"]
    return float(value)


def test_replies_are_read_and_an_empty_one_is_no_answer():
    with pytest.warns(UserWarning, match="no answer could be read in 1 replies, rows 5"):
        rates = cxprobe.evaluate(REPLIES, by=["construction"], chain_of_thought=True)
    assert rate(rates, "accuracy") == 3 / 5
    assert rate(rates, "accuracy_parsed") == 3 / 4
    assert rate(rates, "unparsed") == 1 / 5
    assert rate(rates, "failed") == 1 / 6
    assert rate(rates, "accuracy", construction="let-alone") == 1
    assert rates["clusters"].max() == 2  # premises
    assert set(rates["chance"].dropna()) == {1 / 3}


def test_what_is_unknown_twice_or_missing_is_named_by_row():
    items = REPLIES[["id", "gold"]]
    answers = REPLIES[["id", "reply"]].iloc[[0, 1, 1, 2, 3, 4]].replace({"id": {"4": "x"}})
    with pytest.raises(DataError) as fault:
        cxprobe.evaluate(answers, items)
    assert str(fault.value).splitlines() == [
        "answers, row 3: id '1' is answered twice; keep one",
        "answers, row 6: id 'x' is not among the items; leave it out",
        "items, row 5: id '4' has no answer; add it, or leave the item out",
        "items, row 6: id '5' has no answer; add it, or leave the item out",
    ]


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        (REPLIES, {"reply": "Reply"}, "there is no column 'Reply'; did you mean 'reply'?"),
        (REPLIES.assign(gold="3"), {}, "row 1: gold is '3' (allowed: 0 (entailment)"),
        (REPLIES.drop(columns="reply"), {}, "say which one column has them"),
        (pd.DataFrame({"gold": ["1", "2"], "chosen": ["2", "3"]}), {}, "row 2: chosen is '3'"),
        (pd.DataFrame({"good_score": ["-1", "-2"], "bad_score": ["-3", "x"]}), {}, "row 2: bad_score is 'x'"),
        (pd.DataFrame({"number": ["-inf"]}), {}, "row 1: number is '-inf'; it must be a finite number"),
    ],
)
def test_a_table_that_cannot_be_evaluated_is_refused_with_its_place(table, options, message):
    with pytest.raises(DataError) as fault:
        cxprobe.evaluate(table, **options)
    assert message in str(fault.value)


def test_an_item_is_right_if_it_is_above_all_of_its_corruptions():
    rng = np.random.default_rng(0)
    bad = ["order_swap", "no_article", "no_numeral"]
    table = pd.DataFrame(rng.integers(-9, -3, (60, 4)).astype(float), columns=["good", *bad])
    table = table.assign(id=[str(number) for number in range(60)], kind=["a", "b"] * 30)
    rates = cxprobe.evaluate(table, good="good", bad=bad, by=["kind"])
    expected = []
    for row in table.to_dict("records"):
        highest = max(row[name] for name in bad)
        ties = sum(row[name] == row["good"] for name in bad)
        expected.append(1 / (1 + ties) if row["good"] >= highest else 0)
    assert rate(rates, "right_in_all") == pytest.approx(np.mean(expected))
    assert rate(rates, "right_in_all", kind="b", against="all") == pytest.approx(np.mean(expected[1::2]))
    margins = table["good"] - table["no_article"]
    credits = (np.sign(margins) + 1) / 2
    assert rate(rates, "accuracy", kind="a", against="no_article") == pytest.approx(credits[::2].mean())
    assert rates.loc[rates["measure"] == "right_in_all", "chance"].tolist() == [1 / 4] * 3


def test_effects_of_conditions_are_paired_where_units_have_both_and_else_not():
    rng = np.random.default_rng(1)
    items = [str(number) for number in range(12)]
    cells = [{"item": item, "condition": one} for item in items for one in ("filler", "none")]
    table = pd.DataFrame(cells).assign(surprisal=rng.normal(9, 2, 24))
    how = {"number": "surprisal", "condition": "condition", "less": ["none"]}
    row = cxprobe.evaluate(table, **how).query("measure == 'less none'").iloc[0]
    filler, none = (table[table["condition"] == one]["surprisal"].to_numpy() for one in ("filler", "none"))
    interval = ttest_rel(filler, none).confidence_interval()
    assert row[["value", "low", "high"]].tolist() == pytest.approx([(filler - none).mean(), *interval])
    other = table.assign(item=table["item"] + table["condition"])
    row = cxprobe.evaluate(other, **how).query("measure == 'less none'").iloc[0]
    interval = ttest_ind(filler, none, equal_var=False).confidence_interval()
    assert row[["low", "high"]].tolist() == pytest.approx([*interval])
    with pytest.raises(DataError, match="item '11' has only one of 'filler' and 'none'"):
        cxprobe.evaluate(table.iloc[:-1], **how)


def test_a_correlation_with_ratings_is_spearmans_by_item_and_by_the_means_of_verbs():
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"verb": [f"v{number % 8}" for number in range(80)], "score": rng.integers(0, 20, 80)})
    table["rating"] = table["score"] + rng.normal(0, 6, 80)
    rates = cxprobe.evaluate(table, number="score", rating="rating", cluster=["verb"])
    assert rate(rates, "spearman") == pytest.approx(spearmanr(table["score"], table["rating"])[0])
    means = table.groupby("verb")[["score", "rating"]].mean()
    assert rate(rates, "spearman_of_means") == pytest.approx(spearmanr(means["score"], means["rating"])[0])
    assert (rates["low"] < rates["value"]).all()
    assert (rates["value"] < rates["high"]).all()


def test_choices_of_people_have_a_majority_and_an_agreement():
    chosen = {"Ann": "1122", "Ben": "1212", "Cyd": "111 "}
    cells = [(who, str(item), one.strip()) for who, row in chosen.items() for item, one in enumerate(row)]
    table = pd.DataFrame(cells, columns=["annotator", "id", "chosen"])
    items = pd.DataFrame({"id": [*"0123"], "gold": [*"1112"], "chance": ["0.5"] * 4})
    rates = cxprobe.evaluate(table, items)
    assert rate(rates, "accuracy") == 9 / 11
    assert rate(rates, "majority") == 1
    assert rate(rates, "failed") == 1 / 12
    by_person = cxprobe.evaluate(table, items, by=["annotator"])
    assert by_person.query("measure == 'majority'")["annotator"].tolist() == [""]  # it is nobody's
    values = [[one for who, i, one in cells if i == item and one] for item in "0123"]
    pairs = [(one, other, len(row) - 1) for row in values for one, other in combinations(row, 2)]
    every = [one for row in values for one in row]
    observed = sum(2 * (one != other) / most for one, other, most in pairs) / len(every)
    expected = np.mean([one != other for one, other in combinations(every, 2)])
    assert rate(rates, "agreement") == pytest.approx(1 - observed / expected)


PAIRS = "good\tbad\tcontext\tkind\nShe sleeps.\tShe sleep.\t\ta\nthey wait.\tthey waits.\tHere\tb\n"
SCORES = "text\tscore\nShe sleeps.\t-9\nShe sleep.\t-12.5\nHere they wait.\t-8\nHere they waits.\t-8\n"


def test_scores_of_another_tool_decide_pairs_as_a_model_would(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pairs.tsv").write_text(PAIRS)
    (tmp_path / "scores.tsv").write_text(SCORES)
    code, said = call("compare", "pairs.tsv", "--scores", "scores.tsv", "--by", "kind", "-o", "out.tsv")
    assert code == 0, said
    assert "accuracy by the scores given 0.750" in said
    assert pd.read_csv("out.tsv", sep="\t")["margin"].tolist() == [3.5, 0]
    (tmp_path / "scores.tsv").write_text(SCORES.replace("Here they waits.", "Here they walk."))
    code, said = call("compare", "pairs.tsv", "--scores", "scores.tsv")
    assert code == 2
    assert "row 4: text 'Here they walk.' is not among the items" in said
    assert "text 'Here they waits.' has no answer" in said
    assert call("compare", "pairs.tsv")[0] == 2


def test_several_files_are_told_apart_and_each_answers_every_item(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    REPLIES.to_csv("one.csv", index=False)
    with gzip.open("two.csv.gz", "wt") as file:
        REPLIES.assign(reply="0").to_csv(file, index=False)
    code, said = call("evaluate", "one.csv", "two.csv.gz", "--by", "file", "--chain-of-thought", "-o", "out.tsv")
    assert code == 0, said
    rates = pd.read_csv("out.tsv", sep="\t", keep_default_na=False, na_values={"value": [""]})
    assert rate(rates, "accuracy", file="two") == pytest.approx(1 / 3)
    REPLIES.iloc[:5].to_csv("two.csv", index=False)
    REPLIES[["id"]].to_csv("items.csv", index=False)
    code, said = call("evaluate", "one.csv", "two.csv", "--items", "items.csv")
    assert code == 2
    assert "items, row 6: id '5' has no answer of two" in said


@pytest.fixture
def params(made_project, tmp_path, monkeypatch):  # noqa: F811
    """The parameters of a project that has items of each task."""
    shutil.copytree(made_project[0], tmp_path / "project")
    shutil.copytree(ROOT / "published", tmp_path / "project" / "published")
    monkeypatch.chdir(tmp_path / "project")
    asked = {"constructions": [MEANING], "models": {"mini-clm": {}}}
    change(Path(), lambda content: content["contrasts"].update(asked))
    do_work("make", "contrasts", load_params())
    return load_params()


@pytest.mark.parametrize("task", ["contrasts", "pairs", "prompts", "scenarios", "recognition"])
def test_items_are_given_to_people_without_a_key_and_evaluated_with_it(params, task):
    sheet, key = export_items(params, task, 4)
    assert not sheet.filter(regex="gold|condition|construction").columns.tolist()
    assert sheet["id"].tolist() == key["id"].tolist() == [str(number) for number in range(1, 5)]
    people = [sheet.assign(chosen=key["gold"], file="Ann"), sheet.assign(chosen="1", file="Ben")]
    rates = cxprobe.evaluate(pd.concat(people), key, by=["file"])
    assert rate(rates, "accuracy", file="Ann") == 1
    assert rate(rates, "accuracy", file="Ben") == (key["gold"] == "1").mean()
    assert (rates["measure"] == "agreement").any()
    with pytest.raises(DataError, match="items that people can answer; give 1 to as many"):
        export_items(params, task, 10**9)


def test_the_command_writes_a_sheet_and_a_key_and_never_over_one_that_is_filled_in(params):
    code, said = call("export", "items", "sheet.csv", "--task", "contrasts", "--n", "3")
    assert code == 0, said
    sheet, key = (pd.read_csv(name, dtype=str, keep_default_na=False) for name in ("sheet.csv", "sheet.key.csv"))
    assert sheet.columns.tolist() == ["id", "text", "option_1", "option_2", "chosen"]
    assert set(key["gold"]) <= {"1", "2"}
    assert key["condition"].all()
    assert call("export", "items", "sheet.csv")[0] == 2


UNIGRAMS = {"kind": "baselines", "members": {"unigrams": {"kind": "unigrams", "language": "en"}}}


def with_file(task: str, kind: str, table: pd.DataFrame) -> Params:
    """Return the parameters of the project in the working directory, whose task asks a file beside unigrams."""
    table.to_csv("theirs.csv", index=False)
    entry = {"kind": kind, "answers": "theirs.csv", "sha256": None, "about": "a test"}

    def edit(content):
        content["models"] |= {"theirs": entry, "baselines": UNIGRAMS}
        content[task]["models"] = {"theirs": {}} | ({} if task == "prompts" else {"baselines": {}})
        content[task] |= {"llms": {}} if "llms" in content[task] else {}

    change(Path(), edit)
    return load_params()


def rates_of(params: Params, task: str) -> pd.DataFrame:
    """Measure and evaluate a task, and return its rates."""
    for item in getattr(params, task).models:
        run("measure", task, params, item)
    run("evaluate", task, params)
    return pd.read_csv(f"results/evaluate_{task}/rates.csv", keep_default_na=False, na_values={"value": [""]})


def made_pairs(task: str) -> pd.DataFrame:
    """Return the pairs of a task that have been made."""
    return pd.concat([pd.read_parquet(path) for path in sorted(Path(f"data/make_{task}").glob("*.parquet"))])


def test_a_file_of_scores_is_evaluated_as_a_model_beside_baselines(params):
    pairs = made_pairs("contrasts")
    goods, bads = (pairs["context"] + pairs[name] for name in ("good", "bad"))
    texts = pd.unique(pd.concat([goods, bads]))
    score = pd.Series(np.random.default_rng(0).normal(-20, 3, len(texts)), texts)
    given = with_file("contrasts", "scores", score.rename_axis("text").rename("score").reset_index())
    rates = rates_of(given, "contrasts")
    pairs["margin"] = score[goods].to_numpy() - score[bads].to_numpy()
    expected = pairs[pairs["condition"] == "construction"].groupby("item")["margin"].mean().mean()
    found = rates.query("measure == 'contrast' and condition == 'construction' and wording == '' and model == 'theirs'")
    assert found.query("construction == @MEANING")["value"].item() == pytest.approx(expected, abs=1e-4)
    assert "unigrams" in set(rates["model"])
    record = json.loads(Path("results/evaluate_contrasts/runs/theirs/record.json").read_text())
    assert (record["facts"]["kind"], record["tags"]["model.about"]) == ("file", "a test")


def test_choices_of_people_are_evaluated_beside_models(params):
    chosen = pd.concat([made_pairs("pairs")[["id"]].assign(annotator=who, chosen="good") for who in ("Ann", "Ben")])
    rates = rates_of(with_file("pairs", "judgements", chosen), "pairs")
    assert set(rates.query("model == 'theirs' and measure == 'accuracy' and decides")["value"]) == {1.0}


def test_replies_from_elsewhere_are_read_as_those_of_a_model(params):
    questions = pd.read_parquet(f"data/make_prompts/{MEANING}/questions.parquet")
    items = questions[questions["order"].isin(["", "ABC"])].drop_duplicates("item")
    replies = pd.DataFrame({"id": items["item"], "reply": "Answer: " + items["gold"]})
    replies.loc[replies.index[0], "reply"] = "who knows"
    rates = rates_of(with_file("prompts", "replies", replies), "prompts")
    assert 0 < rates.query("measure == 'unparsed'")["value"].max() < 1
    responses = pd.read_parquet("data/evaluate_prompts/responses.parquet").query("measure == 'accuracy'")
    assert responses["value"].sum() == len(items) - 1
    assert set(responses["prompt"]) == {"none"}
    assert responses["decides"].any()


@pytest.mark.parametrize(("task", "kind"), [("contrasts", "judgements"), ("pairs", "replies"), ("scenarios", "scores")])
def test_a_task_refuses_a_file_of_another_kind(params, task, kind):
    with pytest.raises(CxprobeError, match=f"'theirs' is a file of {kind}, and {task} takes"):
        with_file(task, kind, pd.DataFrame({"id": ["a"]}))


def test_the_sheet_of_the_docs_has_the_rates_that_the_page_says():
    folder = ROOT / "docs" / "tutorials" / "sheet"
    sheets = [read_texts(folder / f"{name}.csv").assign(file=name) for name in ("assistant", "smollm2-135m")]
    rates = cxprobe.evaluate(pd.concat(sheets), read_texts(folder / "key.csv"), by=["file"])
    text = (ROOT / "docs" / "howto" / "exchange.md").read_text()
    said = {"assistant": "assistant (a language model)", "smollm2-135m": "SmolLM2 (a language model)"}
    for row in rates.query("measure == 'accuracy' and file != ''").to_dict("records"):
        percent = [Decimal(100 * row[key]).quantize(Decimal(1), ROUND_HALF_UP) for key in ("value", "low", "high")]
        assert f"| {said[row['file']]} | {percent[0]} % [{percent[1]}, {percent[2]}] |" in text
    assert f"(alpha {rate(rates, 'agreement'):.2f})".replace("0.", ".") in text
