"""Exports: the project's data and results in the forms that other tools read.

The data set has only the data of this project, without mined sentences and items that were read from other people's
files. The functions return files, which ``cxprobe export`` writes.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd
from huggingface_hub import DatasetCardData
from jinja2 import StrictUndefined, Template

from cxprobe.errors import DataError
from cxprobe.files.schema import read_yaml, suggest
from cxprobe.files.tables import read_made_table
from cxprobe.files.writing import DATA
from cxprobe.project.params import Params
from cxprobe.results.params import task_members
from cxprobe.results.schema import RESPONSES, cluster_lists, evaluated
from cxprobe.results.task import ExportedItems
from cxprobe.run.record import begin
from cxprobe.seeding import generator_for
from cxprobe.stats import CLUSTER
from cxprobe.tasks.registry import TASKS

_SIZES = {0: "n<1K", 1_000: "1K<n<10K", 10_000: "10K<n<100K", 100_000: "100K<n<1M", 1_000_000: "1M<n<10M"}
_RELATIONS_OF = {"entailment": "true", "neutral": "true or false", "contradiction": "false"}
_DIVIDES = ("condition", "variant", "scenario", "test", "answerable", "template", "source", "frame", "premise_id")
RESPONSE_COLUMNS = {
    **RESPONSES,
    "weights": "trained; random, of a random-weights control; none, of a baseline",
    "clusters": "what the item shares with others, for intervals: name=value",
}
"""Column of the table of all responses -> what it holds; the facets of the tasks follow."""


Exported = tuple[dict[str, bytes], list[str]]
"""Path below the folder ("" for the file itself) -> content; and what to tell the user, a sentence each."""


def export_hub(params: Params) -> Exported:
    """Return a data set of the Hugging Face hub: Parquet files with features, and a data card.

    Raises:
        DataError: A file of what has been made is missing.
        ImportError: datasets is not installed.
    """
    exported, left_out = _made_items(params)
    configurations: dict[str, dict[str, Any]] = {}
    files: dict[str, bytes] = {}
    for task, made in exported.items():
        for name, table in made.tables.items():
            about = read_yaml(TASKS[task].params.experiments_file.with_name("dataset.yaml"), DataError)[name]
            if table.empty:
                continue
            names = {
                column: labels or table[column].astype(str).unique().tolist()
                for column, labels in about["labels"].items()
            }
            if "split" in table:  # the other columns of its sentences are features, of which constructions differ
                parts = dict(list(table.groupby("split")))
                splits = {str(name): parts[name].drop(columns="split") for name in ("train", "test") if name in parts}
            else:
                splits = {"test": table[[*about["columns"]]]}
            sizes = {
                name: [int((rows["construction"] == name).sum()) for rows in splits.values()]
                for name in names["construction"]
            }
            configurations[name] = about | {"labels": names, "splits": [*splits], "sizes": sizes}
            files |= {f"{name}/{split}.parquet": _parquet(rows, names) for split, rows in splits.items()}
    if configurations:
        files["README.md"] = _card(params, configurations, left_out).encode()
    rows = [f"{name}: {sum(map(sum, about['sizes'].values())):,} rows" for name, about in configurations.items()]
    return files, [*rows, "README.md is the data card", *(f"left out: {sentence}" for sentence in left_out)]


def _parquet(table: pd.DataFrame, names: Mapping[str, Sequence[str]]) -> bytes:
    """Return a table as a Parquet file with features; ``names`` has the names of the labels in a column."""
    from datasets import ClassLabel, Dataset, Features
    from pyarrow.parquet import write_table

    # Numbers are of words, null where a construction does not measure them.
    numbers = table.select_dtypes("number")
    texts: pd.DataFrame = table.select_dtypes("str")
    cells = table.assign(**numbers.astype("Int32"), **texts.astype(object))
    features = Dataset.from_pandas(cells, preserve_index=False).features
    features |= {column: ClassLabel(names=list(labels)) for column, labels in names.items()}
    cells = cells.astype(object).where(cells.notna(), None)
    made = Dataset.from_dict(cells.to_dict("list"), features=Features(features))
    written = BytesIO()
    # The schema says what the features are. Dataset.to_parquet would show a progress bar.
    write_table(made.data.table.cast(made.features.arrow_schema), written)
    return written.getvalue()


def _card(params: Params, configurations: Mapping[str, Mapping[str, Any]], left_out: Sequence[str]) -> str:
    """Return the data card: README.md with a YAML header."""
    rows = sum(sum(map(sum, about["sizes"].values())) for about in configurations.values())
    configs = []
    for name, about in configurations.items():
        files = [{"split": split, "path": f"{name}/{split}.parquet"} for split in about["splits"]]
        configs.append({"config_name": name, "data_files": files})
    header = DatasetCardData(
        pretty_name="cxprobe: constructions as probes of language models",
        language=["en"],
        license="mit",
        size_categories=[[name for least, name in _SIZES.items() if rows >= least][-1]],
        task_categories=list(dict.fromkeys(task for about in configurations.values() for task in about["tasks"])),
        tags=["linguistics", "construction-grammar", "probing", "minimal-pairs"],
        configs=configs,
    )
    settings = {task: params.params_of(task).of_task.make.model_dump(mode="json") for task in TASKS}
    context = begin()
    text = Template(Path(__file__).with_name("hub_card.md").read_text("utf-8"), undefined=StrictUndefined).render(
        configurations=configurations,
        version=version("cxprobe"),
        commit=context.commit,
        changed=context.dirty,
        seed=params.seed,
        settings="".join(f"{task}.make: {json.dumps(make)}\n" for task, make in settings.items()),
        left_out=left_out,
    )
    return f"---\n{header.to_yaml()}\n---\n\n{text}\n"


def export_responses(params: Params) -> Exported:
    """Return every response of every model to every item as a CSV: `RESPONSE_COLUMNS`, and the facets of the tasks.

    Raises:
        DataError: A file is missing, or no task has responses.
    """
    tables = []
    for name in TASKS:
        of_task = params.params_of(name)
        members = task_members(of_task)
        if not members or of_task.nothing_to_do:
            continue
        table = read_made_table(evaluated(name) / "responses.parquet")
        states = {member.slug: member.state for member in members}
        facets = table.loc[:, [not str(column).startswith(CLUSTER) for column in table]]
        clusters = ["; ".join(names) for names in cluster_lists(table)]
        named = facets.assign(weights=table["model"].map(states), clusters=clusters)
        tables.append(named[named["weights"].notna()])
    if not tables:
        raise DataError("params.yaml names no models and constructions, so there are no answers")
    joined = pd.concat(tables, ignore_index=True)
    divides = [str(name) for name in joined if name not in RESPONSE_COLUMNS]
    content = joined[[*RESPONSE_COLUMNS, *divides]].to_csv(index=False, lineterminator="\n")
    columns = RESPONSE_COLUMNS | {", ".join(divides): "what divides the responses of some tasks; empty for others"}
    said = f"{len(joined):,} responses of {joined['model'].nunique()} models; the columns:"
    return {"": content.encode()}, [said, *(f"  {name}: {about}" for name, about in columns.items())]


def export_items(params: Params, name: str, n: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return items of a task for people to answer, and their key.

    Args:
        params: The project's parameters.
        name: The task.
        n: How many items are drawn, by the seed of the project.

    Returns:
        The sheet: id (a number, which tells nothing), text, option_1, option_2 ... in an order that is drawn, and
        chosen, empty, for the number of an option. The key: id, gold (the number of the right option), chance, item
        (its id in the project), construction, and what the task divides it by, such as the condition.

    Raises:
        DataError: The task is unknown, has nothing that people can answer, or fewer items.
    """
    if name not in TASKS:
        raise DataError(f"--task {name}: is no task{suggest(name, TASKS)}")
    made, absent = _made_items(params, [name])
    if name not in made:
        raise DataError(f"--task {absent[0]}")
    rows = [
        (cells, text, options, right)
        for table in made[name].tables.values()
        for cells in table.to_dict("records")
        for text, options, right in _asked(cells)
    ]
    if not 0 < n <= len(rows):
        raise DataError(f"--n {n}: {name} has {len(rows)} items that people can answer; give 1 to as many")
    generator = generator_for(params.seed, "items for people", name)
    sheet, key = [], []
    for number, row in enumerate(generator.permutation(len(rows))[:n], start=1):
        cells, text, options, right = rows[row]
        order = [options[place] for place in generator.permutation(len(options))]
        columns = {f"option_{place}": option for place, option in enumerate(order, start=1)}
        sheet.append({"id": str(number), "text": text, **columns, "chosen": ""})
        gold = {"gold": str(order.index(right) + 1), "chance": 1 / len(options), "item": cells["id"]}
        known = {name: cells[name] for name in ("construction", *_DIVIDES) if name in cells}
        key.append({"id": str(number), **gold, **known})
    one_line = pd.DataFrame(sheet).fillna("").replace(r"[\0\s]+", " ", regex=True)
    return one_line.replace(r"^(?=[=+@-])", "'", regex=True), pd.DataFrame(key).fillna("")


