"""What blind models get on a construction's pairs, before anything has run."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from cxprobe.constructions.people import load_people
from cxprobe.lm.params import ContinuationAlone, members_of
from cxprobe.lm.texts import read_pair_answers
from cxprobe.pairs.balance import pooled, unbalanced_rates, with_balance
from cxprobe.pairs.blind import measure_blindly
from cxprobe.pairs.frames import load_pairs
from cxprobe.pairs.judge import HowToJudge, answered_variants, decide_pairs
from cxprobe.pairs.make import build_pairs, pairs_of
from cxprobe.pairs.params import PairsParams, PairsStage, called_pairs
from cxprobe.pairs.sources import OWN_PAIRS
from cxprobe.report.params import ReportParams
from cxprobe.stats import rate_by


def blind_rates(name: str, params: ReportParams) -> pd.DataFrame:
    """Make the pairs of a file as the project asks for them, and let its blind models decide.

    A model that is shown the second sentence alone is left out: its checkpoint takes minutes.

    Args:
        name: The construction's folder, or its name with "-form".
        params: The parameters.

    Returns:
        One row a blind model: items (what they are), model, accuracy, low, high and n of the pairs that a rate of the
        construction has; then those of each variant in which one answer is always right, or that single words answer,
        whose items say so.
    """
    section, people, called = params.section(PairsParams), load_people(), called_pairs(name)
    members = members_of(params.models, params.models)
    settings = section.make.model_copy(update={"pseudowords": None, "examples": 0})
    table = build_pairs(name, {name: load_pairs(name, people)}, people, settings, params.seed).pairs
    how, parts = HowToJudge.of(section, OWN_PAIRS), []
    for member in members:
        if not member.is_blind or isinstance(member.spec, ContinuationAlone):
            continue
        if member.blind.kind not in PairsStage.blind_kinds:
            continue
        with TemporaryDirectory() as folder:
            measure_blindly(member, pairs_of(table), Path(folder), params.seed)
            judged = decide_pairs(with_balance(table), read_pair_answers(Path(folder)), how)
        parts.append(judged.items.assign(model=member.slug))
    items = pd.concat(parts, ignore_index=True)
    answered = answered_variants(items, members, params.report.limit)
    answered["items"] = (
        f"{called}, variant " + answered["variant"] + " asks nothing about the construction, since single "
        "words answer it (give both of its sentences the same words, or add variants with the other answer)"
    )
    counted = rate_by(pooled(items), "accuracy", ["model"]).assign(items=called)
    alone = unbalanced_rates(items).sort_values("variant", kind="stable")
    alone["items"] = called + ", variant " + alone["variant"] + " in no rate, since " + alone["reason"]
    return pd.concat([counted, answered, alone], ignore_index=True)[["items", "model", "accuracy", "low", "high", "n"]]
