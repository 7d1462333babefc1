"""evaluate_interventions: what all models answer after exchanges -> responses, rates, and the runs."""

from pathlib import Path

import pandas as pd

from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA
from cxprobe.models.params import Member
from cxprobe.results.evaluate import Evaluation, evaluate
from cxprobe.run.running import Outcome, Stage, run_stage
from cxprobe.tasks.interventions.evaluate import FACETS, beside_published, intervention_responses, with_verdicts_on_use
from cxprobe.tasks.interventions.names import EFFECTS_FILE, TRANSFER_FILE
from cxprobe.tasks.interventions.params import InterventionsStage

PUBLISHED = Path("published/arora2024_causalgym.tsv")


def evaluate_interventions(stage: Stage[InterventionsStage]) -> Outcome:
    items = stage.use(DATA / "make_interventions" / "items.parquet")
    made = read_table(items)
    expected = made[made["tests"] != "control"]
    controls = dict(zip(expected["construction"], expected["control"], strict=True))
    published = pd.read_csv(stage.use(PUBLISHED), sep="\t")

    def responses(_member: Member, folder: Path) -> pd.DataFrame:
        measured = [read_table(folder / file) for file in (EFFECTS_FILE, TRANSFER_FILE)]
        return intervention_responses(pd.concat(measured, ignore_index=True), controls)

    task = Evaluation(
        responses,
        FACETS,
        settings=lambda _source: ("interventions.make", "interventions.measure"),
        dataset=lambda _construction, _source: items,
        pool=lambda responses: responses,
        override=lambda rates: with_verdicts_on_use(rates, controls),
        tables=lambda rates, _responses: {"tables/beside_published": beside_published(rates, published)},
    )
    return evaluate(stage, task)


if __name__ == "__main__":
    run_stage(evaluate_interventions, InterventionsStage)
