"""measure_scenarios: all scenarios, a masked model, a series or baselines -> how probable each candidate word is."""

from collections.abc import Mapping

import pandas as pd

from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import DATA
from cxprobe.models.candidates import drop_items
from cxprobe.models.language_models import write_model_facts
from cxprobe.models.masked import load_masked_lm
from cxprobe.models.measuring import MeasuredModel, measure_members
from cxprobe.models.ngrams import baseline_facts
from cxprobe.models.params import Member, Rule
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage
from cxprobe.tasks.scenarios.baselines import baseline_scores
from cxprobe.tasks.scenarios.measure import SCORES_FILE, fill_masks
from cxprobe.tasks.scenarios.params import ScenariosStage

NONE_DROPPED = pd.DataFrame(columns=["word", "reason", "items"])


def measure_scenarios(stage: Stage[ScenariosStage]) -> Outcome | None:
    made = {
        name: read_table(stage.use(DATA / "make_scenarios" / name / "texts.parquet"))
        for name in stage.params.scenarios.constructions
    }

    def score(member: Member) -> Mapping[str, float] | None:
        folder, place = stage.data / member.inside, f"models.{member.slug}"
        if isinstance(member.spec, Rule):
            usable = {name: (texts, NONE_DROPPED) for name, texts in made.items()}
            texts = pd.concat([texts.assign(construction=name) for name, texts in made.items()])
            scores = baseline_scores(member.spec.kind, texts.reset_index(drop=True))
            facts, counts = baseline_facts(member.spec.kind), dict[str, float]()
        else:
            model = MeasuredModel.of(stage, member.slug, member.spec, load_masked_lm)
            usable = {
                name: drop_items(model.described, texts, place=f"{place}, {name}") for name, texts in made.items()
            }
            asked = {name: texts for name, (texts, _) in usable.items()}
            filled = fill_masks(model, asked, stage.params.scenarios.score.token_budget, folder)
            if filled is None:
                return None
            scores, counts = filled
            facts = model.facts
        dropped = pd.concat([words.assign(construction=name) for name, (_, words) in usable.items()])
        write_table(scores, folder / SCORES_FILE)
        write_table(dropped.reset_index(drop=True), folder / "dropped.parquet")
        write_model_facts(facts, folder)
        items = sum(texts["item"].nunique() for texts, _ in usable.values())
        return {
            "items": items,
            "dropped_items": sum(texts["item"].nunique() for texts in made.values()) - items,
            "texts": len(scores),
            "distinct_texts": scores["text"].nunique(),
            **counts,
        }

    return measure_members(stage, score)


if __name__ == "__main__":
    run_stage(measure_scenarios, ScenariosStage, "models")
