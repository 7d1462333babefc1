"""The pairs of contrasts as stages keep them, and the contrast of a frame: one number a condition, in nats."""

from collections.abc import Sequence
from os.path import commonprefix
from pathlib import Path

import numpy as np
import pandas as pd

from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA
from cxprobe.models.scores import ScoredTexts, no_score
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
            shared = pd.Series([text[:start] for text, start in zip(whole, starts, strict=True)], pairs.index)
            rest = pd.Series([text[start:] for text, start in zip(whole, starts, strict=True)], pairs.index)
            scores.append(texts.parts(shared, rest)["sum"].to_numpy())
    else:
        sums = texts.whole()["sum"]
        scores = [sums.reindex(whole).to_numpy() for whole in (goods, bads)]
    margins = scores[0] - scores[1]
    for row in np.flatnonzero(~np.isfinite(margins))[:1]:
        values = [float(one[row]) for one in scores]
        raise no_score(f"pair {pairs['id'].iloc[row]}", values, "take the model out of contrasts.models")
    return pairs.assign(margin=margins)


def frame_contrasts(margins: pd.DataFrame, frame: Sequence[str]) -> pd.DataFrame:
    """Return the contrasts of one model.

    A frame's contrast in a condition is the mean margin over its pairs there.

    Args:
        margins: The columns condition, margin, and those of ``frame``.
        frame: The columns that name a frame.

    Returns:
        One row a frame, which is the index; in nats a column for each condition, and "less_<condition>", the
        construction's contrast less that of each other condition but the control; NaN where a frame lacks one.
    """
    means = margins.groupby([*frame, "condition"], sort=False)["margin"].mean().unstack("condition")
    others = means.columns.difference(["construction", "control"])
    less = {f"less_{other}": means["construction"] - means[other] for other in others}
    return means.assign(**less)
