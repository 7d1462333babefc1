"""The texts of minimal pairs that a model scores, and the pairs that these scores could not decide."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from cxprobe.errors import DataError
from cxprobe.models.causal import CausalLM
from cxprobe.models.masked import MaskedLM
from cxprobe.models.measuring import MeasuredModel
from cxprobe.models.ngrams import without_contexts
from cxprobe.models.params import ContinuationAlone, Member, ModelSpec
from cxprobe.models.scoring import load_language_model
from cxprobe.models.texts import Pair
from cxprobe.results.words import interval, percent
from cxprobe.run.stage import Stage
from cxprobe.stats import credits_of_margins, estimate_rate
from cxprobe.tasks.pairs.params import PairsStage
from cxprobe.tasks.pairs.sources import CONTRAST


def texts_of_pairs(model: MaskedLM | CausalLM, pairs: Sequence[Pair]) -> dict[str, int]:
    """Return the texts to score: both members of each pair and, where there is a context, what follows it alone.

    Args:
        model: The model; a causal one without anything before a text cannot score the single token of a continuation
            alone, which is left out.
        pairs: A member is the context directly followed by its continuation.

    Returns:
        Distinct texts, each with 0: all its tokens are scored.
    """
    alone = ends_alone(pairs)
    if model.texts_without_first_score(alone[:1]):
        lengths = map(len, model.tokenizer(alone, add_special_tokens=False)["input_ids"])
        alone = [text for text, tokens in zip(alone, lengths, strict=True) if tokens > 1]
    return dict.fromkeys([*member_texts(pairs), *alone], 0)


def member_texts(pairs: Sequence[Pair]) -> list[str]:
    """Return both members of each pair, the context included."""
    return [pair.context + end for pair in pairs for end in (pair.good, pair.bad)]


def ends_alone(pairs: Sequence[Pair]) -> list[str]:
    """Return the continuations of contexts without the space before them, each once; none where there is no context."""
    return list(dict.fromkeys(end.lstrip() for pair in pairs if pair.context for end in (pair.good, pair.bad)))


def check_scored(model: MaskedLM | CausalLM, pairs: Sequence[Pair], scores: Sequence[str]) -> None:
    """Raise if a token that the scores need will have no score, before the model scores anything.

    Args:
        model: The model; its weights are not needed.
        pairs: The pairs.
        scores: The scores by which they are decided.

    Raises:
        DataError: Nothing stands before a text, so that its first token has no score; and the members of a pair differ
            in their first token, or "pmi" needs the continuations alone.
    """
    first = model.texts_without_first_score(list(dict.fromkeys(member_texts(pairs))))
    apart = [pair.id for pair in pairs if first.get(pair.context + pair.good) != first.get(pair.context + pair.bad)]
    named = model.tokenizer.bos_token_id is not None
    remedy = "take bos: add" if named else "take bos: <the token that began documents in its training>"
    because = f"since {model.name} reads nothing before a text; {remedy}"
    if apart:
        where = f"{len(apart)} of {len(pairs)} pairs, such as {apart[0]}, differ in their first token"
        raise DataError(f"{where}, which has no score, {because}")
    if first and "pmi" in scores and any(pair.context for pair in pairs):
        what = "pmi needs the score of each continuation alone, whose first token has none"
        raise DataError(f"{what}, {because}, or take pmi out of the scores")


def contrasts_in_words(pairs: Sequence[Pair], tokens: pd.DataFrame) -> list[str]:
    """Return a sentence for each construction that has contrasts: how many frames are above 0, and one item.

    This is what a stage prints as soon as it knows it. It computes without what evaluates, a change of which would
    otherwise run every stage that measures.

    Args:
        pairs: Pairs, those of contrasts among them.
        tokens: See `cxprobe.models.texts.token_table`; of several schemes the first counts.
    """
    sums = {row["text"]: float(np.nansum(row["log_probs"])) for row in reversed(tokens.to_dict("records"))}
    margins: dict[tuple[str, str], dict[str, list[float]]] = {}
    first: dict[str, Pair] = {}
    for pair in pairs:
        if pair.groups.get("tests") == CONTRAST and pair.context + pair.good in sums:
            construction, condition = pair.groups["construction"], pair.groups["sentence"]
            margin = sums[pair.context + pair.good] - sums[pair.context + pair.bad]
            margins.setdefault((construction, condition), {}).setdefault(pair.item, []).append(margin)
            if condition == "construction":
                first.setdefault(construction, pair)
    shares = {}
    for place, frames in margins.items():
        credits = credits_of_margins(np.array([np.mean(of_frame) for of_frame in frames.values()]))
        rate = estimate_rate(credits, np.array([[name] for name in frames], dtype=object))
        shares[place] = f"{percent(rate.value)} {interval(rate)} of {rate.n} frames"
    return [
        f"{name}: the contrast is above 0 in {shares[name, 'construction']}, and that of the control in "
        f'{shares[name, "control"]}; an item: "{item.context}", then "{item.good.strip()}" or "{item.bad.strip()}"'
        for name, item in first.items()
    ]


Sources = Mapping[str, Sequence[Sequence[Pair]]]
"""Source -> its pairs in portions, such as constructions."""


def pairs_shown_to(member: Member, sources: Sources) -> Sources:
    """Return the pairs that a model is asked about: all, or the second sentences of those with a context.

    Raises:
        DataError: A model that is shown second sentences alone would be shown whole texts.
    """
    if not isinstance(member.spec, ContinuationAlone):
        return sources
    alone = {name: [without_contexts(pairs) for pairs in portions] for name, portions in sources.items()}
    shown = {name: portions for name, portions in alone.items() if any(portions)}
    if not shown:
        raise DataError(
            f"{member.slug}: no pair has a context, so that the model is no baseline; take it out of this set"
        )
    return shown


def scoring_model(stage: Stage[PairsStage], member: Member) -> MeasuredModel[MaskedLM | CausalLM] | None:
    """Return the model that scores texts; None for a rule, or for counts of words."""
    match member.spec:
        case ModelSpec():
            return MeasuredModel.of(stage, member.slug, member.spec, load_language_model)
        case ContinuationAlone(checkpoint=spec):
            # Under the key of its own entry, so that both use one store of answers.
            slug = next((key for key, entry in stage.params.models.items() if entry == spec), member.slug)
            return MeasuredModel.of(stage, slug, spec, load_language_model)
    return None
