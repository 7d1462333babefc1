"""Judged minimal pairs of all models side by side: the tables of the report."""

from collections.abc import Mapping, Sequence
from itertools import groupby, takewhile
from typing import Any

import pandas as pd

from cxprobe.lm.params import Llm, Member, Rule, Series
from cxprobe.pairs.balance import pooled
from cxprobe.report.cards import card_table, composition_table, word_table
from cxprobe.report.dots import PEOPLE
from cxprobe.report.tables import cell
from cxprobe.stats import rate_by, with_tie_rate

_MOCK = "mockllm/"  # begins the name of a model that answers without a model
ALL, ALL_OF_FORM = "all pairs of meaning", "all pairs of form"
_TESTS = {ALL: "meaning", ALL_OF_FORM: "form"}
ONE_ANSWER = "one-answer"
SOURCE = "Oba & Sugawara 2026, their items"  # of the published numbers
_HALF = 0.5
_RATES = ["accuracy", "low", "high", "n", "ties", "tie_rate"]
_BIAS, _CHANGED = ("bias", "low", "high"), ("changed", "changed_low", "changed_high")
# Name -> the two ways of asking that are compared, and the columns of the value and its interval.
_BIASES_ALONG = {"bias (i)": ("order", _BIAS), "bias (ii)": ("variant", _BIAS), "changed": ("order", _CHANGED)}


def fixed_preferences(
    sentences: pd.DataFrame,
) -> dict[tuple[str, str, str], tuple["pd.Series[Any]", "pd.Series[Any]"]]:
    """Return the models that are mostly wrong in one wording of a construction's pairs and mostly right in another.

    Pairs are grouped by the wording of what is asked and, where there are rivals, by whether the sentence has the
    construction: within such a group one answer, or one rule, may be right in all pairs. "Mostly" means that the 95 %
    interval does not contain a half.

    Args:
        sentences: Columns model, construction, words, variant, sentence, accuracy, low, high, n.

    Returns:
        (model, construction, words) -> the row in which the model is most wrong, and the one in which it is most right.
    """
    preferences = {}
    for key, own in sentences.groupby(["model", "construction", "words"], sort=False) if len(sentences) else ():
        worst = own.sort_values("accuracy", kind="stable").iloc[0]  # of several the first, so of one wording if it can
        best = own.sort_values("accuracy", ascending=False, kind="stable").iloc[0]
        if worst["high"] < _HALF < best["low"]:
            model, construction, words = map(str, key)
            preferences[model, construction, words] = (worst, best)
    return preferences


def is_mock(member: Member) -> bool:
    """Return whether a model answers without a model: it tries the pipeline and is shown beside no other."""
    return isinstance(member.spec, Llm) and member.spec.name.startswith(_MOCK)


