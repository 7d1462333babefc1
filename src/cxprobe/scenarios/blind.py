"""Blind models of scenarios: words chosen by where they stand in a text, never by what the construction means."""

import re
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from cxprobe.lm.ngrams import places_of
from cxprobe.segmentation import sentences

CHOSEN = 0.75  # the pseudo-probability of a word that is chosen; without a choice both have 0.5
_MASK = "[MASK]"
_WORD = re.compile(r"\w+(?:[-’']\w+)*")
_POSSESSIVE = re.compile(r"[’']s$")


def fill_blindly(kind: str, texts: pd.DataFrame) -> pd.DataFrame:
    """Return what a blind model answers to texts with a mask, in the form in which masked models answer.

    Args:
        kind: "fixed_word" (the alphabetically first candidate, whatever the text says); "last_rule" (the candidate that
            is named last before the mask, which is that of the last rule); or "copier" (the candidate that follows, in
            the rules, the word that the fact states).
        texts: One row a text: text, which contains "[MASK]" once, and the two candidates, first and second. No other
            column is read, so the answer cannot follow from which one is right.

    Returns:
        The texts with the columns log_p_first and log_p_second, natural logarithms of pseudo-probabilities: 0.75 for
        the candidate that is chosen and 0.25 for the other, or 0.5 for both where the rule prefers none (a text
        without the candidates, or with both alike).
    """
    choose, rows = _RULES[kind], texts[["text", "first", "second"]].itertuples(index=False, name=None)
    margins = np.array([choose(text, (first, second)) for text, first, second in rows], dtype=np.float64)  # (texts,)
    first = np.select([margins > 0, margins < 0], [CHOSEN, 1 - CHOSEN], 0.5)
    return texts.assign(log_p_first=np.log(first), log_p_second=np.log(1 - first))


# Each rule returns a number above 0 for the first candidate, below 0 for the second, and 0 for none.


def _fixed_word(text: str, candidates: tuple[str, str]) -> float:
    del text
    first, second = (candidate.lower() for candidate in candidates)
    return float(first < second) - float(second < first)


def _last_rule(text: str, candidates: tuple[str, str]) -> float:
    before = text[: text.index(_MASK)]
    first, second = (max(places_of(before, candidate), default=-1) for candidate in candidates)
    return first - second


def _copier(text: str, candidates: tuple[str, str]) -> float:
    """Let each word of the fact vote, wherever a rule has it, for the candidate that comes next there.

    The rules are the sentences that name a candidate. The fact is what the sentences say that name none and have no
    mask; where every sentence names one, it is the sentence with the mask.
    """
    spans = [text[span.start : span.end] for span in sentences(text)]
    others = [sentence for sentence in spans if _MASK not in sentence]
    rules = [sentence for sentence in others if any(places_of(sentence, one) for one in candidates)]
    facts = [sentence for sentence in others if sentence not in rules]
    stated = {word for sentence in facts or spans for word, _ in _words(sentence) if sentence not in rules}
    votes = 0
    for rule in rules:
        named = sorted(
            (place, sign) for one, sign in zip(candidates, (1, -1), strict=True) for place in places_of(rule, one)
        )
        for word, place in _words(rule):
            if word in stated:
                votes += next((sign for candidate, sign in named if candidate > place), 0)
    return votes


def _words(sentence: str) -> list[tuple[str, int]]:
    """Return the words of a sentence in lower case and without a possessive ending, each with its place."""
    plain = sentence.replace(_MASK, " " * len(_MASK))
    return [(_POSSESSIVE.sub("", match[0]).lower(), match.start()) for match in _WORD.finditer(plain)]


_RULES: Mapping[str, Callable[[str, tuple[str, str]], float]] = {
    "fixed_word": _fixed_word,
    "last_rule": _last_rule,
    "copier": _copier,
}
