"""Rules for inferences: a hypothesis does not tell its relation, and nothing is asked twice."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from cxprobe.constructions.faults import OTHER_GENDER, Fault, article_faults, gender_of, normalised, repeated
from cxprobe.prompts.items import InferenceItems, Items, MarkedSentence, ReasoningFrame

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


MOST_NAMED_FIRST = 0.6
"""The share of frames whose facts may name the same referent first: the right one, or the wrong one."""
FEWEST_FRAMES = 10
"""Of fewer frames, shares say little."""
_REFERENT = re.compile(r"\{(R[1-4])(?::[A-Za-z]+)?\}")
_WITH_ITSELF = re.compile(r"\{(R[1-4])\}[^.{}]*\b(?:than|as) \{\1\}")
_PARTS = ("rule", "facts", "question", "other_facts", "nonce_facts")


def lint_reasoning(frames: Sequence[ReasoningFrame]) -> Iterator[Fault]:
    """Find what is wrong with the reasoning frames of a construction.

    Args:
        frames: The frames.

    Returns:
        Faults: parts that say nothing, or the same as another part or frame; facts that do not name both options;
        options that are alike, or that are written out where a slot should be; a referent compared with itself;
        articles; and facts that name the right option first too often, or too seldom.
    """
    for number, frame in enumerate(frames):
        yield from (fault.below(number) for fault in dict.fromkeys(_faults_of_frame(frame)))
    for part in ("rule", "facts", "other_facts", "nonce_facts"):
        for number, known, text in repeated((place, _spelt(frame, part)) for place, frame in enumerate(frames)):
            if text:
                yield Fault((number, part), f"{part}: {text!r} is in frame {known} (counted from 0) too; replace it")
    yield from _named_first(frames)


def _spelt(frame: ReasoningFrame, part: str) -> str:
    """Return a part with its referents' words."""
    text: str = getattr(frame, part)
    return _REFERENT.sub(lambda place: frame.option(int(place[1][1]) - 1), text)


def _faults_of_frame(frame: ReasoningFrame) -> Iterator[Fault]:
    parts: dict[str, str] = {part: getattr(frame, part) for part in _PARTS}
    if frame.swapped is not None:
        parts["swapped"] = frame.swapped
    for part, text in parts.items():
        if not normalised(text):
            yield Fault((part,), f"{part} is missing: {text!r} has no words; write it")
    yield from _same_parts(frame)
    for part in ("facts", "other_facts", "nonce_facts"):
        yield from _unnamed_options(part, parts[part])
    yield from _faults_of_referents(frame, parts)
    for test, *texts, _ in frame.variants():
        yield from (Fault((), f"{test}: {what}") for text in texts for what in article_faults(text))


def _same_parts(frame: ReasoningFrame) -> Iterator[Fault]:
    """Find parts that are to differ, since a test replaces the one by the other, and do not."""
    facts = [(part, getattr(frame, part)) for part in ("facts", "other_facts", "nonce_facts")]
    for part, known, text in repeated((part, text) for part, text in facts if normalised(text)):
        yield Fault((part,), f"{part}: {text!r} says the same as {known}, so that the test changes nothing; rewrite it")
    if frame.swapped is not None and normalised(frame.swapped) == normalised(frame.rule):
        what = f"swapped: {frame.swapped!r} says the same as the rule, so that R2 cannot be the answer; rewrite it"
        yield Fault(("swapped",), what)


def _unnamed_options(part: str, text: str) -> Iterator[Fault]:
    """Find facts that are not about both options, or about others."""
    named = {place[1] for place in _REFERENT.finditer(text)}
    if lacking := sorted({"R1", "R2"} - named):
        what = f"{part}: {text!r} does not name {' and '.join(lacking)}, between which the question decides; name both"
        yield Fault((part,), what)
    if others := sorted(named & {"R3", "R4"}):
        what = f"{part}: {text!r} names {others[0]}, whom only the test of other names puts there; write R1 and R2"
        yield Fault((part,), what)


def _faults_of_referents(frame: ReasoningFrame, parts: dict[str, str]) -> Iterator[Fault]:
    names = [frame.option(number) for number in range(4)]
    for number, (name, referent) in enumerate(zip(names, frame.referents, strict=True)):
        own = f" {normalised(name)} "
        for other in names[:number] + names[number + 1 :]:
            if own in f" {normalised(other)} ":
                yield Fault(("referents", number), f"'{name}' is also in '{other}'; give referents different names")
        (pronoun,) = referent
        gender = gender_of(name)
        if gender is not None and pronoun == OTHER_GENDER[gender]:
            yield Fault(("referents", number), f"'{name}' does not agree with the pronoun '{pronoun}'; write {gender}")
        for part, text in parts.items():
            if own in f" {normalised(_REFERENT.sub('|', text))} ":
                what = f"{part}: {text!r} has '{name}' in words, which no test can exchange; write {{R{number + 1}}}"
                yield Fault((part,), what)
    for part, text in parts.items():
        for found in _WITH_ITSELF.finditer(text):
            what = f"{part}: {text!r} compares {found[1]} with itself; each referent is to be there once"
            yield Fault((part,), what)


def _named_first(frames: Sequence[ReasoningFrame]) -> Iterator[Fault]:
    """Find frames that together name R1, who is right in the base test, first too often or too seldom."""
    firsts = [found[1] for frame in frames if (found := _REFERENT.search(frame.facts))]
    if len(firsts) < FEWEST_FRAMES:
        return
    for referent in ("R1", "R2"):
        if (number := firsts.count(referent)) > MOST_NAMED_FIRST * len(firsts):
            answer = "right" if referent == "R1" else "wrong"
            yield Fault(
                (),
                f"the facts of {number} of {len(firsts)} frames name {referent} first, who is {answer}; at most "
                f"{MOST_NAMED_FIRST:.0%} are allowed: let every second frame name R2 first",
            )


def lint_items(items: Items) -> Iterator[Fault]:
    """Find what is wrong with the inferences and the reasoning items of a construction.

    Args:
        items: Its items.yaml.
    """
    if items.inference is not None:
        yield from (fault.below("inference") for fault in lint_inference(items.inference))
    yield from (fault.below("reasoning") for fault in lint_reasoning(items.reasoning))


def lint_premises(items: Mapping[Path, Items]) -> dict[Path, list[Fault]]:
    """Find premises that an earlier file has too.

    Args:
        items: File -> its content.

    Returns:
        File -> its faults; without the files that have none.
    """
    asked = {path: one.inference for path, one in items.items() if one.inference is not None}
    faults: dict[Path, list[Fault]] = {}
    texts = ((key, text) for path, one in asked.items() for key, text in _premises(path, one))
    for (path, part, number), (earlier, _, _), text in repeated(texts):
        if path != earlier:
            what = f"the premise {text!r} is in {earlier} too; replace one of them"
            faults.setdefault(path, []).append(Fault(("inference", part, number), what))
    return faults


def _premises(path: Path, asked: InferenceItems) -> Iterator[tuple[tuple[Path, str, int], str]]:
    for part, sentences in (("premises", asked.premises), ("challenge", asked.challenge)):
        for number, one in enumerate(sentences):
            yield (path, part, number), one.sentence()
