"""Minimal pairs as stages: made, scored, asked in words, and evaluated."""

import json
from pathlib import Path

import numpy as np
import pytest
from drawn_project import empty_params
from stage_work import do_work
from whole_project import change

from conftest import PEOPLE, ROOT, change_params, save_tiny_clm, write_toy_construction
from cxprobe.errors import DataError
from cxprobe.files.tables import read_table, write_table
from cxprobe.models.loading import open_source
from cxprobe.models.pairs import load_language_model, score_texts
from cxprobe.models.params import ModelSpec
from cxprobe.models.texts import ScoringConfig, read_pair_answers
from cxprobe.project.params import load_params
from cxprobe.results.schema import facet_columns
from cxprobe.run.record import read_model_facts
from cxprobe.run.stage import Outcome

pytest.importorskip("inspect_ai")

SERIES = {"early": 1e3, "late": 2e6}
LLMS = ("always-a", "knows")
OF_OTHERS = [
    {"id": "a", "good": "She sings.", "bad": "She sing.", "kind": "agreement", "number": "one"},
    {"id": "b", "good": "They sing.", "bad": "They sings.", "kind": "agreement", "number": "many"},
    {"id": "c", "good": "He ran.", "bad": "He run.", "kind": "tense-past", "number": "one"},
    {"id": "d", "good": "Ann saw herself.", "bad": "Ann saw himself.", "kind": "binding", "number": "one"},
    {"id": "e", "good": "Eve saw herself.", "bad": "Eve saw himself.", "kind": "binding", "number": "one"},
]


SPEC = {"name": "clm", "revision": None, "sha256": None, "dtype": "float32"}
MEMBERS = {
    "unigrams": {"kind": "unigrams", "language": "en"},
    "trigrams": {"kind": "ngrams", "name": "mini-ngrams", "sha256": None},
    "trained": {"kind": "pair_classifier", "folds": 2, "counts": {"kind": "word_ngrams", "lengths": [1, 1]}},
    "alone": {"kind": "continuation_alone", "checkpoint": SPEC},
    **{kind.replace("_", "-"): {"kind": kind} for kind in ("first_mentioned", "last_mentioned", "shorter")},
}


def configure(params: dict) -> None:
    """Ask a series, a panel with every kind of baseline of pairs, and two models that reply, and nothing but pairs."""
    checkpoints = {slug: SPEC | {"at": at} for slug, at in SERIES.items()}
    series = {"kind": "series", "axis": "training_tokens", "checkpoints": checkpoints}
    llm = {"name": "mockllm/model", "base_url": None, "max_tokens": 900, "connections": 1, "retries": 0, "timeout": 60}
    cells = {"pairs_per_condition": {"meaning": 4, "form": 28, "control": 4}, "pseudowords": 4}
    params |= empty_params()
    params["models"] = {"training": series, "baseline": {"kind": "baselines", "members": MEMBERS}}
    params["llms"] = {slug: llm | {"arguments": {"reply": "A"}} for slug in LLMS}
    params["pairs"] |= {
        "models": {"training": {}, "baseline": {}},
        "llms": {slug: {} for slug in LLMS},
        "constructions": ["toy"],
        "make": cells,
        "ask": {"prompt": "plain", "pairs_per_construction": None},
        "benchmarks": {"others": {"format": "pairs", "files": "*.jsonl", "by": ["kind", "number"], "score": "sum"}},
    }


def write_folder(folder: Path) -> None:
    """Write params.yaml, the toy construction, a benchmark, tiny models, and what stages read of the project."""
    write_toy_construction(folder / "constructions")
    (folder / "lexicon").mkdir()
    (folder / "lexicon" / "people.yaml").write_text(PEOPLE)
    (folder / "data" / "benchmarks" / "others").mkdir(parents=True)
    (folder / "data" / "benchmarks" / "others" / "pairs.jsonl").write_text("\n".join(map(json.dumps, OF_OTHERS)))
    for name in ("published", "prompts", "models/mini-ngrams"):
        (folder / Path(name).name).symlink_to(ROOT / name)
    save_tiny_clm(folder / "clm")
    change_params(folder, "{}", configure)


