"""Findings: one rate of one model, that of the best blind model on the same items, and what the two say together."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import isnan
from typing import Any, Literal, NamedTuple

import pandas as pd

from cxprobe.lm.params import Member, earlier_checkpoints, members_of, series_of
from cxprobe.pairs.params import called_pairs, construction_of_pairs
from cxprobe.pairs.report import fixed_preferences, is_mock
from cxprobe.report.comparisons import BEST_BLIND, best_blind
from cxprobe.report.site.inputs import Run
from cxprobe.report.site.words import SETS, in_full, is_smoke_test, name_of_scenario
from cxprobe.run.params import LINES, Params
from cxprobe.scenarios.rules import Scenarios
from cxprobe.stats import LEVEL, Estimate

Question = Literal["form", "meaning", "words"]
QUESTIONS: Mapping[Question, str] = {
    "form": "Does it recognise the form?",
    "meaning": "Does it expect the meaning?",
    "words": "Does it say so?",
}
ASKED: Mapping[Question, str] = {"form": "about the form", "meaning": "about the meaning", "words": "in words"}
HALF = 0.5  # chance of two answers
CHANCE_IN_BOTH = 0.25  # of two independent guesses; a preference for one of two people is hardly ever right in both
_MARGIN = ("margin", "margin_low", "margin_high")
_SENTENCES = {"construction": "sentences with the construction", "rival": "rivals without it"}
_WAYS: Mapping[str, tuple[Question, str]] = {
    "recognised": ("form", "probe trained on other frames"),
    "expected": ("meaning", "likelihood"),
    "said": ("words", "asked in words"),
}


class Verdict(NamedTuple):
    """What a rate says by the stated rule: a key for the style of the page, a sign without colour, words, the rule."""

    key: str
    sign: str
    words: str
    rule: str


ABOVE_BLIND = Verdict(
    "above-blind",
    "▲",
    "above the best blind model",
    "the interval lies above chance, and the difference from the best blind model that ran, on the same items, above "
    "0, after Holm's correction where it is tested; where the two were not compared, their intervals do not overlap; a "
    "blind model that did not run may be right as often",
)
ABOVE_CHANCE = Verdict(
    "above-chance",
    "◆",
    "above chance, not shown to be above the best blind model",
    "the interval lies above chance, and the difference from the best blind model that ran is not shown to be above 0",
)
NO_BLIND = Verdict(
    "above-chance", "◇", "above chance; no blind model ran", "the interval lies above chance, and no blind model ran"
)
PREFERENCE = Verdict(
    "preference",
    "⇄",
    "a fixed preference",
    "not above chance, and in most items the same answer is chosen, whether or not it is right: the model is mostly "
    "right where that answer is right, and mostly wrong where it is not",
)
NO_DIFFERENCE = Verdict(
    "none", "○", "not distinguishable from chance", "the interval contains chance, which is no proof of ignorance"
)
BELOW = Verdict("below", "▼", "below chance", "the interval lies below chance")
SMOKE_TEST = Verdict(
    "none", "·", "too few items", "the interval is wider than 50 points: a smoke test, of which a count is shown"
)
NO_RATE = Verdict(
    "none", "–", "no rate", "in each wording one answer is always right, so a rate over all of them would say nothing"
)
VERDICTS = (ABOVE_BLIND, ABOVE_CHANCE, NO_BLIND, PREFERENCE, NO_DIFFERENCE, BELOW, SMOKE_TEST, NO_RATE)


class Blind(NamedTuple):
    """The best blind model on the items of a finding."""

    model: str
    rate: Estimate


@dataclass(frozen=True)
class Finding:
    """What one model gets on one kind of items of one construction.

    Attributes:
        line: The line of work.
        construction: Its folder.
        model: The slug.
        question: The column of the overview that it belongs to.
        way: How it was asked, such as "minimal pairs".
        rate: The share of right answers; None where no rate sums them up.
        blind: The best blind model on the same kind of items; None if none ran.
        table: The table that has the rate, relative to results/, without suffix.
        chance: What a model without any knowledge gets, in [0, 1].
        source: Where the items come from, as runs in MLflow name it.
        run: What runs in MLflow call the construction where it is not its folder, as for its pairs of form; else "".
        headline: Whether it stands in the overview.
        note: What else is to be said of the rate.
        preference: What shows that the model has a fixed preference; "" if nothing does.
        ahead: Whether it is above the best blind model on the same items, by the paired difference; None where the two
            were not compared so, and their intervals must not overlap.
    """

    line: str
    construction: str
    model: str
    question: Question
    way: str
    rate: Estimate | None
    blind: Blind | None
    table: str
    chance: float = HALF
    source: str = "own"
    run: str = ""
    headline: bool = True
    note: str = ""
    preference: str = ""
    ahead: bool | None = None

    @property
    def verdict(self) -> Verdict:
        """What the rate says, by the rules of `VERDICTS`."""
        if self.rate is None:
            return NO_RATE
        if is_smoke_test(self.rate):
            return SMOKE_TEST
        if self.rate.low > self.chance:
            if self.blind is None:
                return NO_BLIND
            ahead = self.rate.low > self.blind.rate.high if self.ahead is None else self.ahead
            return ABOVE_BLIND if ahead else ABOVE_CHANCE
        if self.preference:
            return PREFERENCE
        return BELOW if self.rate.high < self.chance else NO_DIFFERENCE


@dataclass(frozen=True)
class Cast:
    """The models of a run, and which of them are shown.

    Attributes:
        members: Slug -> the model, in the order of params.yaml.
        earlier: Checkpoints of a training without the last, which stand in the curves alone.
        mocks: Models that answer without a model: they try the pipeline, and are shown beside no other.
        blind: Models that cannot know a construction.
        twins: Models with the architecture of another, and weights that know nothing.
        shown: What the report is about: trained, no mock models, and of a training the last checkpoint.
    """

    members: Mapping[str, Member]
    earlier: Sequence[str] = ()
    mocks: Sequence[str] = ()
    blind: Sequence[str] = ()
    twins: Sequence[str] = ()
    shown: Sequence[str] = ()

    @classmethod
    def of(cls, params: Params) -> "Cast":
        """Return the models of all lines of work that run."""
        sections = [getattr(params, line) for line in LINES]
        members = {
            member.slug: member
            for own in sections
            for member in members_of(params.models, own.models, params.llms, getattr(own, "llms", ()))
        }
        earlier = earlier_checkpoints(series_of(params.models, {slug for own in sections for slug in own.models}))
        kinds: dict[str, list[str]] = {"earlier": [], "mocks": [], "blind": [], "twins": [], "shown": []}
        for slug, member in members.items():
            if slug in earlier:
                kinds["earlier"].append(slug)
            elif is_mock(member):
                kinds["mocks"].append(slug)
            elif member.is_blind:
                kinds["blind"].append(slug)
            else:
                kinds["shown" if member.state == "trained" else "twins"].append(slug)
        return cls(members, **kinds)

    @property
    def with_pages(self) -> list[str]:
        """Models that have a page of their own."""
        return [*self.shown, *self.twins]

    def label(self, slug: str) -> str:
        """Return the name of a model for people."""
        return self.members[slug].label if slug in self.members else slug

    def best(self, rates: pd.DataFrame) -> Blind | None:
        """Return the blind model with the highest accuracy; None if there is none."""
        blind = rates[rates["model"].isin(self.blind)]  # others may be asked about an item in several ways
        best = best_blind(blind, [], [self.members[slug] for slug in self.blind])
        return Blind(str(best["model"].iloc[0]), rate_of(best.iloc[0])) if len(best) else None

    def question(self, model: str, tests: str) -> Question:
        """Return the column of what a model is asked: one that answers in words says so, whatever is tested."""
        if model in self.members and self.members[model].is_asked:
            return "words"
        return "form" if tests == "form" else "meaning"


def rate_of(row: "pd.Series[Any]", value: str = "accuracy") -> Estimate:
    """Return the rate of a row of a table: its value, low, high and n."""
    return Estimate(float(row[value]), float(row["low"]), float(row["high"]), int(row["n"]))


def groups_of(table: pd.DataFrame, *by: str) -> Iterator[tuple[tuple[str, ...], pd.DataFrame]]:
    """Give the values of columns with their rows, in the table's order; nothing for a table that is absent."""
    if len(table):
        yield from ((tuple(map(str, key)), own) for key, own in table.groupby(list(by), sort=False))


