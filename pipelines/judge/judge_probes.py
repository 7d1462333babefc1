"""judge_probes: predictions of a model's probes -> accuracies by layer, feature and value, for every construction."""

from collections.abc import Mapping
from itertools import product

import pandas as pd

from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import DATA
from cxprobe.lm.language_models import read_model_facts
from cxprobe.lm.params import Member, members_of
from cxprobe.recognition.judge import (
    Credited,
    credit_predictions,
    judge_recognition,
    panel_headline,
    recognition_headline,
)
from cxprobe.recognition.report import figures_of_model
from cxprobe.run.running import run_stage
from cxprobe.run.stage import JudgedRun, Outcome, Stage


def judge_probes(stage: Stage) -> Outcome:
    members = members_of(stage.params.models, [stage.item["model"]])
    runs, found = [], {member.slug: dict[str, Mapping[str, float]]() for member in members}
    for name, sources in stage.params.grid.recognition.constructions.items():
        folder = stage.use(DATA / "fit_probes" / stage.item["model"] / name)
        for member, source in product(members, sources):
            splits = read_table(stage.use(DATA / "build_recognition" / name / source / "splits.parquet"))
            tables = [read_table(folder / member.inside / source / f"{stem}.parquet") for stem in Credited._fields]
            runs.append(_judge(stage, member, name, source, credit_predictions(*[*tables, splits])))
            found[member.slug][f"{name}, {source}"] = runs[-1].metrics
    own = found.get(stage.item["model"])
    return Outcome(headline=panel_headline(found) if own is None else recognition_headline(own), runs=runs)


def _judge(stage: Stage, member: Member, name: str, source: str, credited: Credited) -> JudgedRun:
    tuned = ["tune_probes"] if stage.params.tune_probes.enabled else []
    splits = stage.use(DATA / "build_recognition" / name / source / "splits.parquet")
    found = judge_recognition(credited)
    tables = {"accuracy_by_layer": found.by_layer, "accuracy_by_value": found.by_value, "controls": found.controls}
    tables |= {stem: getattr(found, stem) for stem in ("best_layer", "selectivity", "code_length")}
    items = {"items": credited.probes, "recognition": pd.DataFrame([found.metrics])}
    for stem, table in {**items, **tables}.items():
        write_table(table, stage.data / member.inside / name / source / f"{stem}.parquet")
    return JudgedRun(
        model=member.slug,
        facts=read_model_facts(DATA / "fit_probes" / member.entry / name / member.inside),
        construction=name,
        source=source,
        dataset=splits,
        items=int(found.metrics["n"]),
        metrics=found.metrics,
        series=found.series,
        settings=stage.settings(f"build_recognition.{source}", "extract_features", "fit_probes", *tuned),
        tables=tables,
        figures=figures_of_model(found._asdict(), member, read_table(splits), f"{name}, {source} sentences"),
    )


if __name__ == "__main__":
    run_stage(judge_probes, "model")
