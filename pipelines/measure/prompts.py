"""measure_prompts: all questions, a model -> how probable each token of every answer is; baselines answer each item."""

from collections.abc import Mapping

import pandas as pd

from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import DATA
from cxprobe.models.language_models import write_model_facts
from cxprobe.models.measuring import MeasuredModel, measure_members
from cxprobe.models.ngrams import baseline_facts
from cxprobe.models.params import Member
from cxprobe.models.scoring import load_language_model, measure_texts
from cxprobe.models.texts import ScoringConfig, distinct_texts
from cxprobe.run.running import Outcome, Stage, run_stage
from cxprobe.tasks.prompts.measure import baseline_answers, check_lengths, read_choices, texts_of_choices
from cxprobe.tasks.prompts.params import PromptsStage


def measure_prompts(stage: Stage[PromptsStage]) -> Outcome | None:
    section = stage.params.prompts
    folders = [stage.use(DATA / "make_prompts" / name) for name in section.constructions]
    how = ScoringConfig([section.score.scheme], section.score.token_budget)

    def score(member: Member) -> Mapping[str, float] | None:
        to = stage.data / member.inside
        if member.is_baseline:  # every item, whether or not it is asked about
            items = pd.concat([read_table(folder / "items.parquet") for folder in folders], ignore_index=True)
            answers = baseline_answers(member.baseline, items, seed=stage.params.seed)
            write_table(answers, to / "answers.parquet")
            write_model_facts(baseline_facts(member.baseline.kind), to)
            return {"items": len(items), "answered": answers["id"].nunique()}
        choices = [read_choices(folder) for folder in folders]
        model = MeasuredModel.of(stage, member.slug, member.spec, load_language_model)
        together = pd.concat(choices)
        check_lengths(model.described, together)
        counts = measure_texts(model, distinct_texts(map(texts_of_choices, choices)), how, to)
        return None if counts is None else {"questions": together["id"].nunique(), **counts}

    return measure_members(stage, score)


if __name__ == "__main__":
    run_stage(measure_prompts, PromptsStage, "models")
