"""One tidy table of every answer of every model to every item, of all lines of work."""

from collections.abc import Iterable
from io import BytesIO
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet

from cxprobe.errors import DataError
from cxprobe.exports.project import cluster_texts, read_made_table
from cxprobe.files.writing import DATA
from cxprobe.lm.params import members_of
from cxprobe.lm.replies import REPLY
from cxprobe.run.params import LINES, Params
from cxprobe.scenarios.judge import UNCALIBRATED
from cxprobe.scenarios.rules import load_scenarios

_JUDGED = {line: DATA / f"judge_{line}" for line in LINES}
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


def read_results(params: Params, lines: Iterable[str] = LINES) -> pd.DataFrame:
    """Read every judged answer of some lines of work: the columns of `COLUMNS`.

    Raises:
        DataError: A file is missing, or there is no answer at all.
    """
    readers = {"recognition": _recognition, "scenarios": _scenarios, "pairs": _pairs, "prompts": _prompts}
    tables = []
    for line in lines:
        section = getattr(params, line)
        members = members_of(params.models, section.models, params.llms, getattr(section, "llms", []))
        if members and (section.constructions or getattr(section, "benchmarks", None)):
            states = {member.slug: member.state for member in members}
            table = readers[line](params)
            tables.append(table[table["model"].isin(list(states))].assign(weights=table["model"].map(states)))
    if not tables:
        raise DataError("params.yaml names no models and constructions, so there are no answers")
    return pd.concat(tables, ignore_index=True).reindex(columns=list(COLUMNS))


def results_parquet(results: pd.DataFrame) -> bytes:
    """Return the table as a Parquet file whose schema has a description of every column."""
    schema = pa.schema([pa.field(name, kind, metadata={"description": text}) for name, (kind, text) in COLUMNS.items()])
    written = BytesIO()
    pyarrow.parquet.write_table(pa.Table.from_pandas(results, schema=schema, preserve_index=False), written)
    return written.getvalue()


def _recognition(params: Params) -> pd.DataFrame:
    """Return what the probe of each layer says about each sentence."""
    tables = []
    for name, sources in params.recognition.constructions.items():
        for source in sources:
            items = read_made_table(_JUDGED["recognition"] / name / source / "items.parquet")
            middle = items.groupby("model")["layer"].transform("nunique") // 2
            clusters = cluster_texts(items)
            items = items.assign(construction=name, source=source, decides=items["layer"] == middle, clusters=clusters)
            tables.append(items)
    items = pd.concat(tables, ignore_index=True)
    other = items["label"].map({"positive": "negative", "negative": "positive"})
    return items.assign(
        line="recognition",
        item=items["id"],
        variant=items["feature"],
        asked="probe",
        scheme="",
        layer=items["layer"].astype("Int32"),
        correct=items["accuracy"],
        chosen=_chosen(items["accuracy"], items["label"], other),
        gold=items["label"],
    )


def _scenarios(params: Params) -> pd.DataFrame:
    """Return the decisions between two words at a mask."""
    tables = []
    for name in params.scenarios.constructions:
        decisions = read_made_table(_JUDGED["scenarios"] / name / "accuracy.parquet")
        texts = read_made_table(DATA / "make_scenarios" / name / "texts.parquet")
        scenarios = load_scenarios(name)
        rights = {test: scenarios.candidates.index(own.answer) for test, own in scenarios.tests.items()}
        tests = texts.loc[texts["scenario"].isin(list(rights)), ["item", "scenario", "first", "second"]]
        joined = decisions.merge(tests, on=["item", "scenario"], how="left", validate="many_to_one")
        tables.append(joined.assign(construction=name, right=joined["scenario"].map(rights)))
    joined = pd.concat(tables, ignore_index=True)
    first_right = joined["right"] == 0
    right = joined["first"].where(first_right, joined["second"])
    wrong = joined["second"].where(first_right, joined["first"])
    return joined.assign(
        line="scenarios",
        source="own",
        variant=joined["scenario"],
        asked=joined["calibration"],
        scheme="",
        decides=joined["base"].astype(bool) & (joined["calibration"] == UNCALIBRATED),
        correct=joined["accuracy"],
        chosen=_chosen(joined["accuracy"], right, wrong),
        gold=right,
        clusters=cluster_texts(joined),
    )


def _pairs(params: Params) -> pd.DataFrame:
    """Return the decisions on minimal pairs, the project's own and those of others, by every score."""
    folders = {"": _JUDGED["pairs"]} if params.pairs.constructions else {}
    folders |= {name: _JUDGED["pairs"] / "benchmarks" / name for name in params.pairs.benchmarks}
    tables = []
    for benchmark, folder in folders.items():
        scores, items = (read_made_table(folder / f"{name}.parquet") for name in ("scores", "items"))
        keys = ["model", "id", "scheme", "score"]
        deciding = pd.MultiIndex.from_frame(scores[keys]).isin(pd.MultiIndex.from_frame(items[keys]))
        if benchmark:
            scores = scores.assign(construction=benchmark, words="own", variant="", balanced=True)
        right, wrong = pd.Series("good", index=scores.index), pd.Series("bad", index=scores.index)
        tables.append(
            scores.assign(
                line="benchmarks" if benchmark else "pairs",
                source=scores["words"],
                item=scores["id"],
                asked=scores["score"],
                decides=deciding & scores["balanced"].astype(bool),
                correct=scores["accuracy"],
                chosen=_chosen(scores["accuracy"], right, wrong),
                gold=right,
                clusters=cluster_texts(scores),
            ).reindex(columns=list(COLUMNS))
        )
    return pd.concat(tables, ignore_index=True)


def _prompts(params: Params) -> pd.DataFrame:
    """Return the answers to questions, in words, by likelihood or by a rule."""
    judged = read_made_table(_JUDGED["prompts"] / "items.parquet")
    keys = ["model", "id", "score"]
    golds = judged[["model", "id", "gold"]].drop_duplicates()
    scores = read_made_table(_JUDGED["prompts"] / "scores.parquet").merge(golds, on=keys[:2], validate="many_to_one")
    is_right = scores["answer"] == scores["gold"]
    best = scores[~is_right].groupby(keys)["value"].max()
    margins = (scores[is_right].set_index(keys)["value"] - best).rename("margin").reset_index()
    judged = judged.merge(margins.rename(columns={"score": "asked"}), on=["model", "id", "asked"], how="left")
    by_score = set(scores["model"])
    deciding = np.where(
        judged["model"].isin(by_score), params.prompts.judge.score, np.where(judged["asked"] == REPLY, REPLY, "rule")
    )
    variants = [
        "none" if id_ == item else id_.removeprefix(f"{item}/")
        for id_, item in zip(judged["id"], judged["item"], strict=True)
    ]
    return judged.assign(
        line="prompts",
        source=judged["set"],
        variant=variants,
        scheme="",
        decides=(judged["asked"] == deciding) & judged["drawn"].astype(bool),
        correct=judged["credit"].where(judged["outcome"] != "failed"),
        chosen=judged["answer"],
        clusters=cluster_texts(judged),
    )


def _chosen(correct: "pd.Series[Any]", right: "pd.Series[Any]", wrong: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return the right answer where the decision is right, the wrong one where it is wrong, and nothing for a tie."""
    return right.where(correct == 1, wrong.where(correct == 0, ""))
