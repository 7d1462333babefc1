"""report_pairs: judged pairs of every model -> accuracies, biases, comparisons, cards, series of models, figures."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER
from cxprobe.corpora.association import fillers_of
from cxprobe.corpora.params import Mining
from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA
from cxprobe.lm.params import Member, members_of, series_of
from cxprobe.pairs.figures import benchmark_figures, pair_figures, side_by_side
from cxprobe.pairs.frames import pairs_file, read_pairs_file
from cxprobe.pairs.frequency import frequency_by, verbs_in_corpora
from cxprobe.pairs.judge import PAIR_TABLES, biases_of_all, with_groups
from cxprobe.pairs.params import PairsStage
from cxprobe.pairs.replies import asked_rates
from cxprobe.pairs.report import (
    ALL,
    ALL_OF_FORM,
    accuracies_of_meaning,
    biases_along_series,
    cards_of,
    pair_cards,
    pairs_along_series,
    pairs_beside_published,
    pairs_in_groups,
    rates_by_source,
    with_both_orders,
    with_series,
)
from cxprobe.pairs.sources import OWN_PAIRS, folder_of
from cxprobe.people.agreement import agreement_on
from cxprobe.people.labels import LABELS_FILE, read_labels, without_negatives
from cxprobe.report.comparisons import best_blind, compare_models
from cxprobe.report.tables import with_blanks
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage
from cxprobe.stats import rate_by, with_tie_rate

JUDGED = DATA / "judge_pairs"
PUBLISHED = [Path(f"published/oba2026_{name}.tsv") for name in ("objectives", "human_validation")]

Results = dict[str, Any]


class PairsReportStage(PairsStage):
    """What the report reads: it compares verbs of frames with those that corpora have in the construction."""

    mining: Mining
    """Where the sentences of corpora come from."""


def report_pairs(stage: Stage[PairsReportStage]) -> Outcome:
    params, section = stage.params, stage.params.pairs
    members = members_of(params.models, section.models, params.llms, section.llms)
    series = series_of(params.models, section.models)
    tables: Results = {}
    figures: Results = {}
    drawn = [
        member.slug for member in members if member.is_blind or any(member.slug in s.models for s in series.values())
    ]
    groups: dict[str, pd.DataFrame] = {}  # source -> the judged pairs of blind models and series
    if section.constructions:
        items = read_table(stage.use(JUDGED / "items.parquet"))
        tables, figures = _own_pairs(stage, items, members)
        groups[OWN_PAIRS] = pairs_in_groups(items[items["model"].isin(drawn)], "group", ALL, ALL_OF_FORM)
    for name, benchmark in section.benchmarks.items():
        judged = with_groups(read_table(stage.use(JUDGED / folder_of(name) / "items.parquet")), benchmark.by)
        groups[name] = judged[judged["model"].isin(drawn)]
        own_tables, own_figures = _benchmark(stage, name, judged, members)
        tables |= {f"tables/{folder_of(name) / stem}": table for stem, table in own_tables.items()}
        figures |= {f"figures/{folder_of(name) / stem}": figure for stem, figure in own_figures.items()}
    if series and (section.benchmarks or len(series) > 1):
        rates = rates_by_source(groups)
        along, best = with_series(rates, series), best_blind(rates, ["source", "group"], members)
        scores = {OWN_PAIRS: section.judge.score} | {name: one.score for name, one in section.benchmarks.items()}
        title = ", ".join(f"{source} ({scores[source].replace('_', ' ')})" for source in groups)
        tables |= {"tables/series_by_source": along, "tables/best_blind_by_source": best}
        figures |= {f"figures/{name}": figure for name, figure in side_by_side(along, title, best).items()}
    counts = {
        "models": len(members),
        "constructions": len(section.constructions),
        "benchmarks": len(section.benchmarks),
    }
    return Outcome(counts=counts, tables=tables, figures=figures)


def _own_pairs(
    stage: Stage[PairsReportStage], items: pd.DataFrame, members: Sequence[Member]
) -> tuple[Results, Results]:
    """Return the tables and figures of this project's pairs by their paths."""
    section, series = stage.params.pairs, series_of(stage.params.models, stage.params.pairs.models)
    tables = {name: read_table(stage.use(JUDGED / "rates" / f"{name}.parquet")) for name in PAIR_TABLES}
    tables |= pair_cards(items, members, stage.params.report.limit)
    along = pairs_along_series(items, tables["constructions"], series)
    tables["series"] = along[along["construction"] != "all"]
    tables["series_biases"] = biases_along_series(biases_of_all(items), tables["biases"], series)
    if section.llms:
        replies = read_table(stage.use(JUDGED / "replies.parquet"))
        tables["asked"] = asked_rates(replies, ["model", "construction", "words"])
    people = agreement_on("pairs", section.constructions)
    figures = pair_figures(tables, section.judge.score, members, series, people)
    comparable = pairs_in_groups(items, "construction", ALL)
    compared = compare_models(comparable, ["construction"], members, series, stage.params.report.tested)
    tables["comparisons"] = with_blanks(compared)
    tables["frequency"] = with_blanks(frequency_by(comparable, _verbs(stage), ["model", "construction"]))
    published = (pd.read_csv(stage.use(path), sep="\t") for path in PUBLISHED)
    tables["beside_published"] = pairs_beside_published(accuracies_of_meaning(items), people, *published)
    accuracy = with_blanks(with_both_orders(tables.pop("constructions"), tables))
    return (
        {"accuracy": accuracy} | {f"tables/{name}": table for name, table in tables.items()},
        {f"figures/{name}": figure for name, figure in figures.items()},
    )


