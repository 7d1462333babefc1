"""One tidy table of every answer of every model to every item, of all lines of work."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet

from cxprobe.errors import DataError
from cxprobe.exports.configurations import cluster_texts
from cxprobe.exports.project import UNCALIBRATED, read_made_table
from cxprobe.files.writing import DATA
from cxprobe.lm.params import ContinuationAlone, Member, members_of
from cxprobe.run.params import Params
from cxprobe.scenarios.rules import Scenarios, load_scenarios

NO_PROMPT = "none"
# Column -> its type in Parquet, and what it holds; the file has the descriptions in its schema.
COLUMNS: dict[str, tuple[pa.DataType, str]] = {
    "line": (pa.string(), "the line of work: recognition, scenarios, pairs, prompts or benchmarks"),
    "model": (pa.string(), "the model's name in params.yaml"),
    "weights": (pa.string(), "trained; random or shuffled, of a twin; none, of a blind model"),
    "construction": (pa.string(), "the construction; of benchmarks, the benchmark"),
    "source": (
        pa.string(),
        "which items of the construction: generated, balanced or mined sentences; pairs with real or pseudo words; the "
        "set of prompts; own for scenarios",
    ),
    "item": (pa.string(), "the id of the sentence, scenario item, pair, or inference or multiple-choice item"),
    "variant": (
        pa.string(),
        "recognition: the feature; scenarios: the test; pairs: the variant; prompts: the way of asking, as prompt/"
        "shots/examples/direct or reasoned/order, none for blind models",
    ),
    "asked": (
        pa.string(),
        "what decided: probe; a calibration, or none; a score; reply or asked, in words; rule, of a blind model",
    ),
    "scheme": (pa.string(), "pairs: how tokens were scored: causal, pll ... ; else empty"),
    "layer": (pa.int32(), "recognition: the layer whose vectors the probe read; else null"),
    "decides": (
        pa.bool_(),
        "whether the row counts for the model's headline: not another score, layer or calibration, nor a pair in whose "
        "cell one answer is always right, nor an item that other models are not asked about; each source has its rate",
    ),
    "margin": (
        pa.float64(),
        "by how much the right answer is ahead of the best wrong one, in the unit of the score; null where there is no "
        "such number",
    ),
    "correct": (pa.float64(), "1 right, 0 wrong; of k answers that are tied for the best, 1/k; null: no reply"),
    "chosen": (pa.string(), "the answer that was given; empty for a tie, a reply without an answer, or no reply"),
    "gold": (pa.string(), "the right answer, written as in chosen"),
    "clusters": (pa.list_(pa.string()), "what the item shares with others, for intervals: name=value"),
}


def read_results(params: Params) -> pd.DataFrame:
    """Read every judged answer that the grid names: the columns of `COLUMNS`.

    Raises:
        DataError: A file is missing, or there is no answer at all.
    """
    tables = [table for line in (_recognition, _scenarios, _pairs, _benchmarks, _prompts) for table in line(params)]
    if not tables:
        raise DataError("params.yaml has no models in its grid, so there are no answers; run `dvc repro` first")
    return pd.concat([table.reindex(columns=list(COLUMNS)) for table in tables], ignore_index=True)


def results_parquet(results: pd.DataFrame) -> bytes:
    """Return the table as a Parquet file whose schema has a description of every column."""
    schema = pa.schema([pa.field(name, kind, metadata={"description": text}) for name, (kind, text) in COLUMNS.items()])
    written = BytesIO()
    pyarrow.parquet.write_table(pa.Table.from_pandas(results, schema=schema, preserve_index=False), written)
    return written.getvalue()


def sentence_answers(items: pd.DataFrame, middle: int) -> pd.DataFrame:
    """Return the answers of probes.

    Args:
        items: As ``data/judge_probes/.../items.parquet``.
        middle: The layer that decides.
    """
    other = items["label"].map({"positive": "negative", "negative": "positive"})
    return pd.DataFrame(
        {
            "item": items["id"],
            "variant": items["feature"],
            "asked": "probe",
            "scheme": "",
            "layer": items["layer"].astype("Int32"),
            "decides": items["layer"] == middle,
            "correct": items["accuracy"],
            "chosen": _chosen(items["accuracy"], items["label"], other),
            "gold": items["label"],
            "clusters": cluster_texts(items),
        }
    )


def scenario_answers(decisions: pd.DataFrame, texts: pd.DataFrame, scenarios: Scenarios) -> pd.DataFrame:
    """Return the decisions between two words.

    Args:
        decisions: As ``data/judge_scenarios/.../accuracy.parquet``.
        texts: As ``data/build_scenarios``: the candidates of each item in each test.
        scenarios: The construction's tests, which say what is right.
    """
    tests = texts[texts["scenario"].isin(list(scenarios.tests))][["item", "scenario", "first", "second"]]
    joined = decisions.merge(tests, on=["item", "scenario"], how="left", validate="many_to_one")
    places = {name: scenarios.candidates.index(test.answer) for name, test in scenarios.tests.items()}
    first_right = joined["scenario"].map(places) == 0
    right = joined["first"].where(first_right, joined["second"])
    wrong = joined["second"].where(first_right, joined["first"])
    return pd.DataFrame(
        {
            "source": "own",
            "item": joined["item"],
            "variant": joined["scenario"],
            "asked": joined["calibration"],
            "scheme": "",
            "decides": joined["base"] & (joined["calibration"] == UNCALIBRATED),
            "correct": joined["accuracy"],
            "chosen": _chosen(joined["accuracy"], right, wrong),
            "gold": right,
            "clusters": cluster_texts(joined),
        }
    )


def pair_answers(scores: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """Return the decisions on minimal pairs, by every score.

    Args:
        scores: As ``scores.parquet`` of judged pairs.
        items: As ``items.parquet`` of the same, which has the score that decides.
    """
    deciding = set(items[["id", "scheme", "score"]].itertuples(index=False, name=None))
    keys = scores[["id", "scheme", "score"]].itertuples(index=False, name=None)
    balanced = scores.get("balanced", pd.Series(True, index=scores.index)).astype(bool)
    one = pd.Series("good", index=scores.index)
    return pd.DataFrame(
        {
            "source": scores.get("words", "own"),
            "item": scores["id"],
            "variant": scores.get("variant", ""),
            "asked": scores["score"],
            "scheme": scores["scheme"],
            "decides": pd.Series([key in deciding for key in keys], index=scores.index) & balanced,
            "margin": scores["margin"],
            "correct": scores["accuracy"],
            "chosen": _chosen(scores["accuracy"], one, pd.Series("bad", index=scores.index)),
            "gold": one,
            "clusters": cluster_texts(scores),
        }
    )


def prompt_answers(judged: pd.DataFrame, scores: pd.DataFrame | None, deciding: str) -> pd.DataFrame:
    """Return the answers to questions, in words, by likelihood or by a rule.

    Args:
        judged: As ``judged.parquet`` of answers or replies.
        scores: As ``scores.parquet`` of answers, for the margins; None where there are none.
        deciding: The way of asking that counts.
    """
    lacks = judged["outcome"] == "failed"
    drawn = judged.get("drawn", pd.Series(True, index=judged.index)).astype(bool)
    variants = [
        id_.removeprefix(f"{item}/") if id_ != item else NO_PROMPT
        for id_, item in zip(judged["id"], judged["item"], strict=True)
    ]
    margins = pd.Series(np.nan, index=judged.index) if scores is None else _margins(judged, scores)
    return pd.DataFrame(
        {
            "source": judged["set"],
            "item": judged["item"],
            "variant": variants,
            "asked": judged["asked"],
            "scheme": "",
            "decides": (judged["asked"] == deciding) & drawn,
            "margin": margins,
            "correct": judged["credit"].where(~lacks),
            "chosen": judged["answer"],
            "gold": judged["gold"],
            "clusters": cluster_texts(judged),
        }
    )


def _chosen(correct: "pd.Series[Any]", right: "pd.Series[Any]", wrong: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return the right answer where the decision is right, the wrong one where it is wrong, and nothing for a tie."""
    return right.where(correct == 1, wrong.where(correct == 0, ""))