def _asked(cells: Mapping[Any, Any]) -> Iterator[tuple[str, list[str], str]]:
    """Yield the text, the options and the right one of an item of a data set; nothing where none is right."""
    match cells:
        case {"good": good, "bad": bad, "context": context}:
            yield "", [context + good, context + bad], context + good
        case {"question": question, "options": options, "label": label, "text": text}:
            yield f"{text} {question}", [*options], options["ABC".index(label)]
        case {"premise": premise, "hypothesis": hypothesis, "label": label}:
            said = f"If this is true: {premise} - then this is: {hypothesis}"
            yield said, [*_RELATIONS_OF.values()], _RELATIONS_OF[label]
        case {"candidates": candidates, "right": right, "text": text} if right:
            yield text, [*candidates], right
        case {"label": label, "text": text, "construction": construction}:
            called = {"positive": f"has {construction}", "negative": "does not"}
            yield text, [*called.values()], called[label]


def _made_items(params: Params, names: Iterable[str] = tuple(TASKS)) -> tuple[dict[str, ExportedItems], list[str]]:
    """Return task -> its items, where they are made; and what is left out, a sentence each."""
    items, left_out = dict[str, ExportedItems](), list[str]()
    for name in names:
        made = DATA / f"make_{name}"
        if not params.params_of(name).of_task.constructions:
            left_out.append(f"{name}: {name}.constructions of params.yaml names none.")
        elif not made.is_dir():
            left_out.append(f"{name}: {made} is missing, since `dvc repro make_{name}` has not run.")
        else:
            items[name] = TASKS[name].export(params)
            left_out += items[name].left_out
    return items, left_out


EXPORTS: Mapping[str, Callable[[Params], Exported]] = {"hf": export_hub, "csv": export_responses}
"""Format -> what makes it."""