def findings_of(run: Run, cast: Cast) -> list[Finding]:
    """Return what every model gets that has a page, on all items of all constructions.

    Args:
        run: What the run has left.
        cast: Its models.
    """
    findings = [finding for read in (_recognition, _pairs, _scenarios, _prompts) for finding in read(run, cast)]
    order = {slug: number for number, slug in enumerate(cast.with_pages)}
    return sorted((one for one in findings if one.model in order), key=lambda one: order[one.model])


def _ahead_of_blind(run: Run, line: str, *by: str) -> dict[tuple[str, ...], bool]:
    """Return whether models are above the best blind model on the same items, by model and the values of ``by``."""
    table, ahead = run.table(f"report_{line}/tables/comparisons"), {}
    for _, row in table[table["compares"] == BEST_BLIND].iterrows() if len(table) else ():
        p = float(row["p_holm"])
        shown = row["low"] > 0 if isnan(p) else row["difference"] > 0 and p < 1 - LEVEL
        ahead[str(row["first"]), *(str(row[column]) for column in by)] = bool(shown)
    return ahead


def _recognition(run: Run, cast: Cast) -> Iterator[Finding]:
    path = "report_recognition/tables/recognition"
    ahead = _ahead_of_blind(run, "recognition", "construction", "source")
    for (construction,), of_it in groups_of(run.table(path), "construction"):
        best = {source: cast.best(rates) for (source,), rates in groups_of(of_it, "source")}
        # The overview has the source on which the best blind model gets least.
        hardest = min(best, key=lambda source: blind.rate.value if (blind := best[source]) else 0.0)
        for _, row in of_it.iterrows():
            yield Finding(
                "recognition",
                construction,
                str(row["model"]),
                "form",
                f"probe, {row['source']} sentences",
                rate_of(row),
                best[str(row["source"])],
                path,
                chance=float(row["control_majority"]),
                source=str(row["source"]),
                headline=row["source"] == hardest,
                note=f"layer {int(row['layer'])}, the middle one",
                ahead=ahead.get((str(row["model"]), construction, str(row["source"]))),
            )


