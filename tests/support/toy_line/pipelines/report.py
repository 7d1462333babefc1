"""report_greetings: judged greetings -> the rates side by side."""

from cxprobe.greetings.params import GreetingsStage

from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage
from cxprobe.stats import rate_by


def report_greetings(stage: Stage[GreetingsStage]) -> Outcome:
    judged = read_table(stage.use(DATA / "judge_greetings" / "items.parquet"))
    rates = rate_by(judged, "accuracy", ["model", "construction"])
    return Outcome(tables={"accuracy": rates, "tables/rates": rates})


if __name__ == "__main__":
    run_stage(report_greetings, GreetingsStage)
