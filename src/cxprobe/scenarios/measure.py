"""Scenarios: both candidates' log-probabilities in every text of every construction, by one masked model."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cxprobe.lm.candidates import CandidateSection, Usable
from cxprobe.lm.language_models import MaskedLM
from cxprobe.lm.store import Answers, answer_together, count_answers, open_answers
from cxprobe.lm.tokenizers import refuse_unknown
from cxprobe.run.processes import Processes
from cxprobe.run.progress import progress

_ASKED = ["text", "first", "second"]
Row = tuple[str, str, str]
Answer = Callable[[MaskedLM, Sequence[Row]], Sequence[NDArray[np.float64]]]
Check = Callable[[MaskedLM, Sequence[Row], Answer], Mapping[str, float]]


def fill_masks(
    slug: str,
    model: MaskedLM,
    usable: Mapping[str, Usable],
    token_budget: int,
    check: Check,
    *,
    processes: Processes,
    what: str,
) -> tuple[dict[str, pd.DataFrame], dict[str, float]] | None:
    """Ask a masked model about the texts of all constructions; every answer is kept in the model's store at once.

    Args:
        slug: The model's key in params.yaml.
        model: The model; one without weights if answers are only counted.
        usable: Construction -> what the model can be asked.
        token_budget: The most tokens in a batch.
        check: Compares a sample with float32 before the long work (`cxprobe.lm.precision.require_agreement`).
        processes: Which of the processes this is that answer the texts together.
        what: Names the work where its progress is shown.

    Returns:
        Construction -> its texts with the columns log_p_first and log_p_second, natural logarithms over the whole
        vocabulary; and the share of tokens that the model does not know, with what the check returned. None if this
        process writes no files.

    Raises:
        ModelError: The model does not know too many tokens (`cxprobe.models.refuse_unknown`).
    """
    asked = {name: own.texts[_ASKED].drop_duplicates(ignore_index=True) for name, own in usable.items()}
    rows = {name: list(table.itertuples(index=False, name=None)) for name, table in asked.items()}
    if processes.counts:
        store = open_answers(slug, model, processes.kind_of_device)
        count_answers(store, processes, (_section(model, own, token_budget) for own in rows.values()))
        return None
    unknown = refuse_unknown(model, [text for own in rows.values() for text, *_ in own], f"the texts of {what}")
    found = check(model, [row for own in rows.values() for row in own], partial(_sample, token_budget=token_budget))
    total, scores = sum(map(len, rows.values())), {}
    with (
        open_answers(slug, model, processes.kind_of_device) as store,
        progress(total, "texts", what, kept=f"kept in {store.folder}") as shown,
    ):
        sections = (_section(model, own, token_budget) for own in rows.values())
        if not answer_together(store, processes, sections, shown.update):
            return None
        answers = Answers(store)
        for name, own in rows.items():
            section = _section(model, own, token_budget)
            log_p = np.stack(
                section.log_probabilities(answers.to(section, shown.update if processes.alone else None))
            )  # (texts, 2)
            filled = asked[name].assign(log_p_first=log_p[:, 0], log_p_second=log_p[:, 1])
            scores[name] = usable[name].texts.merge(filled, on=_ASKED, validate="many_to_one")
    return scores, {"unknown": unknown, **found}


def _section(model: MaskedLM, rows: Sequence[Row], token_budget: int) -> CandidateSection:
    return CandidateSection(model, [text for text, *_ in rows], [words for _, *words in rows], token_budget)


def _sample(model: MaskedLM, rows: Sequence[Row], *, token_budget: int) -> list[NDArray[np.float64]]:
    section = _section(model, rows, token_budget)
    return [np.stack(section.log_probabilities(Answers().to(section)))]
