"""report_pairs: judged pairs of every model -> accuracies, biases, comparisons, cards, series of models, figures."""

from pathlib import Path

import pandas as pd

from cxprobe.files.writing import DATA
from cxprobe.lm.params import Member, members_of
from cxprobe.pairs.judge import JudgedPairs, best_blind_pairs, biases_of_all, pair_tables
from cxprobe.pairs.judge_asked import asked_rates
from cxprobe.pairs.judged import read_judged_pairs
from cxprobe.pairs.report import (
    accuracies_of_meaning,
    biases_along_series,
    comparable_pairs,
    pair_cards,
    pair_figures,
    pairs_along_series,
    pairs_beside_published,
)
from cxprobe.pairs.series import series_runs
from cxprobe.people.rating_agreement import agreement_on
from cxprobe.report.comparisons import compare_models
from cxprobe.report.tables import with_blanks
from cxprobe.run.running import run_stage
from cxprobe.run.stage import JudgedRun, Outcome, Stage

PUBLISHED = [Path(f"published/oba2026_{name}.tsv") for name in ("objectives", "human_validation")]


def report_pairs(stage: Stage) -> Outcome:
    params, grid, series = stage.params, stage.params.grid.pairs, stage.params.series
    members = members_of(params.models, grid.models, params.llms, grid.llms)
    people, asked = agreement_on("pairs", grid.constructions), [member for member in members if member.is_asked]
    items, scores = (_read(stage, members, name) for name in ("items", "scores"))
    tables = pair_tables(JudgedPairs(items, scores), ["model"]) | pair_cards(items, members, params.cards.limit)
    tables["series"], overall = pairs_along_series(items, series)
    tables["series_biases"] = biases_along_series(biases_of_all(items), tables["biases"], series)
    if asked:
        tables["asked"] = asked_rates(_read(stage, asked, "replies"), ["model", "construction", "words"])
    figures = pair_figures(tables, best_blind_pairs(tables, members), params.judge_pairs.score, members, series, people)
    tables["comparisons"] = with_blanks(compare_models(comparable_pairs(items, series), ["construction"], members))
    published = (pd.read_csv(stage.use(path), sep="\t") for path in PUBLISHED)
    tables["beside_published"] = pairs_beside_published(accuracies_of_meaning(items), people, *published)
    accuracy, settings = tables.pop("constructions"), stage.settings("build_pairs", "score_pairs", "judge_pairs")
    pairs, runs = stage.use(DATA / "build_pairs"), series_runs(pd.concat([tables["series"], overall]), "construction")
    return Outcome(
        counts={"models": len(members), "constructions": len(grid.constructions)},
        tables={"accuracy": accuracy} | {f"tables/{name}": table for name, table in tables.items()},
        figures={f"figures/{name}": figure for name, figure in figures.items()},
        runs=[JudgedRun(source="own", dataset=pairs, settings=settings, **run) for run in runs],
    )


def _read(stage: Stage, members: list[Member], name: str) -> pd.DataFrame:
    return read_judged_pairs(stage.use, members, stage.params.grid.pairs.constructions, name)


if __name__ == "__main__":
    run_stage(report_pairs)
