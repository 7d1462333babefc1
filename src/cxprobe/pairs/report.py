"""Judged minimal pairs of all models side by side: the tables and figures of the report."""

from collections.abc import Mapping, Sequence
from itertools import groupby, takewhile

import pandas as pd
from matplotlib.figure import Figure

from cxprobe.lm.params import Member, Rule, Series, earlier_checkpoints, series_of
from cxprobe.pairs.balance import pooled
from cxprobe.pairs.controls import with_verdicts
from cxprobe.pairs.figures import benchmark_figures, pair_figures, series_figures
from cxprobe.pairs.judge import ANSWERED, biases_of_all, several, with_groups
from cxprobe.pairs.margins import of_meaning
from cxprobe.pairs.params import PairsStage
from cxprobe.pairs.replies import asked_rates
from cxprobe.pairs.sources import OWN_PAIRS
from cxprobe.report.cards import card_table, composition_table, word_table
from cxprobe.report.comparisons import best_blind, compare_models
from cxprobe.report.dots import PEOPLE
from cxprobe.report.findings import against_blind
from cxprobe.report.judging import line_members
from cxprobe.report.tables import cell, with_blanks
from cxprobe.stats import rate_by, with_tie_rate

MEANING = "all pairs of meaning"
ALL_PAIRS = {MEANING: "meaning", "all pairs of form": "form"}
"""Group of all constructions -> what its pairs test."""
ONE_ANSWER = "one-answer"
SOURCE = "Oba & Sugawara 2026, their items"  # of the published numbers
_VALUE = "difference or share"  # of a bias, in figures
_BIASES_ALONG = {  # name -> the two ways of asking that are compared, and the columns of the value and its interval
    "bias (i)": ("order", "bias", "low", "high"),
    "bias (ii)": ("variant", "bias", "low", "high"),
    "changed": ("order", "changed", "changed_low", "changed_high"),
}

TablesAndFigures = tuple[dict[str, pd.DataFrame], dict[str, Figure]]
"""Name -> table, and name -> figure."""


def report_of_pairs(
    params: PairsStage,
    judged: Mapping[str, pd.DataFrame],
    rates: Mapping[str, pd.DataFrame],
    people: pd.DataFrame,
    published: Sequence[pd.DataFrame],
) -> TablesAndFigures:
    """Return the tables and figures of this project's pairs.

    Args:
        params: The parameters.
        judged: "items" and, where models were asked in words, "replies" of all models.
        rates: The tables of `cxprobe.pairs.judge.pair_tables`.
        people: What people say of the items, see `cxprobe.people.estimates.human_agreement`.
        published: The tables "objectives" and "people" of `pairs_beside_published`.
    """
    items, members = judged["items"], line_members(params)
    series, score = series_of(params.models, params.pairs.models), params.pairs.judge.score
    tables = dict(rates) | pair_cards(items, members, params.report.limit)
    figures = pair_figures(tables, score, members, earlier_checkpoints(series), people)
    tables["series_biases"] = biases_along_series(biases_of_all(items), tables["biases"], series)
    along = tables["series_biases"][tables["series_biases"]["construction"] == MEANING]
    along = along.assign(panel=along["bias"] + ", " + along["noun_type"]).rename(columns={"value": _VALUE})
    title = f"biases by noun type, {score.replace('_', ' ')}"
    figures |= {f"{name}_biases": one for name, one in series_figures(along, title, value=_VALUE).items()}
    if "replies" in judged:
        tables["asked"] = asked_rates(judged["replies"], ["model", "construction", "words"])
    compared = compare_pairs(params, items)
    tables["comparisons"] = with_blanks(compared)
    tables["beside_published"] = pairs_beside_published(accuracies_of_meaning(items), people, *published)
    rates_by_construction = with_both_orders(tables.pop("constructions"), tables)
    against = against_blind(compared, "construction")
    tables["accuracy"] = with_blanks(with_verdicts(rates_by_construction, tables.pop("controls"), against))
    return tables, figures


