"""score_benchmarks: a benchmark of others, a model -> the scores of its pairs, and accuracies."""

from cxprobe.errors import DataError
from cxprobe.likelihood import CONTEXT_SCORES, score_pairs
from cxprobe.models import load_language_model
from cxprobe.pairs import accuracy_by, count_identical, pair_table, paired_focus_shifts, read_benchmark
from cxprobe.stage import Outcome, Stage, run_stage
from cxprobe.storage import DATA, write_table


def score_benchmarks(stage: Stage) -> Outcome:
    slug, name = stage.item.values()
    benchmark, summary = stage.params.benchmarks[name], stage.params.summarise_pairs
    pairs = read_benchmark(stage.use(DATA / "raw" / name), benchmark, stage.params.seed)
    bare = [pair.id for pair in pairs if not pair.context] if benchmark.score in CONTEXT_SCORES else []
    if bare:  # they would have no score, and go missing from the accuracies
        raise DataError(
            f"benchmarks.{name}.score is {benchmark.score}, which needs a context; {len(bare)} of {len(pairs)} pairs "
            f"have none, such as {bare[0]}; take another score"
        )
    model = load_language_model(slug, stage.params.models[slug], stage.params.score_pairs.device)
    scored = score_pairs(model, pairs, stage.params.score_pairs)
    write_table(scored, stage.data.with_suffix(".parquet"))
    wanted = scored[scored["scheme"].isin(["causal", summary.scheme]) & (scored["score"] == benchmark.score)]
    table = pair_table(pairs).merge(wanted[["id", "margin"]], on="id", validate="one_to_one")
    if benchmark.format == "paired_focus":
        table = paired_focus_shifts(table)
    (overall,) = accuracy_by(table.assign(benchmark=name), ["benchmark"]).drop(columns="benchmark").to_dict("records")
    return Outcome(
        metrics={
            **{str(key): number for key, number in overall.items()},
            "pairs": len(pairs),
            "identical": count_identical(pairs),
        },
        tables={"accuracy_by_group": accuracy_by(table, benchmark.by)},
        facts={"weights": model.fingerprint},
    )


if __name__ == "__main__":
    run_stage(score_benchmarks, "model", "benchmark")
