"""Tables of answers that somebody else got: beside their items, and in the place of a model.

Nothing is filled in: an answer to no item, a second one and a missing one are faults with their rows.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cxprobe.errors import DataError, raise_faults
from cxprobe.files.schema import suggest
from cxprobe.files.texts import read_texts, require_columns, require_texts
from cxprobe.models.checkpoints import check_digest
from cxprobe.models.params import AnswersFile, Member
from cxprobe.run.record import ModelFacts

FILE, ANNOTATOR = "file", "annotator"
"""Columns: which of several tables a row is from, and whose choice it is."""
MOST_NAMED = 5
"""Rows that a message names."""
_MARGINS = {"good": 0.5, "bad": -0.5}  # of a choice


def joined(table: pd.DataFrame, items: pd.DataFrame | None, key: str, whose: Sequence[str] = ()) -> pd.DataFrame:
    """Return answers with the columns of their items, after a look at what is unknown, twice there or missing."""
    faults: list[str] = []
    if items is not None:
        items = items.reset_index(drop=True)
        for what, one in {"answers": table, "items": items}.items():
            require_texts(one, [key], what)
    if key in table:
        twice = table.duplicated([key, *(name for name in whose if name in table)])
        faults += _rows(table[twice], key, "answers", "is answered twice; keep one")
    if items is not None:
        faults += _rows(items[items[key].duplicated()], key, "items", "is there twice; keep one")
        faults += _rows(table[~table[key].isin(items[key])], key, "answers", "is not among the items; leave it out")
        by_whom = [name for name in whose if name in (FILE, ANNOTATOR) and name in table]
        for name, of_one in table.groupby(by_whom, sort=False) if by_whom else [((), table)]:
            lacking = items[~items[key].isin(of_one[key])]
            what = f"has no answer{' of ' + ' '.join(map(str, name)) if name else ''}; add it, or leave the item out"
            faults += _rows(lacking, key, "items", what)
    raise_faults(DataError, faults)
    if items is None:
        return table
    added = items[[key, *(name for name in items if name not in table)]]
    return table.merge(added, on=key, how="left", validate="many_to_one")


def _rows(rows: Any, key: str, what: str, fault: str) -> list[str]:
    """Return a fault for each of some rows, at most `MOST_NAMED`, and how many more there are."""
    first = zip(rows.index.tolist(), rows[key].tolist(), strict=True)
    named = [f"{what}, row {row + 1}: {key} {name!r} {fault}" for row, name in [*first][:MOST_NAMED]]
    more = len(rows) - len(named)
    return [*named, f"{what}: {more} more rows like this"] if more > 0 else named


def numbers(table: pd.DataFrame, column: str) -> pd.Series:
    """Return a column as finite numbers."""
    require_columns(table, [column], "answers")
    found = pd.to_numeric(table[column], errors="coerce").astype(float)
    for row in np.flatnonzero(~np.isfinite(found))[:1]:
        cell = table[column].iloc[row]
        raise DataError(f"answers, row {row + 1}: {column} is {cell!r}; it must be a finite number")
    return found


def scores_of_pairs(pairs: pd.DataFrame, scores: pd.DataFrame) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the scores of the right and of the wrong text of each pair, shape (pairs,) each.

    Args:
        pairs: id, context, good and bad.
        scores: text (the context and what follows it) and score; or id (of a pair), good_score and bad_score.

    Raises:
        DataError: A text, or a pair, has no score or several, or a score is of none; or is no finite number.
    """
    if "text" in scores:
        wanted = [pairs["context"] + pairs[name] for name in ("good", "bad")]
        texts = pd.DataFrame({"text": pd.concat(wanted).drop_duplicates()}).reset_index(drop=True)
        of_text = numbers(joined(scores, texts, "text").set_index("text"), "score")
        good, bad = (of_text[one].to_numpy() for one in wanted)
    else:
        of_pair = joined(scores, pairs[["id"]], "id").set_index("id").loc[pairs["id"]]
        good, bad = (numbers(of_pair, name).to_numpy() for name in ("good_score", "bad_score"))
    return good, bad


def answers_in(member: Member, items: pd.DataFrame) -> tuple[pd.DataFrame, ModelFacts]:
    """Return the raw answers of a file that stands in the place of a model, and the facts about it.

    Args:
        member: The model, whose spec is an `AnswersFile`.
        items: What the answers are to: id and, of pairs, context, good and bad.

    Returns:
        Of scores and judgements the preferences: id and margin, the difference of the two scores, or the share of
        people that chose the right text less a half. Of replies id, reply, and failed, whether it is empty. The facts:
        the file, and its SHA-256 as the version of the weights.

    Raises:
        DataError: The file cannot be read, or does not have one answer to each item; with its rows.
        ModelError: It is another file than params.yaml says.
    """
    spec, place = cast(AnswersFile, member.spec), f"models.{member.slug}"
    table, path = read_texts(spec.answers), Path(spec.answers)
    facts = ModelFacts(spec.answers, "file", None, f"sha256 {check_digest(place, path, spec.sha256)}")
    try:
        if spec.kind == "scores":
            good, bad = scores_of_pairs(items, table)
            # Sums that are equal but for the last digit are ties.
            return pd.DataFrame({"id": items["id"], "margin": np.round(good - bad, 9)}), facts
        answered = joined(table, items[["id"]], "id", [ANNOTATOR])
        if spec.kind == "replies":
            require_columns(answered, ["reply"], "answers")
            replies = answered[["id", "reply"]].fillna("")
            return replies.assign(failed=replies["reply"].str.strip() == ""), facts
        require_texts(answered, ["chosen"], "answers")
        for row, cell in enumerate(answered["chosen"], start=1):
            if cell not in _MARGINS:
                raise DataError(f"answers, row {row}: chosen is {cell!r}{suggest(cell, _MARGINS)}")
        margins = answered["chosen"].map(_MARGINS).groupby(answered["id"]).mean()
        return margins.rename("margin").loc[items["id"]].reset_index(), facts
    except DataError as fault:
        raise DataError("\n".join(f"{place}, {spec.answers}: {line}" for line in str(fault).split("\n"))) from fault
