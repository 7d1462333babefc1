"""measure_interventions: base and source sentences, a model -> what it answers after each exchange of vectors."""

from collections.abc import Mapping

from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA, SCRATCH, project_folder
from cxprobe.models.measuring import MeasuredModel, measure_members
from cxprobe.models.params import Member
from cxprobe.models.scoring import load_language_model
from cxprobe.run.running import Outcome, Stage, run_stage
from cxprobe.tasks.interventions.layers import measure_model
from cxprobe.tasks.interventions.params import InterventionsStage

KEPT = project_folder() / SCRATCH / "interventions"


def measure_interventions(stage: Stage[InterventionsStage]) -> Outcome | None:
    items = read_table(stage.use(DATA / "make_interventions" / "items.parquet"))
    made = {str(name): table for name, table in items.groupby("construction", sort=False)}

    def measure(member: Member) -> Mapping[str, float] | None:
        model = MeasuredModel.of(stage, member.slug, member.spec, load_language_model)
        return measure_model(
            model, made, stage.params.interventions.measure, stage.params.seed, KEPT, stage.data / member.inside
        )

    return measure_members(stage, measure)


if __name__ == "__main__":
    run_stage(measure_interventions, InterventionsStage, "models")
