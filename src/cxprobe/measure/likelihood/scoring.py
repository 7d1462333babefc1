"""Texts: the score of each of their tokens, for every kind of model."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cxprobe.measure.likelihood.answers import open_answers
from cxprobe.measure.likelihood.causal import causal_token_scores
from cxprobe.measure.likelihood.counting import Progress
from cxprobe.measure.likelihood.masked import MaskedScheme, pll_token_scores
from cxprobe.models import CausalLM, MaskedLM, refuse_unknown
from cxprobe.progress import progress as show_progress
from cxprobe.records import Bos, TokenScores
from cxprobe.storage import AnswerStore, write_token_scores

Model = MaskedLM | CausalLM
Texts = Mapping[str, int]
"""Texts, each with the place of its first character that matters: a masked model scores the tokens from there on, a
causal one all."""
Answer = Callable[[Model, Sequence[tuple[str, int]]], Sequence[NDArray[np.float64]]]
Check = Callable[[Model, Sequence[tuple[str, int]], Answer], Mapping[str, float]]


class HowToScore(NamedTuple):
    """How a model is asked.

    Attributes:
        schemes: For a masked model, each of which gives every text a record; a causal one has the scheme "causal" only.
        bos: What a causal model reads before a text (see `causal_token_scores`).
        token_budget: The most tokens in a batch.
    """

    schemes: Sequence[MaskedScheme]
    bos: Bos
    token_budget: int


def distinct_texts(portions: Iterable[Texts]) -> list[dict[str, int]]:
    """Return portions in which every text occurs once: in the first that has it, with its earliest place."""
    portions = list(portions)
    places: dict[str, int] = {}
    for portion in portions:
        places |= {text: min(place, places.get(text, place)) for text, place in portion.items()}
    return [{text: places.pop(text) for text in portion if text in places} for portion in portions]


def score_texts(
    model: Model,
    portions: Sequence[Texts],
    how: HowToScore,
    *,
    store: AnswerStore | None = None,
    progress: Progress | None = None,
) -> list[TokenScores]:
    """Score the tokens of texts under each scheme that fits the model.

    Args:
        model: The model.
        portions: Distinct texts; batches are formed within a portion, such as the texts of one construction, so that
            its numbers do not depend on the others in the last digit.
        how: How the model is asked.
        store: Where earlier answers are looked up and new ones kept; None to compute all.
        progress: Is told the texts that have been finished; each counts once a scheme.

    Returns:
        One record a text and scheme: for each portion all texts under the first scheme, then all under the next.

    Raises:
        DataError: Before anything of a portion is computed: a text cannot be scored (see `pll_token_scores` and
            `causal_token_scores`). Afterwards: a number is not finite.
    """
    options: dict[str, Any] = {"token_budget": how.token_budget, "store": store, "progress": progress}
    scores: list[TokenScores] = []
    for texts in portions:
        if isinstance(model, CausalLM):
            scores += causal_token_scores(model, list(texts), bos=how.bos, **options)
            continue
        spans = [(place, len(text)) for text, place in texts.items()]
        for scheme in how.schemes:
            scores += pll_token_scores(model, list(texts), scheme=scheme, spans=spans, **options)
    return scores


def measure_texts(
    slug: str, model: Model, portions: Sequence[Texts], how: HowToScore, check: Check, *, what: str, folder: Path
) -> dict[str, float]:
    """Score texts as a stage does: after a check of precision, with a store and a progress bar, into files.

    Args:
        slug: The model's key in params.yaml.
        model: The model.
        portions: See `score_texts`.
        how: How the model is asked.
        check: Refuses a model whose precision is too low, such as `require_agreement` of `measure.precision`; called
            with the model, all texts, and a function that scores some of them.
        what: Names the work in the progress bar.
        folder: Where ``tokens.parquet`` and ``model.json`` are written.

    Returns:
        The number of distinct texts, the number of scores that their tokens have, the share of tokens that the model
        does not know, and what the check has found.

    Raises:
        ModelError: The model does not know too many tokens (`cxprobe.models.refuse_unknown`).
    """
    unknown = refuse_unknown(model, [text for texts in portions for text in texts], f"the texts of {what}")
    found = check(
        model,
        [text for texts in portions for text in texts.items()],
        lambda one, sample: [_log_probs(score_texts(one, [dict(sample)], how))],
    )
    total = sum(map(len, portions)) * (1 if isinstance(model, CausalLM) else len(how.schemes))
    with (
        open_answers(slug, model) as store,
        show_progress(total, "texts", what, kept=f"kept in {store.folder}") as shown,
    ):
        scores = score_texts(model, portions, how, store=store, progress=shown.update)
    write_token_scores(scores, model.facts, folder)
    return {
        "texts": len({one.text for one in scores}),
        "token_scores": len(_log_probs(scores)),
        "unknown": unknown,
        **found,
    }


def _log_probs(scores: Sequence[TokenScores]) -> NDArray[np.float64]:
    """Return the scores of all tokens that have one, text by text: shape (tokens,)."""
    numbers: NDArray[np.float64] = np.concatenate([np.empty(0), *(one.log_probs for one in scores)])
    scored: NDArray[np.float64] = numbers[~np.isnan(numbers)]
    return scored
