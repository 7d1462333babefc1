"""Contrasts measured: how probable the words are in which the answers of a question differ."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from cxprobe.models.causal import CausalLM
from cxprobe.models.masked import MaskedLM
from cxprobe.models.ngrams import prepend_contexts
from cxprobe.models.pairs import check_scored, measure_baseline, member_texts, pairs_shown_to, scoring_model
from cxprobe.models.params import ContinuationAlone, Member
from cxprobe.models.scoring import measure_texts
from cxprobe.models.texts import Pair, ScoringConfig, distinct_texts, pairs_of, read_pair_answers
from cxprobe.results.words import PERCENT, with_interval
from cxprobe.run.stage import Stage
from cxprobe.stats import credits_of_margins, estimate_rate
from cxprobe.tasks.contrasts.contrast import frame_contrasts, pair_margins, shared_start
from cxprobe.tasks.contrasts.items import made_file, read_frames
from cxprobe.tasks.contrasts.params import ContrastsStage


def measure(stage: Stage[ContrastsStage], member: Member) -> Mapping[str, float] | None:
    """Measure a model or baseline on all frames: the files of `measure_texts` or `measure_baseline`."""
    section, folder = stage.params.contrasts, stage.data / member.inside
    wanted = section.models[stage.item]
    tables = [read_frames(stage.use(made_file(name)), wanted) for name in section.constructions]
    portions = [pairs_of(table) for table in tables]
    pairs = [pair for portion in portions for pair in portion]
    model = scoring_model(stage, member)
    if model is None:
        return {"pairs": len(pairs), **measure_baseline(member, pairs, folder, stage.params.seed)}
    [shown] = pairs_shown_to(member, {"own": portions}).values()
    for portion in shown:
        check_scored(model.described, portion, ["sum"])
    texts = distinct_texts(texts_of_contrasts(model.described, portion) for portion in shown)
    how = ScoringConfig([section.score.scheme], section.score.token_budget)
    printed = 0
    counted: Mapping[str, float] | None = None
    # The first construction alone is known minutes before the others.
    for number in dict.fromkeys([1, len(texts)]):
        counted = measure_texts(model, texts[:number], how, folder)
        if counted and not member.is_baseline:
            lines = contrasts_in_words(pd.concat(tables[:number]), read_pair_answers(folder))
            print(*lines[printed:], sep="\n", flush=True)
            printed = number
    if counted is None:
        return None
    if isinstance(member.spec, ContinuationAlone):
        prepend_contexts(pairs, folder)
    return {"pairs": len(pairs), **counted}


def texts_of_contrasts(model: MaskedLM | CausalLM, pairs: Sequence[Pair]) -> dict[str, int]:
    """Return the texts to score: both members of each pair.

    Returns:
        Distinct texts, each with the place from which its tokens are scored: for a causal model where the members
        first differ, the earliest such place if a text is a member of several pairs; for a masked model 0.
    """
    if isinstance(model, MaskedLM):
        return dict.fromkeys(member_texts(pairs), 0)
    texts: dict[str, int] = {}
    for pair in pairs:
        members = member_texts([pair])
        start = shared_start(*members)
        texts |= {text: min(start, texts.get(text, start)) for text in members}
    return texts


def contrasts_in_words(pairs: pd.DataFrame, tokens: pd.DataFrame) -> list[str]:
    """Return a sentence for each construction: in how many frames the contrast is above 0, and one item.

    Args:
        pairs: The pairs.
        tokens: See `cxprobe.models.texts.token_table`.
    """
    margins = pair_margins(pairs, tokens)
    lines = []
    for name, of_construction in margins.groupby("construction", sort=False):
        contrasts, shares = frame_contrasts(of_construction, ["item"]), {}
        for condition in ("construction", "control"):
            of_frames = contrasts[condition].dropna()
            credits = credits_of_margins(of_frames.to_numpy(np.float64))
            rate = estimate_rate(credits, of_frames.index.to_numpy(object).reshape(-1, 1))
            shares[condition] = f"{with_interval(rate, PERCENT)} of {rate.n} frames"
        item = of_construction[of_construction["condition"] == "construction"].iloc[0]
        lines.append(
            f"{name}: the contrast is above 0 in {shares['construction']}, and that of the control in "
            f'{shares["control"]}; an item: "{item["context"]}", then "{item["good"].strip()}" or '
            f'"{item["bad"].strip()}"'
        )
    return lines
