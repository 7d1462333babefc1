"""measure_greetings: greetings, a model -> how probable each token is."""

from cxprobe.tasks.greetings.params import GreetingsStage

from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA
from cxprobe.models.measuring import MeasuredModel, measure_members
from cxprobe.models.scoring import load_language_model, measure_texts
from cxprobe.models.texts import ScoringConfig
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage


def measure_greetings(stage: Stage[GreetingsStage]) -> Outcome | None:
    items = read_table(stage.use(DATA / "make_greetings" / "items.parquet"))
    texts = dict.fromkeys([*items["good"], *items["bad"]], 0)

    def score(member):
        model = MeasuredModel.of(stage, member.slug, member.spec, load_language_model)
        return measure_texts(model, [texts], ScoringConfig(["pll"], 512), stage.data / member.inside)

    return measure_members(stage, score)


if __name__ == "__main__":
    run_stage(measure_greetings, GreetingsStage, "models")
