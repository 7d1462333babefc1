"""Verdicts as whole sentences, the same in the README, on pages, in MLflow and in Python."""

from collections.abc import Mapping, Sequence

from cxprobe.constructions.construction import Construction
from cxprobe.results.findings import Finding, Question
from cxprobe.results.verdict import Style
from cxprobe.results.words import interval, percent
from cxprobe.stats import WIDEST, Estimate

# {s} is the ending of the third person.
_CLAUSES: Mapping[Question, str] = {
    "form": "recognise{s} the form of {name}",
    "meaning": "expect{s} {expects}",
    "words": "say{s} what follows from {name}",
    "used": "use{s} what can be read of {name} in its vectors",
}
_FOUND: Mapping[Question, str] = {
    "meaning": "It knows the meaning of",
    "form": "It knows the form of",
    "words": "In answers to prompts, it says what follows from",
    "used": "It uses what can be read in its vectors of",
}
_NOT_FOUND: Mapping[Style, str] = {
    "explained": "It is right, perhaps without the construction, in",
    "absent": "It does not know",
    "undecided": "The data do not decide on",
}
_OTHERS: Mapping[Style, str] = {
    "explained": "{} more right, perhaps without it",
    "absent": "{} not known",
    "undecided": "{} undecided",
}
CONDITIONS: Mapping[str, str] = {
    "construction": "after the construction",
    "control": "after plain words that say the same",
    "neutral": "after a neutral sentence",
    "rival": "after nearly the same words without the construction",
    "shuffled": "after the same words in random order",
}
"""Condition of a contrast -> it in words."""


def sentence(finding: Finding, model: str, construction: Construction) -> str:
    """Return the verdict on a finding as a sentence.

    Such as "In 98 % [87, 100] of 40 frames smollm2-135m expects the person before the verb of a ditransitive to be the
    giver, more than after a neutral sentence (68 %) and after nearly the same words without the construction (22 %)."

    Args:
        finding: The finding.
        model: The name of the model for people.
        construction: The construction.
    """
    name = f"“{construction.name}”"
    clause = _CLAUSES[finding.question]
    expects = construction.expects or f"what {name} means"
    does, do = (clause.format(s=ending, name=name, expects=expects) for ending in ("s", ""))
    baseline = ""
    if finding.baseline:
        baseline = _beside(finding.baseline.name, finding.baseline.rate, finding)
    others = [name for name in ("neutral", "rival") if name in finding.conditions]
    beyond = " and ".join(_beside(name, finding.conditions[name], finding) for name in others)
    needed, rate = finding.needed, share(finding.rate, finding.unit)
    return finding.verdict.sentence.format(
        model=model,
        does=does,
        do=do,
        rate=rate,
        Rate=rate[0].upper() + rate[1:],
        chance=percent(finding.row["chance"]),
        baseline=baseline,
        beyond=beyond or baseline,
        control=share(finding.control, finding.unit) if finding.control else "",
        needed=f"; some {needed:,} frames would settle it" if needed > finding.rate.n else "",
    )


def share(rate: Estimate, unit: str) -> str:
    """Return a rate as "in 98 % [87, 100] of 40 frames", or as a count where its interval is wider than 50 points."""
    if rate.high - rate.low > WIDEST:
        return f"in {round(2 * rate.value * rate.n) / 2:g} of {rate.n:,} {unit}"
    return f"in {percent(rate.value)} {interval(rate)} of {rate.n:,} {unit}"


def _beside(name: str, rate: Estimate, finding: Finding) -> str:
    called = CONDITIONS[name] if name in finding.conditions else f"the best baseline, {name}"
    return f"{called} ({percent(rate.value)})"


def by_model(findings: Sequence[Finding]) -> dict[str, list[Finding]]:
    """Return model -> its findings."""
    of: dict[str, list[Finding]] = {}
    for one in findings:
        of.setdefault(one.model, []).append(one)
    return of


def in_sum(findings: Sequence[Finding], names: Mapping[str, str]) -> str:
    """Return what the first page says of one model in a paragraph: for each question of which construction what holds.

    Args:
        findings: What `cxprobe.results.findings.lead_findings` returns of one model.
        names: Construction -> its name for people.
    """
    said = []
    for question, knows in _FOUND.items():
        with_style: dict[Style, list[str]] = {"found": []}
        for one in findings:
            if one.question == question:
                with_style.setdefault(one.verdict.style, []).append(names[one.construction])
        number = sum(map(len, with_style.values()))
        asked = f"{number} construction{'s' * (number > 1)}"
        found = with_style["found"]
        if found:
            said.append(f"{knows} {len(found)} of {asked}: {'; '.join(found)}.")
        elif number:
            said.append(f"{knows} none of {asked}.")
        for style, words in _NOT_FOUND.items():
            if with_it := with_style.get(style):
                said.append(f"{words} {len(with_it)}: {'; '.join(with_it)}.")
    return " ".join(said)


def headline(findings: Sequence[Finding], model: str) -> str:
    """Return the findings of the first page about one model in one sentence; "" if it has no rate of either.

    Such as "smollm2-135m knows the meaning of 5 of 9 constructions (2 more right, perhaps without it; 2 undecided)
    and the form of 11 of 12 (1 undecided)."
    """
    counts: list[str] = []
    for question in ("meaning", "form"):
        styles = [one.verdict.style for one in findings if one.question == question]
        others = [words.format(styles.count(style)) for style, words in _OTHERS.items() if style in styles]
        if styles:
            what = "" if counts else f" construction{'s' * (len(styles) > 1)}"
            beside = f" ({'; '.join(others)})" if others else ""
            counts.append(f"the {question} of {styles.count('found') or 'none'} of {len(styles)}{what}{beside}")
    return f"{model} knows {' and '.join(counts)}." if counts else ""
