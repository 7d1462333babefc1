"""make_prompts: items and prompts -> every question about every construction, in words and as texts to continue."""

import pandas as pd

from cxprobe.files.tables import write_table
from cxprobe.models.prompts import PROMPTS_FOLDER
from cxprobe.run.running import Outcome, Stage, run_stage
from cxprobe.tasks.prompts.make import (
    build_choices,
    build_questions,
    check_sets,
    item_table,
    load_material,
    material_files,
)
from cxprobe.tasks.prompts.params import PromptsStage
from cxprobe.tasks.prompts.wording import InferencePrompts, ReasoningPrompts, load_continuations, load_prompts

COUNTED = ["construction", "kind", "set", "prompt", "shots", "examples", "chain_of_thought"]


def make_prompts(stage: Stage[PromptsStage]) -> Outcome:
    settings, seed = stage.params.prompts.make, stage.params.seed
    for stem in ("inference", "reasoning", "continuations"):
        stage.use(PROMPTS_FOLDER / f"{stem}.yaml")
    inference, reasoning = load_prompts(InferencePrompts), load_prompts(ReasoningPrompts)
    continuations = load_continuations()
    materials, asked = {}, []
    for name in stage.params.prompts.constructions:
        for path in material_files(name, settings):
            stage.use(path)
        materials[name] = load_material(name, settings, seed=seed)
    check_sets(materials.values(), settings)
    for name, material in materials.items():
        questions = build_questions(name, material, inference, reasoning, settings, seed=seed)
        choices, answers = build_choices(name, material, continuations, settings, seed=seed)
        items = item_table(material, questions)
        made = {"questions": questions, "choices": choices, "answers": answers, "items": items}
        for stem, table in made.items():
            write_table(table, stage.data / name / f"{stem}.parquet")
        asked += [questions, choices]
    counted = pd.concat(asked).groupby(COUNTED, sort=False).size().reset_index(name="questions")
    counts = {"questions": int(counted["questions"].sum())}
    return Outcome(counts=counts, tables={"questions": counted})


if __name__ == "__main__":
    run_stage(make_prompts, PromptsStage)
