"""ask_pairs: minimal pairs, both texts of each shown to an instructed model in either order -> its raw replies."""

import pandas as pd

from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import DATA, SCRATCH, project_folder
from cxprobe.lm.asking import demand, questions_of, replies_to
from cxprobe.lm.facts import write_model_facts
from cxprobe.lm.params import ModelFacts
from cxprobe.lm.prompts import PROMPTS_FOLDER
from cxprobe.pairs.asking import draw_pairs, load_preference_prompts, preference_questions
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage


def ask_pairs(stage: Stage) -> Outcome:
    stage.use(PROMPTS_FOLDER / "preferences.yaml")
    slug, settings = stage.item["llm"], stage.params.ask_pairs
    llm, prompts = stage.params.llms[slug], load_preference_prompts()
    files = [stage.use(DATA / "build_pairs" / f"{name}.parquet") for name in stage.params.grid.pairs.constructions]
    pairs = pd.concat(map(read_table, files), ignore_index=True)
    drawn = draw_pairs(pairs, ["construction", "words"], settings.pairs_per_construction, stage.params.seed)
    table = preference_questions(drawn, settings.prompt, prompts)
    questions, scratch = questions_of(table), project_folder() / SCRATCH / stage.name / slug
    print(f"{slug}: {demand(questions, llm)}", flush=True)
    replies = replies_to(questions, llm, scratch, f"{stage.name} {slug}")
    write_table(table.merge(replies, on="id", validate="one_to_one"), stage.data / "replies.parquet")
    write_model_facts(ModelFacts(llm.name, "instructed", None, ""), stage.data)
    counts = {"pairs": len(drawn), "requests": len(replies), "failed": int(replies["failed"].sum())}
    return Outcome(counts=counts)


if __name__ == "__main__":
    run_stage(ask_pairs, "llm")
