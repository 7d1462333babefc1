"""One tidy table of every answer of every model to every item, of all lines of work."""

from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet

from cxprobe.errors import DataError
from cxprobe.exports.project import cluster_texts, read_made_table, read_scenarios
from cxprobe.files.schema import read_yaml
from cxprobe.files.writing import DATA
from cxprobe.lm.params import members_of
from cxprobe.lm.replies import REPLY
from cxprobe.prompts.judge import RULE
from cxprobe.run.params import LINES, Params
from cxprobe.scenarios.judge import UNCALIBRATED, item_of_text

_TYPES = {
    "text": pa.string(),
    "texts": pa.list_(pa.string()),
    "integer": pa.int32(),
    "number": pa.float64(),
    "flag": pa.bool_(),
}
# Column -> its type and what it holds; the exported file has this in its schema.
COLUMNS: dict[str, dict[str, str]] = read_yaml(Path(__file__).with_name("results.yaml"), DataError)


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
            table = readers[line](params, DATA / f"judge_{line}")
            weights = table["model"].map({member.slug: member.state for member in members})
            tables.append(table.assign(weights=weights)[weights.notna()])
    if not tables:
        raise DataError("params.yaml names no models and constructions, so there are no answers")
    return pd.concat(tables, ignore_index=True).reindex(columns=list(COLUMNS))


def results_parquet(results: pd.DataFrame) -> bytes:
    """Return the table as a Parquet file whose schema has a description of every column."""
    schema = pa.schema(
        pa.field(name, _TYPES[column["type"]], metadata={"description": column["about"]})
        for name, column in COLUMNS.items()
    )
    written = BytesIO()
    pyarrow.parquet.write_table(pa.Table.from_pandas(results, schema=schema, preserve_index=False), written)
    return written.getvalue()


def _recognition(params: Params, judged: Path) -> pd.DataFrame:
    """Return what the probe of each layer says about each sentence."""
    tables = []
    for name, sources in params.recognition.constructions.items():
        for source in sources:
            items = read_made_table(judged / name / source / "items.parquet")
            middle = items.groupby("model")["layer"].transform("nunique") // 2
            decides, clusters = items["layer"] == middle, cluster_texts(items)
            tables.append(items.assign(construction=name, source=source, decides=decides, clusters=clusters))
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


def _scenarios(params: Params, judged: Path) -> pd.DataFrame:
    """Return the decisions between two words at a mask."""
    names = params.scenarios.constructions
    decisions = pd.concat([read_made_table(judged / n / "accuracy.parquet").assign(construction=n) for n in names])
    keys, texts = ["construction", "item", "scenario", "draw"], read_scenarios(params)
    tests = texts.loc[texts["right"] != "", [*keys, "right", "wrong"]]
    joined = decisions.merge(tests, on=keys, how="left", validate="many_to_one")
    return joined.assign(
        line="scenarios",
        source="own",
        item=item_of_text(joined),
        variant=joined["scenario"],
        asked=joined["calibration"],
        scheme="",
        decides=joined["base"].astype(bool) & (joined["calibration"] == UNCALIBRATED),
        correct=joined["accuracy"],
        chosen=_chosen(joined["accuracy"], joined["right"], joined["wrong"]),
        gold=joined["right"],
        clusters=cluster_texts(joined),
    )


def _pairs(params: Params, judged: Path) -> pd.DataFrame:
    """Return the decisions on minimal pairs, the project's own and those of others, by every score."""
    folders = {"": judged} if params.pairs.constructions else {}
    folders |= {name: judged / "benchmarks" / name for name in params.pairs.benchmarks}
    tables = []
    for benchmark, folder in folders.items():
        scores, items = (read_made_table(folder / f"{name}.parquet") for name in ("scores", "items"))
        keys = ["model", "id", "scheme", "score"]
        deciding = pd.MultiIndex.from_frame(scores[keys]).isin(pd.MultiIndex.from_frame(items[keys]))
        if benchmark:
            scores = scores.assign(construction=benchmark, words="own", variant="", balanced=True)
        right, wrong = (pd.Series(side, index=scores.index) for side in ("good", "bad"))
        table = scores.assign(
            line="benchmarks" if benchmark else "pairs",
            source=scores["words"],
            item=scores["id"],
            asked=scores["score"],
            decides=deciding & scores["balanced"].astype(bool),
            correct=scores["accuracy"],
            chosen=_chosen(scores["accuracy"], right, wrong),
            gold=right,
            clusters=cluster_texts(scores),
        )
        tables.append(table.reindex(columns=list(COLUMNS)))
    return pd.concat(tables, ignore_index=True)


def _prompts(params: Params, judged: Path) -> pd.DataFrame:
    """Return the answers to questions, in words, by likelihood or by a rule."""
    items, scores = (read_made_table(judged / f"{name}.parquet") for name in ("items", "scores"))
    keys = ["model", "id", "score"]
    golds = items[["model", "id", "gold"]].drop_duplicates()
    scores = scores.merge(golds, on=["model", "id"], validate="many_to_one")
    is_right = scores["answer"] == scores["gold"]
    best = scores[~is_right].groupby(keys)["value"].max()
    margins = (scores[is_right].set_index(keys)["value"] - best).rename("margin").reset_index()
    items = items.merge(margins.rename(columns={"score": "asked"}), on=["model", "id", "asked"], how="left")
    is_scored = items["model"].isin(set(scores["model"]))
    deciding = np.where(is_scored, params.prompts.judge.score, np.where(items["asked"] == REPLY, REPLY, RULE))
    names = zip(items["id"], items["item"], strict=True)
    return items.assign(
        line="prompts",
        source=items["set"],
        variant=["none" if id_ == item else id_.removeprefix(f"{item}/") for id_, item in names],
        scheme="",
        decides=(items["asked"] == deciding) & items["drawn"].astype(bool),
        correct=items["credit"].where(items["outcome"] != "failed"),
        chosen=items["answer"],
        clusters=cluster_texts(items),
    )


def _chosen(correct: "pd.Series[Any]", right: "pd.Series[Any]", wrong: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return the right answer where the decision is right, the wrong one where it is wrong, and nothing for a tie."""
    return right.where(correct == 1, wrong.where(correct == 0, ""))
