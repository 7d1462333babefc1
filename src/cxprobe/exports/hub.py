"""The data set in the form of the Hugging Face hub: Parquet files with the features of `datasets`, and a data card."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from io import BytesIO
from typing import Any

import pandas as pd
from ruamel.yaml import YAML

from cxprobe.errors import DataError
from cxprobe.exports.configurations import Column, Configuration, sizes
from cxprobe.exports.project import Made, People

LICENCE = "mit"
CARD = "README.md"
BLIND_RATES = "blind_models.csv"
_LICENCE_TEXT = (
    "## Licence\n\nMIT, as the project. The grammars of the source *generated* follow Weissweiler et al. (2022); the "
    "design of the pairs follows Oba & Sugawara (2026), that of inference and reasoning Scivetti et al. (2025). None "
    "of their items is here."
)
_BLIND_TEXT = (
    "A blind model cannot know the construction: it reads the spelling, or half of the item, or follows a rule. What "
    "it gets is what the data give away. The table has the best blind model of each part; `blind_models.csv` has all. "
    "Intervals are at 95 %, clustered by what items share; the best of several is a little too high. Chance is 1/2 "
    "for pairs, sentences and scenarios and 1/3 for nli; always C gets 1/2 of reasoning. Pairs in a cell where "
    "one answer is always right are not counted: there a preference for a word is enough."
)
_TITLE = "cxprobe: constructions as probes of language models"
# The least number of rows -> what the hub calls the size.
_SIZES = ((10_000_000, "n>10M"), (1_000_000, "1M<n<10M"), (100_000, "100K<n<1M"), (10_000, "10K<n<100K"))
_SMALL = ((1_000, "1K<n<10K"), (0, "n<1K"))
_KINDS = {"text": "text", "texts": "list of texts", "integer": "integer", "truth": "bool", "label": "label"}


def require_package(name: str) -> None:
    """Refuse an export whose package is not installed.

    Raises:
        DataError: It is not.
    """
    if find_spec(name) is None:
        raise DataError(f"{name} is not installed, which this export needs; pip install 'cxprobe[exports]'")


def parquet_name(configuration: Configuration, split: str) -> str:
    """Return the path of a split's file inside the data set's folder."""
    return f"{configuration.name}/{split}.parquet"


def parquet_files(configurations: Sequence[Configuration]) -> dict[str, bytes]:
    """Return the Parquet files of all configurations, with their features: path inside the folder -> content.

    The same tables give the same bytes.

    Raises:
        DataError: The package datasets is not installed.
    """
    require_package("datasets")
    from pyarrow.parquet import write_table

    files = {}
    for configuration in configurations:
        for split, table in configuration.splits.items():
            written = BytesIO()
            write_table(_arrow(configuration.columns, table), written)
            files[parquet_name(configuration, split)] = written.getvalue()
    return files


def card_text(
    configurations: Sequence[Configuration], made: Made, blind: pd.DataFrame, people: People, left_out: Sequence[str]
) -> str:
    """Return the data card: README.md with a YAML header.

    Args:
        configurations: What is in the data set, at least one.
        made: How it was made.
        blind: What `cxprobe.exports.project.read_blind_rates` returns.
        people: What people have said about the items.
        left_out: What the project has and the data set does not, a sentence each.
    """
    parts = [
        f"# {_TITLE}",
        "Texts that ask whether a language model knows constructions: pairings of form and meaning. Each configuration "
        "is one way of asking. Everything is written in English, and made by the templates, grammars and sentences of "
        "the project cxprobe.",
        f'    import datasets\n    datasets.load_dataset("path/to/this/folder", "{configurations[0].name}")',
        *(_configuration_text(configuration) for configuration in configurations),
        _blind_text(blind, configurations),
        _made_text(made),
        _limits_text(people, left_out),
        _LICENCE_TEXT,
    ]
    return "\n\n".join([_header(configurations), *parts]) + "\n"


def _arrow(columns: Sequence[Column], table: pd.DataFrame) -> Any:
    """Return a table as Arrow's, whose schema says what the features of `datasets` are."""
    from datasets import Dataset

    features = _features(columns)
    cells = {column.name: _cells(column, table[column.name]) for column in columns}
    return Dataset.from_dict(cells, features=features).data.table.cast(features.arrow_schema)


def _features(columns: Sequence[Column]) -> Any:
    """Return columns as features of `datasets`, which stand in the metadata of a Parquet file."""
    from datasets import ClassLabel, Features, List, Value

    kinds = {
        "text": Value("string"),
        "texts": List(Value("string")),
        "integer": Value("int32"),
        "truth": Value("bool"),
    }
    return Features(
        {column.name: kinds.get(column.kind) or ClassLabel(names=list(column.labels)) for column in columns}
    )