def report_of_benchmark(params: PairsStage, name: str, judged: Mapping[str, pd.DataFrame]) -> TablesAndFigures:
    """Return the tables and figures of a benchmark.

    Args:
        params: The parameters.
        name: What the benchmark is called.
        judged: "items", "scores" and, where models were asked in words, "replies" of all models.
    """
    benchmark, members = params.pairs.benchmarks[name], line_members(params)
    by_group = {key: with_groups(table, benchmark.by) for key, table in judged.items()}
    items, scores = by_group["items"], by_group["scores"]
    tables = cards_of(items.assign(dataset=items["group"]), members, params.report.limit)
    tables["accuracy"] = with_tie_rate(rate_by(items, "accuracy", ["model", "group"]))
    tables["scores"] = with_tie_rate(rate_by(scores, "accuracy", ["model", "group", "scheme", "score"]))
    series = series_of(params.models, params.pairs.models)
    tables["comparisons"] = with_blanks(compare_models(items, ["group"], members, series, params.report.tested))
    if "replies" in by_group:
        tables["asked"] = asked_rates(by_group["replies"], ["model", "group"])
    return tables, benchmark_figures(tables, name, benchmark.score, members)


def report_of_series(params: PairsStage, items: Mapping[str, pd.DataFrame]) -> TablesAndFigures:
    """Return the accuracies along every series of models, of all sources and groups of pairs: "series" and its figures.

    Args:
        params: The parameters.
        items: Source -> the judged pairs of all models.
    """
    section, members = params.pairs, line_members(params)
    series = series_of(params.models, section.models)
    drawn = {member.slug for member in members if member.is_blind}
    drawn = drawn.union(*(one.models for one in series.values()))
    groups, scores = {}, []
    for source, table in items.items():
        shown, benchmark = table[table["model"].isin(drawn)], section.benchmarks.get(source)
        groups[source] = with_groups(shown, benchmark.by) if benchmark else pairs_in_groups(shown, "group", ALL_PAIRS)
        score = benchmark.score if benchmark else section.judge.score
        scores.append(f"{source} ({score.replace('_', ' ')})")
    rates = rates_of_groups(groups)
    along, best = with_series(rates, series), best_blind(rates, ["panel"], members)
    return {"series": along.drop(columns="panel")}, series_figures(along, ", ".join(scores), best)