def accuracies_of_meaning(items: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracies of pairs of meaning with real words, over all of them (`ALL`) and by construction.

    Variants and rivals that were added to the published design are left out: published numbers stand beside these.

    Args:
        items: Judged pairs of several models.

    Returns:
        construction, model, accuracy, low, high, n and ties.
    """
    published = items[(items["origin"] == "paper") & (items["tests"] == "meaning")]
    return rate_by(pairs_in_groups(published, "construction", ALL), "accuracy", ["construction", "model"])


def with_both_orders(constructions: pd.DataFrame, orders: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the accuracies by construction with what `cxprobe.pairs.judge.both_orders` found, where there are orders.

    Args:
        constructions: Columns model, construction, tests, words and any others.
        orders: "both" and "margins", by these four columns.

    Returns:
        The table with the columns both, both_low, both_high and both_n; and margin, margin_low, margin_high,
        standardised and frames, how many the margin is the mean over; NaN where a construction has one order.
    """
    keys = ["model", "construction", "tests", "words"]
    for name, value, n in (("both", "both", "both_n"), ("margins", "margin", "frames")):
        ends = {"low": f"{value}_low", "high": f"{value}_high", "n": n}
        constructions = constructions.merge(orders[name].rename(columns=ends), "left", keys, validate="one_to_one")
    return constructions


def pairs_beside_published(
    accuracies: pd.DataFrame, own_people: pd.DataFrame, objectives: pd.DataFrame, people: pd.DataFrame
) -> pd.DataFrame:
    """Return one table of accuracies by construction, published ones below those of this run.

    The published numbers are about the paper's own items, which differ from this project's: they show what is usual,
    and nothing is marked as different.

    Args:
        accuracies: Columns construction (`ALL` for all of them), model, accuracy, low, high and n.
        own_people: What people say of this project's items (`cxprobe.people.agreement`), by construction;
            empty where nobody has judged them.
        objectives: As published: model, data (what it was trained on) and score, a rate over all items.
        people: As published: construction ("overall" for all), items, and majority_percent, how often the majority of
            the people asked chose the right member.

    Returns:
        construction, model, source, accuracy (in percent, with its interval where there is one) and n; a table for
        reading, in which what was not published is an empty text.
    """
    models = objectives.assign(construction=ALL, accuracy=[f"{100 * score:.1f}" for score in objectives["score"]], n="")
    majority = people.assign(
        construction=people["construction"].replace("overall", ALL),
        model=PEOPLE,
        accuracy=[f"{percent:.1f}" for percent in people["majority_percent"]],
        n=people["items"],
    )
    run = pd.concat([accuracies, own_people.assign(model=PEOPLE)], ignore_index=True)
    run["accuracy"] = [cell(*row) for row in run[["accuracy", "low", "high"]].to_numpy()]
    both = pd.concat(
        [run.assign(source="this run"), models.assign(source=SOURCE), majority.assign(source=SOURCE)], ignore_index=True
    )
    order = {name: place for place, name in enumerate([ALL, *dict.fromkeys(accuracies["construction"])])}
    both = both.sort_values("construction", key=lambda names: names.map(order), kind="stable")
    return both[["construction", "model", "source", "accuracy", "n"]].astype({"n": str}).reset_index(drop=True)


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
        own = rates[rates["model"].isin(models.models)]
        if own["model"].nunique() > 1:
            quantity = own["model"].map(models.models).astype(float)
            tables.append(own.assign(series=name, axis=models.axis, quantity=quantity))
    return pd.concat(tables[1:] or tables, ignore_index=True)[["series", "axis", "quantity", *rates.columns]]


def pairs_along_series(items: pd.DataFrame, rates: pd.DataFrame, series: Mapping[str, Series]) -> pd.DataFrame:
    """Return the accuracies of pairs with real words along every series of models.

    Args:
        items: Judged pairs of several models.
        rates: Their accuracies by construction, see `cxprobe.pairs.judge.pair_tables`.
        series: Name -> the models, each with its quantity.

    Returns:
        series, axis (what the quantity is), model, quantity, construction, accuracy, low, high, n, ties and tie_rate;
        first by construction, then over all pairs of meaning, as construction "all". No rows for a series of which
        fewer than two models ran.
    """
    models = {model for one in series.values() for model in one.models}
    own = pooled(items[items["model"].isin(models) & (items["words"] == "real") & (items["tests"] == "meaning")])
    overall = with_tie_rate(rate_by(own.assign(construction="all"), "accuracy", ["model", "construction"]))
    both = pd.concat([rates[rates["words"] == "real"], overall], ignore_index=True)
    return with_series(both, series)[["series", "axis", "model", "quantity", "construction", *_RATES]]


def biases_along_series(together: pd.DataFrame, biases: pd.DataFrame, series: Mapping[str, Series]) -> pd.DataFrame:
    """Return both biases, and the share of decisions that change with the order, by noun type along every series.

    Args:
        together: The biases of all constructions together, `cxprobe.pairs.judge.biases_of_all`.
        biases: Those of each construction, as `cxprobe.pairs.judge.pair_tables` returns them.
        series: Name -> the models, each with its quantity.

    Returns:
        series, axis, quantity, construction (`ALL` for all of them), model, noun_type, bias ("bias (i)" between the
        orders, "bias (ii)" between the variants, or "changed" with the order), value in [0, 1], low, high and n.

    Source:
        Oba & Sugawara 2026, Figure 7.
    """
    both = pd.concat([together.assign(construction=ALL), biases], ignore_index=True)
    of, rates = ["construction", "model", "noun_type"], ["value", "low", "high", "n"]
    tables = []
    for name, (way, columns) in _BIASES_ALONG.items():
        own = both.loc[both["compares"] == way, [*of, *columns, "n"]].set_axis([*of, *rates], axis=1)
        tables.append(own.assign(bias=name)[[*of, "bias", *rates]])
    return with_series(pd.concat(tables, ignore_index=True), series)


def pairs_in_groups(items: pd.DataFrame, column: str, *names: str) -> pd.DataFrame:
    """Return the judged pairs with real words in balanced cells twice: together, then each under its construction.

    Args:
        items: Judged pairs of several models.
        column: The column that names the group of a pair.
        names: Those of the groups of pairs that stand together: `ALL`, of meaning, or `ALL_OF_FORM`.
    """
    own = pooled(items[items["words"] == "real"])
    together = [own[own["tests"] == _TESTS[name]].assign(**{column: name}) for name in names]
    return pd.concat([*together, own.assign(**{column: own["construction"]})], ignore_index=True)


def rates_by_source(sources: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the accuracies of models on several sets of minimal pairs, one below the other.

    Args:
        sources: Source -> its judged pairs: model, group, accuracy and ``cluster_<name>``.

    Returns:
        source, group, model, accuracy, low, high, n, ties and tie_rate.
    """
    tables = [
        with_tie_rate(rate_by(items.assign(source=source), "accuracy", ["source", "group", "model"]))
        for source, items in sources.items()
    ]
    return pd.concat(tables, ignore_index=True)


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
    wholes = pooled(real).assign(dataset=pooled(real)["construction"])
    both = pd.concat([wholes, real.assign(dataset=real["construction"] + ", " + real["variant"])], ignore_index=True)
    order = {name: number for number, name in enumerate(dict.fromkeys(real["construction"]))}
    both = both.sort_values("construction", key=lambda names: names.map(order), kind="stable")
    first = real.drop_duplicates(["construction", "variant"])
    asked = [_without_answer(good, bad) for good, bad in zip(first["good"], first["bad"], strict=True)]
    questions = first[["construction", "variant"]].assign(question=asked).reset_index(drop=True)
    return cards_of(both, members, limit) | {"card_questions": questions}


def _without_answer(good: str, bad: str) -> str:
    """Return a continuation with "…" in the place of the words in which the two members of a pair differ."""
    one, other = (text.strip().removesuffix(".").split() for text in (good, bad))
    if len(one) == len(other):
        kept = [word if word == its else "…" for word, its in zip(one, other, strict=True)]
        return " ".join(word for word, _ in groupby(kept))
    before = _shared(one, other)
    after = _shared(one[before:][::-1], other[before:][::-1])
    return " ".join([*one[:before], "…", *one[len(one) - after :]])


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many words two texts begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


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
