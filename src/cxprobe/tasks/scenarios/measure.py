"""Scenarios: both candidates' log-probabilities in every text of every construction, by one masked model."""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from cxprobe.models.candidates import CandidateQuestions, drop_items
from cxprobe.models.masked import MaskedLM
from cxprobe.models.measuring import MeasuredModel

SCORES_FILE = "scores.parquet"
_ASKED = ["text", "first", "second"]
_ANSWERS = ["log_p_first", "log_p_second"]
NONE_DROPPED = pd.DataFrame(columns=["word", "reason", "items", "construction"]).astype({"construction": str})


def usable_texts(model: MaskedLM, made: pd.DataFrame, place: str) -> tuple[dict[str, pd.DataFrame], pd.DataFrame]:
    """Return construction -> the texts that a model can be asked, and the words for which items are left out.

    Args:
        model: The model.
        made: The texts, with the column construction.
        place: Names the model at the beginning of a message.
    """
    texts, dropped = {}, []
    for name, of_construction in made.groupby("construction", sort=False):
        texts[str(name)], words = drop_items(model, of_construction, place=f"{place}, {name}")
        dropped.append(words.assign(construction=name))
    return texts, pd.concat(dropped, ignore_index=True)


def fill_masks(
    model: MeasuredModel[MaskedLM], texts: Mapping[str, pd.DataFrame], token_budget: int
) -> tuple[pd.DataFrame, dict[str, float]] | None:
    """Ask a masked model about the texts of all constructions; every answer is kept in the model's store at once.

    Args:
        model: The model.
        texts: Construction -> the texts that the model can be asked: text, with one "[MASK]", and the two candidates,
            first and second. Batches are formed within a construction.
        token_budget: The most tokens in a batch.

    Returns:
        All texts with the columns construction, log_p_first and log_p_second, natural logarithms over the whole
        vocabulary; and the share of unknown tokens, with the result of the check of precision. None if this process
        writes no files.

    Raises:
        ModelError: See `MeasuredModel.check`.
        DataError: See `CandidateQuestions`; or a number is not finite.
    """
    every = pd.concat([table.assign(construction=name) for name, table in texts.items()], ignore_index=True)
    asked = every[["construction", *_ASKED]].drop_duplicates(ignore_index=True)
    checked = model.check(asked["text"].tolist())

    def ask() -> Iterator[CandidateQuestions]:
        for _, rows in asked.groupby("construction", sort=False):
            candidates = rows[["first", "second"]].to_numpy().tolist()
            yield CandidateQuestions(model.described, rows["text"].tolist(), candidates, token_budget)

    numbers = model.answer(ask, len(asked))
    if numbers is None:
        return None
    asked[_ANSWERS] = np.stack(numbers)  # (texts, 2)
    return every.merge(asked, on=["construction", *_ASKED], validate="many_to_one"), checked
