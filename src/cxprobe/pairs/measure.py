"""Minimal pairs: which texts a model has to score, and which pairs it cannot tell apart."""

from collections.abc import Sequence

from cxprobe.errors import DataError
from cxprobe.lm.causal import texts_without_first_score
from cxprobe.lm.language_models import CausalLM, MaskedLM
from cxprobe.lm.params import Bos
from cxprobe.lm.scoring import distinct_texts
from cxprobe.lm.texts import Pair


def texts_to_score(model: MaskedLM | CausalLM, portions: Sequence[Sequence[Pair]], bos: Bos) -> list[dict[str, int]]:
    """Return the distinct texts of all pairs in portions, for `measure_texts`.

    Args:
        model: The model; its weights are not needed.
        portions: The pairs, such as those of each construction.
        bos: What a causal model reads before a text.

    Raises:
        DataError: The model cannot tell some pairs apart (`check_scored`).
    """
    for pairs in portions:
        check_scored(model, pairs, bos)
    return distinct_texts(texts_of_pairs(model, pairs, bos) for pairs in portions)


def texts_of_pairs(model: MaskedLM | CausalLM, pairs: Sequence[Pair], bos: Bos) -> dict[str, int]:
    """Return the texts to score: both members of each pair and, where there is a context, what follows it alone.

    Args:
        model: The model; a causal one without anything before a text cannot score the single token of a continuation
            alone, which is left out.
        pairs: A member is the context directly followed by its continuation.
        bos: What a causal model reads before a text.

    Returns:
        Distinct texts, each with 0: all its tokens are scored.
    """
    members = [pair.context + end for pair in pairs for end in (pair.good, pair.bad)]
    alone = list(dict.fromkeys(end.lstrip() for pair in pairs if pair.context for end in (pair.good, pair.bad)))
    if isinstance(model, CausalLM) and texts_without_first_score(model, alone[:1], bos):
        lengths = map(len, model.tokenizer(alone, add_special_tokens=False)["input_ids"])
        alone = [text for text, tokens in zip(alone, lengths, strict=True) if tokens > 1]
    return dict.fromkeys([*members, *alone], 0)


def check_scored(model: MaskedLM | CausalLM, pairs: Sequence[Pair], bos: Bos) -> None:
    """Refuse pairs that a causal model without a beginning of sequence cannot tell apart, before it is asked.

    Args:
        model: The model.
        pairs: The pairs.
        bos: What a causal model reads before a text.

    Raises:
        DataError: Nothing stands before a text, and the members of a pair differ in their first token.
    """
    if not isinstance(model, CausalLM):
        return
    members = list(dict.fromkeys(pair.context + end for pair in pairs for end in (pair.good, pair.bad)))
    first = texts_without_first_score(model, members, bos)
    apart = [pair.id for pair in pairs if first.get(pair.context + pair.good) != first.get(pair.context + pair.bad)]
    if apart:
        raise DataError(
            f"{len(apart)} of {len(pairs)} pairs, such as {apart[0]}, differ in their first token, which has no score: "
            f"the model's tokenizer puts nothing before a text under pairs.score.bos: {bos}; take bos: add"
        )
