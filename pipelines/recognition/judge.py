"""judge_recognition: predictions of all models' probes -> accuracies by layer, feature and value, and their runs."""

from pathlib import Path

import pandas as pd

from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import DATA
from cxprobe.lm.params import Member
from cxprobe.recognition.judge import Credited, credit_predictions, judge_predictions, judged_items
from cxprobe.recognition.params import RecognitionStage
from cxprobe.recognition.runs import recognition_tables, run_fields
from cxprobe.report.judging import RATE, compared_with_controls, judge_members, rates_of_runs
from cxprobe.run.running import run_stage
from cxprobe.run.stage import JudgedRun, Outcome, Stage


def judge_recognition(stage: Stage[RecognitionStage]) -> Outcome:
    section = stage.params.recognition
    headline: dict[str, dict[str, dict[str, float]]] = {}
    runs: list[JudgedRun] = []
    tables: dict[str, list[pd.DataFrame]] = {}

    def read(member: Member, folder: Path) -> dict[tuple[str, str], list[pd.DataFrame]]:
        predicted: dict[tuple[str, str], list[pd.DataFrame]] = {}
        for name, source in section.sources_of(member.entry):
            paths = [folder / name / source / f"{stem}.parquet" for stem in Credited._fields]
            predicted[name, source] = [read_table(stage.use(path)).assign(model=member.slug) for path in paths]
        return predicted

    judging = judge_members(stage, read, "measure")
    for name, source in section.sources:
        asked = {slug: parts[name, source] for slug, parts in judging.judged.items() if (name, source) in parts}
        if not asked:
            continue
        splits = stage.use(DATA / "make_recognition" / name / source / "splits.parquet")
        of_source = zip(*asked.values(), strict=True)
        probes, controls, folds, code = (pd.concat(parts, ignore_index=True) for parts in of_source)
        credited = credit_predictions(probes, controls, folds, code, read_table(splits))
        write_table(credited.probes, stage.data / name / source / "items.parquet")
        judged = judge_predictions(credited)
        items, summary = credited.probes.assign(construction=name, source=source), []
        for slug in asked:
            member = judging.members[slug]
            drawn_as = "mined" if source == "marked" else source
            settings, measured = [f"recognition.make.{drawn_as}", "recognition.embed", "recognition.probe"], None
            if section.tune is not None:
                settings.append("recognition.tune")
                measured = DATA / "measure_recognition" / member.entry / member.inside / name / source
            fields = run_fields(member, judged.of(slug), name, source, splits, measured)
            metrics = fields["metrics"]
            of_run = {"construction": name, "source": source, "model": slug, "layer": metrics["layer"]}
            credits = judged_items(items, pd.DataFrame([of_run]))
            runs.append(judging.run(slug, **fields, credits=credits, settings=stage.settings(*settings)))
            headline.setdefault(slug, {})[f"{name}, {source}"] = {key: metrics[key] for key in RATE}
            summary.append({"model": slug, **metrics})
        for stem, table in {**recognition_tables(judged), "recognition": pd.DataFrame(summary)}.items():
            tables.setdefault(stem, []).append(table.assign(construction=name, source=source))
    for stem, parts in tables.items():
        table = pd.concat(parts, ignore_index=True).dropna(axis="columns")  # metrics that some sources lack
        columns = ["construction", "source", "model"]
        write_table(table[[*columns, *table.columns.drop(columns)]], stage.data / f"{stem}.parquet")
    if runs:
        judging.show(rates_of_runs(runs))
    return Outcome(headline=headline, asks="form", runs=compared_with_controls(runs), faults=judging.faults)


if __name__ == "__main__":
    run_stage(judge_recognition, RecognitionStage)
