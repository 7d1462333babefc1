"""The data of this project as a data set of the Hugging Face hub: Parquet files with features, and a data card.

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
from cxprobe.constructions.names import construction_names
from cxprobe.errors import DataError
from cxprobe.exports.project import why_not
from cxprobe.files.schema import read_yaml
from cxprobe.lines import LINES
from cxprobe.people.ratings import RATINGS_FILE, read_ratings
from cxprobe.project.params import Params
from cxprobe.run.provenance import begin

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
        return {name: [int(count.get(name, 0)) for count in counts] for name in self.names["construction"]}


def read_configurations(params: Params) -> tuple[dict[str, Configuration], list[str]]:
    """Return the data of this project as far as they have been made, by name, and what is left out, a sentence each.

    Raises:
        DataError: Nothing has been made yet, a file of what has been made is missing, or datasets is not installed.
    """
    if find_spec("datasets") is None:
        raise DataError("datasets is not installed, which this export needs; pip install 'cxprobe[exports]'")
    tables: dict[str, pd.DataFrame] = {}
    left_out, others, described = [], [], dict[str, Any]()
    for line_name, line in LINES.items():
        described |= read_yaml(line.folder / "dataset.yaml", DataError) if line.exports_data else {}
        why = why_not(params, line_name)
        if why:
            left_out.append(f"{line_name}: {why}.")
        elif line.exports_data:
            tables |= line.dataset(params)
        others += line.left_out(params)
    configurations = {}
    for name, about in described.items():
        table = tables.get(name, pd.DataFrame())
        if table.empty:
            continue
        names = {
            column: labels or list(dict.fromkeys(table[column].astype(str)))
            for column, labels in about["labels"].items()
        }
        if name == "sentences":  # whose other columns are features, and constructions have different ones
            splits = {split: table[table["split"] == split].drop(columns="split") for split in ("train", "test")}
        else:
            splits = {"test": table[list(about["columns"])]}
        splits = {split: rows.reset_index(drop=True) for split, rows in splits.items() if len(rows)}
        configurations[name] = Configuration(about["description"], about["tasks"], about["columns"], names, splits)
    if not configurations:
        raise DataError(f"there is nothing to export; run `dvc repro` in the project's folder ({' '.join(left_out)})")
    return configurations, [*left_out, *others]


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


def card_text(params: Params, configurations: Mapping[str, Configuration], left_out: Sequence[str]) -> str:
    """Return the data card: README.md with a YAML header.

    Args:
        params: The parameters.
        configurations: What is in the data set, at least one.
        left_out: What the project has and the data set does not, a sentence each.
    """
    rows = sum(len(table) for parts in configurations.values() for table in parts.splits.values())
    header = DatasetCardData(
        pretty_name="cxprobe: constructions as probes of language models",
        language=["en"],
        license="mit",
        size_categories=[[name for least, name in _SIZES.items() if rows >= least][-1]],
        task_categories=list(dict.fromkeys(task for part in configurations.values() for task in part.tasks)),
        tags=["linguistics", "construction-grammar", "probing", "minimal-pairs"],
        configs=[
            {"config_name": name, "data_files": [{"split": s, "path": f"{name}/{s}.parquet"} for s in part.splits]}
            for name, part in configurations.items()
        ],
    )
    names = construction_names(Path())
    ratings = [(name, rating) for name in names for rating in read_ratings(CONSTRUCTIONS_FOLDER / name / RATINGS_FILE)]
    settings = {line: params.params_of(line).of_line.make.model_dump(mode="json") for line in LINES}
    context = begin()
    template = Template((_HERE / "hub_card.md").read_text("utf-8"), undefined=StrictUndefined)
    text = template.render(
        configurations=configurations,
        version=version("cxprobe"),
        commit=context.commit,
        changed=context.dirty,
        seed=params.seed,
        settings="".join(f"{line}.make: {json.dumps(make)}\n" for line, make in settings.items()),
        items=len({(name, rating.kind, rating.item) for name, rating in ratings}),
        ratings=len(ratings),
        raters=len({(name, rating.rater) for name, rating in ratings}),
        left_out=left_out,
    )
    return f"---\n{header.to_yaml()}\n---\n\n{text}\n"
