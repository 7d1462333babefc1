"""The findings of each line of work, from the tables of its report."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from cxprobe.pairs.report import fixed_preferences
from cxprobe.report.site.findings import Blind, Cast, Finding, Question
from cxprobe.report.site.inputs import Run
from cxprobe.report.site.words import SETS, in_full, name_of_scenario
from cxprobe.scenarios.rules import Scenarios
from cxprobe.stats import Estimate

HALF = 0.5  # chance of two answers
_SENTENCES = {"construction": "sentences with the construction", "rival": "rivals without it"}


def findings_of(run: Run, cast: Cast) -> list[Finding]:
    """Return what every model gets that is neither blind nor a mock model, on all items of all constructions.

    Args:
        run: What the run has left.
        cast: Its models; of those of `Cast.earlier` nothing is returned.
    """
    found = [finding for read in _READERS for finding in read(run, cast)]
    places = {slug: place for place, slug in enumerate([*cast.shown, *cast.twins])}
    kept = [finding for finding in found if finding.model in places]
    return sorted(kept, key=lambda finding: places[finding.model])


def best_of(rates: pd.DataFrame, cast: Cast) -> Blind | None:
    """Return the blind model with the highest accuracy, of several the first of the grid; None if there is none."""
    order = {slug: place for place, slug in enumerate(cast.blind)}
    own = rates[rates["model"].isin(list(order))]
    if own.empty:
        return None
    ranked = own.assign(_place=own["model"].map(order)).sort_values(
        ["accuracy", "_place"], ascending=[False, True], kind="stable"
    )
    return Blind(str(ranked["model"].iloc[0]), rate_of(ranked.iloc[0]))


def rate_of(row: "pd.Series[Any]", value: str = "accuracy") -> Estimate:
    """Return the rate of a row of a table: its value, low, high and n."""
    return Estimate(float(row[value]), float(row["low"]), float(row["high"]), int(row["n"]))


def _recognition(run: Run, cast: Cast) -> Iterator[Finding]:
    path = "report_recognition/tables/recognition"
    for construction, of_it in _groups(run.table(path), "construction"):
        best = {source: best_of(rates, cast) for source, rates in _groups(of_it, "source")}
        hardest = _hardest(best)
        for _, row in of_it.iterrows():
            source = str(row["source"])
            yield Finding(
                construction=construction,
                model=str(row["model"]),
                question="form",
                way=f"probe, {source} sentences",
                rate=rate_of(row),
                chance=float(row["control_majority"]),
                blind=best[source],
                table=f"{path}.csv",
                stage="judge_probes",
                source=source,
                headline=source == hardest,
                note=f"layer {int(row['layer'])}, the middle one",
            )


def _hardest(best: Mapping[str, Blind | None]) -> str:
    """Return the source of sentences on which the best blind model gets least; the first where none has run."""
    return min(best, key=lambda source: blind.rate.value if (blind := best[source]) is not None else 0.0)


def _pairs(run: Run, cast: Cast) -> Iterator[Finding]:
    path = "report_pairs/accuracy"
    rates, preferences = run.table(path), _preferences_of_pairs(run.table("report_pairs/tables/sentences"))
    for construction, own in _groups(rates[rates["words"] == "real"] if len(rates) else rates, "construction"):
        blind, tests = best_of(own, cast), str(own["tests"].iloc[0])
        for _, row in own.iterrows():
            model = str(row["model"])
            yield Finding(
                construction=construction,
                model=model,
                question=_question(model, tests, cast),
                way="minimal pairs",
                rate=rate_of(row),
                chance=HALF,
                blind=blind,
                table=f"{path}.csv",
                stage=_judged_by(model, cast, "judge_pair_replies", "judge_pairs"),
                source="own",
                preference=preferences.get((model, construction), ""),
            )
    yield from _without_rate(run, cast, {str(name) for name in rates.get("construction", ())})


def _without_rate(run: Run, cast: Cast, known: set[str]) -> Iterator[Finding]:
    """Give findings without a rate for constructions of which every wording has one answer that is always right."""
    path = "report_pairs/tables/unbalanced"
    for (construction, model), own in _groups_of_two(run.table(path)):
        if construction not in known:
            real = own[own["words"] == "real"]
            said = [f"{row['right']} not {row['wrong']}: {in_full(rate_of(row))}" for _, row in real.iterrows()]
            yield Finding(
                construction=construction,
                model=model,
                question=_question(model, "form", cast),
                way="minimal pairs",
                rate=None,
                chance=HALF,
                blind=None,
                table=f"{path}.csv",
                stage=_judged_by(model, cast, "judge_pair_replies", "judge_pairs"),
                source="own",
                note="; ".join(said),
            )


def _preferences_of_pairs(sentences: pd.DataFrame) -> dict[tuple[str, str], str]:
    """Return (model, construction) -> which sentences it gets mostly wrong and which mostly right, as far as both."""
    several = dict(sentences.groupby("construction")["sentence"].nunique() > 1) if len(sentences) else {}
    found = {}
    for (model, construction, words), rows in fixed_preferences(sentences).items():
        if words == "real":
            said = [
                f"{in_full(rate_of(row))} of variant {row['variant']}"
                + (f" ({_SENTENCES[row['sentence']]})" if several[construction] else "")
                for row in rows
            ]
            found[model, construction] = f"right in {said[0]}, and in {said[1]}"
    return found


def _scenarios(run: Run, cast: Cast) -> Iterator[Finding]:
    path = "report_scenarios/accuracy"
    for construction, of_it in _groups(run.table(path), "construction"):
        scenarios = run.scenarios(construction)
        for name, own in _groups(of_it, "scenario"):
            blind = best_of(own, cast)
            for _, row in own.iterrows():
                model = str(row["model"])
                yield Finding(
                    construction=construction,
                    model=model,
                    question="meaning",
                    way=f"scenario {name_of_scenario(name, scenarios)}",
                    rate=rate_of(row),
                    chance=HALF,
                    blind=blind,
                    table=f"{path}.csv",
                    stage="judge_scenarios",
                    headline=name == scenarios.base,
                    preference=_preference_of_scenarios(run, construction, model, scenarios),
                )


def _preference_of_scenarios(run: Run, construction: str, model: str, scenarios: Scenarios) -> str:
    """Return how often a model keeps to one word where the other becomes right, or "" if not in most items."""
    turned = [name for name, test in scenarios.tests.items() if test.answer != scenarios.tests[scenarios.base].answer]
    flips = run.table(f"report_scenarios/tables/{construction}/flips")
    own = flips[(flips["model"] == model) & (flips["calibration"] == "none") & flips["scenario"].isin(turned)]
    kept = own[own["low"] > HALF]
    if kept.empty:
        return ""
    row = kept.iloc[0]
    named = name_of_scenario(str(row["scenario"]), scenarios)
    rate = in_full(rate_of(row, "flips"))
    return f"it keeps to the same word in {rate}, where the other one becomes right ({named})"


def _prompts(run: Run, cast: Cast) -> Iterator[Finding]:
    path = "report_prompts/accuracy"
    rates = run.table(path)
    if rates.empty:
        return
    score = run.params.judge_answers.score if run.params.judge_answers is not None else ""
    for (construction, asked_of), of_it in rates.groupby(["construction", "set"], sort=False):
        blind = best_of(of_it, cast)
        own = of_it[of_it["asked"].isin(["reply", score])]
        least = own.assign(least=own.groupby("model")["shots"].transform("min"))
        for _, row in least.iterrows():
            model, shots = str(row["model"]), int(row["shots"])
            thought = ", reasoned" if row["chain_of_thought"] else ""
            yield Finding(
                construction=str(construction),
                model=model,
                question=_question(model, "meaning", cast),
                way=f"{SETS.get(str(asked_of), str(asked_of))}, {shots} shot{'' if shots == 1 else 's'}{thought}",
                rate=rate_of(row),
                chance=float(row["chance"]),
                blind=blind,
                table=f"{path}.csv",
                stage=_judged_by(model, cast, "judge_replies", "judge_answers"),
                headline=shots == row["least"] and not thought,
                note="" if row["asked"] == "reply" else f"by the likelihood of the answers ({score})",
            )


_READERS: Sequence[Callable[[Run, Cast], Iterator[Finding]]] = (_recognition, _pairs, _scenarios, _prompts)


def _question(model: str, tests: str, cast: Cast) -> Question:
    """Return the column of what a model is asked: one that answers in words says so, whatever is tested."""
    if model in cast.members and cast.members[model].is_asked:
        return "words"
    return "form" if tests == "form" else "meaning"


def _judged_by(model: str, cast: Cast, asked: str, other: str) -> str:
    return asked if model in cast.members and cast.members[model].is_asked else other


def _groups(table: pd.DataFrame, column: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Give the values of a column with their rows, in the table's order; nothing for a table that is absent."""
    if len(table):
        yield from ((str(name), own) for name, own in table.groupby(column, sort=False))


def _groups_of_two(table: pd.DataFrame) -> Iterator[tuple[tuple[str, str], pd.DataFrame]]:
    if len(table):
        for (construction, model), own in table.groupby(["construction", "model"], sort=False):
            yield (str(construction), str(model)), own
