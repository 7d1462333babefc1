"""The commands that give data, tasks and results to other tools: ``cxprobe export hf``, ``lm-eval``, ``inspect`` ..."""

from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cxprobe.cli.names import ConstructionName
from cxprobe.errors import DataError

if TYPE_CHECKING:
    from cxprobe.project.params import Params
    from cxprobe.report.line import Line

Folder = Annotated[Path, typer.Argument(help="The folder that is written; it must not exist, or be empty.")]


def hf(folder: Folder) -> None:
    """Write the data of this project as a data set of the Hugging Face hub: Parquet files and a data card.

    It needs the packages of the extra "exports". Sentences that were mined and items of other people stay out.
    """
    from cxprobe.exports.hub import card_text, parquet_files, read_configurations
    from cxprobe.exports.project import check_new_folder, write_files
    from cxprobe.project.params import load_params

    check_new_folder(folder)
    params = load_params()
    configurations, left_out = read_configurations(params)
    files = parquet_files(configurations)
    files["README.md"] = card_text(params, configurations, left_out).encode()
    write_files(files, folder)
    for name, configuration in configurations.items():
        print(f"{name}: {', '.join(f'{len(table):,} {split}' for split, table in configuration.splits.items())}")
    _print_left_out(left_out)
    print(
        f'{folder}/README.md is the data card; datasets.load_dataset("{folder}", "{next(iter(configurations))}") loads'
    )


def lm_eval(folder: Folder) -> None:
    """Write tasks for lm-evaluation-harness: minimal pairs, inference and reasoning by likelihood.

    The harness's acc is the accuracy by the score `sum` of this project, for causal models.
    """
    from cxprobe.exports.harness import HarnessTask, choice_tasks, harness_files, pair_tasks, task_groups
    from cxprobe.exports.project import check_new_folder, write_files
    from cxprobe.project.params import load_params

    check_new_folder(folder)
    params = load_params()
    tasks: list[HarnessTask] = []
    lines, left_out = _made_lines(params)
    for line in lines.values():
        pairs, choices = line.pairs(params), line.choices(params)
        tasks += [] if pairs is None else pair_tasks(pairs)
        tasks += [] if choices is None else choice_tasks(choices.choices, choices.answers)
        left_out += line.left_out(params)
    if not tasks:
        raise DataError(f"there is nothing to export; run `dvc repro` in the project's folder ({' '.join(left_out)})")
    write_files(harness_files(tasks), folder)
    _print_left_out(left_out)
    items = sum(len(task.items) for task in tasks)
    print(f"{len(tasks)} tasks, {items:,} items; groups: {', '.join(task_groups(tasks))}")
    print(f"lm_eval --model hf --model_args pretrained=MODEL --tasks cxprobe --include_path {folder}")


def inspect(folder: Folder) -> None:
    """Write tasks for inspect_ai: inference and reasoning, asked in words."""
    import pandas as pd

    from cxprobe.exports.inspection import inspect_files
    from cxprobe.exports.project import check_new_folder, write_files
    from cxprobe.project.params import load_params

    check_new_folder(folder)
    params = load_params()
    lines, left_out = _made_lines(params)
    tables = []
    for line in lines.values():
        table = line.questions(params)
        if table is not None:
            tables.append(table)
            left_out += line.left_out(params)
    if not tables:
        raise DataError(f"there are no questions to export: {' '.join(left_out)}")
    questions = pd.concat(tables)
    write_files(inspect_files(questions), folder)
    _print_left_out(left_out)
    print(f"{len(questions):,} questions")
    print(f"cd {folder} && inspect eval task.py --model PROVIDER/MODEL      # or task.py@nli, task.py@reasoning")


