"""Data sets: their composition, and the rates of baselines, which cannot know the construction."""

import re
from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.figure import Figure

from cxprobe.models.params import Member
from cxprobe.results.dots import CHANCE, LIMIT, dots
from cxprobe.results.words import cell

BASELINE_COLUMNS = ["dataset", "model", "accuracy", "low", "high", "n", "chance", "limit", "solved", "says"]
SOLVED = "is answered above chance without the construction by"
_WORD = re.compile(r"\w+(?:['’-]\w+)*")


def baseline_table(
    rates: pd.DataFrame, *, chance: float | Mapping[str, float], limit: float, members: Sequence[Member]
) -> pd.DataFrame:
    """Return the rate of every baseline on every data set, with a sentence on each that a baseline solves.

    Args:
        rates: Columns dataset, model (a slug), accuracy in [0, 1], low, high and n; rows of models that are not
            baseline are left out.
        chance: What the best constant answer gets, in [0, 1): of all data sets, or data set -> its own.
        limit: The accuracy above which a data set is solved where chance is 0.5 (`report.limit` of params.yaml); where
            chance is c, the limit is c + (limit - 0.5) / 0.5 * (1 - c).
        members: The models.

    Returns:
        dataset, model, accuracy, low, high, n, chance, limit; solved, whether the accuracy is above the limit and its
        interval above chance, since a few items say nothing; and says, such as "is answered above chance without the
        construction by character-ngrams: 97.7 % (95.0 to 99.0)", or an empty text.
    """
    baseline = {member.slug for member in members if member.is_baseline}
    table = rates[rates["model"].isin(baseline)].reset_index(drop=True)
    chances = table["dataset"].map(chance) if isinstance(chance, Mapping) else pd.Series(chance, index=table.index)
    chances = chances.astype(float)
    limits = chances + (limit - 0.5) / 0.5 * (1 - chances)
    solved = ((table["accuracy"] > limits) & (table["low"] > chances)).astype(bool)
    says = []
    for is_solved, row in zip(solved, table.to_dict("records"), strict=True):
        percent, interval = cell(row["accuracy"], row["low"], row["high"]).split(" ", 1)
        says.append(f"{SOLVED} {row['model']}: {percent} % {interval}" if is_solved else "")
    return table.assign(chance=chances, limit=limits, solved=solved, says=says)[BASELINE_COLUMNS]


def composition_table(items: pd.DataFrame, by: Sequence[str] = ()) -> pd.DataFrame:
    """Return the composition of data sets, a row for each label.

    Args:
        items: One row a text: dataset, text, label, and the columns of ``by``.
        by: Further columns that divide a label, such as template.

    Returns:
        dataset, label, ``by``; n, the number of texts; share, of all texts of the data set, in [0, 1]; and words, least
        and most: the mean, least and greatest number of words of a text. The order is that of the items.
    """
    keys = ["dataset", "label", *by]
    words = items["text"].map(_words).map(len)
    counted = words.groupby([items[key] for key in keys], sort=False).agg(
        n="size", words="mean", least="min", most="max"
    )
    table = counted.reset_index()
    table["share"] = table["n"] / table.groupby("dataset")["n"].transform("sum")
    return table[[*keys, "n", "share", "words", "least", "most"]]


def word_table(items: pd.DataFrame, most: int | None = 30) -> pd.DataFrame:
    """Return the frequency of each word under each label, the words that are most unlike between labels first.

    Args:
        items: One row a text: dataset, text, label.
        most: How many words of each data set are listed; None for all.

    Returns:
        dataset, label, word (in lower case), count, the number of the label's texts that have the word, and share,
        that number over the label's texts. A word has a row for every label of its data set, and words are in the order
        of the difference between their greatest and their least share.
    """
    columns = ["dataset", "label", "word", "count", "share"]
    tables = [_words_of(of_set, most).assign(dataset=name) for name, of_set in items.groupby("dataset", sort=False)]
    return pd.concat(tables, ignore_index=True)[columns] if tables else pd.DataFrame(columns=columns)


def baseline_figure(rates: pd.DataFrame) -> Figure:
    """Draw the rates of baselines, a row for each data set, a colour for each model, with each row's chance and limit.

    Args:
        rates: What `baseline_table` returns, with at least one row; the number of items stands beside each data set.
    """
    solved = rates["dataset"].isin(rates.loc[rates["solved"], "dataset"])
    table = rates.assign(row=rates["dataset"].where(~solved, rates["dataset"] + " (solved)"), panel="")
    first = table.drop_duplicates("dataset")
    marks = {CHANCE: first.assign(accuracy=first["chance"]), LIMIT: first.assign(accuracy=first["limit"])}
    return dots(table, "Rates of baselines", rows="row", colours="model", panels="panel", chance=None, marks=marks)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _words_of(items: pd.DataFrame, most: int | None) -> pd.DataFrame:
    """Return label, word, count and share of one data set's words."""
    labels = items["label"].unique()
    long = items[["label"]].assign(word=items["text"].map(_words).map(set)).explode("word").dropna()
    counts = pd.crosstab(long["word"], long["label"]).reindex(columns=labels, fill_value=0)
    shares = counts / items["label"].value_counts()  # as counts: (words, labels)
    unlike = (shares.max(axis=1) - shares.min(axis=1)).round(12)  # so that equal ones are equal
    ranked = sorted(counts.index, key=lambda word: (-unlike[word], -counts.loc[word].sum(), word))
    rows = [(label, word, counts.at[word, label], shares.at[word, label]) for word in ranked[:most] for label in labels]
    return pd.DataFrame(rows, columns=["label", "word", "count", "share"])
