"""What pairs consist of, and what baselines get on a construction's pairs, before anything has run."""

from collections.abc import Sequence
from itertools import groupby, takewhile
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from cxprobe.constructions.people import load_people
from cxprobe.models.params import ContinuationAlone, members_of
from cxprobe.models.texts import read_pair_answers
from cxprobe.results.baseline_report import composition_table, word_table
from cxprobe.results.params import ReportParams
from cxprobe.stats import rate_by
from cxprobe.tasks.pairs.balance import pooled, unbalanced_rates, with_balance
from cxprobe.tasks.pairs.baselines import measure_baseline
from cxprobe.tasks.pairs.evaluate import EvaluationConfig, answered_variants, decide_pairs
from cxprobe.tasks.pairs.frames import load_pairs
from cxprobe.tasks.pairs.make import build_pairs, pairs_of
from cxprobe.tasks.pairs.params import PairsParams, PairsStage, called_pairs
from cxprobe.tasks.pairs.sources import OWN_PAIRS


def baseline_rates(name: str, params: ReportParams) -> pd.DataFrame:
    """Make the pairs of a file as the project asks for them, and let its baselines decide.

    A model that is shown the second sentence alone is left out: its checkpoint takes minutes.

    Args:
        name: The construction's folder, or its name with "-form".
        params: The parameters.

    Returns:
        One row a baseline: items (what they are), model, accuracy, low, high and n of the pairs that a rate of the
        construction has; then those of each variant in which one answer is always right, or that single words answer,
        whose items say so.
    """
    section, people, called = params.section(PairsParams), load_people(), called_pairs(name)
    members = members_of(params.models, params.models)
    settings = section.make.model_copy(update={"pseudowords": None, "examples": 0})
    table = build_pairs(name, {name: load_pairs(name, people)}, people, settings, params.seed).pairs
    how, parts = EvaluationConfig.of(section, OWN_PAIRS), []
    for member in members:
        if not member.is_baseline or isinstance(member.spec, ContinuationAlone):
            continue
        if member.baseline.kind not in PairsStage.baseline_kinds:
            continue
        with TemporaryDirectory() as folder:
            measure_baseline(member, pairs_of(table), Path(folder), params.seed)
            judged = decide_pairs(with_balance(table), read_pair_answers(Path(folder)), how)
        parts.append(judged[judged["deciding"]].assign(model=member.slug))
    items = pd.concat(parts, ignore_index=True)
    meaning = items[items["tests"] == "meaning"].rename(columns={"accuracy": "value"})
    by_variant = rate_by(meaning, "value", ["model", "construction", "variant"])
    answered = answered_variants(by_variant, members, params.report.limit).rename(columns={"value": "accuracy"})
    answered["items"] = (
        f"{called}, variant " + answered["variant"] + " asks nothing about the construction, since single "
        "words answer it (give both of its sentences the same words, or add variants with the other answer)"
    )
    counted = rate_by(pooled(items), "accuracy", ["model"]).assign(items=called)
    alone = unbalanced_rates(items).sort_values("variant", kind="stable")
    alone["items"] = called + ", variant " + alone["variant"] + " in no rate, since " + alone["reason"]
    return pd.concat([counted, answered, alone], ignore_index=True)[["items", "model", "accuracy", "low", "high", "n"]]


def described_tables(pairs: pd.DataFrame, by: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Return what pairs with real words consist of: the right and the wrong continuations of each group.

    Args:
        pairs: This project's, or those of a benchmark, see `cxprobe.tasks.pairs.balance.with_balance`.
        by: The columns that make the groups: a data set is a value of the first, without the cells in which one answer
            is always right, and a group of all of them.

    Returns:
        "composition" and "words" (`composition_table` and `word_table`).
    """
    wholes = pairs[pairs["balanced"]].assign(dataset=pairs[by[0]].astype(str))
    groups = pairs.assign(dataset=pairs[[*by]].astype(str).agg(", ".join, axis=1))
    both = pd.concat([wholes, groups], ignore_index=True).drop_duplicates(["dataset", "id"])
    sides = [both.assign(text=both[side], label=label) for side, label in (("good", "right"), ("bad", "wrong"))]
    texts = pd.concat(sides, ignore_index=True)
    return {"composition": composition_table(texts), "words": word_table(texts)}


def question_table(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return construction, variant and question: the first right continuation with its answer left out."""
    first = pairs.drop_duplicates(["construction", "variant"])
    asked = [_without_answer(good, bad) for good, bad in zip(first["good"], first["bad"], strict=True)]
    return first[["construction", "variant"]].assign(question=asked).reset_index(drop=True)


def _without_answer(good: str, bad: str) -> str:
    """Return a continuation with "…" instead of the words in which the two members of a pair differ."""
    one, other = (text.strip().removesuffix(".").split() for text in (good, bad))
    if len(one) == len(other):
        kept = [word if word == its else "…" for word, its in zip(one, other, strict=True)]
        return " ".join(word for word, _ in groupby(kept))
    before = _shared(one, other)
    after = _shared(one[len(before) :][::-1], other[len(before) :][::-1])
    return " ".join([*before, "…", *after[::-1]])


def _shared(one: Sequence[str], other: Sequence[str]) -> list[str]:
    """Return the words that two texts begin with alike."""
    return [word for word, _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))]