def _pairs(run: Run, cast: Cast) -> Iterator[Finding]:
    path = "report_pairs/accuracy"
    rates, sentences = run.table(path), run.table("report_pairs/tables/sentences")
    several = dict(sentences.groupby("construction")["sentence"].nunique() > 1) if len(sentences) else {}
    preferences, ahead = {}, _ahead_of_blind(run, "pairs", "construction")
    for (model, construction, words), rows in fixed_preferences(sentences).items():
        if words == "real":
            where = [f" ({_SENTENCES[row['sentence']]})" if several[construction] else "" for row in rows]
            wrong, right = (f"{in_full(rate_of(row))} of variant {row['variant']}" for row in rows)
            preferences[model, construction] = f"right in {wrong}{where[0]}, and in {right}{where[1]}"
    for (name,), own in groups_of(rates[rates["words"] == "real"] if len(rates) else rates, "construction"):
        whole = own[own["n"] == own["n"].max()]  # of those that were asked about all pairs
        blind, blind_in_both = cast.best(whole), cast.best(_right_in_both(whole))
        tests, both = str(own["tests"].iloc[0]), _right_in_both(own)
        for place, row in own.iterrows():
            model = str(row["model"])
            asked, said = cast.question(model, tests), preferences.get((model, name), "")
            of_pairs, single = ("pairs", construction_of_pairs(name), model, asked), place not in both.index
            way, than_blind = called_pairs(name), ahead.get((model, name))
            if single:
                yield Finding(*of_pairs, way, rate_of(row), blind, path, run=name, preference=said, ahead=than_blind)
                continue
            yield Finding(*of_pairs, way, rate_of(row), blind, path, run=name, preference=said, headline=False)
            in_both = both.loc[[place]].iloc[0]
            rate, margin = rate_of(in_both), [float(in_both[name]) for name in _MARGIN]
            of_margin = "" if isnan(margin[0]) else "mean margin {:+.3f} nats [{:+.3f}, {:+.3f}]".format(*margin)
            once = f"right in one order: {in_full(rate_of(row))}"
            yield Finding(
                *(*of_pairs, f"{way}, right in both orders", rate, blind_in_both, path),
                chance=CHANCE_IN_BOTH,
                run=name,
                note=f"{of_margin}; {once}" if of_margin else once,
                preference=once if rate.high < CHANCE_IN_BOTH and row["high"] >= HALF else "",
            )
    # Constructions of which every wording has one answer that is always right are not among the rates.
    known, path = set(rates.get("construction", ())), "report_pairs/tables/unbalanced"
    for (name, model), own in groups_of(run.table(path), "construction", "model"):
        if name not in known:
            real = own[own["words"] == "real"]
            said = "; ".join(
                f"{row['right']} not {row['wrong']}: {in_full(rate_of(row))}" for _, row in real.iterrows()
            )
            folder, way, asked = construction_of_pairs(name), called_pairs(name), cast.question(model, "form")
            yield Finding("pairs", folder, model, asked, way, None, None, path, run=name, note=said)


