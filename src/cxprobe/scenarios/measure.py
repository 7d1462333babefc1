"""Scenarios: both candidates' log-probabilities in every text of every construction, by one masked model."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cxprobe.files.tables import read_table
from cxprobe.lm.candidates import TextWithCandidates, measure_candidates
from cxprobe.lm.measuring import MeasuredModel

SCORES_FILE = "scores.parquet"
_ASKED = ["text", "first", "second"]


def fill_masks(
    model: MeasuredModel, texts: Mapping[str, pd.DataFrame], token_budget: int, folder: Path
) -> tuple[pd.DataFrame, dict[str, float]] | None:
    """Ask a masked model about the texts of all constructions; every answer is kept in the model's store at once.

    Args:
        model: The model.
        texts: Construction -> the texts that the model can be asked: text, with one "[MASK]", and the two candidates,
            first and second.
        token_budget: The most tokens in a batch.
        folder: Where the caller writes the scores, as ``scores.parquet``.

    Returns:
        All texts with the columns construction, log_p_first and log_p_second, natural logarithms over the whole
        vocabulary; and what was counted. None if this process writes no files.

    Raises:
        ModelError: The model does not know too many tokens.
    """
    asked = {name: table[_ASKED].drop_duplicates(ignore_index=True) for name, table in texts.items()}
    measured = measure_candidates(model, [_rows(table) for table in asked.values()], token_budget, folder, _read)
    if measured is None:
        return None
    log_p, counts = measured  # of each construction (texts, 2)
    scores = []
    for (name, table), numbers in zip(asked.items(), log_p, strict=True):
        filled = table.assign(log_p_first=numbers[:, 0], log_p_second=numbers[:, 1])
        scores.append(texts[name].merge(filled, on=_ASKED, validate="many_to_one").assign(construction=name))
    return pd.concat(scores, ignore_index=True), counts


def _rows(table: pd.DataFrame) -> list[TextWithCandidates]:
    return [(text, (first, second)) for text, first, second in table[_ASKED].itertuples(index=False, name=None)]


def _read(folder: Path) -> tuple[list[TextWithCandidates], NDArray[np.float64]]:
    """Return what a folder's scores tell was asked and answered."""
    scores = read_table(folder / SCORES_FILE).drop_duplicates(_ASKED)
    return _rows(scores), scores[["log_p_first", "log_p_second"]].to_numpy(dtype=np.float64)
