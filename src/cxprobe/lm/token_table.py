"""The scores of tokens as a table, one row for each text and scheme; and the preferences of rules."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from cxprobe.errors import DataError
from cxprobe.files.tables import read_table, write_table
from cxprobe.lm.facts import write_model_facts
from cxprobe.lm.params import ModelFacts
from cxprobe.lm.texts import TokenScores

TOKENS_FILE, PREFERENCES_FILE = "tokens.parquet", "preferences.parquet"


def write_token_scores(scores: Sequence[TokenScores], facts: ModelFacts, folder: Path) -> None:
    """Write scores as ``tokens.parquet`` (see `token_table`), and what gave them as ``model.json``."""
    write_table(token_table(scores), folder / TOKENS_FILE)
    write_model_facts(facts, folder)


def write_preferences(preferences: pd.DataFrame, facts: ModelFacts, folder: Path) -> None:
    """Write what a rule prefers, a table of id and margin, as ``preferences.parquet``, and ``model.json``."""
    write_table(preferences, folder / PREFERENCES_FILE)
    write_model_facts(facts, folder)


def read_pair_answers(folder: Path) -> pd.DataFrame:
    """Read what a model answered to minimal pairs: the scores of tokens (see `token_table`), or a rule's preferences.

    Raises:
        DataError: The folder has neither.
    """
    for file in (TOKENS_FILE, PREFERENCES_FILE):
        if (folder / file).is_file():
            return read_table(folder / file)
    raise DataError(
        f"{folder} has neither {TOKENS_FILE} nor {PREFERENCES_FILE}; the measuring stage writes them: run `dvc repro`, "
        "or `dvc pull`"
    )


def token_table(scores: Sequence[TokenScores]) -> pd.DataFrame:
    """Return scores as a table that `write_table` can write.

    Args:
        scores: What was scored.

    Returns:
        One row a record: text; scheme; and, with one entry a token, ids, starts and stops (the characters of the
        token), words and log_probs (NaN, which .parquet keeps as null, for a token without a score).
    """
    rows = [
        (one.text, one.scheme, one.ids, one.spans[:, 0], one.spans[:, 1], one.words, one.log_probs) for one in scores
    ]
    return pd.DataFrame(rows, columns=["text", "scheme", "ids", "starts", "stops", "words", "log_probs"])


def token_scores_of(table: pd.DataFrame) -> list[TokenScores]:
    """Return the scores of a table that `token_table` made, exactly as they were."""
    return [
        TokenScores(
            row["text"],
            row["scheme"],
            np.asarray(row["ids"], dtype=np.int32),
            np.column_stack([row["starts"], row["stops"]]).astype(np.int64),
            np.asarray(row["words"], dtype=np.int64),
            np.asarray(row["log_probs"], dtype=np.float64),
        )
        for row in table.to_dict("records")
    ]
