"""Rules for inferences: a hypothesis does not tell its relation, and nothing is asked twice."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from cxprobe.constructions.items import InferenceItems, MarkedSentence
from cxprobe.constructions.linting.faults import Fault
from cxprobe.constructions.linting.sentences import (
    OTHER_GENDER,
    article_faults,
    gender_of,
    repeated,
)

MOST_OF_A_RELATION = 0.45
"""The share of premises to which a hypothesis may be related in the same way. The relation of a hypothesis alone is
then guessed in 45 % of items at most, where chance is 33 %."""
FEWEST_PREMISES = 10
"""Of fewer premises, shares say little."""
_WORDS_OF_SLOT = re.compile(r"\{([A-Z][A-Z0-9]*)\}")


def lint_inference(asked: InferenceItems) -> Iterator[Fault]:
    """Find what is wrong with the inferences of a construction.

    Args:
        asked: The premises and hypotheses.

    Returns:
        Faults: hypotheses that tell their relation; the same sentence as two premises, as two hypotheses, or as a
        premise and its hypothesis; a phrase twice in a sentence; articles; and pronouns that do not agree.
    """
    yield from _telling_hypotheses(asked)
    yield from _repeated_templates(asked)
    told = [_told(asked, ("premises", place), one, asked.hypotheses) for place, one in enumerate(asked.premises)]
    told += [_told(asked, ("challenge", place), one, one.gold) for place, one in enumerate(asked.challenge)]
    for one in told:
        yield from (Fault(one.keys, what) for what in dict.fromkeys(_faults_of_sentence(one)))
    yield from _repeated_sentences(asked, told)


class _Told(NamedTuple):
    """A premise in words: its place, what the file has, and its hypotheses by their names."""

    keys: tuple[str, int]
    premise: MarkedSentence
    text: str
    hypotheses: Mapping[str, str]


def _told(asked: InferenceItems, keys: tuple[str, int], premise: MarkedSentence, names: Iterable[str]) -> _Told:
    return _Told(keys, premise, premise.sentence(), {name: asked.hypothesis(name, premise) for name in names})


def _telling_hypotheses(asked: InferenceItems) -> Iterator[Fault]:
    """Find hypotheses that most premises are related to in one way."""
    golds = [asked.golds(premise) for premise in asked.premises]
    if len(golds) < FEWEST_PREMISES:
        return
    for name in asked.hypotheses:
        relation, number = Counter(gold[name] for gold in golds).most_common(1)[0]
        if number > MOST_OF_A_RELATION * len(golds):
            share = f"{number} of {len(golds)} premises ({number / len(golds):.0%})"
            yield Fault(
                ("hypotheses", name),
                f"the hypothesis '{name}' has the relation {relation} to {share}, so that it tells the answer; at most "
                f"{MOST_OF_A_RELATION:.0%} are allowed: write premises to which it has another",
            )


def _repeated_templates(asked: InferenceItems) -> Iterator[Fault]:
    for name, known, text in repeated(asked.hypotheses.items()):
        yield Fault(("hypotheses", name), f"{text!r} says the same as the hypothesis '{known}'; take one of them out")
    for name, text in asked.hypotheses.items():
        slots = _WORDS_OF_SLOT.findall(text)
        for slot in dict.fromkeys(one for one in slots if slots.count(one) > 1):
            number = f"{slots.count(slot)} times"
            what = f"{{{slot}}} is in {text!r} {number}; write a pronoun in its place, as {{{slot}:they}}"
            yield Fault(("hypotheses", name), what)


def _repeated_sentences(asked: InferenceItems, told: Sequence[_Told]) -> Iterator[Fault]:
    """Find premises, and hypotheses with words of their premises, that are there twice in the file."""
    for keys, (part, place), text in repeated((one.keys, one.text) for one in told):
        yield Fault(keys, f"{text!r} says the same as {part}[{place}] (counted from 0); replace one of them")
    for name in (name for name, template in asked.hypotheses.items() if _WORDS_OF_SLOT.search(template)):
        texts = ((one.keys, one.hypotheses[name]) for one in told if one.keys[0] == "premises")
        for keys, (part, place), text in repeated(texts):
            what = f"{name}: {text!r} is asked about {part}[{place}] (counted from 0) too; replace one of the premises"
            yield Fault(keys, what)


def _faults_of_sentence(told: _Told) -> Iterator[str]:
    """Look at a premise, and at the hypotheses that are asked about it."""
    yield from article_faults(told.text)
    yield from _faults_of_phrases(told.premise)
    for name, hypothesis in told.hypotheses.items():
        yield from (f"{name}: {hypothesis!r}: {what}" for what in article_faults(hypothesis))
    for name, known, hypothesis in repeated([("premise", told.text), *told.hypotheses.items()]):
        who = "its premise" if known == "premise" else f"the hypothesis '{known}'"
        yield f"{name}: {hypothesis!r} says the same as {who}; replace one of them"


def _faults_of_phrases(premise: MarkedSentence) -> Iterator[str]:
    """Find slots with the same words, and slots whose pronoun does not agree with their words."""
    phrases = premise.phrases()
    marked = ((slot, phrase.words) for slot, phrase in phrases.items() if slot not in premise.slots)
    for slot, known, words in repeated(marked):
        yield f"{slot} and {known} are both {words!r}; a sentence is to name each once"
    for slot, phrase in phrases.items():
        gender = gender_of(phrase.words)
        if gender is not None and phrase.note == OTHER_GENDER[gender]:
            yield f"{slot}: '{phrase.words}' does not agree with the pronoun '{phrase.note}'; write {gender}"
