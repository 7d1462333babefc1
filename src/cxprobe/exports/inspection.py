"""Tasks for inspect_ai: the questions in words, and a scorer that reads replies by the rules of this project.

The folder needs inspect_ai and nothing of cxprobe: the rules by which a reply is read (`cxprobe.lm.replies`) go
into it as they are.
"""

import inspect
import json
from pathlib import Path

import pandas as pd

from cxprobe.lm import replies
from cxprobe.stats import CLUSTER

_TASK = Path(__file__).with_name("inspection_task.txt")
_KEPT = ["item", "construction", "set", "test", "template", "reading", "prompt", "shots", "examples", "order"]


def inspect_files(questions: pd.DataFrame) -> dict[str, bytes]:
    """Return the files of the tasks: path inside the folder -> content.

    A line of questions.jsonl has the id, kind, question and gold of a question, and the metadata of its sample. Among
    these are the answers: each symbol with the words that may stand for it or with it in a reply.

    Args:
        questions: One row a question in words, as `cxprobe.report.line.Line.questions` returns them.
    """
    lines = []
    for row in questions.to_dict("records"):
        metadata = {name: row[name] for name in _KEPT} | {
            "premise": row[f"{CLUSTER}premise"],
            "chain_of_thought": bool(row["chain_of_thought"]),
            "answers": row["answers"],
        }
        question = {name: row[name] for name in ("id", "kind", "question", "gold")} | {"metadata": metadata}
        lines.append(json.dumps(question, ensure_ascii=False) + "\n")
    return {
        "task.py": _TASK.read_bytes(),
        "readings.py": inspect.getsource(replies).encode(),
        "questions.jsonl": "".join(lines).encode(),
    }
