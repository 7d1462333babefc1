"""Fixed preferences: models that give one answer whatever the sentence says, and are half right by that alone."""

import textwrap
from collections.abc import Collection, Mapping, Sequence
from itertools import groupby, takewhile
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from cxprobe.lm.params import Llm, Member, Rule, Series
from cxprobe.pairs.series import along_series, bias_figures, earlier_checkpoints, series_figures, with_series
from cxprobe.report.cards import card_figure, card_table, composition_table, word_table
from cxprobe.report.dots import PEOPLE, PREFERENCE, dots
from cxprobe.report.tables import cell
from cxprobe.stats import rate_by

MOCK = "mockllm/"  # begins the name of a model that answers without a model
_HALF = 0.5


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
    found = {}
    for key, own in sentences.groupby(["model", "construction", "words"], sort=False) if len(sentences) else ():
        worst = own.sort_values("accuracy", kind="stable").iloc[0]  # of several the first, so of one wording if it can
        best = own.sort_values("accuracy", ascending=False, kind="stable").iloc[0]
        if worst["high"] < _HALF < best["low"]:
            model, construction, words = key
            found[str(model), str(construction), str(words)] = (worst, best)
    return found


def mocks_beside_others(members: Sequence[Member]) -> set[str]:
    """Return the mock models if there are other models that are not blind, beside which they must not be drawn."""
    mocks = {member.slug for member in members if is_mock(member)}
    others = [member for member in members if not member.is_blind and member.slug not in mocks]
    return mocks if others else set()


def is_mock(member: Member) -> bool:
    """Return whether a model answers without a model: it tries the pipeline and is shown beside no other."""
    return isinstance(member.spec, Llm) and member.spec.name.startswith(MOCK)


_LABELS = {
    "recognised": "probe (best layer of other frames)",
    "expected": "likelihood",
    "said": "asked in words",
    "words": "probe on counts of words",
}


def ways_figure(rates: pd.DataFrame, title: str) -> Figure:
    """Draw how often each way is right, a row per construction.

    Args:
        rates: Columns construction, way, accuracy, low, high, n, as `cxprobe.judge.rates_of_ways` returns them.
        title: Of the figure.
    """
    shown = rates.assign(way=rates["way"].map(_LABELS), panel="the same pairs")
    return dots(shown, title, rows="construction", colours="way", panels="panel")


ALL, ALL_OF_FORM = "all pairs of meaning", "all pairs of form"
ONE_ANSWER = "one-answer"
SOURCE = "Oba & Sugawara 2026, their items"  # of the published numbers
_QUESTION = 60  # letters of what a variant asks, in figures
_COLUMNS = ["construction", "model", "source", "accuracy", "n"]
_BIASES = {"order": "Bias (i), between original and switched pairs", "variant": "Bias (ii), between the two variants"}
_BIAS, _CHANGED = ("bias", "low", "high"), ("changed", "changed_low", "changed_high")
# Name -> the two ways of asking that are compared, and the columns of the value and its interval.
_BIASES_ALONG = {"bias (i)": ("order", _BIAS), "bias (ii)": ("variant", _BIAS), "changed": ("order", _CHANGED)}