def _verbs(stage: Stage[PairsReportStage]) -> pd.DataFrame:
    """Return how often the verbs of frames are found in the constructions that are mined."""
    mining, mined = stage.params.mining, {}
    for name in (name for name in stage.params.pairs.constructions if name in mining.constructions):
        stage.use(pairs_file(name))
        sentences = read_table(stage.use(mining.folder_of(name) / "sentences.parquet"))
        path = CONSTRUCTIONS_FOLDER / name / LABELS_FILE
        labels = read_labels(stage.use(path)) if path.exists() else []
        mined[name] = (read_pairs_file(name).frames, fillers_of(without_negatives(sentences, labels)))
    return verbs_in_corpora(mined)


def _benchmark(
    stage: Stage[PairsReportStage], name: str, judged: pd.DataFrame, members: Sequence[Member]
) -> tuple[Results, Results]:
    """Return the tables and figures of a benchmark; judged has its pairs twice, as group "all" and in their own."""
    benchmark, series = stage.params.pairs.benchmarks[name], series_of(stage.params.models, stage.params.pairs.models)
    accuracy = with_tie_rate(rate_by(judged, "accuracy", ["model", "group"]))
    along = with_series(accuracy, series)
    cards = cards_of(judged.assign(dataset=judged["group"]), members, stage.params.report.limit)
    scores = with_groups(read_table(stage.use(JUDGED / folder_of(name) / "scores.parquet")), benchmark.by)
    tables = {"accuracy": accuracy, "series": along, **cards}
    figures = benchmark_figures(tables, name, benchmark.score, members)
    tables["scores"] = with_tie_rate(rate_by(scores, "accuracy", ["model", "group", "scheme", "score"]))
    compared = compare_models(judged, ["group"], members, series, stage.params.report.tested)
    tables["comparisons"] = with_blanks(compared)
    if stage.params.pairs.llms:
        replies = with_groups(read_table(stage.use(JUDGED / folder_of(name) / "replies.parquet")), benchmark.by)
        tables["asked"] = asked_rates(replies, ["model", "group"])
    return tables, figures


if __name__ == "__main__":
    run_stage(report_pairs, PairsReportStage)
