"""What tests of labelling share: mined toy sentences, and a session about them."""

import pandas as pd

from cxprobe.labels.labels import PersonLabel, write_labels
from cxprobe.labels.mined import group_sentences
from cxprobe.labels.sessions import Session

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
            rows.append((f"mined-{len(tags)}-{number}", text, url, 4, 4 + len(text), tags, []))
    return pd.DataFrame(rows, columns=["id", "text", "url", "start", "end", "tags", "slots"])


def session(folder, labels=(), who="Ann") -> Session:
    """Return a session about the toy sentences, with labels that were given before; one without any goes on."""
    if labels:
        write_labels(labels, folder / "labels.tsv")
    return Session(group_sentences(mined(), 1), folder / "labels.tsv", who, DAY)


def label(kind: str, target: str, judgement: str, who: str, when: str = DAY) -> PersonLabel:
    return PersonLabel(kind, target, judgement, who, when)
