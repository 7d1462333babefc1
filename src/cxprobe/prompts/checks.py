"""Rules for inferences and reasoning items: a hypothesis does not tell its relation, and nothing is asked twice."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from cxprobe.constructions.faults import OTHER_GENDER, Fault, article_faults, gender_of, normalised, repeated
from cxprobe.prompts.items import ConstructionItems, InferenceItems, MarkedSentence, ReasoningFrame

MOST_OF_A_RELATION = 0.45
"""The share of premises to which a hypothesis may be related in the same way. The relation of a hypothesis alone is
then guessed in 45 % of items at most, where chance is 33 %."""
FEWEST_FOR_SHARES = 10
"""Of fewer premises or frames, shares say little."""
MOST_NAMED_FIRST = 0.6
"""The share of frames whose facts may name the same referent first: the right one, or the wrong one."""
_WORDS_OF_SLOT = re.compile(r"\{([A-Z][A-Z0-9]*)\}")
_REFERENT = re.compile(r"\{(R[1-4])(?::[A-Za-z]+)?\}")
_WITH_ITSELF = re.compile(r"\{(R[1-4])\}[^.{}]*\b(?:than|as) \{\1\}")
_FACTS = ("facts", "other_facts", "nonce_facts")


def lint_inference(asked: InferenceItems) -> Iterator[Fault]:
    """Find what is wrong with the inferences of a construction.

    Args:
        asked: The premises and hypotheses.

    Returns:
        Faults: hypotheses that tell their relation; the same sentence as two premises, as two hypotheses, or as a
        premise and its hypothesis; a phrase twice in a sentence; articles; and pronouns that do not agree.
    """
    yield from _faults_of_templates(asked)
    rendered = {}  # the keys of a premise -> its words, and those of its hypotheses by name
    for keys, premise in asked.all_premises.items():
        rendered[keys] = premise.sentence(), {name: asked.hypothesis(name, premise) for name in asked.golds(premise)}
        yield from (Fault(keys, what) for what in dict.fromkeys(_faults_of_sentence(premise, *rendered[keys])))
    for keys, (part, number), text in repeated((keys, text) for keys, (text, _) in rendered.items()):
        yield Fault(keys, f"{text!r} says the same as {part}[{number}] (counted from 0); replace one of them")
    for name in (name for name, template in asked.hypotheses.items() if _WORDS_OF_SLOT.search(template)):
        asking = ((keys, hypotheses) for keys, (_, hypotheses) in rendered.items() if keys[0] == "premises")
        texts = ((keys, hypotheses[name]) for keys, hypotheses in asking if name in hypotheses)
        for keys, (part, number), text in repeated(texts):
            what = f"{name}: {text!r} is asked about {part}[{number}] (counted from 0) too; replace one of the premises"
            yield Fault(keys, what)


def _faults_of_templates(asked: InferenceItems) -> Iterator[Fault]:
    """Find hypotheses that most premises are related to in one way, that are alike, or that repeat a slot."""
    every = [asked.golds(premise) for premise in asked.premises]
    for name in asked.hypotheses:
        golds = [gold[name] for gold in every if name in gold]
        relation, number = Counter(golds).most_common(1)[0]
        if len(golds) >= FEWEST_FOR_SHARES and number > MOST_OF_A_RELATION * len(golds):
            share = f"{number} of {len(golds)} premises ({number / len(golds):.0%})"
            yield Fault(
                ("hypotheses", name),
                f"the hypothesis '{name}' has the relation {relation} to {share}, so that it tells the answer; at most "
                f"{MOST_OF_A_RELATION:.0%} are allowed: write premises to which it has another",
            )
    for name, known, text in repeated(asked.hypotheses.items()):
        yield Fault(("hypotheses", name), f"{text!r} says the same as the hypothesis '{known}'; take one of them out")
    for name, text in asked.hypotheses.items():
        for slot, number in Counter(_WORDS_OF_SLOT.findall(text)).items():
            if number > 1:
                what = f"{{{slot}}} is in {text!r} {number} times; write a pronoun in its place, as {{{slot}:they}}"
                yield Fault(("hypotheses", name), what)


def _faults_of_sentence(premise: MarkedSentence, text: str, hypotheses: Mapping[str, str]) -> Iterator[str]:
    """Find what is wrong with the words of a premise and of its hypotheses."""
    yield from article_faults(text)
    phrases = premise.phrases()
    marked = ((slot, phrase.words) for slot, phrase in phrases.items() if slot not in premise.slots)
    for slot, known, words in repeated(marked):
        yield f"{slot} and {known} are both {words!r}; a sentence is to name each once"
    for slot, phrase in phrases.items():
        gender = gender_of(phrase.words)
        if gender is not None and phrase.note == OTHER_GENDER[gender]:
            yield f"{slot}: '{phrase.words}' does not agree with the pronoun '{phrase.note}'; write {gender}"
    for name, hypothesis in hypotheses.items():
        yield from (f"{name}: {hypothesis!r}: {what}" for what in article_faults(hypothesis))
    for name, known, hypothesis in repeated([("premise", text), *hypotheses.items()]):
        other = "its premise" if known == "premise" else f"the hypothesis '{known}'"
        yield f"{name}: {hypothesis!r} says the same as {other}; replace one of them"


def lint_reasoning(frames: Sequence[ReasoningFrame]) -> Iterator[Fault]:
    """Find what is wrong with the reasoning frames of a construction.

    Args:
        frames: The frames.

    Returns:
        Faults: parts that say nothing, or the same as another part or frame; facts or a question that do not name both;
        options that are alike, or that are written out where a slot should be; a referent compared with itself;
        articles; and facts that name the right option first too often, or too seldom.
    """
    for number, frame in enumerate(frames):
        yield from (fault.below(number) for fault in dict.fromkeys(_faults_of_frame(frame)))
    for part in ("rule", *_FACTS):
        for number, known, text in repeated((number, _in_words(frame, part)) for number, frame in enumerate(frames)):
            if text:
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
    parts: dict[str, str] = {part: getattr(frame, part) for part in ("rule", "question", *_FACTS)}
    if frame.swapped is not None:
        parts["swapped"] = frame.swapped
        if normalised(frame.swapped) == normalised(frame.rule):
            what = f"swapped: {frame.swapped!r} says the same as the rule, so that R2 cannot be the answer; rewrite it"
            yield Fault(("swapped",), what)
    if frame.beside is not None:
        said = normalised(frame.beside)
        for rule in (part for part in ("rule", "swapped") if part in parts and said not in normalised(parts[part])):
            yield Fault(("beside",), f"beside: {frame.beside!r} is no part of {rule}; take it from there")
    for part, text in parts.items():
        if not normalised(text):
            yield Fault((part,), f"{part} is missing: {text!r} has no words; write it")
    # A test replaces the facts by other ones.
    for part, known, text in repeated((part, parts[part]) for part in _FACTS if normalised(parts[part])):
        yield Fault((part,), f"{part}: {text!r} says the same as {known}, so that the test changes nothing; rewrite it")
    for part in ("question", *_FACTS):
        named = {*_REFERENT.findall(parts[part])}
        if named != {"R1", "R2"}:
            names = ", ".join(sorted(named)) or "nobody"
            yield Fault((part,), f"{part}: {parts[part]!r} names {names}; name R1 and R2, and no other")
    yield from _faults_of_referents(frame, parts)
    for test, *texts, _ in frame.variants():
        yield from (Fault((), f"{test}: {what}") for text in texts for what in article_faults(text))


def _faults_of_referents(frame: ReasoningFrame, parts: Mapping[str, str]) -> Iterator[Fault]:
    names = [frame.option(number) for number in range(4)]
    for number, (name, (pronoun,)) in enumerate(zip(names, frame.referents, strict=True)):
        words = f" {normalised(name)} "
        for other in names[:number] + names[number + 1 :]:
            if words in f" {normalised(other)} ":
                yield Fault(("referents", number), f"'{name}' is also in '{other}'; give referents different names")
        gender = gender_of(name)
        if gender is not None and pronoun == OTHER_GENDER[gender]:
            yield Fault(("referents", number), f"'{name}' does not agree with the pronoun '{pronoun}'; write {gender}")
        for part, text in parts.items():
            if words in f" {normalised(_REFERENT.sub('|', text))} ":
                what = f"{part}: {text!r} has '{name}' in words, which no test can exchange; write {{R{number + 1}}}"
                yield Fault((part,), what)
    for part, text in parts.items():
        for match in _WITH_ITSELF.finditer(text):
            what = f"{part}: {text!r} compares {match[1]} with itself; each referent is to be there once"
            yield Fault((part,), what)


def lint_items(items: ConstructionItems) -> Iterator[Fault]:
    """Find what is wrong with the inferences and the reasoning items of a construction.

    Args:
        items: Its items.yaml.
    """
    if items.inference is not None:
        yield from (fault.below("inference") for fault in lint_inference(items.inference))
    yield from (fault.below("reasoning") for fault in lint_reasoning(items.reasoning))


def lint_premises(items: Mapping[Path, ConstructionItems]) -> dict[Path, list[Fault]]:
    """Find premises that an earlier file has too.

    Args:
        items: File -> its content.

    Returns:
        File -> its faults; without the files that have none.
    """
    texts = [
        ((path, part, number), premise.sentence())
        for path, content in items.items()
        if content.inference is not None
        for (part, number), premise in content.inference.all_premises.items()
    ]
    faults: dict[Path, list[Fault]] = {}
    for (path, part, number), (earlier, _, _), text in repeated(texts):
        if path != earlier:
            what = f"the premise {text!r} is in {earlier} too; replace one of them"
            faults.setdefault(path, []).append(Fault(("inference", part, number), what))
    return faults