def rates_of_groups(groups: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the accuracies of models on several sets of minimal pairs, one below the other.

    Args:
        groups: Source -> its judged pairs: model, group, accuracy and ``cluster_<name>``.

    Returns:
        source, group, panel (what figures call the two), model, accuracy, low, high, n, ties and tie_rate.
    """
    tables = []
    for source, items in groups.items():
        rates = with_tie_rate(rate_by(items.assign(source=source), "accuracy", ["source", "group", "model"]))
        rates.insert(2, "panel", rates["group"] if source == OWN_PAIRS else source + ": " + rates["group"])
        tables.append(rates)
    return pd.concat(tables, ignore_index=True)


def accuracies_of_meaning(items: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracies of pairs of meaning with real words, over all of them (`MEANING`) and by construction.

    Variants and rivals that were added to the published design are left out: published numbers stand beside these.

    Args:
        items: Judged pairs of several models.

    Returns:
        construction, model, accuracy, low, high, n and ties.
    """
    published = items[(items["origin"] == "paper") & (items["tests"] == "meaning")]
    published = published.drop(columns=ANSWERED, errors="ignore")  # published rates have all variants
    groups = pairs_in_groups(published, "construction", {MEANING: "meaning"})
    return rate_by(groups, "accuracy", ["construction", "model"])


def with_both_orders(constructions: pd.DataFrame, orders: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the accuracies by construction with those in both orders, and of items of form in every variant.

    Args:
        constructions: Columns model, construction, tests, words and any others.
        orders: "both", "margins" and "every_variant" of `cxprobe.pairs.judge.pair_tables`, by these four columns.

    Returns:
        The table with the columns both, both_low, both_high and both_n; and margin, margin_low, margin_high,
        standardised and frames, how many the margin is the mean over, NaN where a construction has one order; and
        every_variant, every_variant_low, every_variant_high and every_variant_n, NaN for pairs of meaning.
    """
    keys = ["model", "construction", "tests", "words"]
    margins = of_meaning(orders["margins"]).rename(columns={"n": "frames"})
    for value, table in (("both", orders["both"]), ("margin", margins), ("every_variant", orders["every_variant"])):
        ends = {end: f"{value}_{end}" for end in ("low", "high", "n")}
        constructions = constructions.merge(table.rename(columns=ends), "left", keys, validate="one_to_one")
    return constructions


def pairs_beside_published(
    accuracies: pd.DataFrame, own_people: pd.DataFrame, objectives: pd.DataFrame, people: pd.DataFrame
) -> pd.DataFrame:
    """Return one table of accuracies by construction, published ones below those of this run.

    The published numbers are about the paper's own items, which differ from this project's: they show what is usual,
    and nothing is marked as different.

    Args:
        accuracies: Columns construction (`MEANING` for all of them), model, accuracy, low, high and n.
        own_people: What people say of this project's items (`cxprobe.people.estimates`), by construction;
            empty where nobody has judged them.
        objectives: As published: model, data (what it was trained on) and score, a rate over all items.
        people: As published: construction ("overall" for all), items, and majority_percent, how often the majority of
            the people asked chose the right member.

    Returns:
        construction, model, source, accuracy (in percent, with its interval where there is one) and n; a table for
        reading, in which what was not published is an empty text.
    """
    run = pd.concat([accuracies, own_people.assign(model=PEOPLE)], ignore_index=True).assign(source="this run")
    run["accuracy"] = [cell(*row) for row in run[["accuracy", "low", "high"]].to_numpy()]
    models = objectives.assign(construction=MEANING, n="", source=SOURCE)
    models["accuracy"] = (100 * models["score"]).map("{:.1f}".format)
    majority = people.replace({"construction": {"overall": MEANING}}).assign(model=PEOPLE, source=SOURCE)
    majority["accuracy"] = majority["majority_percent"].map("{:.1f}".format)
    both = pd.concat([run, models, majority.rename(columns={"items": "n"})], ignore_index=True)
    order = pd.Index([*dict.fromkeys([MEANING, *both["construction"]])]).get_indexer
    both = both.sort_values("construction", key=order, kind="stable", ignore_index=True)
    return both[["construction", "model", "source", "accuracy", "n"]].astype({"n": str})


def with_series(rates: pd.DataFrame, series: Mapping[str, Series]) -> pd.DataFrame:
    """Return the rows of a table that are about the models of series.

    Args:
        rates: Numbers of several models: the column model and any others.
        series: Name -> the models, each with its quantity.

    Returns:
        series, axis (what the quantity is), quantity, and the table's own columns; the rows of one series after those
        of the other, and none of a series of which the table has fewer than two models.
    """
    tables = [rates.head(0).assign(series="", axis="", quantity=0.0)]
    for name, models in series.items():
        rows = rates[rates["model"].isin(models.models)]
        if rows["model"].nunique() > 1:
            quantity = rows["model"].map(models.models).astype(float)
            tables.append(rows.assign(series=name, axis=models.axis, quantity=quantity))
    return pd.concat(tables[1:] or tables, ignore_index=True)[["series", "axis", "quantity", *rates.columns]]


def biases_along_series(together: pd.DataFrame, biases: pd.DataFrame, series: Mapping[str, Series]) -> pd.DataFrame:
    """Return both biases, and the share of decisions that change with the order, by noun type along every series.

    Args:
        together: The biases of all constructions together, `cxprobe.pairs.judge.biases_of_all`.
        biases: Those of each construction, as `cxprobe.pairs.judge.pair_tables` returns them.
        series: Name -> the models, each with its quantity.

    Returns:
        series, axis, quantity, construction (`MEANING` for all of them), model, noun_type, bias ("bias (i)" between the
        orders, "bias (ii)" between the variants, or "changed" with the order), value in [0, 1], low, high and n.

    Source:
        Oba & Sugawara 2026, Figure 7.
    """
    both = pd.concat([together.assign(construction=MEANING), biases], ignore_index=True)
    of, rates = ["construction", "model", "noun_type"], ["value", "low", "high", "n"]
    tables = []
    for name, (way, *columns) in _BIASES_ALONG.items():
        rows = both.loc[both["compares"] == way, [*of, *columns, "n"]].set_axis([*of, *rates], axis=1)
        rows.insert(len(of), "bias", name)
        tables.append(rows)
    return with_series(pd.concat(tables, ignore_index=True), series)


def compare_pairs(params: PairsStage, items: pd.DataFrame) -> pd.DataFrame:
    """Return how models differ on the same pairs of each construction, and on all of meaning (`compare_models`).

    Args:
        params: The parameters.
        items: Judged pairs of all models.
    """
    comparable = pairs_in_groups(items[items["tests"] != "control"], "construction", {MEANING: "meaning"})
    series = series_of(params.models, params.pairs.models)
    tested = params.report.tested
    return compare_models(comparable, ["construction", "tests"], line_members(params), series, tested, ["tests"])


def pairs_in_groups(items: pd.DataFrame, column: str, together: Mapping[str, str]) -> pd.DataFrame:
    """Return the judged pairs with real words in balanced cells twice: together, then each under its construction.

    Variants that a bag of words answers are not in a group of several constructions.

    Args:
        items: Judged pairs of several models.
        column: The column that names the group of a pair.
        together: Name of a group of pairs of all constructions -> what they test, "meaning" or "form".
    """
    real = pooled(items[items["words"] == "real"])
    groups = [several(real[real["tests"] == tests]).assign(**{column: name}) for name, tests in together.items()]
    return pd.concat([*groups, real.assign(**{column: real["construction"]})], ignore_index=True)


def pair_cards(items: pd.DataFrame, members: Sequence[Member], limit: float) -> dict[str, pd.DataFrame]:
    """Return the cards of the pairs with real words: what they consist of, and what blind models get on them.

    A data set is a construction (its balanced cells), and each of its variants: a rule that is right in one variant and
    wrong in the other solves each, and not the construction. Where one answer is always right, taking it is a blind
    model too: it is called `ONE_ANSWER`, and gets all pairs right.

    Args:
        items: Judged pairs of several models.
        members: What the models are.
        limit: The accuracy above which a data set can be solved without the construction (`report.limit`).

    Returns:
        "card" (`card_table`), with the column always: what is right and what is wrong in all pairs of the data set, or
        an empty text; "card_composition" and "card_words" (`composition_table` and `word_table` of the right and the
        wrong continuations); and "card_questions": construction, variant and question, the first right continuation of
        each variant with its answer left out.
    """
    real = items[items["words"] == "real"]
    wholes = pooled(real.assign(dataset=real["construction"]))
    both = pd.concat([wholes, real.assign(dataset=real["construction"] + ", " + real["variant"])], ignore_index=True)
    both = both.sort_values("construction", key=pd.Index(real["construction"].unique()).get_indexer, kind="stable")
    first = real.drop_duplicates(["construction", "variant"])
    asked = [_without_answer(good, bad) for good, bad in zip(first["good"], first["bad"], strict=True)]
    questions = first[["construction", "variant"]].assign(question=asked).reset_index(drop=True)
    return cards_of(both, members, limit) | {"card_questions": questions}


def _without_answer(good: str, bad: str) -> str:
    """Return a continuation with "…" instead of the words in which the two members of a pair differ."""
    one, other = (text.strip().removesuffix(".").split() for text in (good, bad))
    if len(one) == len(other):
        kept = [word if word == its else "…" for word, its in zip(one, other, strict=True)]
        return " ".join(word for word, _ in groupby(kept))
    before = _shared(one, other)
    after = _shared(one[len(before) :][::-1], other[len(before) :][::-1])
    return " ".join([*before, "…", *after[::-1]])


def _shared(one: Sequence[str], other: Sequence[str]) -> list[str]:
    """Return the words that two texts begin with alike."""
    return [word for word, _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))]


def cards_of(named: pd.DataFrame, members: Sequence[Member], limit: float) -> dict[str, pd.DataFrame]:
    """Return the cards of judged pairs that have a column dataset; see `pair_cards`."""
    texts = named.drop_duplicates(["dataset", "id"])
    one_answer = texts[~texts["balanced"].astype(bool)].assign(model=ONE_ANSWER, accuracy=1.0)
    rates = rate_by(pd.concat([named, one_answer], ignore_index=True), "accuracy", ["dataset", "model"])
    rule = Member(ONE_ANSWER, Rule(kind="fixed_word"), ONE_ANSWER)
    card = card_table(rates, chance=0.5, limit=limit, members=[*members, rule])
    names = one_answer.drop_duplicates("dataset")
    always = dict(zip(names["dataset"], names["right"] + ", not " + names["wrong"], strict=True))
    both = pd.concat(
        [texts.assign(text=texts["good"], label="right"), texts.assign(text=texts["bad"], label="wrong")],
        ignore_index=True,
    )
    return {
        "card": card.assign(always=[always.get(name, "") for name in card["dataset"]]),
        "card_composition": composition_table(both),
        "card_words": word_table(both),
    }
