"""Replies of one word out of several allowed ones. Nothing is guessed."""

import re
from collections.abc import Sequence

_NOT_LETTERS = re.compile(r"[^a-z]+")


def read_word(reply: str, allowed: Sequence[str]) -> str | None:
    """Return the word that a reply's last line consists of, or None if that is not an allowed word.

    Capitals, punctuation, markup and a label ("Answer:") around the word do not matter. A line with more than that
    ("not appropriate", "appropriate or inappropriate") has none.

    Args:
        reply: The whole reply; earlier lines may contain the model's reasoning.
        allowed: The allowed words, in lower case.
    """
    lines = [line for line in reply.lower().splitlines() if _NOT_LETTERS.sub("", line)]
    words = _NOT_LETTERS.sub(" ", lines[-1]).split() if lines else []
    if words[:1] in (["answer"], ["verdict"]):
        words = words[1:]
    return words[0] if len(words) == 1 and words[0] in allowed else None
