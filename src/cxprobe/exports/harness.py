"""Tasks for lm-evaluation-harness: one YAML file and one file of items a task, and groups of tasks.

A task is multiple choice among *whole texts*. The harness puts a model's beginning-of-sequence token before each (or,
if there is none, its end-of-sequence token), whatever its tokenizer does, and compares the sums of their
log-probabilities, which it calls ``acc``. All choices of an item begin with the same context, so the most probable text
is the one whose end is the most probable after the context. That is the decision by the score ``sum`` of this project,
with ``bos: add``, and with ``bos: as_tokenizer`` where the tokenizer puts this token before a text by itself.

The context is not given apart, as it is in most tasks. The harness would then leave out as many tokens of the whole
text as the context has alone. Where a tokenizer ends each text with a token of its own, such as [SEP], the first token
of each answer would be lost. Where a tokenizer puts nothing before a text, the harness would put a token before items
without a context, and none before others.

Two texts with the same sum are a tie: half right here, and the first of them for the harness. So the place of the right
choice follows from the item's id.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from cxprobe.pairs.judge import unbalanced_cells

ALL = "cxprobe"
LOADER = "load_items.py"
_LOADER_TEXT = '''"""Reads the items of a task from the folder of this file, wherever that is."""

import json
from pathlib import Path

import datasets


def load(file, **_):
    """Return the items of one file, as lm-evaluation-harness asks for a data set."""
    lines = (Path(__file__).parent / file).read_text(encoding="utf-8").splitlines()
    return {"test": datasets.Dataset.from_list([json.loads(line) for line in lines])}
'''
README = "README.md"
_README = """# Constructions, for lm-evaluation-harness

    lm_eval --model hf --model_args pretrained=MODEL --tasks cxprobe --include_path THIS_FOLDER

runs all tasks; `--tasks` takes a task or a group. Groups show their tasks and no mean, since chance differs.

| task or group | items | about |
| --- | --- | --- |
{rows}

- Written for version 0.4.13 of the harness. The folder can be moved.
- `acc` is the share of items in which the right text has the greatest sum of log-probabilities: cxprobe's score `sum`.
- Use causal models. Each text stands behind the model's beginning-of-sequence token, or its end-of-sequence token if it
  has no other; to compare with cxprobe, set `bos: add` there if the model's tokenizer puts nothing before a text.
