"""Scenarios: both candidates' log-probabilities in every text of every construction, by one masked model."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cxprobe.measure.likelihood.answers import open_answers
from cxprobe.measure.likelihood.candidates import Usable, candidate_log_probabilities
from cxprobe.models import MaskedLM, refuse_unknown
from cxprobe.progress import progress

_ASKED = ["text", "first", "second"]
Row = tuple[str, str, str]
Answer = Callable[[MaskedLM, Sequence[Row]], Sequence[NDArray[np.float64]]]
Check = Callable[[MaskedLM, Sequence[Row], Answer], Mapping[str, float]]


def fill_masks(
    slug: str, model: MaskedLM, usable: Mapping[str, Usable], token_budget: int, check: Check, *, what: str
) -> tuple[dict[str, pd.DataFrame], dict[str, float]]:
    """Ask a masked model about the texts of all constructions; every answer is kept in the model's store at once.

    Args:
        slug: The model's key in params.yaml.
        model: The model.
        usable: Construction -> what the model can be asked.
        token_budget: The most tokens in a batch.
        check: Compares a sample with float32 before the long work (`cxprobe.measure.precision.require_agreement`).
        what: Names the work where its progress is shown.

    Returns:
        Construction -> its texts with the columns log_p_first and log_p_second, natural logarithms over the whole
        vocabulary; and the share of tokens that the model does not know, with what the check returned.

    Raises:
        ModelError: The model does not know too many tokens (`cxprobe.models.refuse_unknown`).
    """

    def ask(model: MaskedLM, rows: Sequence[Row], **options: Any) -> NDArray[np.float64]:  # (texts, 2)
        texts, candidates = [text for text, *_ in rows], [words for _, *words in rows]
        return np.stack(candidate_log_probabilities(model, texts, candidates, token_budget=token_budget, **options))

    asked = {name: own.texts[_ASKED].drop_duplicates(ignore_index=True) for name, own in usable.items()}
    rows = {name: list(table.itertuples(index=False, name=None)) for name, table in asked.items()}
    unknown = refuse_unknown(model, [text for own in rows.values() for text, *_ in own], f"the texts of {what}")
    found = check(model, [row for own in rows.values() for row in own], lambda one, some: [ask(one, some)])
    total, scores = sum(map(len, rows.values())), {}
    with open_answers(slug, model) as store, progress(total, "texts", what, kept=f"kept in {store.folder}") as shown:
        for name, own in rows.items():
            log_p = ask(model, own, store=store, progress=shown.update)
            answers = asked[name].assign(log_p_first=log_p[:, 0], log_p_second=log_p[:, 1])
            scores[name] = usable[name].texts.merge(answers, on=_ASKED, validate="many_to_one")
    return scores, {"unknown": unknown, **found}
