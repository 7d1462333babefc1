"""Greetings measured: how probable each token is."""

from cxprobe.tasks.greetings.params import GreetingsStage

from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA
from cxprobe.models.measuring import MeasuredModel
from cxprobe.models.pairs import load_language_model, measure_texts
from cxprobe.models.texts import ScoringConfig
from cxprobe.run.stage import Stage


def measure(stage: Stage[GreetingsStage], member):
    """Measure a model on all greetings."""
    items = read_table(stage.use(DATA / "make_greetings" / "items.parquet"))
    texts = dict.fromkeys([*items["good"], *items["bad"]], 0)
    model = MeasuredModel.of(stage, member.slug, member.spec, load_language_model)
    return measure_texts(model, [texts], ScoringConfig(["pll"], 512), stage.data / member.inside)
