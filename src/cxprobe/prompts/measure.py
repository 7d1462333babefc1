"""Answers as the end of a text: which texts a model has to score, and which are too long for it."""

from collections.abc import Iterator, Sequence

import pandas as pd

from cxprobe.errors import DataError
from cxprobe.lm.language_models import CausalLM, MaskedLM
from cxprobe.lm.texts import Choice


def choices_of(questions: pd.DataFrame, answers: pd.DataFrame) -> list[Choice]:
    """Return the questions of a construction with their answers.

    Args:
        questions: One row a question: id; question, what stands before the answer; and anywhere.
        answers: One row a question and answer: id, answer (its symbol) and text, how the question goes on.

    Raises:
        DataError: A question has no answer.
    """
    own = {str(id_): dict(zip(rows["answer"], rows["text"], strict=True)) for id_, rows in answers.groupby("id")}
    lacking = [id_ for id_ in questions["id"] if id_ not in own]
    if lacking:
        raise DataError(f"{len(lacking)} questions have no answers, such as {lacking[0]}; run build_prompts again")
    return [
        Choice(row["id"], row["question"], own[row["id"]], row["anywhere"])
        for row in questions[["id", "question", "anywhere"]].to_dict("records")
    ]


def texts_of_choices(choices: Sequence[Choice]) -> dict[str, int]:
    """Return the texts to score: each answer after its question, and after what may stand before it anywhere.

    Returns:
        Distinct texts, each with the place from which its tokens are scored: where the answer begins, after the space
        before it; the earliest such place if one text ends in several answers.
    """
    texts: dict[str, int] = {}
    for text, start in _endings(choices):
        texts[text] = min(start, texts.get(text, start))
    return texts


def _endings(choices: Sequence[Choice]) -> Iterator[tuple[str, int]]:
    for choice in choices:
        for answer in choice.answers.values():
            for before in (choice.context, choice.anywhere):
                text = before + answer
                yield text, len(text) - len(answer.lstrip())


def refuse_too_long(model: MaskedLM | CausalLM, choices: Sequence[Choice]) -> None:
    """Refuse questions that the model has no positions for, by their ids, before it is asked; nothing is ever cut.

    Raises:
        DataError: A question with one of its answers has more tokens than the model takes.
    """
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
            "examples (build_prompts.continuations.most_shots), take a shorter prompt, or a model with longer inputs"
        )
