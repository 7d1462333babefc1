"""judge_pairs: what all models answered, replied, and what their probes took for right -> rates, biases, runs."""

from cxprobe.pairs.params import PairsStage
from cxprobe.pairs.runs import Headline, SourceRuns, ways_runs
from cxprobe.pairs.sources import OWN_PAIRS, made_files, read_made
from cxprobe.run.running import run_stage
from cxprobe.run.stage import JudgedRun, Outcome, Stage


def judge_pairs(stage: Stage[PairsStage]) -> Outcome:
    headline: Headline = {}
    faults: dict[str, str] = {}
    runs: list[JudgedRun] = []
    for source, files in made_files(stage.params.pairs).items():
        answered = SourceRuns(stage, source, read_made([stage.use(path) for path in files]))
        faults |= answered.faults
        if not answered.judging.judged:
            continue
        answered.write()
        runs += answered.runs(headline) if source == OWN_PAIRS else answered.benchmark_runs(headline)
        if source == OWN_PAIRS and stage.params.pairs.probed:
            runs += ways_runs(stage, answered.judged.items, headline, faults)
    return Outcome(headline=headline, runs=runs, faults=faults)


if __name__ == "__main__":
    run_stage(judge_pairs, PairsStage)
