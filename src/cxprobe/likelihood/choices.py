"""Choices: how likely each answer is as the end of a text."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from cxprobe.errors import DataError
from cxprobe.likelihood.causal import causal_token_scores
from cxprobe.likelihood.masked import pll_token_scores
from cxprobe.likelihood.scores import given_context
from cxprobe.models import CausalLM, MaskedLM
from cxprobe.prompting_params import AnswerLikelihoods, AnswerScore
from cxprobe.records import Choice, TokenScores


class _Ending(NamedTuple):
    """An answer behind what stands before it; one text may hold several."""

    text: str
    start: int  # of the answer; the blank before it belongs to its first token, or to none


def score_choices(model: MaskedLM | CausalLM, choices: Sequence[Choice], settings: AnswerLikelihoods) -> pd.DataFrame:
    """Score every answer of each choice, given what stands before it.

    Args:
        model: A masked model is asked under ``settings.scheme``, a causal one from left to right.
        choices: With ids of their own.
        settings: Which scores, and how the model is asked.

    Returns:
        One row a choice, answer and score: id, answer (its symbol), score and value, in nats. "sum" is the
        log-probability of the answer, "per_token" and "per_character" that over its tokens or its characters that are
        no blanks; "pmi" is the sum less what it is behind ``anywhere``, where nothing is known of the question.

    Raises:
        DataError: Before anything is computed: a text is too long for the model. See also `pll_token_scores` and
            `causal_token_scores`.

    Source:
        "sum" and "per_character" as in lm-evaluation-harness; "pmi": Holtzman, West, Shwartz, Choi & Zettlemoyer 2021,
        where it is called domain conditional PMI.
    """
    _refuse_too_long(model, choices)
    endings = list(dict.fromkeys(ending for choice in choices for ending in _endings(choice, settings)))
    found = dict(zip(endings, _token_scores(model, endings, settings), strict=True))
    rows = [
        (choice.id, symbol, score, _value(score, choice, answer, found))
        for choice in choices
        for symbol, answer in choice.answers.items()
        for score in settings.scores
    ]
    return pd.DataFrame(rows, columns=["id", "answer", "score", "value"])


def _value(score: AnswerScore, choice: Choice, answer: str, found: Mapping[_Ending, TokenScores]) -> float:
    ending = _ending(choice.context, answer)
    total = given_context(found[ending], ending.start)
    match score:
        case "sum":
            return total
        case "per_token":
            return total / int((found[ending].spans[:, 1] > ending.start).sum())
        case "per_character":
            return total / len("".join(answer.split()))
        case "pmi":
            anywhere = _ending(choice.anywhere, answer)
            return total - given_context(found[anywhere], anywhere.start)


def _endings(choice: Choice, settings: AnswerLikelihoods) -> Iterator[_Ending]:
    for answer in choice.answers.values():
        yield _ending(choice.context, answer)
        if "pmi" in settings.scores:
            yield _ending(choice.anywhere, answer)


def _ending(before: str, answer: str) -> _Ending:
    text = before + answer
    return _Ending(text, len(text) - len(answer.lstrip()))


def _token_scores(
    model: MaskedLM | CausalLM, endings: Sequence[_Ending], settings: AnswerLikelihoods
) -> list[TokenScores]:
    texts = [ending.text for ending in endings]
    if isinstance(model, CausalLM):
        return causal_token_scores(model, texts, bos=settings.bos, token_budget=settings.token_budget)
    spans = [(ending.start, len(ending.text)) for ending in endings]
    return pll_token_scores(model, texts, scheme=settings.scheme, token_budget=settings.token_budget, spans=spans)


def _refuse_too_long(model: MaskedLM | CausalLM, choices: Sequence[Choice]) -> None:
    """Refuse questions that the model has no positions for, by their names; nothing is ever cut."""
    texts = [(choice.id, choice.context + answer) for choice in choices for answer in choice.answers.values()]
    encoded = model.tokenizer([text for _, text in texts], verbose=False)["input_ids"]
    lengths: dict[str, int] = {}
    for (id_, _), ids in zip(texts, encoded, strict=True):
        lengths[id_] = max(lengths.get(id_, 0), len(ids))
    too_long = {id_: length for id_, length in lengths.items() if length > model.max_tokens}
    if too_long:
        longest = max(too_long, key=lambda id_: too_long[id_])
        raise DataError(
            f"{len(too_long)} of {len(choices)} questions are too long for the model, which takes {model.max_tokens} "
            f"tokens; the longest has {too_long[longest]}: {longest} (item/prompt/shots/examples/...); show fewer "
            "examples (answer_likelihoods.most_shots), take a shorter prompt, or a model with longer inputs"
        )
