"""judge_greetings: probabilities of all models -> rates and runs."""

import pandas as pd
from cxprobe.greetings.items import judge_greetings as judge_items
from cxprobe.greetings.params import GreetingsStage

from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import DATA
from cxprobe.report.judging import judge_members
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage
from cxprobe.stats import rate_by


def judge_greetings(stage: Stage[GreetingsStage]) -> Outcome:
    path = stage.use(DATA / "make_greetings" / "items.parquet")
    items = read_table(path)
    judging = judge_members(stage, lambda member, folder: judge_items(items, read_table(folder / "tokens.parquet")))
    tables = [table.assign(model=slug) for slug, table in judging.judged.items()]
    judged = pd.concat(tables, ignore_index=True)
    write_table(judged, stage.data / "items.parquet")
    runs, headline = [], {}
    for row in rate_by(judged, "accuracy", ["model", "construction"]).to_dict("records"):
        metrics = {name: row[name] for name in ("accuracy", "low", "high", "n")}
        headline[row["model"]] = metrics
        runs.append(
            judging.run(
                row["model"],
                construction=row["construction"],
                source="own",
                dataset=path,
                items=int(row["n"]),
                metrics=metrics,
                settings=stage.settings("greetings.make"),
            )
        )
    return Outcome(headline=headline, runs=runs, faults=judging.faults)


if __name__ == "__main__":
    run_stage(judge_greetings, GreetingsStage)