- Choices are whole texts, context included, so `acc_norm` and the like mean nothing and are not given.
- Of two texts with the same sum the harness takes the first; cxprobe calls that half right.
- The harness cuts a text that is too long for the model from the left, and warns; cxprobe refuses it.
- The standard errors of the harness take items as independent. They are not: items share frames, people and wording.
"""
_VERSION = 1.0  # of the tasks; raise it when the same items would be scored in another way
_KINDS = {"inference": "nli", "reasoning": "reasoning"}


@dataclass(frozen=True)
class HarnessTask:
    """One task.

    Attributes:
        name: Its name in the harness.
        construction: The construction that it asks about.
        kind: "pairs", "nli" or "reasoning".
        description: What is asked, and what to know about its accuracy.
        items: One mapping an item: id, item, choices (whole texts), label (which is right), and what it is made of.
    """

    name: str
    construction: str
    kind: str
    description: str
    items: Sequence[Mapping[str, Any]]


def pair_tasks(pairs: pd.DataFrame) -> list[HarnessTask]:
    """Return a task for the pairs of each construction and kind of words.

    Pairs of a variant in which one answer is always right, so that a preference for a word is enough, are a task of
    their own, and in no other.

    Args:
        pairs: One row a pair, of one construction or several, as ``data/build_pairs`` has them.
    """
    keys = ["construction", "words"]
    unbalanced = {
        (row["construction"], row["words"], row["variant"]): row["reason"]
        for row in unbalanced_cells(pairs).to_dict("records")
    }
    alone = [key if key in unbalanced else "" for key in pairs[[*keys, "variant"]].itertuples(index=False, name=None)]
    variants = [key[-1] if key else "" for key in alone]
    tasks = []
    for (construction, words, variant), own in pairs.assign(alone=variants).groupby([*keys, "alone"], sort=False):
        construction = str(construction)
        name = _name(ALL, construction, "pairs", *([] if words == "real" else [words]), *([variant] if variant else []))
        text = f"Minimal pairs of {construction}, {words} words; chance is 1/2."
        if variant:
            reason = unbalanced[construction, words, variant]
            text = f"{text} Variant {variant}: {reason}, so a preference for a word is enough."
        tasks.append(HarnessTask(name, construction, "pairs", text, [_pair_item(row) for row in _rows(own)]))
    return tasks


def choice_tasks(choices: pd.DataFrame, answers: pd.DataFrame) -> list[HarnessTask]:
    """Return a task for the items of each construction, kind, prompt and number of shots.

    Args:
        choices: One row a question, as ``data/build_prompts`` has them: id, item, construction, kind, prompt, shots,
            examples, gold and question, the text before the answer.
        answers: One row a question and answer: id, answer (its symbol) and text, how the question goes on.
    """
    texts: dict[str, dict[str, str]] = {}
    for id_, symbol, text in answers[["id", "answer", "text"]].itertuples(index=False, name=None):
        texts.setdefault(id_, {})[symbol] = text
    tasks = []
    keys = ["construction", "kind", "prompt", "shots", "examples"]
    for (construction, kind, prompt, shots, examples), own in choices.groupby(keys, sort=False):
        construction, short = str(construction), _KINDS[str(kind)]
        shown = [f"{shots}shot", *([examples] if shots else [])] if short == "nli" else []
        name = _name(ALL, construction, short, prompt, *shown)
        text = f"{short} about {construction}, prompt {prompt}" + (
            f", {shots} examples of each relation." if shots else "."
        )
        items = [_choice_item(row, texts[row["id"]]) for row in _rows(own)]
        tasks.append(HarnessTask(name, construction, short, text, items))
    return tasks


def harness_files(tasks: Sequence[HarnessTask]) -> dict[str, bytes]:
    """Return the files of some tasks and their groups: path inside the folder -> content.

    The groups are one for all tasks (`ALL`), one for each kind, and one for each construction. They show their tasks
    and no mean, since chance is not the same in all of them.
    """
    files = {LOADER: _LOADER_TEXT.encode()}
    for task in tasks:
        items = f"items/{task.name}.jsonl"
        files[items] = "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in task.items).encode()
        files[f"{task.name}.yaml"] = _task_yaml(task, items).encode()
    files[README] = _README.format(rows=_readme_rows(tasks)).encode()
    for name, members in groups_of(tasks).items():
        files[f"{name}.yaml"] = _group_yaml(name, members).encode()
    return files


def groups_of(tasks: Sequence[HarnessTask]) -> dict[str, list[str]]:
    """Return the groups of some tasks: name -> what is in it; that of all tasks has the groups of the kinds."""
    kinds = {_name(ALL, kind): kind for kind in dict.fromkeys(task.kind for task in tasks)}
    constructions = {_name(ALL, name): name for name in dict.fromkeys(task.construction for task in tasks)}
    return {
        ALL: list(kinds),
        **{group: [task.name for task in tasks if task.kind == kind] for group, kind in kinds.items()},
        **{group: [task.name for task in tasks if task.construction == name] for group, name in constructions.items()},
    }


def _pair_item(row: Mapping[str, Any]) -> dict[str, Any]:
    choices = {"good": row["context"] + row["good"], "bad": row["context"] + row["bad"]}
    about = {name: row[name] for name in ("id", "item", "construction", "variant", "sentence", "order")}
    return about | _shown(row["id"], choices, "good")


def _choice_item(row: Mapping[str, Any], answers: Mapping[str, str]) -> dict[str, Any]:
    choices = {symbol: row["question"] + answer for symbol, answer in answers.items()}
    about = {name: row[name] for name in ("id", "item", "construction", "set", "test", "template")}
    return about | _shown(row["id"], choices, row["gold"])


def _shown(id_: str, choices: Mapping[str, str], gold: str) -> dict[str, Any]:
    """Return the choices in an order that the id decides: symbols, choices, and label, the place of the right one."""
    first = hashlib.sha256(id_.encode()).digest()[0] % len(choices)
    symbols = [*choices][first:] + [*choices][:first]
    return {"symbols": symbols, "choices": [choices[symbol] for symbol in symbols], "label": symbols.index(gold)}


def _task_yaml(task: HarnessTask, items: str) -> str:
    return (
        f"# {task.description}\n"
        f"task: {task.name}\n"
        f"custom_dataset: !function {LOADER.removesuffix('.py')}.load\n"
        f"dataset_kwargs: {{file: {items}}}\n"
        "test_split: test\n"
        "output_type: multiple_choice\n"
        "num_fewshot: 0\n"
        'doc_to_text: ""\n'
        'target_delimiter: ""\n'
        "doc_to_choice: choices\n"
        "doc_to_target: label\n"
        "metric_list:\n"
        "  - {metric: acc, aggregation: mean, higher_is_better: true}\n"
        f"metadata: {{version: {_VERSION}}}\n"
    )


def _group_yaml(name: str, members: Iterable[str]) -> str:
    listed = "".join(f"  - {member}\n" for member in members)
    return f"group: {name}\ntask:\n{listed}metadata: {{version: {_VERSION}}}\n"


def _readme_rows(tasks: Sequence[HarnessTask]) -> str:
    sizes = {task.name: len(task.items) for task in tasks}
    rows = [(name, "", f"group of {len(members)}") for name, members in groups_of(tasks).items()]
    rows += [(task.name, str(sizes[task.name]), task.description) for task in tasks]
    return "\n".join(f"| {name} | {size} | {about} |" for name, size, about in rows)


def _name(*parts: object) -> str:
    """Return the name of a task or group: letters, digits and underscores."""
    return "_".join(re.sub(r"\W+", "_", str(part)) for part in parts)


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]