def results(
    file: Annotated[Path, typer.Argument(help="The .parquet, .csv or .tsv file; one that is there is replaced.")],
) -> None:
    """Write every answer of every model to every item as one tidy table (.parquet, .csv), or rates to send (.tsv).

    Rates to send are those of the report's first page, as docs/reproduced.md asks for them.
    """
    from cxprobe.exports.results import RESULT_COLUMNS, read_results, results_csv, results_parquet, results_to_send
    from cxprobe.files.writing import write_bytes
    from cxprobe.project.params import load_params
    from cxprobe.report.answers import read_made_table

    if file.suffix == ".tsv":
        overview = read_made_table(Path("results/report/tables/overview.csv"))
        write_bytes(results_to_send(overview, version("cxprobe"), date.today().isoformat()), file)
        print(f"{file}: fill in paper, table, theirs, same and who, and leave out what you do not send")
        return
    written = {".parquet": results_parquet, ".csv": results_csv}
    if file.suffix not in written:
        raise DataError(f"{file}: give a name that ends in .parquet or .csv, or in .tsv for the rates alone")
    table = read_results(load_params())
    write_bytes(written[file.suffix](table), file)
    print(f"{file}: {len(table):,} answers of {table['model'].nunique()} models")
    for name, column in RESULT_COLUMNS.items():
        print(f"  {name}: {column['about']}")


def latex(file: Annotated[Path, typer.Argument(help="The .tex file; one that is there is replaced.")]) -> None:
    """Write the rates of the report's first page as LaTeX: a macro for each, with interval and n, and a table."""
    from cxprobe.exports.results import results_latex
    from cxprobe.files.writing import write_bytes
    from cxprobe.report.answers import read_made_table

    write_bytes(results_latex(read_made_table(Path("results/report/tables/overview.csv"))).encode(), file)
    print(f"{file}: \\input it; a macro is \\cx and the names of model, construction and question")


def conllu(
    construction: ConstructionName,
    file: Annotated[Path, typer.Argument(help="The .conllu file; one that is there is replaced.")],
    cxn: Annotated[str, typer.Option(help="What Cxn= calls the construction; by default its name, as LetAlone.")] = "",
    unlabelled: Annotated[
        bool, typer.Option("--unlabelled", help="Write sentences without a label too, as instances.")
    ] = False,
) -> None:
    """Write mined sentences as a treebank in CoNLL-U, with Cxn= and CxnElt= as in UCxn.

    The pipeline mining.parser parses them. A sentence that is labelled negative has no Cxn=. They are quotations of
    other people's texts: check their licences before you give them away.
    """
    from cxprobe.cli.labels import labels_file, mined_file
    from cxprobe.constructions.sentences import LABELS
    from cxprobe.corpora.conllu import conllu_text
    from cxprobe.exports.treebank import camel_case, treebank_of
    from cxprobe.files.writing import write_bytes
    from cxprobe.people.labels import in_force, judgements_on, read_labels
    from cxprobe.project.folder import require_construction
    from cxprobe.project.params import load_params
    from cxprobe.report.answers import read_made_table
    from cxprobe.tagging import load_tagger

    require_construction(construction)
    judged = in_force(read_labels(labels_file(construction)))
    mined = read_made_table(mined_file(construction))
    said = [set(judgements_on(*keys, judged).values()) for keys in zip(mined["id"], mined["tags"], strict=True)]
    without = "positive" if unlabelled else "not labelled"
    labels = ["conflict" if len(known) > 1 else next(iter(known), without) for known in said]
    sentences = mined.assign(label=labels).sort_values(["url", "start"])
    sentences, left_out = sentences[(kept := sentences["label"].isin(LABELS))], sentences[~kept]
    if sentences.empty:
        raise DataError(f"{construction}: no mined sentence has a label; label some, or take all with --unlabelled")
    nlp = load_tagger("mining.parser", load_params().mining.parser, asks_for=("DEP", "LEMMA", "MORPH", "POS"))
    name = cxn or camel_case(construction)
    write_bytes(conllu_text(treebank_of(sentences, nlp, name)).encode(), file)
    _print_left_out([f"{n:,} sentences: {why}" for why, n in left_out["label"].value_counts().items()])
    print(f"{file}: {len(sentences):,} sentences, {(sentences['label'] == 'positive').sum():,} with Cxn={name}")


def _made_lines(params: "Params") -> "tuple[dict[str, Line], list[str]]":
    """Return the lines of work whose data are there, and why the others are left out."""
    from cxprobe.exports.project import why_not
    from cxprobe.lines import LINES

    reasons = {name: why_not(params, name) for name in LINES}
    made = {name: line for name, line in LINES.items() if not reasons[name]}
    return made, [f"{name}: {why}." for name, why in reasons.items() if why]


def _print_left_out(sentences: list[str]) -> None:
    for sentence in sentences:
        print(f"left out: {sentence}")
