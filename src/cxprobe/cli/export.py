"""The commands that give data, tasks and results to other tools: ``cxprobe export hf``, ``lm-eval``, ``inspect`` ..."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cxprobe.errors import DataError

if TYPE_CHECKING:
    from cxprobe.exports.harness import HarnessTask
    from cxprobe.run.params import Params

Folder = Annotated[Path, typer.Argument(help="The folder that is written; it must not exist, or be empty.")]


def hf(folder: Folder) -> None:
    """Write the project's own data as a data set of the Hugging Face hub: Parquet files, data card, Croissant.

    It needs the packages of the extra "exports". Sentences that were mined and items of other people stay out.
    """
    from cxprobe.exports.croissant import CROISSANT, croissant_text
    from cxprobe.exports.hub import BLIND_RATES, CARD, card_text, parquet_files
    from cxprobe.exports.project import read_blind_rates, read_configurations, read_made, read_people
    from cxprobe.exports.writing import require_new_folder, write_files
    from cxprobe.run.params import load_params

    require_new_folder(folder)
    params = load_params()
    found, made, blind = read_configurations(params), read_made(params), read_blind_rates(params)
    files = parquet_files(found.configurations)
    card = card_text(found.configurations, made, blind, read_people(params), found.left_out)
    texts = {
        CARD: card,
        CROISSANT: croissant_text(found.configurations, files, made),
        BLIND_RATES: blind.to_csv(index=False, lineterminator="\n"),
    }
    write_files(files | {name: text.encode() for name, text in texts.items()}, folder)
    for one in found.configurations:
        print(f"{one.name}: {', '.join(f'{len(table):,} {split}' for split, table in one.splits.items())}")
    _print_left_out(found.left_out)
    name = found.configurations[0].name
    print(f'{folder}/{CARD} is the data card; datasets.load_dataset("{folder}", "{name}") loads it')


def croissant(
    file: Annotated[Path, typer.Argument(help="The JSON-LD file; it belongs beside the files of `cxprobe export hf`.")],
) -> None:
    """Write Croissant metadata of the project's own data alone; `cxprobe export hf` writes them with the data."""
    from cxprobe.exports.croissant import croissant_text
    from cxprobe.exports.hub import parquet_files
    from cxprobe.exports.project import read_configurations, read_made
    from cxprobe.exports.writing import write_files
    from cxprobe.run.params import load_params

    params = load_params()
    found = read_configurations(params)
    files = parquet_files(found.configurations)
    write_files({file.name: croissant_text(found.configurations, files, read_made(params)).encode()}, file.parent)
    _print_left_out(found.left_out)
    print(f"{file} describes {len(files)} Parquet files beside it")


def lm_eval(folder: Folder) -> None:
    """Write tasks for lm-evaluation-harness: minimal pairs, inference and reasoning by likelihood.

    The harness's acc is the accuracy by the score `sum` of this project, for causal models.
    """
    from cxprobe.exports.harness import groups_of, harness_files
    from cxprobe.exports.writing import require_new_folder, write_files
    from cxprobe.run.params import load_params

    require_new_folder(folder)
    tasks = _harness_tasks(load_params())
    write_files(harness_files(tasks), folder)
    print(
        f"{len(tasks)} tasks, {sum(len(task.items) for task in tasks):,} items; groups: {', '.join(groups_of(tasks))}"
    )
    print(f"lm_eval --model hf --model_args pretrained=MODEL --tasks cxprobe --include_path {folder}")


def inspect(folder: Folder) -> None:
    """Write tasks for inspect_ai: inference and reasoning, asked in words."""
    from cxprobe.exports.inspection import inspect_files
    from cxprobe.exports.project import others_items, read_prompts, why_not
    from cxprobe.exports.writing import require_new_folder, write_files
    from cxprobe.run.params import load_params

    require_new_folder(folder)
    params = load_params()
    if why := why_not(params, "build_prompts"):
        raise DataError(f"there are no questions to export: {why}")
    questions = read_prompts(params, "questions")
    write_files(inspect_files(questions), folder)
    _print_left_out(others_items(params))
    print(f"{len(questions):,} questions")
    print(f"cd {folder} && inspect eval task.py --model PROVIDER/MODEL      # or task.py@nli, task.py@reasoning")


def results(
    file: Annotated[Path, typer.Argument(help="The .parquet file; one that is there is replaced.")],
) -> None:
    """Write every answer of every model of the grid to every item as one tidy table."""
    from cxprobe.exports.results import COLUMNS, read_results, results_parquet
    from cxprobe.exports.writing import write_files
    from cxprobe.run.params import load_params

    if file.suffix != ".parquet":
        raise DataError(f"{file}: the results are written as Parquet; give a name that ends in .parquet")
    table = read_results(load_params())
    write_files({file.name: results_parquet(table)}, file.parent)
    print(f"{file}: {len(table):,} answers of {table['model'].nunique()} models")
    for name, (_, description) in COLUMNS.items():
        print(f"  {name}: {description}")


def _harness_tasks(params: "Params") -> "list[HarnessTask]":
    """Return the tasks of all that has been made, and say what has not."""
    import pandas as pd

    from cxprobe.exports.harness import choice_tasks, pair_tasks
    from cxprobe.exports.project import others_items, read_pairs, read_prompts, why_not

    tasks, lacking = [], []
    if why := why_not(params, "build_pairs"):
        lacking.append(f"pairs: {why}.")
    else:
        tasks += pair_tasks(pd.concat(read_pairs(params).values(), ignore_index=True))
    if why := why_not(params, "build_prompts"):
        lacking.append(f"nli, reasoning: {why}.")
    else:
        tasks += choice_tasks(read_prompts(params, "choices"), read_prompts(params, "answers"))
        lacking += others_items(params)
    if not tasks:
        raise DataError(f"there is nothing to export; run `dvc repro` in the project's folder ({' '.join(lacking)})")
    _print_left_out(lacking)
    return tasks


def _print_left_out(sentences: "Sequence[str]") -> None:
    for sentence in sentences:
        print(f"left out: {sentence}")
