"""evaluate_recognition: predictions of all models' probes -> responses, rates, comparisons, and the runs."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from cxprobe.constructions.construction import load_construction
from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA
from cxprobe.models.params import Member
from cxprobe.results.evaluate import Evaluation, RunExtras, evaluate
from cxprobe.results.params import task_members
from cxprobe.run.running import Outcome, Stage, run_stage
from cxprobe.tasks.recognition.evaluate import (
    FACETS,
    rates_of_controls,
    rates_on_folds,
    recognition_responses,
    run_extras,
    with_best_layers,
)
from cxprobe.tasks.recognition.params import RecognitionStage


def evaluate_recognition(stage: Stage[RecognitionStage]) -> Outcome:
    section = stage.params.recognition
    members = {member.slug: member for member in task_members(stage.params)}
    placebos = [name for name in section.constructions if load_construction(name).placebo]

    def splits_file(construction: str, source: str) -> Path:
        return stage.use(DATA / "make_recognition" / construction / source / "splits.parquet")

    def measured(member: Member, construction: str, source: str) -> Path:
        return DATA / "measure_recognition" / member.entry / member.inside / construction / source

    def predictions(member: Member, name: str) -> Iterator[pd.DataFrame]:
        for construction, source in section.sources_of(member.entry):
            table = read_table(stage.use(measured(member, construction, source) / f"{name}.parquet"))
            yield table.assign(model=member.slug, construction=construction, source=source)

    def responses(member: Member, _folder: Path) -> pd.DataFrame:
        of_probes = pd.concat(map(recognition_responses, predictions(member, "probes")), ignore_index=True)
        return of_probes.assign(question=of_probes["question"].mask(of_probes["construction"].isin(placebos), ""))

    def further(responses: pd.DataFrame) -> pd.DataFrame:
        parts = []
        for slug in responses["model"].unique():
            for name, rates in (("controls", rates_of_controls), ("folds", rates_on_folds)):
                parts.append(rates(pd.concat(predictions(members[slug], name), ignore_index=True)))
        return pd.concat(parts)

    def extras(rates: pd.DataFrame) -> RunExtras:
        model, *place = rates[["model", "construction", "source"]].iloc[0]
        return run_extras(rates, members[model], read_table(splits_file(*place)), measured(members[model], *place))

    task = Evaluation(
        responses,
        FACETS,
        settings=section.settings_of,
        dataset=splits_file,
        pool=lambda responses: responses,
        further=further,
        override=with_best_layers,
        extras=extras,
    )
    return evaluate(stage, task)


if __name__ == "__main__":
    run_stage(evaluate_recognition, RecognitionStage)
