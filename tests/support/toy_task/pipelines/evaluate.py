"""evaluate_greetings: probabilities of all models -> responses, rates and runs."""

from cxprobe.tasks.greetings.items import FACETS, greeting_responses
from cxprobe.tasks.greetings.params import GreetingsStage

from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA
from cxprobe.results.evaluate import Evaluation, evaluate
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage


def evaluate_greetings(stage: Stage[GreetingsStage]) -> Outcome:
    path = stage.use(DATA / "make_greetings" / "items.parquet")
    items = read_table(path)
    task = Evaluation(
        lambda _member, folder: greeting_responses(items, read_table(folder / "tokens.parquet")),
        FACETS,
        settings=lambda _source: ["greetings.make"],
        dataset=lambda _construction, _source: path,
    )
    return evaluate(stage, task)


if __name__ == "__main__":
    run_stage(evaluate_greetings, GreetingsStage)
