"""The pairs of contrasts as stages keep them, and the contrast of a frame: one number a condition, in nats."""

from collections.abc import Sequence
from os.path import commonprefix
from pathlib import Path

import numpy as np
import pandas as pd

from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA
from cxprobe.models.scores import ScoredTexts, no_score
from cxprobe.results.verdict import ADDS, CONTROL_OVER_WORDS, is_rival
from cxprobe.stats import cluster_columns
from cxprobe.tasks.contrasts.params import MeasuredFrames

MADE = DATA / "make_contrasts"


def made_file(construction: str) -> Path:
    """Return the file of the pairs of a construction."""
    return MADE / f"{construction}.parquet"


def read_frames(path: Path, wanted: MeasuredFrames) -> pd.DataFrame:
    """Read the pairs of the first frames of a construction, as many as are wanted."""
    pairs = read_table(path)
    frames = pairs["item"].drop_duplicates()[: wanted.frames]
    return pairs[pairs["item"].isin(frames)]


def shared_start(first: str, second: str) -> int:
    """Return where two texts begin to differ: after the last space before that, at the start of a word."""
    return commonprefix([first, second]).rfind(" ") + 1  # noqa: RUF071  # of characters, not of parts of paths


def pair_margins(pairs: pd.DataFrame, tokens: pd.DataFrame) -> pd.DataFrame:
    """Return how much more probable the right text of each pair is.

    Of a causal model only the tokens from the first word on in which the two differ count: those before it have the
    same probability in both. Of a masked model every token counts, since it reads what follows.

    Args:
        pairs: Columns id, context, good and bad.
        tokens: See `cxprobe.models.texts.token_table`, under one scheme.

    Returns:
        ``pairs`` with the column margin, in nats.

    Raises:
        DataError: A text, or a token of it that counts, has no score.
    """
    texts = ScoredTexts(tokens)
    goods, bads = pairs["context"] + pairs["good"], pairs["context"] + pairs["bad"]
    if (tokens["scheme"] == "causal").all():
        starts = [shared_start(good, bad) for good, bad in zip(goods, bads, strict=True)]
        scores = []
        for whole in (goods, bads):
            rest = [len(text[start:].lstrip()) for text, start in zip(whole, starts, strict=True)]
            scores.append(texts.sums_from(whole, whole.str.len().to_numpy() - rest))
    else:
        sums = texts.whole()["sum"]
        scores = [sums.reindex(whole).to_numpy() for whole in (goods, bads)]
    margins = scores[0] - scores[1]
    for row in np.flatnonzero(~np.isfinite(margins))[:1]:
        values = [float(one[row]) for one in scores]
        raise no_score(f"pair {pairs['id'].iloc[row]}", values, "take the model out of contrasts.models")
    return pairs.assign(margin=margins)


def shared_words(margins: pd.DataFrame) -> pd.DataFrame:
    """Return the columns that begin with ``cluster_``; empty where a pair has none, in whose place is its id."""
    named = margins[cluster_columns(margins)].astype(object)
    return named.mask(named.to_numpy() == margins["id"].to_numpy(object)[:, None]) if "id" in margins else named


def frame_contrasts(margins: pd.DataFrame, frame: Sequence[str]) -> pd.DataFrame:
    """Return the contrasts of one model.

    A frame's contrast in a condition is the mean margin over its pairs there.

    Args:
        margins: The columns condition, margin, those of ``frame``, and perhaps some that begin with ``cluster_``: the
            words that frames share.
        frame: The columns that name a frame, or a frame in a wording; "construction" is among them where there are
            several.

    Returns:
        One row a frame and condition, without those that a frame lacks: the columns of ``frame``; condition; value, in
        nats; and the clusters of what is a difference or is to be one. Conditions are those of ``margins``;
        "less_<condition>", the construction's contrast less that of each other condition but the control; "adds", that
        less the nearest of the neutral condition and the rivals, the one with the highest mean in its construction; and
        `CONTROL_OVER_WORDS`.
    """
    named = shared_words(margins).drop(columns=[*frame], errors="ignore")
    words = [*named]
    # As numbers, since pandas computes with a hundred columns of texts one after the other.
    codes, texts = pd.factorize(named.to_numpy(object).ravel())
    numbers = np.where(codes < 0, np.nan, codes).reshape(named.shape)
    of = margins[[*frame, "condition", "margin"]].join(pd.DataFrame(numbers, margins.index, words))
    groups = of.groupby([*frame, "condition"], sort=False)
    cells = groups[["margin", *words]].first().assign(margin=groups["margin"].mean())
    cells = cells.rename(columns={"margin": "value"}).reset_index()
    is_base, is_control = (cells["condition"] == name for name in ("construction", "control"))
    base = cells[is_base].drop(columns="condition")
    less = base.merge(cells[~is_base & ~is_control], on=[*frame], suffixes=("", "_of"))
    shared = less[words].fillna(less[[f"{name}_of" for name in words]].set_axis(words, axis=1))
    values, conditions = less["value"] - less["value_of"], "less_" + less["condition"]
    less = less[[*frame]].assign(value=values, condition=conditions, **shared)
    order = {f"less_{name}": number for number, name in enumerate(cells["condition"].unique())}
    less = less.sort_values("condition", key=lambda column: column.map(order), kind="stable")
    over_words = cells[is_control].assign(condition=CONTROL_OVER_WORDS)
    table = pd.concat([cells.drop(columns=words), over_words, less], ignore_index=True)
    rivals = less[less["condition"].str.removeprefix("less_").map(is_rival).astype(bool)]
    by = [name for name in frame if name == "construction"]
    means = rivals.groupby([*by, "condition"], sort=False)["value"].mean().rename("mean").reset_index()
    nearest = means.sort_values("mean", kind="stable").drop_duplicates(by or None) if by else means.nsmallest(1, "mean")
    adds = rivals.merge(nearest.drop(columns="mean"), on=[*by, "condition"]).assign(condition=ADDS)
    every = pd.concat([table, adds], ignore_index=True)
    known = np.array([*texts, None], dtype=object)  # -1 is the last
    every[words] = known[every[words].fillna(-1).to_numpy(np.int64)]
    return every
