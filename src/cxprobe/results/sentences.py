"""Verdicts as whole sentences, the same in the README, on pages, in MLflow and in Python."""

from collections.abc import Callable, Mapping, Sequence

from cxprobe.constructions.construction import Construction
from cxprobe.results.findings import Finding, Question
from cxprobe.results.verdict import SIGNS, frames_needed, share_of_control, surest_below_bound
from cxprobe.results.words import PERCENT, percent, share, with_interval

# {s} is the ending of the third person.
_CLAUSES: Mapping[Question, str] = {
    "form": "recognise{s} the form of {name}",
    "meaning": "expect{s} {expects}",
    "words": "say{s} what follows from {name}",
    "used": "use{s} what can be read of {name} in its vectors",
}
_ASKED: Mapping[Question, str] = {"meaning": "Meaning", "form": "Form", "words": "Prompts", "used": "Use"}
CONDITIONS: Mapping[str, str] = {
    "construction": "after the construction",
    "control": "after plain words that say the same",
    "neutral": "after a neutral sentence",
    "rival": "after nearly the same words without the construction",
    "shuffled": "after the same words in random order",
}
"""Condition of a contrast -> it in words."""


def condition_in_words(condition: str) -> str:
    """Return a condition of a contrast in words."""
    return CONDITIONS.get(condition) or f"after the rival “{condition.removeprefix('rival_')}”"


def sentence(finding: Finding, model: str, construction: Construction) -> str:
    """Return the verdict on a finding as a sentence.

    Such as "smollm2-135m expects the person before the verb of a ditransitive to be the giver, in part without the
    construction: it adds 0.051 nats [0.033, 0.070] (36 % [23, 49] of the control) to the contrast after the rival
    “near”, in 40 frames."

    Args:
        finding: The finding.
        model: The name of the model for people.
        construction: The construction.
    """
    name = f"“{construction.name}”"
    clause, expects = _CLAUSES[finding.question], construction.expects or f"what {name} means"
    does, do = (clause.format(s=ending, name=name, expects=expects) for ending in ("s", ""))
    best = finding.baseline
    baseline, effects = "", finding.effects
    if best:
        called = condition_in_words(best.name) if effects else f"the best baseline, {best.name}"
        baseline = f"{called} ({percent(best.rate.value)})"
    rate, needed = share(finding.rate, finding.unit), 0
    adds = f"some of {rate}"
    if effects:
        decides = surest_below_bound(effects) if finding.row["verdict"] == "adds_nothing" else effects.nearest
        less = effects.less[decides]
        adds = with_interval(less, "{} nats [{}, {}]", digits=".3f", factor=1)
        if effects.passes_control:
            adds += f" ({with_interval(share_of_control(less, effects.control), PERCENT)} of the control)"
        named = ", which decides" * (decides != effects.nearest)  # tables and pictures name the nearest
        adds += f" to the contrast {condition_in_words(decides)}{named}, in {less.n} frames"
        needed = frames_needed(effects)
    return finding.verdict.sentence.format(
        model=model,
        does=does,
        do=do,
        rate=f"in {rate}",
        Rate=f"In {rate}",
        chance=percent(finding.row["chance"]),
        baseline=baseline,
        adds=adds,
        control=f"in {share(finding.control, finding.unit)}" if finding.control else "",
        needed=f"; some {needed:,} frames would settle it" if needed > finding.rate.n else "",
    )


def by_model(findings: Sequence[Finding]) -> dict[str, list[Finding]]:
    """Return model -> its findings."""
    models = dict.fromkeys(one.model for one in findings)
    return {model: [one for one in findings if one.model == model] for model in models}


def in_sum(findings: Sequence[Finding], names: Mapping[str, str]) -> str:
    """Return what the first page says of one model in a paragraph: of each question, where what holds.

    Args:
        findings: What `cxprobe.results.findings.lead_findings` returns of one model.
        names: Construction -> its name for people.
    """
    said = []
    for question, asked in _ASKED.items():
        verdicts: dict[str, list[str]] = {}
        of_question = [one for one in findings if one.question == question]
        for one in sorted(of_question, key=lambda one: [*SIGNS].index(one.verdict.style)):
            name = names[one.construction]
            if one.effects and one.effects.passes_control:
                name += f" ({percent(one.effects.adds.value / one.effects.control.value)} of the control)"
            verdicts.setdefault(one.verdict.words, []).append(name)
        # Names may have commas: "Way, of manner".
        parts = [f"{words} in {len(of)}: {' · '.join(of)}" for words, of in verdicts.items()]
        if parts:
            number = len(of_question)
            said.append(f"{asked} of {number} construction{'s' * (number > 1)}: {'; '.join(parts)}.")
    return " ".join(said)


_HEADLINES = {
    "meaning": "{found} of {asked} constructions {add} to what {names} expect{s}",
    "form": "{names} recognise{s} {found} of {asked} forms",
}


def headline(findings: Sequence[Finding], label: Callable[[str], str]) -> str:
    """Return in one sentence how many constructions add something for models, and how many forms they recognise.

    Such as "5 of 9 constructions add to what smollm2-135m expects (2 undecided); it recognises 10 of 12 forms." Of
    several models it names the best: "5 of 9 constructions add to what gemma expects (the most of 3 models)."

    Args:
        findings: Those of the first page.
        label: Returns the name of a model for people.
    """
    said, before, models = list[str](), "", by_model(findings)
    for question, pattern in _HEADLINES.items():
        of_it = by_model([one for one in findings if one.question == question])
        if not of_it:
            continue
        asked = max(map(len, of_it.values()))
        found = {
            slug: sum(one.verdict.style == "found" or one.row["verdict"] == "adds_part" for one in listed)
            for slug, listed in of_it.items()
        }
        most = max(found.values())
        best = [slug for slug, number in found.items() if number == most]
        names, is_one, remarks = " and ".join(map(label, best)), len(best) == 1, list[str]()
        if len(best) < len(of_it):
            remarks.append(f"the most of {len(of_it)} models")
        elif len(of_it) < len(models):
            remarks.append(f"of {len(models)} models the only {'one' if is_one else 'ones'} asked")
        undecided = sum(one.verdict.style == "undecided" for one in of_it[best[0]])
        if undecided and len(of_it) == 1:
            remarks.append(f"{undecided} undecided")
        called = ("it" if is_one else "they") if names == before else names
        add = "adds" if most == 1 else "add"
        clause = pattern.format(found=most, asked=asked, add=add, names=called, s="s" * is_one)
        said.append(clause + (f" ({'; '.join(remarks)})" if remarks else ""))
        before = names
    return f"{'; '.join(said)}." if said else ""
