"""Greetings evaluated: whether the usual order of words is the likelier one."""

from cxprobe.tasks.greetings.items import FACETS, greeting_responses
from cxprobe.tasks.greetings.params import GreetingsStage

from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA
from cxprobe.results.evaluate import Evaluation


class GreetingsEvaluation(Evaluation[GreetingsStage]):
    """Greetings in the usual order of words and in another."""

    facets = FACETS

    def responses(self, member, folder):
        """Return which order is the likelier."""
        items = self.stage.use(DATA / "make_greetings" / "items.parquet")
        return greeting_responses(read_table(items), read_table(folder / "tokens.parquet"))
