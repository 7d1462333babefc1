"""Texts: the score of each of their tokens, for every kind of model."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cxprobe.lm.causal import CausalSection
from cxprobe.lm.language_models import CausalLM, MaskedLM
from cxprobe.lm.masked import MaskedScheme, MaskedSection, masked_sections
from cxprobe.lm.store import Answers, AnswerStore, Progress, answer_together, count_answers, open_answers
from cxprobe.lm.texts import Bos, TokenScores
from cxprobe.lm.token_table import write_token_scores
from cxprobe.lm.tokenizers import refuse_unknown
from cxprobe.run.processes import Processes
from cxprobe.run.progress import progress as show_progress

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
    answers = Answers(store)
    return [
        one for section in sections_of(model, portions, how) for one in section.records(answers.to(section, progress))
    ]


def sections_of(model: Model, portions: Sequence[Texts], how: HowToScore) -> Iterator[MaskedSection | CausalSection]:
    """Yield what a model is asked to score texts; arguments and errors are those of `score_texts`."""
    for texts in portions:
        if isinstance(model, CausalLM):
            yield CausalSection(model, list(texts), bos=how.bos, token_budget=how.token_budget)
            continue
        spans = [(place, len(text)) for text, place in texts.items()]
        for scheme in how.schemes:
            yield from masked_sections(model, list(texts), scheme=scheme, token_budget=how.token_budget, spans=spans)


def measure_texts(
    slug: str,
    model: Model,
    portions: Sequence[Texts],
    how: HowToScore,
    check: Check,
    *,
    processes: Processes,
    what: str,
    folder: Path,
) -> dict[str, float] | None:
    """Score texts as a stage does: after a check of precision, with a store and a progress bar, into files.

    Args:
        slug: The model's key in params.yaml.
        model: The model; one without weights if answers are only counted.
        portions: See `score_texts`.
        how: How the model is asked.
        check: Refuses a model whose precision is too low, such as `require_agreement` of `measure.precision`; called
            with the model, all texts, and a function that scores some of them.
        processes: Which of the processes this is that answer the texts together.
        what: Names the work in the progress bar.
        folder: Where ``tokens.parquet`` and ``model.json`` are written.

    Returns:
        The number of distinct texts, the number of scores that their tokens have, the share of tokens that the model
        does not know, and what the check has found. None if this process writes no files.

    Raises:
        ModelError: The model does not know too many tokens (`cxprobe.models.refuse_unknown`).
    """
    if processes.counts:
        store = open_answers(slug, model, processes.kind_of_device)
        count_answers(store, processes, sections_of(model, portions, how))
        return None
    unknown = refuse_unknown(model, [text for texts in portions for text in texts], f"the texts of {what}")
    found = check(
        model,
        [text for texts in portions for text in texts.items()],
        lambda one, sample: [_log_probs(score_texts(one, [dict(sample)], how))],
    )
    total = sum(map(len, portions)) * (1 if isinstance(model, CausalLM) else len(how.schemes))
    with (
        open_answers(slug, model, processes.kind_of_device) as store,
        show_progress(total, "texts", what, kept=f"kept in {store.folder}") as shown,
    ):
        if not answer_together(store, processes, sections_of(model, portions, how), shown.update):
            return None
        scores = score_texts(model, portions, how, store=store, progress=shown.update if processes.alone else None)
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


# New, in work: `MeasuredModel` takes the place of slug, model, check and processes in all measuring functions.
#
#     model = MeasuredModel.of(stage, slug, spec, load_language_model)    # or load_masked_lm, load_encoder
#     model.described   the model without weights (tokenizer, max_tokens, configuration): for checks before measuring
#     model.facts       for `write_model_facts`
#
#     measure_texts(model, portions, how, folder) -> counts | None        # writes tokens.parquet and model.json
#     candidates.measure_candidates(model, portions, token_budget) -> (list of arrays (texts, candidates), counts) | None
#         portions: Sequence[Sequence[tuple[str, tuple[str, ...]]]], of each construction text and candidates
#     embedding.embed_texts(model, portions, special_tokens=, token_budget=, folder=) -> counts | None
#         portions: name -> (ids, texts); writes folder/<name>/{features.npy, ids.parquet} for `arrays.read_features`,
#         rows in the order of ids; counts: sentences, tokens, unknown, difference_from_float32
#
# None: this process only helps to fill the store, or answers are only counted; the stage returns None too.
