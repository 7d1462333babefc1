"""Rules for inferences and reasoning items: a hypothesis does not tell its relation, and nothing is asked twice."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from cxprobe.constructions.faults import OTHER_GENDER, Fault, Keys, gender_of, normalised, repeated
from cxprobe.tasks.prompts.items import ConstructionItems, InferenceItems, ReasoningFrame
from cxprobe.text.english import faults_of_text
from cxprobe.text.templates import Filled, filler_note, filler_words, slots_of

MOST_OF_A_RELATION = 0.45
"""The share of premises to which a hypothesis may be related in the same way. The relation of a hypothesis alone is
then guessed in 45 % of items at most, where chance is 33 %."""
FEWEST_FOR_SHARES = 10
"""Of fewer premises or frames, shares say little."""
MOST_NAMED_FIRST = 0.6
"""The share of frames whose facts may name the same referent first: the right one, or the wrong one."""
_REFERENT = re.compile(r"\{(R[1-4])(?::[A-Za-z]+)?\}")
_FACTS = ("facts", "other_facts", "nonce_facts")


def lint_inference(asked: InferenceItems) -> Iterator[Fault]:
    """Find what is wrong with the inferences of a construction.

    Args:
        asked: The premises and hypotheses.

    Returns:
        Faults: hypotheses that tell their relation; what is wrong with a text (`faults_of_text`); the same sentence as
        a premise and its hypothesis, or as a hypothesis about two premises; and pronouns that do not agree.
    """
    for name in asked.hypotheses:
        golds = [gold[name] for gold in map(asked.golds, asked.premises) if name in gold]
        relation, number = Counter(golds).most_common(1)[0]
        if len(golds) >= FEWEST_FOR_SHARES and number > MOST_OF_A_RELATION * len(golds):
            share = f"{number} of {len(golds)} premises ({number / len(golds):.0%})"
            yield Fault(
                ("hypotheses", name),
                f"the hypothesis '{name}' has the relation {relation} to {share}, so that it tells the answer; at most "
                f"{MOST_OF_A_RELATION:.0%} are allowed: write premises to which it has another",
            )
    asked_about = list[tuple[Keys, str]]()
    keys: Keys
    for keys, premise in asked.all_premises.items():
        sentence = premise.sentence()
        hypotheses = {name: asked.hypothesis(name, premise) for name in asked.golds(premise)}
        for text in (sentence, *hypotheses.values()):
            yield from (Fault(keys, f"{text!r}: {what}") for what in faults_of_text(text))
        for name, _, text in repeated([("", sentence), *hypotheses.items()]):
            yield Fault(keys, f"{name}: {text!r} says the same as its premise or another hypothesis; replace it")
        for slot, filler in premise.slots.items():
            yield from _disagreeing(keys, filler, f"{slot}: ")
        for name, text in hypotheses.items():
            if keys[0] == "premises" and slots_of(asked.hypotheses[name]):  # others are alike about all premises
                asked_about.append((keys, f"{name}: {text}"))
    for keys, known, text in repeated(asked_about):
        where = f"{known[0]}[{known[1]}] (counted from 0)"
        yield Fault(keys, f"{text!r} is asked about {where} too; replace one of the premises")


def _disagreeing(keys: Keys, filler: Filled, place: str = "") -> Iterator[Fault]:
    """Yield a fault of a noun phrase whose pronoun does not agree with it."""
    gender = gender_of(filler_words(filler))
    if gender is not None and filler_note(filler) == OTHER_GENDER[gender]:
        yield Fault(keys, f"{place}'{filler_words(filler)}' does not agree with its pronoun; write {gender}")


def lint_reasoning(frames: Sequence[ReasoningFrame]) -> Iterator[Fault]:
    """Find what is wrong with the reasoning frames of a construction.

    Args:
        frames: The frames.

    Returns:
        Faults: what is wrong with a text (`faults_of_text`); parts that say the same as another part or frame; facts or
        a question that do not name both; referents that are alike, or that are written out where a slot should be; and
        facts that name the right option first too often, or too seldom.
    """
    for number, frame in enumerate(frames):
        yield from (fault.below(number) for fault in dict.fromkeys(_faults_of_frame(frame)))
    for part in ("rule", *_FACTS):
        for number, known, text in repeated((number, _in_words(frame, part)) for number, frame in enumerate(frames)):
            yield Fault((number, part), f"{part}: {text!r} is in frame {known} (counted from 0) too; replace it")
    # R1 is right in the base test.
    firsts = [match[1] for frame in frames if (match := _REFERENT.search(frame.facts))]
    for referent, answer in (("R1", "right"), ("R2", "wrong")):
        if len(firsts) >= FEWEST_FOR_SHARES and (number := firsts.count(referent)) > MOST_NAMED_FIRST * len(firsts):
            yield Fault(
                (),
                f"the facts of {number} of {len(firsts)} frames name {referent} first, who is {answer}; at most "
                f"{MOST_NAMED_FIRST:.0%} are allowed: let every second frame name R2 first",
            )


def _in_words(frame: ReasoningFrame, part: str) -> str:
    """Return a part with its referents' words."""
    text: str = getattr(frame, part)
    return _REFERENT.sub(lambda match: frame.option(int(match[1][1]) - 1), text)


