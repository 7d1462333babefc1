"""Beginnings of new frames for minimal pairs, from verbs that a corpus has in the construction."""

from collections.abc import Sequence
from io import StringIO
from typing import NamedTuple

import pandas as pd
from ruamel.yaml import YAML

from cxprobe.constructions.people import Row
from cxprobe.pairs.frames import VERB

UNFILLED = "..."
"""Stands for what a person fills in."""


class Draft(NamedTuple):
    """A frame that is begun.

    Attributes:
        row: Slot -> the words of the sentence; `UNFILLED` in a slot that mining does not fill.
        sentence: Where they are from.
        number: How many mined sentences have the verb.
    """

    row: Row
    sentence: str
    number: int


def draft_frames(frames: Sequence[Row], sentences: pd.DataFrame) -> list[Draft]:
    """Return the beginning of a frame for each verb that the corpus has in the construction and no frame has.

    Args:
        frames: Those of the pairs.yaml, which have the slot `VERB`.
        sentences: What was mined, without what is labelled negative: text and slots.

    Returns:
        The most frequent verbs first, each from its shortest sentence.
    """
    known = {lemma_of(frame[VERB]) for frame in frames}
    sentences = sentences.sort_values("text", key=lambda texts: texts.str.len(), kind="stable")
    shortest: dict[str, Draft] = {}
    for text, slots in zip(sentences["text"], sentences["slots"], strict=True):
        words = {slot["slot"]: text[slot["start"] : slot["end"]] for slot in slots}
        for lemma in {slot["word"]: None for slot in slots if slot["slot"] == VERB and slot["word"] not in known}:
            row = {slot: words.get(slot, UNFILLED) for slot in frames[0]}
            draft = shortest.get(lemma, Draft(row, text, 0))
            shortest[lemma] = draft._replace(number=draft.number + 1)
    return sorted(shortest.values(), key=lambda draft: -draft.number)


def frames_text(head: Sequence[str], rows: Sequence[tuple[Sequence[str], Row]]) -> str:
    """Return frames as YAML that can be moved into a pairs.yaml.

    Args:
        head: Lines of a comment at the top.
        rows: Each frame, and before it the lines of a comment above it.
    """
    yaml = YAML()
    yaml.default_flow_style = True
    yaml.width = 10_000
    text = StringIO()
    text.writelines(f"# {line}\n" for line in head)
    text.write("frames:\n" if rows else "frames: []\n")
    for comments, row in rows:
        text.writelines(f"  # {line}\n" for line in comments)
        text.write("  - ")
        yaml.dump(dict(row), text)
    return text.getvalue()


def lemma_of(verb: str) -> str:
    """Return the lemma of a verb's first word; of a form of two verbs, such as "found", the more frequent one."""
    from lemminflect import getLemma  # slow to import
    from wordfreq import zipf_frequency

    return str(max(getLemma(verb.split(" ")[0].lower(), upos="VERB"), key=lambda lemma: zipf_frequency(lemma, "en")))
