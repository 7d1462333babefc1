"""make_scenarios: the scenarios of every construction -> items, and the texts of their tests and calibrations."""

from collections import Counter

from cxprobe.files.tables import write_table
from cxprobe.run.running import Outcome, Stage, run_stage
from cxprobe.tasks.scenarios.make import enumerate_items, fill_texts
from cxprobe.tasks.scenarios.params import ScenariosStage
from cxprobe.tasks.scenarios.rules import load_scenarios, scenarios_file


def make_scenarios(stage: Stage[ScenariosStage]) -> Outcome:
    params, seed, counts = stage.params.scenarios, stage.params.seed, Counter[str]()
    for name in params.constructions:
        stage.use(scenarios_file(name))
        scenarios = load_scenarios(name)
        items = enumerate_items(scenarios, share=params.make.share, seed=seed)
        texts = fill_texts(scenarios, items, own_texts=params.make.calibrated_by == "own_texts", seed=seed)
        write_table(items, stage.data / name / "items.parquet")
        write_table(texts, stage.data / name / "texts.parquet")
        counts.update(constructions=1, items=len(items), texts=len(texts), distinct_texts=texts["text"].nunique())
    return Outcome(counts=counts)


if __name__ == "__main__":
    run_stage(make_scenarios, ScenariosStage)
