"""report_pairs: judged pairs of every model -> accuracies, biases, comparisons, cards, series of models, figures."""

from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA
from cxprobe.lm.params import series_of
from cxprobe.pairs.judge import PAIR_TABLES
from cxprobe.pairs.params import PairsStage
from cxprobe.pairs.report import report_of_benchmark, report_of_pairs, report_of_series
from cxprobe.pairs.sources import OWN_PAIRS, folder_of, made_files
from cxprobe.people.estimates import human_agreement, load_ratings
from cxprobe.report.judging import line_members
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage

JUDGED = DATA / "judge_pairs"
PUBLISHED = [Path(f"published/oba2026_{name}.tsv") for name in ("objectives", "human_validation")]


def report_pairs(stage: Stage[PairsStage]) -> Outcome:
    params, section = stage.params, stage.params.pairs
    tables: dict[str, pd.DataFrame] = {}
    figures: dict[str, Figure] = {}
    items = {}
    for source in made_files(section):
        names = ["items"] if source == OWN_PAIRS else ["items", "scores"]
        names += ["replies"] if section.llms else []
        judged = {name: read_table(stage.use(JUDGED / folder_of(source) / f"{name}.parquet")) for name in names}
        if source == OWN_PAIRS:
            rates = {name: read_table(stage.use(JUDGED / "rates" / f"{name}.parquet")) for name in PAIR_TABLES}
            published = [pd.read_csv(stage.use(path), sep="\t") for path in PUBLISHED]
            ratings = load_ratings(section.constructions)
            people = human_agreement(ratings[ratings["kind"] == "pairs"])
            report = report_of_pairs(params, judged, rates, people, published)
        else:
            report = report_of_benchmark(params, source, judged)
        items[source] = judged["items"]
        tables |= {f"tables/{folder_of(source) / name}": table for name, table in report[0].items()}
        figures |= {f"figures/{folder_of(source) / name}": figure for name, figure in report[1].items()}
    if OWN_PAIRS in items:
        tables["accuracy"] = tables.pop("tables/accuracy")
    if series_of(params.models, section.models):
        along, drawn = report_of_series(params, items)
        tables |= {f"tables/{name}": table for name, table in along.items()}
        figures |= {f"figures/{name}": figure for name, figure in drawn.items()}
    counts = {"models": len(line_members(params)), "constructions": len(section.constructions)}
    return Outcome(counts={**counts, "benchmarks": len(section.benchmarks)}, tables=tables, figures=figures)


if __name__ == "__main__":
    run_stage(report_pairs, PairsStage)
