"""What tests of labelling share: mined toy sentences, a desk to label them at, and a session."""

import threading
from contextlib import contextmanager

import pandas as pd
import spacy
from ruamel.yaml import YAML

from conftest import CONSTRUCTION, PATTERN
from cxprobe.constructions.construction import Construction
from cxprobe.corpora.pattern import Pattern
from cxprobe.people.mined import group_sentences, piece_finder
from cxprobe.people.page import LabelServer
from cxprobe.people.sessions import Desk, SavedSession, Session, start_session

BLANK = spacy.blank("en")
BEGINNINGS = ("", "now ", "we say that ", "so now ", "we say that now ")
TAGS = "DT JJ NN NN , DT JJ NN NN ."


def toy_pattern() -> Pattern:
    return Pattern.model_validate(YAML(typ="safe").load(PATTERN))


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


def session(labels=(), who="Ann", seed=1, table=None) -> Session:
    return start_session(group_sentences(mined() if table is None else table, seed), labels, who, "2026-01-31")


def desk(disputes=None, needed=0, tested=len) -> Desk:
    content = Construction.model_validate(YAML(typ="safe").load(CONSTRUCTION))
    return Desk(content, piece_finder(toy_pattern(), BLANK), disputes or {}, needed, tested)


@contextmanager
def serving(folder, start=None, at=None):
    """Run the server as the command does, in a thread."""
    server = LabelServer(SavedSession(start or session(), folder / "labels.tsv"), at or desk())
    thread = threading.Thread(target=server.serve_until_stopped, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.should_exit = True
        thread.join()