def _cells(column: Column, cells: "pd.Series[Any]") -> list[Any]:
    """Return the cells of a column as `datasets` takes them: labels as texts, what does not apply as None."""
    match column.kind:
        case "integer":
            return [None if pd.isna(cell) else int(cell) for cell in cells]
        case "truth":
            return [bool(cell) for cell in cells]
        case "texts":
            return [list(cell) for cell in cells]
    return [str(cell) for cell in cells]


def _header(configurations: Sequence[Configuration]) -> str:
    """Return the card's YAML header, as the hub reads it."""
    rows = sum(map(len, configurations))
    content = {
        "pretty_name": _TITLE,
        "language": ["en"],
        "license": LICENCE,
        "size_categories": [next(name for least, name in (*_SIZES, *_SMALL) if rows >= least)],
        "task_categories": list(dict.fromkeys(task for one in configurations for task in one.tasks)),
        "tags": ["linguistics", "construction-grammar", "probing", "minimal-pairs"],
        "configs": [
            {
                "config_name": one.name,
                "data_files": [{"split": split, "path": parquet_name(one, split)} for split in one.splits],
            }
            for one in configurations
        ],
    }
    return f"---\n{_yaml(content)}---"


def _configuration_text(configuration: Configuration) -> str:
    columns = [
        (f"`{column.name}`", _KINDS[column.kind], column.description + _labels_text(column))
        for column in configuration.columns
    ]
    return "\n\n".join(
        [
            f"## Configuration `{configuration.name}`",
            configuration.description,
            _markdown(("column", "kind", "what it holds"), columns),
            _markdown(("construction", *configuration.splits), sizes(configuration).itertuples(index=False, name=None)),
        ]
    )


def _labels_text(column: Column) -> str:
    if column.kind != "label":
        return ""
    return " (" + ", ".join(f"{number} {name}" for number, name in enumerate(column.labels)) + ")"


def _blind_text(blind: pd.DataFrame, configurations: Sequence[Configuration]) -> str:
    """Return the section about blind models: the best of them for each part of the data."""
    names = [one.name for one in configurations]
    own = blind[blind["configuration"].isin(names)]
    lacking = [name for name in names if name not in set(own["configuration"])]
    text = [
        "## What blind models get",
        _BLIND_TEXT,
    ]
    if len(own):
        keys = ["configuration", "construction", "part"]
        best = own.loc[own.groupby(keys, sort=False)["accuracy"].idxmax()]
        asked = own.groupby(keys, sort=False)["model"].nunique()
        rows = [
            (
                *(f"{row['configuration']}", row["construction"], row["part"], row["model"]),
                f"{row['accuracy']:.1%} [{row['low']:.1%}, {row['high']:.1%}]",
                row["n"],
                asked[row["configuration"], row["construction"], row["part"]],
            )
            for row in best.to_dict("records")
        ]
        text.append(
            _markdown(
                ("configuration", "construction", "part", "best blind model", "accuracy", "n", "models tried"), rows
            )
        )
    if lacking:
        text.append(f"No blind model has been judged on: {', '.join(lacking)}.")
    return "\n\n".join(text)


def _made_text(made: Made) -> str:
    changed = "; tracked files differed from that commit" if made.changed else ""
    settings = "\n".join(f"    {line}" for line in _yaml(dict(made.settings)).splitlines())
    return (
        f"## How it was made\n\nBy cxprobe {made.version}, commit {made.commit}{changed}, with the seed {made.seed} "
        f"and these settings:\n\n{settings}"
    )


def _limits_text(people: People, left_out: Sequence[str]) -> str:
    judged = (
        f"People have judged {people.items:,} items ({people.ratings:,} ratings by {people.raters:,} raters, counted "
        "anew for each construction)."
        if people.ratings
        else "No person has judged the items yet: what is called right is what the project calls right."
    )
    limits = [
        judged,
        "Sentences, premises and frames were written by language models, and checked by language models and programs.",
        "The texts come from templates and grammars: many share words and shape, so use the clusters for intervals.",
        "It is a test set. Training on it, or on the project's files, makes its numbers meaningless.",
        *left_out,
    ]
    return "## Limits\n\n" + "\n".join(f"- {line}" for line in limits)


def _markdown(header: Sequence[str], rows: Any) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def _yaml(content: Mapping[str, Any]) -> str:
    written = BytesIO()
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    yaml.width = 120
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    yaml.dump(dict(content), written)
    return written.getvalue().decode()
