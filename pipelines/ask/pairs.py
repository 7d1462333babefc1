"""ask_pairs: minimal pairs, both texts of each shown to an instructed model in either order -> its raw replies."""

from typing import cast

import pandas as pd

from cxprobe.files.tables import write_table
from cxprobe.files.writing import SCRATCH, project_folder
from cxprobe.models.asking import demand, replies_to
from cxprobe.models.language_models import write_model_facts
from cxprobe.models.prompts import PROMPTS_FOLDER
from cxprobe.run.record import ModelFacts
from cxprobe.run.running import Outcome, Stage, run_stage
from cxprobe.tasks.pairs.params import AskPairs, PairsStage
from cxprobe.tasks.pairs.replies import draw_from_sources, load_preference_prompts, preference_questions
from cxprobe.tasks.pairs.sources import folder_of, made_files, read_made


def ask_pairs(stage: Stage[PairsStage]) -> Outcome:
    section, llm = stage.params.pairs, stage.params.llms[stage.item]
    stage.use(PROMPTS_FOLDER / "preferences.yaml")
    prompts, scratch = load_preference_prompts(), project_folder() / SCRATCH / stage.name / stage.item
    prompt = cast(AskPairs, section.ask).prompt  # not null where models are asked
    made = {source: read_made([stage.use(path) for path in files]) for source, files in made_files(section).items()}
    drawn = draw_from_sources(section, made, stage.params.seed)
    counts: dict[str, float] = {"pairs": sum(map(len, drawn.values())), "requests": 0, "failed": 0}
    tables = {source: preference_questions(pairs, prompt, prompts) for source, pairs in drawn.items()}
    print(f"{stage.item}: {demand(pd.concat(tables.values())['question'].tolist(), llm)}", flush=True)
    for source, table in tables.items():
        replies = replies_to(table, llm, scratch, f"{stage.name} {stage.item} {source}")
        folder = stage.data / folder_of(source)
        write_table(table.merge(replies, on="id", validate="one_to_one"), folder / "replies.parquet")
        write_model_facts(ModelFacts(llm.name, "instructed", None, ""), folder)
        counts["requests"] += len(replies)
        counts["failed"] += int(replies["failed"].sum())
    return Outcome(counts=counts)


if __name__ == "__main__":
    run_stage(ask_pairs, PairsStage, "llms")
