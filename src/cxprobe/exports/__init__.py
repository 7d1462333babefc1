"""Exports: the project's data, tasks and results in the forms that other tools read.

`read_configurations` gives the data of a finished run as configurations; `parquet_files`, `card_text` and
`croissant_text` make a data set of the Hugging Face hub of them. `pair_tasks`, `choice_tasks` and `harness_files` make
tasks for lm-evaluation-harness, `inspect_files` tasks for inspect_ai. `read_results` and `results_parquet` give every
answer of every model as one table.

What is exported is the project's own: sentences that were mined and items that were read from other people's files stay
out. All functions return tables, texts and bytes; `write_files` alone writes.
"""

from cxprobe.exports.configurations import Column, Configuration
from cxprobe.exports.croissant import CROISSANT, croissant_text
from cxprobe.exports.harness import HarnessTask, choice_tasks, groups_of, harness_files, pair_tasks
from cxprobe.exports.hub import BLIND_RATES, CARD, card_text, parquet_files, parquet_name
from cxprobe.exports.inspection import inspect_files
from cxprobe.exports.project import (
    Found,
    Made,
    People,
    others_items,
    read_blind_rates,
    read_configurations,
    read_made,
    read_pairs,
    read_people,
    read_prompts,
    why_not,
)
from cxprobe.exports.results import COLUMNS, read_results, results_parquet
from cxprobe.exports.writing import require_new_folder, write_files

__all__ = [
    "BLIND_RATES",
    "CARD",
    "COLUMNS",
    "CROISSANT",
    "Column",
    "Configuration",
    "Found",
    "HarnessTask",
    "Made",
    "People",
    "card_text",
    "choice_tasks",
    "croissant_text",
    "groups_of",
    "harness_files",
    "inspect_files",
    "others_items",
    "pair_tasks",
    "parquet_files",
    "parquet_name",
    "read_blind_rates",
    "read_configurations",
    "read_made",
    "read_pairs",
    "read_people",
    "read_prompts",
    "read_results",
    "require_new_folder",
    "results_parquet",
    "why_not",
    "write_files",
]
