"""judge_recognition: predictions of all models' probes -> accuracies by layer, feature and value, and their runs."""

from pathlib import Path

import pandas as pd

from cxprobe.constructions.construction import SentenceSource, without_marks
from cxprobe.errors import CxprobeError
from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import DATA
from cxprobe.lm.language_models import read_model_facts
from cxprobe.lm.params import Member, ModelFacts, members_of
from cxprobe.recognition.figures import figures_of_model, optimisation_history, parameter_importance
from cxprobe.recognition.judge import (
    Credited,
    Recognition,
    credit_predictions,
    judge_predictions,
    metrics_of,
    series_of,
    trials_of,
)
from cxprobe.run.running import run_stage
from cxprobe.run.stage import JudgedRun, Outcome, Stage


def judge_recognition(stage: Stage) -> Outcome:
    section = stage.params.recognition
    members = members_of(stage.params.models, section.models)
    headline: dict[str, dict[str, dict[str, float]]] = {member.slug: {} for member in members}
    faults: dict[str, str] = {}
    runs: list[JudgedRun] = []
    tables: dict[str, list[pd.DataFrame]] = {}
    for name, source in ((name, source) for name, sources in section.constructions.items() for source in sources):
        place = Path(name, source)
        splits = stage.use(DATA / "make_recognition" / place / "splits.parquet")
        facts: dict[str, ModelFacts] = {}
        read: list[list[pd.DataFrame]] = []
        for member in members:
            folder = DATA / "measure_recognition" / member.entry
            try:
                stage.use(folder)
                known = read_model_facts(folder / member.inside)
                paths = [folder / member.inside / place / f"{stem}.parquet" for stem in Credited._fields]
                read.append([read_table(stage.use(path)).assign(model=member.slug) for path in paths])
                facts[member.slug] = known
            except CxprobeError as fault:
                faults[member.slug] = str(fault)
        if not facts:
            continue
        probes, controls, folds, code = (pd.concat(parts, ignore_index=True) for parts in zip(*read, strict=True))
        credited = credit_predictions(probes, controls, folds, code, read_table(splits))
        write_table(credited.probes, stage.data / place / "items.parquet")
        judged = judge_predictions(credited)
        summary = []
        for member in (member for member in members if member.slug in facts):
            run = _run(stage, member, facts[member.slug], splits, name, source, judged.of(member.slug))
            shown = ("accuracy", "low", "high", "n")
            headline[member.slug][f"{name}, {source}"] = {key: run.metrics[key] for key in shown}
            runs.append(run)
            summary.append({"model": member.slug, **run.metrics})
        for stem, table in {**_tables(judged), "recognition": pd.DataFrame(summary)}.items():
            tables.setdefault(stem, []).append(table.assign(construction=name, source=source))
    for stem, parts in tables.items():
        table = pd.concat(parts, ignore_index=True).dropna(axis="columns")  # metrics that some sources lack
        columns = ["construction", "source", "model"]
        write_table(table[[*columns, *table.columns.drop(columns)]], stage.data / f"{stem}.parquet")
    return Outcome(headline=headline, runs=runs, faults=faults)


def _run(
    stage: Stage, member: Member, facts: ModelFacts, splits: Path, name: str, source: SentenceSource, found: Recognition
) -> JudgedRun:
    title, tables, figures = f"{name}, {source} sentences", _tables(found), {}
    trials = DATA / "measure_recognition" / member.entry / member.inside / name / source / "trials.parquet"
    tried = read_table(trials) if stage.params.recognition.tune and trials.is_file() else None
    if tried is not None:
        tables |= {stem: read_table(trials.with_name(f"{stem}.parquet")) for stem in ("tuned", "importance")}
        heading = f"{member.label}: {title}"
        figures["optimisation_history"] = optimisation_history(tried, heading)
        if len(tables["importance"]):  # else all settings are equally accurate
            figures["parameter_importance"] = parameter_importance(tables["importance"], heading)
    metrics = metrics_of(found)
    return JudgedRun(
        model=member.slug,
        facts=facts,
        construction=name,
        source=source,
        dataset=splits,
        items=int(metrics["n"]),
        metrics=metrics,
        series=series_of(found),
        settings=stage.settings(
            f"recognition.make.{without_marks(source)}",
            "recognition.embed",
            "recognition.probe",
            *(["recognition.tune"] if stage.params.recognition.tune else []),
        ),
        tables=tables,
        figures=figures | figures_of_model(found._asdict(), member, read_table(splits), title),
        trials=[] if tried is None else trials_of(tried),
    )


def _tables(found: Recognition) -> dict[str, pd.DataFrame]:
    tables = {"accuracy_by_layer": found.by_layer, "accuracy_by_value": found.by_value, "controls": found.controls}
    return tables | {stem: getattr(found, stem) for stem in ("best_layer", "selectivity", "code_length")}


if __name__ == "__main__":
    run_stage(judge_recognition)
