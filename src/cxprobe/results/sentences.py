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
_IN_SUM: Mapping[Question, str] = {"meaning": "Meaning", "form": "Form", "words": "Asked in words", "used": "Use"}
_STYLES: Mapping[Style, str] = {
    "found": "knows",
    "explained": "right, but not shown to need the construction, in",
    "absent": "does not know",
    "untold": "cannot be told of",
}
_OTHERS: Mapping[Style, str] = {
    "explained": "not shown to need it",
    "absent": "not known",
    "untold": "cannot be told",
}
CONDITIONS: Mapping[str, str] = {
    "construction": "after the construction",
    "control": "after plain words that say the same",
    "neutral": "after a neutral sentence",
    "rival": "after nearly the same words without the construction",
    "deleted": "after the sentence with the construction taken out",
    "shuffled": "after the same words in random order",
}
"""Condition of a contrast -> it in words."""


def sentence(finding: Finding, model: str, construction: Construction) -> str:
    """Return the verdict on a finding as a sentence.

    Such as "smollm2-135m expects the person before the verb of a ditransitive to be the giver, more than after a
    neutral sentence (68 %) and after nearly the same words without the construction (22 %): in 98 % [87, 100] of 40
    frames."

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
    needed = finding.needed or 0
    return finding.verdict.sentence.format(
        model=model,
        does=does,
        do=do,
        rate=share(finding.rate, finding.unit),
        chance=percent(finding.chance),
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
    """Return what the first page says of one model in a paragraph: of each question what is known of which.

    Args:
        findings: What `cxprobe.results.findings.lead_findings` returns of one model.
        names: Construction -> its name for people.
    """
    parts = []
    for question, asks in _IN_SUM.items():
        of_it = [one for one in findings if one.question == question]
        said = []
        for style, words in _STYLES.items():
            with_it = [names[one.construction] for one in of_it if one.verdict.style == style]
            if with_it:
                said.append(f"{words} {len(with_it)} ({', '.join(with_it)})")
        if of_it:
            parts.append(f"{asks}, {len(of_it)} asked: {'; '.join(said)}.")
    return " ".join(parts)


def headline(findings: Sequence[Finding], model: str) -> str:
    """Return the findings of the first page about one model in one sentence; "" if it was not asked about either.

    Such as "smollm2-135m knows the meaning of 5 of 9 constructions (2 not shown to need it, 2 cannot be told) and the
    form of 11 of 12 (1 not shown to need it)."
    """
    counts: list[str] = []
    for question in ("meaning", "form"):
        styles = [one.verdict.style for one in findings if one.question == question]
        others = [f"{styles.count(style)} {words}" for style, words in _OTHERS.items() if style in styles]
        if styles:
            what = "" if counts else " constructions"
            beside = f" ({', '.join(others)})" if others else ""
            counts.append(f"the {question} of {styles.count('found') or 'none'} of {len(styles)}{what}{beside}")
    return f"{model} knows {' and '.join(counts)}." if counts else ""