def _margins(judged: pd.DataFrame, scores: pd.DataFrame) -> "pd.Series[Any]":
    """Return by how much the right answer to each question is ahead of the best other, by the score of its row."""
    golds = judged[["id", "gold"]].drop_duplicates()
    told = scores.merge(golds, on="id", validate="many_to_one")
    is_right = told["answer"] == told["gold"]
    keys = ["id", "score"]
    right = told[is_right].set_index(keys)["value"]
    best = told[~is_right].groupby(keys)["value"].max()
    margins = (right - best).rename("margin").reset_index()
    return judged[["id", "asked"]].merge(
        margins, left_on=["id", "asked"], right_on=keys, how="left", validate="one_to_one"
    )["margin"]


def _recognition(params: Params) -> Iterator[pd.DataFrame]:
    grid = params.grid.recognition
    for member in members_of(params.models or {}, grid.models):
        for name, sources in grid.constructions.items():
            for source in sources:
                folder = DATA / "judge_probes" / member.entry / member.inside / name / source
                middle = int(read_made_table(folder / "recognition.parquet")["layer"].iloc[0])
                yield _of(
                    "recognition", member, name, sentence_answers(read_made_table(folder / "items.parquet"), middle)
                ).assign(source=source)


def _scenarios(params: Params) -> Iterator[pd.DataFrame]:
    grid = params.grid.scenarios
    for member in members_of(params.models or {}, grid.models):
        for name in grid.constructions:
            decisions = read_made_table(
                DATA / "judge_scenarios" / member.entry / member.inside / name / "accuracy.parquet"
            )
            texts = read_made_table(DATA / "build_scenarios" / name / "texts.parquet")
            yield _of("scenarios", member, name, scenario_answers(decisions, texts, load_scenarios(name)))


