"""Tasks for lm-evaluation-harness: one YAML file and one file of items a task, and groups of tasks.

A task is multiple choice among *whole texts*. The harness puts a model's beginning-of-sequence token before each (or,
if there is none, its end-of-sequence token), whatever its tokenizer does, and compares the sums of their
log-probabilities, which it calls ``acc``. All choices of an item begin with the same context, so the most probable text
is the one whose end is the most probable after the context. That is the decision by the score ``sum`` of this project,
with ``bos: add``, and with ``bos: as_tokenizer`` where the tokenizer puts this token before a text by itself.

The context is not given apart, as it is in most tasks. The harness would then leave out as many tokens of the whole
text as the context has alone. Where a tokenizer ends each text with a further token, such as [SEP], the first token
of each answer would be lost. Where a tokenizer puts nothing before a text, the harness would put a token before items
without a context, and none before others.

Two texts with the same sum are a tie: half right here, and the first of them for the harness. So the position of the
right choice follows from the item's id.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

ALL = "cxprobe"
_HERE = Path(__file__).parent
_VERSION = 1.0  # of the tasks; raise it when the same items would be scored in another way
_PAIR = ("id", "item", "construction", "variant", "sentence", "order")
_CHOICE = ("id", "item", "construction", "set", "test", "template")
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


def pair_tasks(pairs: pd.DataFrame) -> Iterator[HarnessTask]:
    """Yield a task for the pairs of each construction and kind of words.

    Pairs of a variant in which one answer is always right, so that a preference for a word is enough, are a separate
    task, and in no other.

    Args:
        pairs: One row a pair, of one construction or several, as `cxprobe.report.line.Line.pairs` returns them.
    """
    alone = pairs["variant"].where(pairs["one_answer"] != "", "")
    parts = pairs.assign(alone=alone).groupby(["construction", "words", "alone"], sort=False)
    for (construction, words, variant), rows in parts:
        construction = str(construction)
        name = _name(ALL, construction, "pairs", *([] if words == "real" else [words]), *([variant] if variant else []))
        text = f"Minimal pairs of {construction}, {words} words; chance is 1/2."
        if variant:
            text += f" Variant {variant}: {rows['one_answer'].iloc[0]}, so a preference for a word is enough."
        items = [
            _item(row, _PAIR, {side: row["context"] + row[side] for side in ("good", "bad")}, "good")
            for row in rows.to_dict("records")
        ]
        yield HarnessTask(name, construction, "pairs", text, items)


def choice_tasks(choices: pd.DataFrame, answers: pd.DataFrame) -> Iterator[HarnessTask]:
    """Yield a task for the items of each construction, kind, prompt and number of shots.

    Args:
        choices: One row a question, as ``data/make_prompts`` has them: id, item, construction, kind, prompt, shots,
            examples, gold and question, the text before the answer.
        answers: One row a question and answer: id, answer (its symbol) and text, how the question goes on.
    """
    texts = {id_: dict(zip(rows["answer"], rows["text"], strict=True)) for id_, rows in answers.groupby("id")}
    keys = ["construction", "kind", "prompt", "shots", "examples"]
    for (construction, kind, prompt, shots, examples), rows in choices.groupby(keys, sort=False):
        construction, short = str(construction), _KINDS[str(kind)]
        shown = [f"{shots}shot", *([examples] if shots else [])] if short == "nli" else []
        name = _name(ALL, construction, short, prompt, *shown)
        examples_shown = f", {shots} examples of each relation" if shots else ""
        text = f"{short} about {construction}, prompt {prompt}{examples_shown}."
        items = []
        for row in rows.to_dict("records"):
            choices_of = {symbol: row["question"] + answer for symbol, answer in texts[row["id"]].items()}
            items.append(_item(row, _CHOICE, choices_of, row["gold"]))
        yield HarnessTask(name, construction, short, text, items)


def harness_files(tasks: Sequence[HarnessTask]) -> dict[str, bytes]:
    """Return the files of some tasks and their groups: path inside the folder -> content.

    The groups are one for all tasks (`ALL`), one for each kind, and one for each construction. They show their tasks
    and no mean, since chance is not the same in all of them.
    """
    groups = task_groups(tasks)
    files = {"load_items.py": (_HERE / "harness_loader.txt").read_text("utf-8")}
    template = (_HERE / "harness_task.txt").read_text("utf-8")
    for task in tasks:
        items = f"items/{task.name}.jsonl"
        files[items] = "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in task.items)
        files[f"{task.name}.yaml"] = template.format(task=task, items=items, version=_VERSION)
    for name, members in groups.items():
        listed = "".join(f"  - {member}\n" for member in members)
        files[f"{name}.yaml"] = f"group: {name}\ntask:\n{listed}metadata: {{version: {_VERSION}}}\n"
    rows = [f"| {name} | | group of {len(members)} |" for name, members in groups.items()]
    rows += [f"| {task.name} | {len(task.items)} | {task.description} |" for task in tasks]
    files["README.md"] = (_HERE / "harness.md").read_text("utf-8").format(rows="\n".join(rows))
    return {name: text.encode() for name, text in files.items()}


def task_groups(tasks: Sequence[HarnessTask]) -> dict[str, list[str]]:
    """Return the groups of some tasks: name -> what is in it; that of all tasks has the groups of the kinds."""
    kinds: dict[str, list[str]] = {}
    constructions: dict[str, list[str]] = {}
    for task in tasks:
        kinds.setdefault(_name(ALL, task.kind), []).append(task.name)
        constructions.setdefault(_name(ALL, task.construction), []).append(task.name)
    return {ALL: list(kinds), **kinds, **constructions}


def _item(row: Mapping[Any, Any], kept: Sequence[str], choices: Mapping[str, str], gold: str) -> dict[str, Any]:
    """Return an item, its choices in an order that its id decides; label is the position of the right one."""
    first = hashlib.sha256(row["id"].encode()).digest()[0] % len(choices)
    symbols = [*choices][first:] + [*choices][:first]
    shown = {"symbols": symbols, "choices": [choices[symbol] for symbol in symbols], "label": symbols.index(gold)}
    return {name: row[name] for name in kept} | shown


def _name(*parts: object) -> str:
    """Return the name of a task or group: letters, digits and underscores."""
    return "_".join(re.sub(r"\W+", "_", str(part)) for part in parts)