def run(step: str, item: str = "") -> Outcome:
    """Run a stage's work in the current folder."""
    return do_work(step, "pairs", load_params(), item)


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """What each stage returned, in a folder with all that they wrote."""
    folder = tmp_path_factory.mktemp("pairs")
    write_folder(folder)
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        done = {"make": run("make")}
        run("measure", "training")
        done["score"] = run("measure", "baseline")
        done["ask"] = run("ask", "always-a")
        for inside in ("", "benchmarks/others"):  # "knows" replies with the right letter
            always, knows = (Path("data/ask_pairs") / llm / inside for llm in LLMS)
            table = read_table(always / "replies.parquet")
            write_table(table.assign(reply=table["gold"]), knows / "replies.parquet")
        always, knows = (Path("data/ask_pairs") / llm / "model.json" for llm in LLMS)
        knows.write_bytes(always.read_bytes())
        yield done | {"evaluate": run("evaluate")}


def test_pairs_and_benchmarks_are_made_and_counted(outcomes):
    pairs = read_table(Path("data/make_pairs/toy.parquet"))
    counts = outcomes["make"].counts
    assert counts["pairs"] == len(pairs) == pairs["id"].nunique() == 96
    assert (counts["others.pairs"], counts["others.identical"], counts["cells_not_filled"]) == (5, 0, 0)


def test_pairs_of_a_benchmark_that_no_rate_counts_are_named_with_their_number(outcomes):
    left_out = outcomes["evaluate"].tables["tables/left_out"].drop(columns=["right", "wrong"])
    reason = "'herself' is right and 'himself' is wrong in all 2 pairs"
    assert left_out.to_dict("records") == [
        {"construction": "binding", "group": "one", "n": 2, "reason": reason, "source": "others"}
    ]


def test_every_member_of_a_panel_is_measured_as_one_item(outcomes):
    assert {name.split(".")[0] for name in outcomes["score"].counts} == set(MEMBERS)
    assert {read_model_facts(Path("data/measure_pairs/baseline") / slug).kind for slug in MEMBERS} == {"baseline"}


def test_a_model_that_is_shown_the_continuation_alone_scores_it_as_the_model_itself_does(outcomes):
    alone = read_pair_answers(Path("data/measure_pairs/baseline/alone")).set_index("text")["log_probs"]
    pairs = read_table(Path("data/make_pairs/toy.parquet"))[::7]
    ends = dict.fromkeys(pairs["good"].str.lstrip(), 0)
    model = load_language_model(open_source("clm", ModelSpec(**SPEC)))
    scored = {one.text: one.log_probs for one in score_texts(model, [ends], ScoringConfig([], 4096))}
    for context, end in pairs[["context", "good"]].to_numpy():
        scores = scored[end.lstrip()]
        assert alone[context + end] == pytest.approx(scores[~np.isnan(scores)])


def test_every_pair_is_asked_about_in_both_orders(outcomes):
    assert outcomes["ask"].counts == {"pairs": 101, "requests": 202, "failed": 0}
    replies = read_table(Path("data/ask_pairs/always-a/replies.parquet"))
    assert set(replies["reply"]) == {"A"}
    assert set(replies.groupby("pair")["gold"].agg("".join)) == {"AB"}


def test_all_models_stand_side_by_side_in_one_table(outcomes):
    tables, made = outcomes["evaluate"].tables, outcomes["make"].tables
    rates = tables["rates"]
    assert set(rates["model"]) == {*SERIES, *MEMBERS, *LLMS}
    every = read_table(Path("data/evaluate_pairs/rates.parquet"))
    divided = {name for name in facet_columns(every) if (every[name] != "").any()}
    assert {"variant", "noun_type", "compared", "origin", "score"} <= divided
    headed = rates[rates["decides"]].set_index(["model", "construction", "source", "measure"])
    for one in outcomes["evaluate"].runs:
        if "others/agreement" in one.metrics:
            value = headed.loc[(one.model, "agreement", "others", "accuracy"), "value"]
            assert one.metrics["others/agreement"] == 100 * value
    compared = tables["comparisons"][["construction", "source", "first", "second"]].to_numpy().tolist()
    assert ["toy", "real", "late", "knows"] in compared
    beside = tables["tables/beside_published"]
    assert set(beside["source"]) == {"real", "other items"}
    assert set(beside.loc[beside["source"] == "real", "model"]) <= set(rates["model"])
    assert set(made) == {"unbalanced"}


def test_a_score_that_no_pair_has_is_refused(outcomes):
    path = Path("data/make_pairs/toy.parquet")
    table = read_table(path)
    write_table(table.assign(good=table["context"] + table["good"], context=""), path)
    change(Path(), lambda params: params["pairs"]["evaluate"].update(score="given_context"))
    with pytest.raises(DataError, match=r"pairs.evaluate.score: given_context needs a context, and no pair has one"):
        run("evaluate")
