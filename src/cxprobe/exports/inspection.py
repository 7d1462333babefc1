"""Tasks for inspect_ai: the questions in words, and a scorer that reads replies by the rules of this project.

The folder needs inspect_ai and nothing of cxprobe: the rules by which a reply is read (`cxprobe.lm.replies`) go
into it as they are.
"""

import inspect
import json
from collections.abc import Mapping
from typing import Any

import pandas as pd

from cxprobe.lm import replies as readings
from cxprobe.prompts.items import RELATIONS
from cxprobe.stats import CLUSTER

QUESTIONS = "questions.jsonl"
_OPTIONS = {"A": "option_a", "B": "option_b", "C": "option_c"}
_KEPT = ("item", "construction", "set", "test", "template", "reading", "prompt", "shots", "examples", "order")
_TASK = '''"""Questions about constructions, for inspect_ai: `inspect eval task.py --model MODEL`.

Two tasks, nli and reasoning. Both take `-T prompt=NAME`, `-T shots=NUMBER` and `-T construction=NAME`, to ask some of
the questions; without them all are asked. Replies are read by readings.py: one that states no answer, or leaves it
open, is not right. The metric `unparsed` is the share of such replies.
"""

import json
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import CORRECT, INCORRECT, SampleScore, Score, Target, accuracy, metric, scorer, stderr
from inspect_ai.solver import generate

from readings import read_answer

QUESTIONS = Path(__file__).parent / "questions.jsonl"


@task
def nli(prompt=None, shots=None, construction=None):
    """Does the hypothesis follow from the premise? Chance is 1/3."""
    return _task("inference", prompt=prompt, shots=shots, construction=construction)


@task
def reasoning(prompt=None, shots=None, construction=None):
    """Multiple choice; in half of the questions the right answer is that nothing can be told."""
    return _task("reasoning", prompt=prompt, shots=shots, construction=construction)


@metric
def unparsed():
    """Return the share of replies that give no answer."""

    def share(scores: list[SampleScore]) -> float:
        return sum(not one.score.answer for one in scores) / len(scores)

    return share


@scorer(metrics=[accuracy(), stderr(cluster="premise"), unparsed()])
def stated_answer():
    """Score 1 if the answer that a reply states is the right one, else 0."""

    async def score(state, target: Target):
        reply = state.output.completion
        thought = state.metadata["chain_of_thought"]
        answer = read_answer(reply, state.metadata["answers"], chain_of_thought=thought)
        return Score(value=CORRECT if answer == target.text else INCORRECT, answer=answer, explanation=reply)

    return score


def _task(kind, **wanted):
    rows = map(json.loads, QUESTIONS.read_text(encoding="utf-8").splitlines())
    samples = [
        Sample(id=row["id"], input=row["question"], target=row["gold"], metadata=row["metadata"])
        for row in rows
        if row["kind"] == kind
        and all(value is None or str(row["metadata"][name]) == str(value) for name, value in wanted.items())
    ]
    if not samples:
        raise ValueError(f"{QUESTIONS} has no questions of {kind} with {wanted}")
    config = GenerateConfig(temperature=0.0)
    return Task(dataset=MemoryDataset(samples), solver=generate(), scorer=stated_answer(), config=config)
'''


def inspect_files(questions: pd.DataFrame) -> dict[str, bytes]:
    """Return the files of the tasks: path inside the folder -> content.

    Args:
        questions: One row a question in words, as ``data/build_prompts`` has them.
    """
    lines = [json.dumps(_question(row), ensure_ascii=False) + "\n" for row in questions.to_dict("records")]
    return {
        "task.py": _TASK.encode(),
        "readings.py": inspect.getsource(readings).encode(),
        QUESTIONS: "".join(lines).encode(),
    }


def _question(row: Mapping[Any, Any]) -> dict[str, Any]:
    """Return a question as a line: id, kind, question, gold, and the metadata of the sample.

    The metadata has answers, each symbol with the words that may stand for it or with it in a reply.
    """
    symbols = {str(number): relation for number, relation in enumerate(RELATIONS)}
    answers = symbols if row["kind"] == "inference" else {letter: row[column] for letter, column in _OPTIONS.items()}
    metadata = {name: row[name] for name in _KEPT} | {
        "premise": row[f"{CLUSTER}premise"],
        "chain_of_thought": bool(row["chain_of_thought"]),
        "answers": answers,
    }
    return {name: row[name] for name in ("id", "kind", "question", "gold")} | {"metadata": metadata}
