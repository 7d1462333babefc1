"""build_benchmarks: a benchmark of others in its own format -> its minimal pairs, with all that they come with."""

from cxprobe.files.tables import write_table
from cxprobe.files.writing import DATA
from cxprobe.pairs.benchmarks import count_identical, read_benchmark
from cxprobe.pairs.make import pair_table
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage


def build_benchmarks(stage: Stage) -> Outcome:
    name = stage.item["benchmark"]
    pairs = read_benchmark(stage.use(DATA / "raw" / name), stage.params.benchmarks[name], stage.params.seed)
    write_table(pair_table(pairs), stage.data.with_suffix(".parquet"))
    items = len({pair.item for pair in pairs})
    return Outcome(counts={"pairs": len(pairs), "items": items, "identical": count_identical(pairs)})


if __name__ == "__main__":
    run_stage(build_benchmarks, "benchmark")
