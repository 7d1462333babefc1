"""Rates of baselines on the pairs of a construction, before anything has run."""

from collections.abc import Sequence

import pandas as pd

from cxprobe.constructions.people import load_people
from cxprobe.models.params import ContinuationAlone, Member, members_of
from cxprobe.models.texts import token_table
from cxprobe.results.params import ReportParams
from cxprobe.stats import rate_by
from cxprobe.tasks.pairs.balance import CELL, reasons
from cxprobe.tasks.pairs.evaluate import EvaluationConfig, decide_pairs
from cxprobe.tasks.pairs.frames import load_pairs
from cxprobe.tasks.pairs.make import build_pairs, pairs_of
from cxprobe.tasks.pairs.measure import baseline_answers
from cxprobe.tasks.pairs.params import PairsParams, PairsStage, called_pairs


def baseline_rates(name: str, params: ReportParams) -> pd.DataFrame:
    """Make the pairs of a file as the project asks for them, and let its baselines decide.

    A model that is shown the second sentence alone is left out: its checkpoint takes minutes.

    Args:
        name: The construction's folder, or its name with "-form".
        params: The parameters.

    Returns:
        One row a baseline: items (what they are), model, accuracy, low, high and n of the pairs that a rate of the
        construction has; then those of each variant in which one answer is always right, whose items say so.
    """
    section, people, called = params.section(PairsParams), load_people(), called_pairs(name)
    members = [
        member
        for member in members_of(params.models, params.models)
        if member.is_baseline
        and member.baseline.kind in PairsStage.baseline_kinds
        and not isinstance(member.spec, ContinuationAlone)
    ]
    settings = section.make.model_copy(update={"pseudowords": None})
    table = build_pairs(name, load_pairs(name, people), people, settings, params.seed).pairs
    decided = decided_by_baselines(table, members, EvaluationConfig.of(section), params.seed)
    parts = [of[of["deciding"]].assign(model=model, value=of["accuracy"]) for model, of in decided.items()]
    items = pd.concat(parts, ignore_index=True)
    counted = rate_by(items[items["balanced"]], "value", ["model"]).assign(items=called)
    alone = rate_by(items[~items["balanced"]], "value", ["model", *CELL, "right", "wrong"])
    alone["items"] = called + ", variant " + alone["variant"] + " in no rate, since " + reasons(alone)
    alone = alone.sort_values("variant", kind="stable")
    rates = pd.concat([counted, alone], ignore_index=True).rename(columns={"value": "accuracy"})
    return rates[["items", "model", "accuracy", "low", "high", "n"]]


def decided_by_baselines(
    pairs: pd.DataFrame, members: Sequence[Member], how: EvaluationConfig, seed: int
) -> dict[str, pd.DataFrame]:
    """Return the decisions of each baseline among some models on pairs, see `decide_pairs`."""
    decided = {}
    for member in members:
        if member.is_baseline:
            answers = baseline_answers(member, pairs_of(pairs), seed)
            table = answers if isinstance(answers, pd.DataFrame) else token_table(answers)
            decided[member.slug] = decide_pairs(pairs, table, how)
    return decided
