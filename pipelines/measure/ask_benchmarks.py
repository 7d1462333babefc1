"""ask_benchmarks: a benchmark, both texts of each pair shown to an instructed model in either order -> its replies."""

from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import DATA, SCRATCH, project_folder
from cxprobe.lm.asking import demand, questions_of, replies_to
from cxprobe.lm.facts import write_model_facts
from cxprobe.lm.params import ModelFacts
from cxprobe.lm.prompts import PROMPTS_FOLDER
from cxprobe.pairs.asking import draw_pairs, load_preference_prompts, preference_questions
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage


def ask_benchmarks(stage: Stage) -> Outcome:
    stage.use(PROMPTS_FOLDER / "preferences.yaml")
    slug, name, settings = stage.item["llm"], stage.item["benchmark"], stage.params.ask_pairs
    llm, prompts = stage.params.llms[slug], load_preference_prompts()
    pairs = read_table(stage.use(DATA / "build_benchmarks" / f"{name}.parquet"))
    by = stage.params.benchmarks[name].by
    drawn = draw_pairs(pairs, by, settings.pairs_per_construction, stage.params.seed)
    table = preference_questions(drawn, settings.prompt, prompts)
    questions, scratch = questions_of(table), project_folder() / SCRATCH / stage.name / slug
    print(f"{slug}, {name}: {demand(questions, llm)}", flush=True)
    replies = replies_to(questions, llm, scratch, f"{stage.name} {slug} {name}")
    write_table(table.merge(replies, on="id", validate="one_to_one"), stage.data / "replies.parquet")
    write_model_facts(ModelFacts(llm.name, "instructed", None, ""), stage.data)
    counts = {"pairs": len(drawn), "requests": len(replies), "failed": int(replies["failed"].sum())}
    return Outcome(counts=counts)


if __name__ == "__main__":
    run_stage(ask_benchmarks, "llm", "benchmark")