def accuracies_of_meaning(items: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracies of pairs of meaning with real words, over all of them (`ALL`) and by construction.

    Variants that were added to the published design are left out: published numbers stand beside these.

    Args:
        items: Judged pairs of several models: construction, tests, words, origin, balanced, model, accuracy and
            ``cluster_<name>``.

    Returns:
        construction, model, accuracy, low, high, n and ties.
    """
    meaning = _meaning(_balanced(items[items["origin"] == "paper"]))
    both = pd.concat([meaning.assign(construction=ALL), meaning], ignore_index=True)
    return rate_by(both, "accuracy", ["construction", "model"])


def pairs_beside_published(
    accuracies: pd.DataFrame, own_people: pd.DataFrame, objectives: pd.DataFrame, people: pd.DataFrame
) -> pd.DataFrame:
    """Return one table of accuracies by construction, published ones below those of this run.

    The published numbers are about the paper's own items, which differ from this project's: they show what is usual,
    and nothing is marked as different.

    Args:
        accuracies: Columns construction (`ALL` for all of them), model, accuracy, low, high and n.
        own_people: What people say of this project's items (`cxprobe.validation.human_agreement`), by construction;
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
    found = pd.concat([accuracies, own_people.assign(model=PEOPLE)], ignore_index=True)
    run = found.assign(accuracy=[cell(*row) for row in found[["accuracy", "low", "high"]].to_numpy()])
    both = pd.concat(
        [run.assign(source="this run"), models.assign(source=SOURCE), majority.assign(source=SOURCE)], ignore_index=True
    )
    first = {name: place for place, name in enumerate([ALL, *dict.fromkeys(accuracies["construction"])])}
    both = both.sort_values("construction", key=lambda names: names.map(first), kind="stable")
    return both[_COLUMNS].astype({"n": str}).reset_index(drop=True)


def pairs_along_series(items: pd.DataFrame, series: Mapping[str, Series]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the accuracies of pairs with real words along every series of models.

    Args:
        items: Judged pairs of several models, see `accuracies_of_meaning`.
        series: Name -> the models, each with its quantity.

    Returns:
        See `cxprobe.pairs.series.along_series`: by construction; and over all pairs of meaning, as construction "all".
    """
    balanced = _balanced(items)
    parts = balanced[balanced["words"] == "real"], _meaning(balanced).assign(construction="all")
    by_construction, overall = (along_series(part, series, "construction") for part in parts)
    return by_construction, overall


def biases_along_series(together: pd.DataFrame, biases: pd.DataFrame, series: Mapping[str, Series]) -> pd.DataFrame:
    """Return both biases, and the share of decisions that change with the order, by noun type along every series.

    Args:
        together: The biases of all constructions together, `cxprobe.judge.biases_of_all` by model and noun_type.
        biases: Those of each construction, as `cxprobe.judge.pair_tables` returns them.
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


def pairs_in_groups(items: pd.DataFrame) -> pd.DataFrame:
    """Return the judged pairs with real words in balanced cells twice, with a column group.

    Args:
        items: Judged pairs of several models: construction, tests, words, balanced.

    Returns:
        The pairs as group `ALL` or `ALL_OF_FORM`, then each under its construction.
    """
    own = _balanced(items[items["words"] == "real"])
    of_all = [
        own[own["tests"] == tests].assign(group=name) for tests, name in (("meaning", ALL), ("form", ALL_OF_FORM))
    ]
    return pd.concat([*of_all, own.assign(group=own["construction"])], ignore_index=True)


def comparable_pairs(items: pd.DataFrame, series: Mapping[str, Series]) -> pd.DataFrame:
    """Return the judged pairs in which models are compared, in the groups that are compared.

    Args:
        items: Judged pairs, see `accuracies_of_meaning`.
        series: Series of models; of the checkpoints of a training only the last is compared.

    Returns:
        The pairs with real words in balanced cells, twice: those of meaning as construction `ALL`, and all of them
        under their own.
    """
    own = _balanced(items)
    own = own[(own["words"] == "real") & ~own["model"].isin(earlier_checkpoints(series))]
    return pd.concat([_meaning(own).assign(construction=ALL), own], ignore_index=True)


def pair_cards(items: pd.DataFrame, members: Sequence[Member], limit: float) -> dict[str, pd.DataFrame]:
    """Return the cards of the pairs with real words: what they consist of, and what blind models get on them.

    A data set is a construction (its balanced cells), and each of its variants: a rule that is right in one variant and
    wrong in the other solves each, and not the construction. Where one answer is always right, taking it is a blind
    model too: it is called `ONE_ANSWER`, and gets all pairs right.

    Args:
        items: Judged pairs of several models: construction, variant, words, id, context, good, bad, right, wrong,
            balanced, model, accuracy and ``cluster_<name>``.
        members: What the models are.
        limit: The accuracy above which a data set can be solved without the construction (`cards.limit`).

    Returns:
        "card" (`card_table`), with the column always: what is right and what is wrong in all pairs of the data set, or
        an empty text; "card_composition" and "card_words" (`composition_table` and `word_table` of the right and the
        wrong continuations); and "card_questions": construction, variant and question, the first right continuation of
        each variant with its answer left out.
    """
    real = items[items["words"] == "real"]
    balanced = _balanced(real)
    wholes, variants = (
        balanced.assign(dataset=balanced["construction"]),
        real.assign(dataset=real["construction"] + ", " + real["variant"]),
    )
    place = {name: number for number, name in enumerate(dict.fromkeys(real["construction"]))}
    both = pd.concat([wholes, variants], ignore_index=True)
    ordered = both.sort_values("construction", key=lambda names: names.map(place), kind="stable")
    return _cards_of(ordered, members, limit) | {"card_questions": _questions(real)}


def _questions(items: pd.DataFrame) -> pd.DataFrame:
    first = items.drop_duplicates(["construction", "variant"])
    asked = [_without_answer(good, bad) for good, bad in zip(first["good"], first["bad"], strict=True)]
    return first[["construction", "variant"]].assign(question=asked).reset_index(drop=True)


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


def benchmark_cards(items: pd.DataFrame, members: Sequence[Member], limit: float) -> dict[str, pd.DataFrame]:
    """Return the cards of a benchmark of others: a data set is one of its groups.

    Args:
        items: Judged pairs of several models, see `pair_cards`, with their group (`cxprobe.judge.with_groups`).
        members: What the models are.
        limit: See `pair_cards`.

    Returns:
        The tables of `pair_cards`.
    """
    return _cards_of(items.assign(dataset=items["group"]), members, limit)


def _cards_of(named: pd.DataFrame, members: Sequence[Member], limit: float) -> dict[str, pd.DataFrame]:
    """Return the cards of judged pairs that have a column dataset."""
    texts = named.drop_duplicates(["dataset", "id"])
    one_answer = texts[~texts["balanced"].astype(bool)].assign(model=ONE_ANSWER, accuracy=1.0)
    rates = rate_by(pd.concat([named, one_answer], ignore_index=True), "accuracy", ["dataset", "model"])
    rule = Member(ONE_ANSWER, Rule(kind="fixed_word"), ONE_ANSWER)
    card = card_table(rates, chance=0.5, limit=limit, members=[*members, rule])
    names = one_answer.drop_duplicates("dataset")
    always = dict(zip(names["dataset"], names["right"] + ", not " + names["wrong"], strict=True))
    sides = [texts.assign(text=texts[side], label=label) for side, label in (("good", "right"), ("bad", "wrong"))]
    both = pd.concat(sides, ignore_index=True)
    return {
        "card": card.assign(always=[always.get(name, "") for name in card["dataset"]]),
        "card_composition": composition_table(both),
        "card_words": word_table(both),
    }


def pair_figures(
    tables: Mapping[str, pd.DataFrame],
    best: Mapping[str, pd.DataFrame],
    score: str,
    members: Sequence[Member],
    series: Mapping[str, Series],
    people: pd.DataFrame,
) -> dict[str, Figure]:
    """Return the figures of those kinds of pairs that there are.

    Blind models have two figures of their own and are ticks in the others. Models with real words and pseudowords
    beside each other are the trained ones. Of the checkpoints of a training only the last is drawn, and a mock model
    nowhere beside others. Marks of models with a fixed preference (`fixed_preferences`) are hollow.

    Args:
        tables: constructions, variants, sentences, noun_types and biases of `cxprobe.judge.pair_tables`, by model;
            card and card_questions, see `pair_cards`; series, by construction, see `pairs_along_series`; and
            series_biases, see `biases_along_series`.
        best: variants, noun_types and constructions: the best blind model of each row (`cxprobe.judge.best_blind`).
        score: The score that decided, for the titles.
        members: What the models are; figures name them by their labels.
        series: Series of models.
        people: What people say of this project's items, see `pairs_beside_published`; drawn in meaning_by_variant.

    Returns:
        As far as there is anything to draw: meaning_by_variant, meaning_by_sentence (for constructions that have
        rivals), meaning_by_noun_type, form, pseudowords (beside real words, for constructions that have both),
        blind_by_construction, bias_order, bias_variant, changed_with_order, series_<name>,
        series_<name>_biases (by noun type, of all constructions together) and cards (of whole
        constructions; those of variants are in the table).
    """
    score = score.replace("_", " ")
    of_constructions = best["constructions"]
    best_of_real = of_constructions[of_constructions["words"] == "real"]
    curves = series_figures(tables["series"], "construction", score, best_of_real)
    of_biases = bias_figures(tables["series_biases"], ALL, score)
    figures = _dots_of_pairs(tables, best, score, members, series, people) | curves | of_biases
    card = tables["card"]
    if card.empty:
        return figures
    return figures | {"cards": card_figure(card[card["dataset"].isin(tables["constructions"]["construction"])])}


def benchmark_figures(
    tables: Mapping[str, pd.DataFrame], best: pd.DataFrame, title: str, members: Sequence[Member]
) -> dict[str, Figure]:
    """Return the figures of a benchmark of others.

    Args:
        tables: accuracy, by model and group; series, by group; and card, see `benchmark_cards`.
        best: The best blind model of each group.
        title: Of the figures.
        members: What the models are; figures name them by their labels.

    Returns:
        As far as there is anything to draw: accuracy, blind, series_<name> and cards.
    """
    every = tables["accuracy"]
    accuracy = every[~every["model"].isin(mocks_beside_others(members))].assign(panel=title.partition(",")[0])
    blind = accuracy["model"].isin([member.slug for member in members if member.is_blind])
    accuracy["model"] = accuracy["model"].map({member.slug: member.label for member in members})
    ticks = None if best.empty else best.assign(panel=title.partition(",")[0])
    wanted = {"accuracy": (accuracy[~blind], title, ticks), "blind": (accuracy[blind], f"{title}, blind models", None)}
    figures = {
        name: dots(table, own, rows="group", colours="model", panels="panel", best=marks)
        for name, (table, own, marks) in wanted.items()
        if len(table)
    }
    cards = {"cards": card_figure(tables["card"])} if len(tables["card"]) else {}
    return figures | series_figures(tables["series"], "group", title, best) | cards


def _dots_of_pairs(
    tables: Mapping[str, pd.DataFrame],
    best: Mapping[str, pd.DataFrame],
    score: str,
    members: Sequence[Member],
    series: Mapping[str, Series],
    people: pd.DataFrame,
) -> dict[str, Figure]:
    drawn = ("constructions", "variants", "sentences", "noun_types", "biases")
    left_out = earlier_checkpoints(series) | mocks_beside_others(members)
    preferences = fixed_preferences(tables["sentences"])
    kept = {name: tables[name][~tables[name]["model"].isin(left_out)] for name in drawn}
    kept |= {name: _marked(table, preferences) for name, table in kept.items() if name != "biases"}
    asked = tables["card_questions"]
    questions = dict(zip(zip(asked["construction"], asked["variant"], strict=True), asked["question"], strict=True))
    blind = {member.slug for member in members if member.is_blind}
    trained = {member.slug for member in members if member.state == "trained"}
    constructions = kept["constructions"]
    real = constructions[constructions["words"] == "real"]
    replaced = constructions[constructions.groupby("construction")["words"].transform("nunique") == 2]
    own = {name: table[~table["model"].isin(blind)] for name, table in kept.items()}
    biases = own["biases"]
    orders = biases[biases["compares"] == "order"]
    changed = orders.assign(low=orders["changed_low"], high=orders["changed_high"])
    form = own["constructions"][own["constructions"]["tests"] == "form"]
    sentences = own["sentences"]
    with_rivals = sentences[sentences.groupby("construction")["sentence"].transform("nunique") == 2]
    best_of_real = best["constructions"][best["constructions"]["words"] == "real"]
    all_blind = real[real["model"].isin(blind)]
    # Name -> table, title, the column of the panels, what is drawn, the best blind models.
    wanted: dict[str, tuple[pd.DataFrame, str, str, str, pd.DataFrame | None]] = {
        "meaning_by_variant": (
            _by_variant(_meaning(own["variants"]), questions),
            "Pairs of meaning by what is asked",
            "tests",
            "accuracy",
            _by_variant(_meaning(best["variants"]), questions),
        ),
        "meaning_by_sentence": (
            _by_variant(_meaning(with_rivals), questions),
            "Sentences with the construction and their rivals without it",
            "sentence",
            "accuracy",
            None,
        ),
        "meaning_by_noun_type": (
            _meaning(own["noun_types"]),
            "Pairs of meaning by noun type",
            "noun_type",
            "accuracy",
            _meaning(best["noun_types"]),
        ),
        "form": (form[form["words"] == "real"], "Pairs of form", "tests", "accuracy", best_of_real),
        "pseudowords": (
            replaced[replaced["model"].isin(trained)],
            "Real words and pseudowords",
            "words",
            "accuracy",
            best["constructions"],
        ),
        "blind_by_construction": (all_blind, "Blind models", "tests", "accuracy", None),
        **{
            f"bias_{way}": (biases[biases["compares"] == way], title, "noun_type", "bias", None)
            for way, title in _BIASES.items()
        },
        "changed_with_order": (
            changed,
            "Decisions that change when the two people are exchanged",
            "noun_type",
            "changed",
            None,
        ),
    }
    labels = {member.slug: member.label for member in members}
    return {
        name: dots(
            table.assign(model=table["model"].map(labels)),
            f"{title}, {score}",
            rows="row" if "row" in table else "construction",
            colours="model",
            panels=panels,
            value=value,
            chance=0.5 if value == "accuracy" else None,
            best=None if ticks is None or ticks.empty else ticks,
            people=people.merge(_rows(table)) if name == "meaning_by_variant" and len(people) else None,
        )
        for name, (table, title, panels, value, ticks) in wanted.items()
        if not table.empty
    }


def _marked(table: pd.DataFrame, preferences: Collection[tuple[str, str, str]]) -> pd.DataFrame:
    """Return a table with the column that says which models have a fixed preference on which construction."""
    rows = zip(table["model"], table["construction"], table["words"], strict=True)
    return table.assign(**{PREFERENCE: [row in preferences for row in rows]})


def _by_variant(table: pd.DataFrame, questions: Mapping[tuple[str, str], str]) -> pd.DataFrame:
    """Return a table with the column row: the construction and the variant, and below them what is asked."""
    names = zip(table["construction"], table["variant"], strict=True)
    return table.assign(
        row=[f"{name}, {variant}\n{_short(questions.get((name, variant), ''))}" for name, variant in names]
    )


def _rows(table: pd.DataFrame) -> pd.DataFrame:
    return table[["construction", "row"]].drop_duplicates()


def _short(question: str) -> str:
    return textwrap.shorten(question, _QUESTION, placeholder=" …")


def _meaning(table: pd.DataFrame) -> pd.DataFrame:
    return table[(table["tests"] == "meaning") & (table["words"] == "real")]


def _balanced(items: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs that a rate over several cells may have; see `cxprobe.pairs.judge`."""
    return items[items["balanced"].astype(bool)]
