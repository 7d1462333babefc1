"""make_prompts: items and prompts -> every question about every construction, in words and as texts to continue."""

from collections import Counter

import pandas as pd

from cxprobe.files.tables import write_table
from cxprobe.models.prompts import PROMPTS_FOLDER
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage
from cxprobe.tasks.prompts.make import (
    Material,
    build_choices,
    build_questions,
    check_sets,
    item_table,
    load_material,
    material_files,
)
from cxprobe.tasks.prompts.params import PromptsStage
from cxprobe.tasks.prompts.report import item_words
from cxprobe.tasks.prompts.wording import InferencePrompts, ReasoningPrompts, load_continuations, load_prompts

COUNTED = ["construction", "kind", "set", "prompt", "shots", "examples", "chain_of_thought"]


def make_prompts(stage: Stage[PromptsStage]) -> Outcome:
    settings, seed = stage.params.prompts.make, stage.params.seed
    asked_by = ["verbatim"] if settings.wording == "verbatim" else ["inference", "reasoning"]
    for stem in (*asked_by, "continuations"):
        stage.use(PROMPTS_FOLDER / f"{stem}.yaml")
    inference = load_prompts(InferencePrompts, wording=settings.wording)
    reasoning = load_prompts(ReasoningPrompts, wording=settings.wording)
    continuations = load_continuations()
    asked: Counter[tuple[object, ...]] = Counter()
    materials: dict[str, Material] = {}
    every = []
    for name in stage.params.prompts.constructions:
        for path in material_files(name, settings):
            stage.use(path)
        materials[name] = load_material(name, settings, seed=seed)
    check_sets(materials.values(), settings)
    for name, material in materials.items():
        questions = build_questions(name, material, inference, reasoning, settings, seed=seed)
        choices, answers = build_choices(name, material, continuations, settings, seed=seed)
        items = item_table(material, questions)
        every.append(items)
        made = {"questions": questions, "choices": choices, "answers": answers, "items": items}
        for stem, table in made.items():
            write_table(table, stage.data / name / f"{stem}.parquet")
        for table in (questions, choices):
            asked.update(table[COUNTED].itertuples(index=False, name=None))
    counted = pd.DataFrame([(*of, number) for of, number in asked.items()], columns=[*COUNTED, "questions"])
    return Outcome(counts={"questions": asked.total()}, tables={"questions": counted, **item_words(pd.concat(every))})


if __name__ == "__main__":
    run_stage(make_prompts, PromptsStage)