def _right_in_both(rates: pd.DataFrame) -> pd.DataFrame:
    """Return the rates of being right in both orders of two people as accuracies, where pairs have two orders."""
    columns = {"both": "accuracy", "both_low": "low", "both_high": "high", "both_n": "n"}
    numbers = {name: pd.to_numeric(rates[name], errors="coerce") for name in (*columns, *_MARGIN)}
    both = rates.assign(**numbers).drop(columns=[*columns.values()]).rename(columns=columns)
    return both.dropna(subset=["n"])


def _scenarios(run: Run, cast: Cast) -> Iterator[Finding]:
    path, ahead = "report_scenarios/accuracy", _ahead_of_blind(run, "scenarios", "construction", "scenario")
    for (construction, name), own in groups_of(run.table(path), "construction", "scenario"):
        scenarios, blind = run.scenarios(construction), cast.best(own)
        for _, row in own.iterrows():
            model = str(row["model"])
            yield Finding(
                "scenarios",
                construction,
                model,
                "meaning",
                f"scenario {name_of_scenario(name, scenarios)}",
                rate_of(row),
                blind,
                path,
                headline=name == scenarios.base,
                preference=_preference_of_scenarios(run, construction, model, scenarios),
                ahead=ahead.get((model, construction, name)),
            )


def _preference_of_scenarios(run: Run, construction: str, model: str, scenarios: Scenarios) -> str:
    """Return how often a model keeps to one word where the other becomes right, or "" if not in most items."""
    turned = [name for name, test in scenarios.tests.items() if test.answer != scenarios.tests[scenarios.base].answer]
    flips = run.table(f"report_scenarios/tables/{construction}/flips")
    own = flips[(flips["model"] == model) & (flips["calibration"] == "none") & flips["scenario"].isin(turned)]
    for _, row in own[own["low"] > HALF].iterrows():
        named = name_of_scenario(str(row["scenario"]), scenarios)
        rate = in_full(rate_of(row, "flips"))
        return f"it keeps to the same word in {rate}, where the other one becomes right ({named})"
    return ""


def _prompts(run: Run, cast: Cast) -> Iterator[Finding]:
    path, score = "report_prompts/accuracy", run.params.prompts.judge.score
    ahead = _ahead_of_blind(run, "prompts", "construction", "set")
    for (construction, asked_of), of_it in groups_of(run.table(path), "construction", "set"):
        blind, own = cast.best(of_it), of_it[of_it["asked"].isin(["reply", score])]
        for _, row in own.assign(least=own.groupby("model")["shots"].transform("min")).iterrows():
            model, shots = str(row["model"]), int(row["shots"])
            thought = ", reasoned" if row["chain_of_thought"] else ""
            headline = shots == row["least"] and not thought
            yield Finding(
                "prompts",
                construction,
                model,
                cast.question(model, "meaning"),
                f"{SETS.get(asked_of, asked_of)}, {shots} shot{'' if shots == 1 else 's'}{thought}",
                rate_of(row),
                blind,
                path,
                chance=float(row["chance"]),
                headline=headline,
                ahead=ahead.get((model, construction, asked_of)) if headline else None,
                note="" if row["asked"] == "reply" else f"by the likelihood of the answers ({score})",
            )


def findings_of_ways(construction: str, run: Run, cast: Cast) -> Iterator[Finding]:
    """Yield what each model gets on the same pairs in each way; the blind model is a probe on counts of words."""
    for model, name in product(cast.with_pages, run.constructions[construction].pairs):
        path = run.path_of_ways(model, name, "ways")
        rates = {str(row["way"]): rate_of(row) for _, row in run.table(path).iterrows()}
        blind = Blind("counts of words", rates["words"]) if "words" in rates else None
        for way, (question, called) in _WAYS.items():
            if way in rates:
                of_it = f"{called_pairs(name)}: {called}"
                yield Finding("pairs", construction, model, question, of_it, rates[way], blind, path, headline=False)


def findings_of_variants(construction: str, run: Run, cast: Cast) -> Iterator[Finding]:
    """Yield what models get on each wording of the minimal pairs, as findings of their own."""
    path = "report_pairs/tables/sentences"
    table = run.table(path)
    for name, pairs in run.constructions[construction].pairs.items() if len(table) else ():
        own = table[(table["construction"] == name) & (table["words"] == "real")]
        several = own["sentence"].nunique() > 1
        for _, row in own[own["model"].isin(cast.with_pages)].iterrows():
            variant, model = str(row["variant"]), str(row["model"])
            asked = pairs.variants[variant].continuation if variant in pairs.variants else ""
            way = f"{variant}{', ' + row['sentence'] if several else ''}: {asked}"
            yield Finding("pairs", construction, model, pairs.tests, way, rate_of(row), None, path)
