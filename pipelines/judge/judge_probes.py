"""judge_probes: predictions of a model's probes -> accuracies by layer, feature and value, for every construction."""

from collections import defaultdict

import pandas as pd

from cxprobe.judge import Credited, credit_predictions, judge_recognition, recognition_headline
from cxprobe.report import figures_of_model
from cxprobe.stages import JudgedRun, Outcome, Stage, run_stage
from cxprobe.storage import DATA, read_model_facts, read_table, write_table


def judge_probes(stage: Stage) -> Outcome:
    runs, credited = [], defaultdict(list)
    for name, sources in stage.params.grid.recognition.constructions.items():
        folder = stage.use(DATA / "fit_probes" / stage.item["model"] / name)
        for source in sources:
            tables = (read_table(folder / source / f"{stem}.parquet") for stem in ("probes", "controls"))
            credited[source].append(credit_predictions(*tables))
            runs.append(_judge(stage, name, source, credited[source][-1]))
    return Outcome(headline={str(source): recognition_headline(own) for source, own in credited.items()}, runs=runs)


def _judge(stage: Stage, name: str, source: str, credited: Credited) -> JudgedRun:
    model = stage.item["model"]
    tuned = ["tune_probes"] if stage.params.tune_probes.enabled else []
    splits = stage.use(DATA / "build_recognition" / name / source / "splits.parquet")
    found = judge_recognition(credited)
    tables = {"accuracy_by_layer": found.by_layer, "accuracy_by_value": found.by_value, "controls": found.controls}
    items = {"items": credited.probes.drop(columns="probability"), "recognition": pd.DataFrame([found.metrics])}
    for stem, table in {**items, **tables}.items():
        write_table(table, stage.data / name / source / f"{stem}.parquet")
    return JudgedRun(
        model=model,
        facts=read_model_facts(DATA / "fit_probes" / model / name),
        construction=name,
        source=source,
        dataset=splits,
        items=int(found.metrics["n"]),
        metrics=found.metrics,
        series=found.series,
        settings=stage.settings(f"build_recognition.{source}", "extract_features", "fit_probes", *tuned),
        tables=tables,
        figures=figures_of_model(
            found.by_layer.assign(model=model),
            found.by_value,
            {"layer": found.controls, "value": found.controls_by_value},
            splits=read_table(splits),
            title=f"{model}: {name}, {source} sentences",
        ),
    )


if __name__ == "__main__":
    run_stage(judge_probes, "model")
