"""Scenarios: both candidates' log-probabilities in every text of every construction, by one masked model."""

from collections.abc import Mapping

import pandas as pd

from cxprobe.lm.candidates import measure_candidates
from cxprobe.lm.scoring import MeasuredModel

_ASKED = ["text", "first", "second"]


def fill_masks(
    model: MeasuredModel, texts: Mapping[str, pd.DataFrame], token_budget: int
) -> tuple[pd.DataFrame, dict[str, float]] | None:
    """Ask a masked model about the texts of all constructions; every answer is kept in the model's store at once.

    Args:
        model: The model.
        texts: Construction -> the texts that the model can be asked: text, with one "[MASK]", and the two candidates,
            first and second.
        token_budget: The most tokens in a batch.

    Returns:
        All texts with the columns construction, log_p_first and log_p_second, natural logarithms over the whole
        vocabulary; and what was counted. None if this process writes no files.

    Raises:
        ModelError: The model does not know too many tokens.
    """
    asked = {name: own[_ASKED].drop_duplicates(ignore_index=True) for name, own in texts.items()}
    portions = [
        [(text, (first, second)) for text, first, second in table.itertuples(index=False, name=None)]
        for table in asked.values()
    ]
    measured = measure_candidates(model, portions, token_budget)
    if measured is None:
        return None
    log_p, counts = measured  # of each construction (texts, 2)
    scores = []
    for (name, table), own in zip(asked.items(), log_p, strict=True):
        filled = table.assign(log_p_first=own[:, 0], log_p_second=own[:, 1])
        scores.append(texts[name].merge(filled, on=_ASKED, validate="many_to_one").assign(construction=name))
    return pd.concat(scores, ignore_index=True), counts
