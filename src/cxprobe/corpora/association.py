"""Which words fill the slots of a construction, and how strongly they are associated with it."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.special import xlogy

from cxprobe.corpora.search import class_of, in_reference
from cxprobe.stats import estimate_rate

SHOWN = 30  # words of a slot that its table has


def fillers_of(sentences: pd.DataFrame) -> pd.DataFrame:
    """Return one row a word that fills a slot: slot, word, class, url, document.

    Args:
        sentences: Columns url and slots, as `mine_sentences` writes them.
    """
    rows = [
        (slot["slot"], slot["word"], class_of(slot["tag"]), url, url.partition("#")[0] or f"sentence {row}")
        for row, (url, slots) in enumerate(zip(sentences["url"], sentences["slots"], strict=True))
        for slot in slots
    ]
    return pd.DataFrame(rows, columns=["slot", "word", "class", "url", "document"])


def association(fillers: pd.DataFrame, words: pd.DataFrame, share: float) -> pd.DataFrame:
    """Return how strongly each word is associated with each slot of a construction.

    A word is compared with the other words of its class, such as VB for verbs (see `cxprobe.corpora.search.class_of`).
    Four numbers decide: how often the word and the others fill the slot, and how often they stand elsewhere in the
    records that are the reference.

    Args:
        fillers: See `fillers_of`.
        words: How often each word stands in the reference: columns word, class, number; see `collect_words`.
        share: The share of the corpus that is the reference, in (0, 1]. What was removed as a duplicate stands in it.

    Returns:
        One row a slot, class and word: slot, class, word; number, that of its tokens in the slot; n, that of all words
        of its class there; elsewhere and n_elsewhere, the same of the reference without the slot; g2, the
        log-likelihood ratio of the four numbers, at least 0; delta_p_word, P(word | slot) - P(word | elsewhere), above
        0 for a word that the slot attracts; and delta_p_slot, P(slot | word) - P(slot | other words), for which the
        reference is scaled up to the corpus. NaN: the numbers of a class that the reference lacks; and delta_p_slot of
        a word that it lacks, unless it is the whole corpus.

    Source:
        Stefanowitsch & Gries 2003 for collexemes; Dunning 1993 for the log-likelihood ratio; Ellis 2006 and Gries 2013
        for delta P in both directions.
    """
    key, by_class = ["slot", "class", "word"], ["slot", "class"]
    table = fillers.groupby(key, sort=True).size().rename("number").reset_index()
    inside = fillers[[in_reference(url, share) for url in fillers["url"]]].groupby(key).size().rename("inside")
    table = table.join(inside, on=key).merge(words.rename(columns={"number": "all"}), "left", ["word", "class"])
    table = table.join(words.groupby("class")["number"].sum().rename("all_of_class"), on="class").fillna(0)
    n = table.groupby(by_class)["number"].transform("sum")
    # A sentence whose tags differ when it is tagged among others may leave a number below 0.
    elsewhere = (table["all"] - table["inside"]).clip(lower=0)
    n_elsewhere = (table["all_of_class"] - table.groupby(by_class)["inside"].transform("sum")).clip(lower=elsewhere)
    cells = np.array([table["number"], n - table["number"], elsewhere, n_elsewhere - elsewhere], dtype=np.float64)
    a, c, b, d = cells  # (rows,) each
    totals = np.array([n, n_elsewhere], dtype=np.float64) / (n + n_elsewhere).to_numpy()  # (2, rows)
    expected = np.concatenate([(cells[:2] + cells[2:]) * total for total in totals])  # (4, rows)
    with np.errstate(invalid="ignore", divide="ignore"):
        g2 = 2 * xlogy(cells, cells / np.where(expected > 0, expected, 1)).sum(axis=0)
        of_word, of_slot = a / (a + c) - b / (b + d), a / (a + b / share) - c / (c + d / share)
    known = b + d > 0
    return table[key].assign(
        number=table["number"],
        n=n,
        elsewhere=b.astype(np.int64),
        n_elsewhere=(b + d).astype(np.int64),
        g2=np.where(known, np.maximum(g2, 0), np.nan),
        delta_p_word=np.where(known, of_word, np.nan),
        delta_p_slot=np.where(known & ((b > 0) | (share == 1)), of_slot, np.nan),
    )


def shown_fillers(fillers: pd.DataFrame, associated: pd.DataFrame, slots: Sequence[str]) -> pd.DataFrame:
    """Return the `SHOWN` words of each slot that it attracts most, with their shares of the words of their class there.

    Args:
        fillers: See `fillers_of`.
        associated: What `association` returns for them.
        slots: The slots, in their order.

    Returns:
        The columns of ``associated``, and share, low and high in [0, 1]: the share is a rate over n words with its 95 %
        interval, clustered by documents.
    """
    attracted = associated["g2"] * np.sign(associated["delta_p_word"])
    ranked = associated.assign(attracted=attracted, position=associated["slot"].map(list(slots).index))
    ranked = ranked.sort_values(["position", "attracted", "number", "word"], ascending=[True, False, False, True])
    table = ranked.groupby("slot", sort=False).head(SHOWN).drop(columns=["attracted", "position"])
    groups = dict(iter(fillers.groupby(["slot", "class"])))
    rates = []
    for slot, of_class, word in table[["slot", "class", "word"]].itertuples(index=False):
        words_there = groups[slot, of_class]
        documents = words_there[["document"]].to_numpy(dtype=object)
        rates.append(estimate_rate((words_there["word"] == word).to_numpy(dtype=np.float64), documents))
    intervals = {"share": "value", "low": "low", "high": "high"}
    return table.assign(**{to: [getattr(rate, of) for rate in rates] for to, of in intervals.items()})
