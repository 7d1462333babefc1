"""judge_pairs: the token scores of one model -> which pairs are right, accuracies and biases, by construction."""

from cxprobe.judge import JudgedPairs, accuracy_by_group, accuracy_metrics, pair_metrics, pair_tables, texts_by_scheme
from cxprobe.judge import judge_pairs as judge
from cxprobe.report import dots_of_run
from cxprobe.stages import JudgedRun, Outcome, Stage, run_stage
from cxprobe.storage import DATA, read_model_facts, read_table, token_scores_of, write_table

PAIRS = DATA / "build_pairs"
HEADLINE = ("accuracy", "low", "high", "n")


def judge_pairs(stage: Stage) -> Outcome:
    answers = stage.use(DATA / "score_pairs" / stage.item["model"])
    schemes = texts_by_scheme(token_scores_of(read_table(answers / "tokens.parquet")))
    judged = {}
    for name in stage.params.grid.pairs.constructions:
        pairs = read_table(stage.use(PAIRS / f"{name}.parquet"))
        judged[name] = judge(pairs, schemes, stage.params.judge_pairs)
        write_table(judged[name].items, stage.data / name / "items.parquet")
        write_table(judged[name].scores, stage.data / name / "scores.parquet")
    every = JudgedPairs.joined(list(judged.values()))
    kinds = {kind: every.where("tests", kind) for kind in ("meaning", "form")}
    runs = [_run(stage, name, own) for name, own in {**judged, "all": kinds["meaning"]}.items() if len(own.items)]
    return Outcome(headline={kind: _headline(own) for kind, own in kinds.items() if len(own.items)}, runs=runs)


def _headline(judged: JudgedPairs) -> dict[str, float]:
    metrics = accuracy_metrics(judged.where("words", "real").items)
    return {name: metrics[name] for name in HEADLINE}


def _run(stage: Stage, name: str, judged: JudgedPairs) -> JudgedRun:
    model, score = stage.item["model"], stage.params.judge_pairs.score.replace("_", " ")
    return JudgedRun(
        model=model,
        facts=read_model_facts(DATA / "score_pairs" / model),
        construction=name,
        source="own",
        dataset=stage.use(PAIRS if name == "all" else PAIRS / f"{name}.parquet"),
        items=len(judged.items),
        metrics=pair_metrics(judged),
        settings=stage.settings("build_pairs", "score_pairs", "judge_pairs"),
        tables=pair_tables(judged),
        figures={"accuracy": dots_of_run(accuracy_by_group(judged.items), f"{model}, {name}, {score}")},
    )


if __name__ == "__main__":
    run_stage(judge_pairs, "model")
