"""What tests of labelling share: mined toy sentences, and labels."""

import pandas as pd

from cxprobe.labels import Label

BEGINNINGS = ("", "now ", "we say that ", "so now ", "we say that now ")
TAGS = "DT JJ NN NN , DT JJ NN NN ."
DAY = "2026-01-31"


def mined(sequences: int = 4, each: int = 2) -> pd.DataFrame:
    """Return sentences of so many sequences of tags, ``each`` of them of one sequence."""
    rows = []
    for beginning in BEGINNINGS[:sequences]:
        for number in range(each):
            adjective = ("red", "old", "green", "young", "blue", "small", "calm")[number]
            text = f"{beginning}the {adjective} cat runs, the fast dog sings."
            tags = " ".join([*["NN"] * len(beginning.split()), TAGS])
            url = f"https://example.org/{len(beginning)}#{number}"
            matched = [(len(beginning), len(beginning) + 3)]
            rows.append((f"mined-{len(tags)}-{number}", text, url, 4, 4 + len(text), tags, matched, []))
    return pd.DataFrame(rows, columns=["id", "text", "url", "start", "end", "tags", "matched", "slots"])


def label(kind: str, target: str, judgement: str, who: str = "Ann", when: str = DAY) -> dict[str, str]:
    return {"kind": kind, "target": target, "label": judgement, "who": who, "when": when}


def table_of(*labels: dict[str, str]) -> pd.DataFrame:
    """Return labels as a table, which may be empty."""
    return pd.DataFrame(labels, columns=[*Label.model_fields], dtype="str")
