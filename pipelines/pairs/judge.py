"""judge_pairs: what all models answered, replied, and what their probes took for right -> rates, biases, runs."""

from cxprobe.files.tables import read_table
from cxprobe.pairs.params import PairsStage
from cxprobe.pairs.runs import Headline, source_runs, ways_runs
from cxprobe.pairs.sources import OWN_PAIRS, made_files, read_made
from cxprobe.report.judging import compared_with_controls
from cxprobe.run.running import run_stage
from cxprobe.run.stage import JudgedRun, Outcome, Stage


def judge_pairs(stage: Stage[PairsStage]) -> Outcome:
    headline: Headline = {}
    faults: dict[str, str] = {}
    runs: list[JudgedRun] = []
    for source, files in made_files(stage.params.pairs).items():
        runs += source_runs(stage, source, read_made([stage.use(path) for path in files]), headline, faults)
        if source == OWN_PAIRS and stage.params.pairs.probed and runs:
            runs += ways_runs(stage, read_table(stage.data / "items.parquet"), headline, faults)
    return Outcome(headline=headline, runs=compared_with_controls(runs), faults=faults)


if __name__ == "__main__":
    run_stage(judge_pairs, PairsStage)
