"""judge_pairs: what all models answered, replied, and what their probes took for right -> rates, biases, runs."""

from cxprobe.errors import DataError
from cxprobe.files.tables import read_table
from cxprobe.lm.scores import CONTEXT_SCORES
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
    score = stage.params.pairs.judge.score
    for source, files in made_files(stage.params.pairs).items():
        pairs = read_made([stage.use(path) for path in files])
        if source == OWN_PAIRS and score in CONTEXT_SCORES and (pairs["context"] == "").all():
            raise DataError(f"pairs.judge.score: {score} needs a context, and no pair has one; take another")
        runs += source_runs(stage, source, pairs, headline, faults)
        if source == OWN_PAIRS and stage.params.pairs.probed and runs:
            runs += ways_runs(stage, read_table(stage.data / "items.parquet"), headline, faults)
    return Outcome(headline=headline, runs=compared_with_controls(runs), faults=faults)


if __name__ == "__main__":
    run_stage(judge_pairs, PairsStage)
