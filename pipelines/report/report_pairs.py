"""report_pairs: judged pairs of every model -> accuracies, biases, comparisons, cards, series of models, figures."""

from itertools import product
from pathlib import Path

import pandas as pd

from cxprobe.judge import JudgedPairs, best_blind_pairs, compare_models, pair_tables
from cxprobe.params import ContinuationAlone, members_of
from cxprobe.report import (
    accuracies_of_meaning,
    comparable_pairs,
    pair_cards,
    pair_figures,
    pairs_along_series,
    pairs_beside_published,
    series_runs,
    with_blanks,
)
from cxprobe.stages import JudgedRun, Outcome, Stage, run_stage
from cxprobe.storage import DATA, read_table
from cxprobe.validation import agreement_on

PUBLISHED = [Path(f"published/oba2026_{name}.tsv") for name in ("objectives", "human_validation")]


def report_pairs(stage: Stage) -> Outcome:
    params, series = stage.params, stage.params.series
    members = members_of(params.models, params.grid.pairs.models)
    judged = JudgedPairs(*(_read(stage, name) for name in ("items", "scores")))
    along, overall = pairs_along_series(judged.items, series)
    tables = pair_tables(judged, ["model"]) | pair_cards(judged.items, members, params.cards.limit) | {"series": along}
    people, best = agreement_on("pairs", params.grid.pairs.constructions), best_blind_pairs(tables, members)
    figures = pair_figures(tables, best, params.judge_pairs.score, members, series, people)
    compared = comparable_pairs(judged.items, series)
    tables["comparisons"] = with_blanks(compare_models(compared, ["construction"], members))
    published = (pd.read_csv(stage.use(path), sep="\t") for path in PUBLISHED)
    tables["beside_published"] = pairs_beside_published(accuracies_of_meaning(judged.items), people, *published)
    accuracy, settings = tables.pop("constructions"), stage.settings("build_pairs", "score_pairs", "judge_pairs")
    pairs, runs = stage.use(DATA / "build_pairs"), series_runs(pd.concat([along, overall]), "construction")
    return Outcome(
        counts={"models": len(members), "constructions": len(params.grid.pairs.constructions)},
        tables={"accuracy": accuracy} | {f"tables/{name}": table for name, table in tables.items()},
        figures={f"figures/{name}": figure for name, figure in figures.items()},
        runs=[JudgedRun(source="own", dataset=pairs, settings=settings, **run) for run in runs],
    )


def _read(stage: Stage, name: str) -> pd.DataFrame:
    """Return a table of judged pairs of all models, construction by construction."""
    grid, tables = stage.params.grid.pairs, []
    for construction, member in product(grid.constructions, members_of(stage.params.models, grid.models)):
        folder = DATA / "judge_pairs" / member.entry / member.inside / construction
        if folder.exists() or not isinstance(member.spec, ContinuationAlone):  # which needs pairs with a context
            tables.append(read_table(stage.use(folder / f"{name}.parquet")).assign(model=member.slug))
    return pd.concat(tables, ignore_index=True)


if __name__ == "__main__":
    run_stage(report_pairs)
