"""Contrasts measured: how probable the words are in which the answers of a question differ."""

from collections.abc import Mapping, Sequence

import pandas as pd

from cxprobe.models.causal import CausalLM
from cxprobe.models.masked import MaskedLM
from cxprobe.models.pairs import measure_pairs, member_texts, pairs_shown_to, scoring_model
from cxprobe.models.params import Member
from cxprobe.models.texts import Pair, ScoringConfig, pairs_of, read_pair_answers
from cxprobe.results.words import PERCENT, with_interval
from cxprobe.run.stage import Stage
from cxprobe.stats import credits_of_margins, estimate_rate
from cxprobe.tasks.contrasts.contrast import frame_contrasts, made_file, pair_margins, read_frames, shared_start
from cxprobe.tasks.contrasts.params import ContrastsStage


def measure(stage: Stage[ContrastsStage], member: Member) -> Mapping[str, float] | None:
    """Measure a model, a baseline or a file on all frames: the files of `measure_pairs`."""
    section, folder = stage.params.contrasts, stage.data / member.inside
    wanted = section.models[stage.item]
    tables = [read_frames(stage.use(made_file(name)), wanted) for name in section.constructions]
    portions = [pairs_of(table) for table in tables]
    model = scoring_model(stage, member)
    [shown] = pairs_shown_to(member, model, {"own": portions}).values()
    how, seed = ScoringConfig([section.score.scheme], section.score.token_budget), stage.params.seed
    counts, printed = None, 0
    # The first construction alone is known minutes before the others.
    in_parts = model is not None and not member.is_baseline
    for number in dict.fromkeys([1, len(portions)] if in_parts else [len(portions)]):
        counts = measure_pairs(model, member, portions[:number], shown[:number], texts_of_contrasts, how, folder, seed)
        if counts and in_parts:
            lines = contrasts_in_words(pd.concat(tables[:number]), read_pair_answers(folder))
            print(*lines[printed:], sep="\n", flush=True)
            printed = number
    return counts


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
            of_frames = contrasts[contrasts["condition"] == condition]
            credits = credits_of_margins(of_frames["value"])
            rate = estimate_rate(credits, of_frames[["item"]].to_numpy(object))
            shares[condition] = f"{with_interval(rate, PERCENT)} of {rate.n} frames"
        item = of_construction[of_construction["condition"] == "construction"].iloc[0]
        lines.append(
            f"{name}: the contrast is above 0 in {shares['construction']}, and that of the control in "
            f'{shares["control"]}; an item: "{item["context"]}", then "{item["good"].strip()}" or '
            f'"{item["bad"].strip()}"'
        )
    return lines
