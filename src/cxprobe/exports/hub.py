"""The project's own data as a data set of the Hugging Face hub: Parquet files with features, and a data card.

What the configurations hold is said once, in hub.yaml; hub_card.md is the card's template.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd
from huggingface_hub import DatasetCardData
from jinja2 import StrictUndefined, Template

from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER
from cxprobe.errors import DataError
from cxprobe.exports.project import (
    cluster_texts,
    others_items,
    read_pairs,
    read_prompts,
    read_scenarios,
    read_sentences,
    why_not,
)
from cxprobe.exports.results import read_results
from cxprobe.files.schema import read_yaml
from cxprobe.files.writing import DATA
from cxprobe.people.ratings import RATINGS_FILE, read_ratings
from cxprobe.prompts.items import RELATIONS
from cxprobe.prompts.wording import load_reasoning_prompts
from cxprobe.run.params import LINES, Params
from cxprobe.run.provenance import begin
from cxprobe.scenarios.rules import load_scenarios
from cxprobe.stats import CLUSTER, rate_by

_HERE = Path(__file__).parent
_SIZES = {0: "n<1K", 1_000: "1K<n<10K", 10_000: "10K<n<100K", 100_000: "100K<n<1M", 1_000_000: "1M<n<10M"}


@dataclass(frozen=True)
class Configuration:
    """One part of the data set, which is loaded by its name.

    Attributes:
        description: What a row is and what is right.
        tasks: What the hub calls such tasks.
        columns: The columns that are described -> what they hold.
        names: A column of labels -> the names of 0, 1, 2 ...
        splits: Split -> its rows; labels are texts.
    """

    description: str
    tasks: Sequence[str]
    columns: Mapping[str, str]
    names: Mapping[str, Sequence[str]]
    splits: Mapping[str, pd.DataFrame]

    @property
    def sizes(self) -> dict[str, list[int]]:
        """The rows of each construction in each split."""
        counts = [table["construction"].value_counts() for table in self.splits.values()]
        return {name: [int(own.get(name, 0)) for own in counts] for name in self.names["construction"]}


def read_configurations(params: Params) -> tuple[dict[str, Configuration], list[str]]:
    """Return the project's own data as far as they have been made, by name, and what is left out, a sentence each.

    Raises:
        DataError: Nothing has been made yet, a file of what has been made is missing, or datasets is not installed.
    """
    if find_spec("datasets") is None:
        raise DataError("datasets is not installed, which this export needs; pip install 'cxprobe[exports]'")
    tables: dict[str, pd.DataFrame] = {}
    left_out = []
    readers = {"pairs": _pairs, "prompts": _prompts, "recognition": _sentences, "scenarios": _scenarios}
    for line, read in readers.items():
        if why := why_not(params, line):
            left_out.append(f"{line}: {why}.")
        else:
            tables |= {name: table for name, table in read(params).items() if len(table)}
    if not tables:
        raise DataError(f"there is nothing to export; run `dvc repro` in the project's folder ({' '.join(left_out)})")
    if any("mined" in sources for sources in params.recognition.constructions.values()):
        left_out.append("Mined sentences are quotations of other people's texts and are not in the data set.")
    described = read_yaml(_HERE / "hub.yaml", DataError)
    configurations = {}
    for name, table in tables.items():
        about = described[name]
        names = {
            column: labels or list(dict.fromkeys(table[column].astype(str)))
            for column, labels in about["labels"].items()
        }
        splits = {"test": table}
        if "split" in table:
            splits = {split: table[table["split"] == split].drop(columns="split") for split in ("train", "test")}
        splits = {split: own.reset_index(drop=True) for split, own in splits.items() if len(own)}
        configurations[name] = Configuration(about["description"], about["tasks"], about["columns"], names, splits)
    return configurations, [*left_out, *others_items(params)]


def parquet_files(configurations: Mapping[str, Configuration]) -> dict[str, bytes]:
    """Return the Parquet files, with the features of `datasets`: path inside the folder -> content."""
    from datasets import ClassLabel, Dataset, Features, List, Value
    from pyarrow.parquet import write_table

    def feature(column: "pd.Series[Any]") -> Any:
        if isinstance(column.iloc[0], list):
            return List(Value("string"))
        if pd.api.types.is_bool_dtype(column):
            return Value("bool")
        return Value("int32" if pd.api.types.is_numeric_dtype(column) else "string")

    files = {}
    for name, configuration in configurations.items():
        for split, table in configuration.splits.items():
            labels = {column: ClassLabel(names=list(names)) for column, names in configuration.names.items()}
            features = Features({str(column): labels.get(str(column)) or feature(table[column]) for column in table})
            numbers = table.select_dtypes("float")  # of words, null where a construction does not measure them
            cells = table.assign(**numbers.astype("Int32")).astype(object)
            columns = cells.where(cells.notna(), None).to_dict("list")
            written = BytesIO()
            # The schema says what the features are. Dataset.to_parquet would show a progress bar.
            write_table(Dataset.from_dict(columns, features=features).data.table.cast(features.arrow_schema), written)
            files[f"{name}/{split}.parquet"] = written.getvalue()
    return files


def read_blind_rates(params: Params) -> pd.DataFrame:
    """Return what blind models get on the project's own data.

    Returns:
        One row a part and blind model: configuration, construction, part (the words of pairs, the source of sentences,
        the scenario, or the set), model, accuracy, low, high (95 %) and n. Pairs in cells where one answer is always
        right are left out. What has not been judged has no row.
    """
    keys = ["configuration", "construction", "part", "model"]
    judged = [line for line in LINES if (DATA / f"judge_{line}").is_dir() and not why_not(params, line)]
    rates = [pd.DataFrame(columns=[*keys, "accuracy", "low", "high", "n"])]
    for line in judged:
        answers = read_results(params, [line])
        own = answers[(answers["weights"] == "none") & answers["decides"] & (answers["line"] == line)]
        own = own[(own["source"] != "mined") & own["correct"].notna()]
        if own.empty:
            continue
        kind = own["source"].map(lambda name: "reasoning" if name == "reasoning" else "nli")
        names: dict[str, Any] = {
            "recognition": "sentences",
            "scenarios": "scenarios",
            "pairs": "pairs",
            "prompts": kind,
        }
        part = own["variant"] if line == "scenarios" else own["source"]
        own = own.assign(configuration=names[line], part=part, accuracy=own["correct"].astype(float))
        for _, group in own.groupby(["configuration", "construction"], sort=False):
            named = [dict(text.split("=", 1) for text in texts) for texts in group["clusters"]]
            clusters = pd.DataFrame(named, index=group.index).add_prefix(CLUSTER)
            table = group.join(clusters.apply(lambda column, ids=group["item"]: column.fillna(ids)))
            rates.append(rate_by(table.drop(columns="clusters"), "accuracy", keys))
    return pd.concat(rates, ignore_index=True)[rates[0].columns]


def card_text(
    params: Params, configurations: Mapping[str, Configuration], blind: pd.DataFrame, left_out: Sequence[str]
) -> str:
    """Return the data card: README.md with a YAML header.

    Args:
        params: The parameters.
        configurations: What is in the data set, at least one.
        blind: What `read_blind_rates` returns.
        left_out: What the project has and the data set does not, a sentence each.
    """
    rows = sum(len(table) for own in configurations.values() for table in own.splits.values())
    header = DatasetCardData(
        pretty_name="cxprobe: constructions as probes of language models",
        language=["en"],
        license="mit",
        size_categories=[[name for least, name in _SIZES.items() if rows >= least][-1]],
        task_categories=list(dict.fromkeys(task for own in configurations.values() for task in own.tasks)),
        tags=["linguistics", "construction-grammar", "probing", "minimal-pairs"],
        configs=[
            {"config_name": name, "data_files": [{"split": s, "path": f"{name}/{s}.parquet"} for s in own.splits]}
            for name, own in configurations.items()
        ],
    )
    keys = ["configuration", "construction", "part"]
    blind = blind[blind["configuration"].isin(list(configurations))]
    tried = blind.groupby(keys)["model"].transform("nunique")
    best = blind.assign(tried=tried).sort_values("accuracy", ascending=False, kind="stable").drop_duplicates(keys)
    names = dict.fromkeys([*params.pairs.constructions, *params.prompts.constructions])
    ratings = [(name, own) for name in names for own in read_ratings(CONSTRUCTIONS_FOLDER / name / RATINGS_FILE)]
    settings = {line: getattr(params, line).make.model_dump(mode="json") for line in LINES}
    context = begin()
    template = Template((_HERE / "hub_card.md").read_text("utf-8"), undefined=StrictUndefined)
    text = template.render(
        configurations=configurations,
        blind=best.sort_index().to_dict("records"),
        not_judged=[name for name in configurations if name not in set(blind["configuration"])],
        version=version("cxprobe"),
        commit=context.commit,
        changed=context.dirty,
        seed=params.seed,
        settings="".join(f"{line}.make: {json.dumps(own)}\n" for line, own in settings.items()),
        items=len({(name, own.kind, own.item) for name, own in ratings}),
        ratings=len(ratings),
        raters=len({(name, own.rater) for name, own in ratings}),
        left_out=left_out,
    )
    return f"---\n{header.to_yaml()}\n---\n\n{text}\n"


def _columns(name: str) -> list[str]:
    return list(read_yaml(_HERE / "hub.yaml", DataError)[name]["columns"])


def _pairs(params: Params) -> dict[str, pd.DataFrame]:
    pairs = read_pairs(params)
    return {"pairs": pairs.assign(clusters=cluster_texts(pairs))[_columns("pairs")].fillna("")}


def _prompts(params: Params) -> dict[str, pd.DataFrame]:
    items = read_prompts(params, "items")
    shared = items[f"{CLUSTER}premise"].astype(str)
    nli = items.assign(premise_id=shared)[items["kind"] == "inference"]
    nli = nli.assign(label=[RELATIONS[int(gold)] for gold in nli["gold"]])
    reasoning = items.assign(frame_id=shared, label=items["gold"])[items["kind"] == "reasoning"]
    neither = load_reasoning_prompts().neither
    options = [[a, b, neither] for a, b in zip(reasoning["a"], reasoning["b"], strict=True)]
    reasoning = reasoning.assign(options=pd.Series(options, reasoning.index, dtype=object))
    return {"nli": nli[_columns("nli")], "reasoning": reasoning[_columns("reasoning")]}


def _sentences(params: Params) -> dict[str, pd.DataFrame]:
    sentences = read_sentences(params)
    if sentences.empty:
        return {}
    kept = sentences.loc[:, [not str(name).startswith(CLUSTER) for name in sentences]]
    return {"sentences": kept.assign(clusters=cluster_texts(sentences))}


def _scenarios(params: Params) -> dict[str, pd.DataFrame]:
    texts = read_scenarios(params)
    scenarios = {name: load_scenarios(name) for name in params.scenarios.constructions}
    rights = []
    for row in texts.to_dict("records"):
        own = scenarios[row["construction"]]
        test = own.tests.get(row["scenario"])
        rights.append("" if test is None else row[("first", "second")[own.candidates.index(test.answer)]])
    candidates = pd.Series(texts[["first", "second"]].to_numpy().tolist(), texts.index, dtype=object)
    ids = ["/".join(map(str, row)) for row in texts[["construction", "item", "scenario", "draw"]].to_numpy().tolist()]
    return {"scenarios": texts.assign(id=ids, candidates=candidates, right=rights)[_columns("scenarios")]}