def _pairs(params: Params) -> Iterator[pd.DataFrame]:
    grid = params.grid.pairs
    for member in members_of(params.models or {}, grid.models, params.llms, grid.llms):
        stage = "judge_pair_replies" if member.is_asked else "judge_pairs"
        for name in grid.constructions:
            folder = DATA / stage / member.entry / member.inside / name
            if folder.exists() or not isinstance(member.spec, ContinuationAlone):
                yield _of("pairs", member, name, _pair_tables(folder))


def _benchmarks(params: Params) -> Iterator[pd.DataFrame]:
    grid = params.grid.benchmarks
    for member in members_of(params.models or {}, grid.models, params.llms, grid.llms):
        stage = "judge_benchmark_replies" if member.is_asked else "judge_benchmarks"
        for name in grid.benchmarks:
            yield _of("benchmarks", member, name, _pair_tables(DATA / stage / member.entry / name / member.inside))


def _prompts(params: Params) -> Iterator[pd.DataFrame]:
    grid = params.grid.prompts
    for member in members_of(params.models or {}, grid.models, params.llms, grid.llms):
        stage = "judge_replies" if member.is_asked else "judge_answers"
        for name in grid.constructions:
            folder = DATA / stage / member.entry / member.inside / name
            scored = not member.is_asked and not member.is_blind
            scores = read_made_table(folder / "scores.parquet") if scored else None
            deciding = params.judge_answers.score if scored else "reply" if member.is_asked else "rule"
            judged = read_made_table(folder / "judged.parquet")
            yield _of("prompts", member, name, prompt_answers(judged, scores, deciding))


def _pair_tables(folder: Path) -> pd.DataFrame:
    return pair_answers(read_made_table(folder / "scores.parquet"), read_made_table(folder / "items.parquet"))


def _of(line: str, member: Member, construction: str, answers: pd.DataFrame) -> pd.DataFrame:
    return answers.assign(line=line, model=member.slug, weights=member.state, construction=construction)
