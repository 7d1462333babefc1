"""evaluate_recognition: predictions of all models' probes -> responses, rates, comparisons, and the runs."""

from dataclasses import replace
from pathlib import Path

import pandas as pd

from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA
from cxprobe.models.params import Member
from cxprobe.results.evaluate import Evaluation, evaluate
from cxprobe.results.members import task_members
from cxprobe.results.runs import RunExtras
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage
from cxprobe.tasks.recognition.evaluate import (
    FACETS,
    estimate_over_draws,
    rates_beside,
    recognition_responses,
    with_best_layers,
)
from cxprobe.tasks.recognition.measure import Predictions
from cxprobe.tasks.recognition.params import RecognitionStage
from cxprobe.tasks.recognition.report import figure_by_value, search_extras

MADE = DATA / "make_recognition"


def evaluate_recognition(stage: Stage[RecognitionStage]) -> Outcome:
    section = stage.params.recognition
    members = {member.slug: member for member in task_members(stage.params)}
    beside: dict[str, pd.DataFrame] = {}  # model -> rates that are not means of responses

    def splits_of(construction: str, source: str) -> pd.DataFrame:
        return read_table(stage.use(MADE / construction / source / "splits.parquet"))

    def responses(member: Member, folder: Path) -> pd.DataFrame:
        parts, others = list[pd.DataFrame](), list[Predictions]()
        for name, source in section.sources_of(member.entry):
            place = {"model": member.slug, "construction": name, "source": source}
            paths = [folder / name / source / f"{stem}.parquet" for stem in Predictions._fields]
            predicted = Predictions(*(read_table(stage.use(path)).assign(**place) for path in paths))
            parts.append(recognition_responses(predicted.probes, splits_of(name, source)))
            others.append(predicted)
        tables = (pd.concat(tables, ignore_index=True) for tables in zip(*others, strict=True))
        _, *controls_folds_code = tables
        beside[member.slug] = rates_beside(*controls_folds_code)
        return pd.concat(parts, ignore_index=True)

    def settings(source: str) -> list[str]:
        drawn_as = "mined" if source == "marked" else source
        steps = ["embed", "probe"] if section.tune is None else ["embed", "probe", "tune"]
        return [f"recognition.make.{drawn_as}", *(f"recognition.{step}" for step in steps)]

    def extras(rates: pd.DataFrame) -> RunExtras:
        model, construction, source = rates[["model", "construction", "source"]].iloc[0]
        member, place = members[model], Path(construction, source)
        title = f"{member.label}: {construction}, {source} sentences"
        found = RunExtras()
        if section.tune is not None:
            found = search_extras(DATA / "measure_recognition" / member.entry / member.inside / place, title)
        if not member.is_baseline:
            figure = figure_by_value(rates, splits_of(construction, source), title)
            found = replace(found, figures={**found.figures, "accuracy_per_value": figure})
        return found

    task = Evaluation(
        responses,
        FACETS,
        settings=settings,
        dataset=lambda construction, source: stage.use(MADE / construction / source / "splits.parquet"),
        pool=lambda responses: responses,
        estimate=estimate_over_draws,
        further=lambda responses: pd.concat([beside[slug] for slug in responses["model"].unique()]),
        override=with_best_layers,
        extras=extras,
    )
    return evaluate(stage, task)


if __name__ == "__main__":
    run_stage(evaluate_recognition, RecognitionStage)
