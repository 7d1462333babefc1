"""Verdicts as whole sentences, the same in the README, on pages, in MLflow and in Python."""

from collections.abc import Callable, Mapping, Sequence

from cxprobe.constructions.construction import Construction
from cxprobe.results.findings import Finding, Question
from cxprobe.results.verdict import Style
from cxprobe.results.words import percent, share

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
    "explained": "It is right, perhaps without the construction, in {}",
    "absent": "It does not know {}",
    "undecided": "The data do not decide on {}",
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
    clause, expects = _CLAUSES[finding.question], construction.expects or f"what {name} means"
    does, do = (clause.format(s=ending, name=name, expects=expects) for ending in ("s", ""))
    best = finding.baseline
    baseline = ""
    if best:
        called = CONDITIONS[best.name] if best.name in finding.conditions else f"the best baseline, {best.name}"
        baseline = f"{called} ({percent(best.rate.value)})"
    others = [other for other in ("neutral", "rival") if other in finding.conditions]
    beyond = " and ".join(f"{CONDITIONS[other]} ({percent(finding.conditions[other].value)})" for other in others)
    needed, rate = finding.needed, share(finding.rate, finding.unit)
    return finding.verdict.sentence.format(
        model=model,
        does=does,
        do=do,
        rate=f"in {rate}",
        Rate=f"In {rate}",
        chance=percent(finding.row["chance"]),
        baseline=baseline,
        beyond=beyond or baseline,
        control=f"in {share(finding.control, finding.unit)}" if finding.control else "",
        needed=f"; some {needed:,} frames would settle it" if needed > finding.rate.n else "",
    )


def by_model(findings: Sequence[Finding]) -> dict[str, list[Finding]]:
    """Return model -> its findings."""
    models = dict.fromkeys(one.model for one in findings)
    return {model: [one for one in findings if one.model == model] for model in models}


def in_sum(findings: Sequence[Finding], names: Mapping[str, str]) -> str:
    """Return what the first page says of one model in a paragraph: for each question of which construction what holds.

    Args:
        findings: What `cxprobe.results.findings.lead_findings` returns of one model.
        names: Construction -> its name for people.
    """
    said = []
    for question, knows in _FOUND.items():
        of_question = [one for one in findings if one.question == question]
        asked = f"{len(of_question)} construction{'s' * (len(of_question) > 1)}"
        for style, words in {"found": f"{knows} {{}} of {asked}", **_NOT_FOUND}.items():
            if named := [names[one.construction] for one in of_question if one.verdict.style == style]:
                said.append(f"{words.format(len(named))}: {'; '.join(named)}.")
            elif of_question and style == "found":
                said.append(f"{knows} none of {asked}.")
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


def headline_of_several(findings: Sequence[Finding], label: Callable[[str], str]) -> str:
    """Return in one sentence which of several models knows the meaning, and which the form, of the most constructions.

    Such as "Of 3 models smollm2-135m knows the meaning of the most constructions (3 of 9), and smollm2-135m the form
    (3 of 10)."

    Args:
        findings: Those of the first page.
        label: Returns the name of a model for people.
    """
    said, models = list[str](), by_model(findings)
    for question in ("meaning", "form"):
        of_it = {slug: [one for one in listed if one.question == question] for slug, listed in models.items()}
        known = {slug: sum(one.verdict.style == "found" for one in listed) for slug, listed in of_it.items()}
        most, asked = max(known.values()), max(map(len, of_it.values()))
        names = " and ".join(label(slug) for slug, number in known.items() if number == most)
        if asked and most:
            verb = "" if said else f" know{'s' * (' and ' not in names)}"
            what = f"the {question} of the most constructions" if not said else f"the {question} of the most"
            said.append(f"{names}{verb} {what} ({most} of {asked})")
        elif asked:
            said.append(f"none knows the {question} of any of {asked}")
    return f"Of {len(models)} models {', and '.join(said)}." if said else ""