def _faults_of_frame(frame: ReasoningFrame) -> Iterator[Fault]:
    rules = ["rule"] if frame.swapped is None else ["rule", "swapped"]
    parts: dict[str, str] = {part: getattr(frame, part) for part in (*rules, "question", *_FACTS)}
    for exchanged in (rules, _FACTS):  # by a test
        for part, known, text in repeated((part, parts[part]) for part in exchanged):
            what = f"{part}: {text!r} says the same as {known}, so that a test changes nothing; rewrite it"
            yield Fault((part,), what)
    for rule in rules:
        if normalised(frame.beside or "") not in normalised(parts[rule]):
            yield Fault(("beside",), f"beside: {frame.beside!r} is no part of {rule}; take it from there")
    for part in ("question", *_FACTS):
        if (named := {*_REFERENT.findall(parts[part])}) != {"R1", "R2"}:
            names = ", ".join(sorted(named)) or "nobody"
            yield Fault((part,), f"{part}: {parts[part]!r} names {names}; name R1 and R2, and no other")
    options = [normalised(frame.option(number)) for number in range(4)]
    for number, name in enumerate(options):
        for other in options[:number] + options[number + 1 :]:
            if f" {name} " in f" {other} ":
                yield Fault(("referents", number), f"'{name}' is also in '{other}'; give referents different names")
        yield from _disagreeing(("referents", number), frame.referents[number])
        for part, text in parts.items():
            if f" {name} " in f" {normalised(_REFERENT.sub('|', text))} ":
                what = f"{part}: {text!r} has '{name}' in words, which no test can exchange; write {{R{number + 1}}}"
                yield Fault((part,), what)
    for test, *texts, _ in frame.variants():
        yield from (Fault((), f"{test}: {text!r}: {what}") for text in texts for what in faults_of_text(text))


def lint_items(items: ConstructionItems) -> Iterator[Fault]:
    """Find what is wrong with the inferences and the reasoning items of a construction.

    Args:
        items: Its items.yaml.
    """
    if items.inference is not None:
        yield from (fault.below("inference") for fault in lint_inference(items.inference))
    yield from (fault.below("reasoning") for fault in lint_reasoning(items.reasoning))


def lint_premises(items: Mapping[Path, ConstructionItems]) -> dict[Path, list[Fault]]:
    """Find premises that are there twice, in one file or in two.

    Args:
        items: File -> its content.

    Returns:
        File -> its faults; without the files that have none.
    """
    texts = []
    for path, content in items.items():
        if content.inference is not None:
            every = content.inference.all_premises
            texts += [((path, *keys), premise.sentence()) for keys, premise in every.items()]
    faults: dict[Path, list[Fault]] = {}
    for (path, part, number), (earlier, _, _), text in repeated(texts):
        what = f"the premise {text!r} is in {earlier} too; replace one of them"
        faults.setdefault(path, []).append(Fault(("inference", part, number), what))
    return faults
