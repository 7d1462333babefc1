"""measure_scenarios: all scenarios, a masked model, a series or baselines -> how probable each candidate word is."""

from collections.abc import Mapping

import pandas as pd

from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import DATA
from cxprobe.models.language_models import write_model_facts
from cxprobe.models.masked import load_masked_lm
from cxprobe.models.measuring import MeasuredModel, measure_members
from cxprobe.models.ngrams import baseline_facts
from cxprobe.models.params import Member, Rule
from cxprobe.run.running import Outcome, Stage, run_stage
from cxprobe.tasks.scenarios.measure import NONE_DROPPED, SCORES_FILE, baseline_scores, fill_masks, usable_texts
from cxprobe.tasks.scenarios.params import ScenariosStage


def measure_scenarios(stage: Stage[ScenariosStage]) -> Outcome | None:
    paths = {name: DATA / "make_scenarios" / name / "texts.parquet" for name in stage.params.scenarios.constructions}
    tables = [read_table(stage.use(path)).assign(construction=name) for name, path in paths.items()]
    made = pd.concat(tables, ignore_index=True)

    def score(member: Member) -> Mapping[str, float] | None:
        folder = stage.data / member.inside
        if isinstance(member.spec, Rule):
            scores, dropped, counts = baseline_scores(member.spec.kind, made), NONE_DROPPED, dict[str, float]()
            facts = baseline_facts(member.spec.kind)
        else:
            model = MeasuredModel.of(stage, member.slug, member.spec, load_masked_lm)
            texts, dropped = usable_texts(model.described, made, f"models.{member.slug}")
            filled = fill_masks(model, texts, stage.params.scenarios.score.token_budget)
            if filled is None:
                return None
            scores, counts = filled
            facts = model.facts
        write_table(scores, folder / SCORES_FILE)
        write_table(dropped, folder / "dropped.parquet")
        write_model_facts(facts, folder)
        every, items = (int(table.groupby("construction")["item"].nunique().sum()) for table in (made, scores))
        return {
            "items": items,
            "dropped_items": every - items,
            "texts": len(scores),
            "distinct_texts": scores["text"].nunique(),
            **counts,
        }

    return measure_members(stage, score)


if __name__ == "__main__":
    run_stage(measure_scenarios, ScenariosStage, "models")
