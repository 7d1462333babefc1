"""Rules for reasoning frames: rule and facts decide together, and what is changed in a test is really changed."""

import re
from collections.abc import Iterator, Sequence

from cxprobe.constructions.items import ReasoningFrame
from cxprobe.constructions.linting.faults import Fault
from cxprobe.constructions.linting.sentences import OTHER_GENDER, article_faults, gender_of, normalised, repeated

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
