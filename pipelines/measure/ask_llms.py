"""ask_llms: the questions about a construction, put to an instructed model -> its raw replies."""

from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import DATA, SCRATCH, project_folder
from cxprobe.lm.asking import demand, questions_of, replies_to
from cxprobe.lm.facts import write_model_facts
from cxprobe.lm.params import ModelFacts
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage


def ask_llms(stage: Stage) -> Outcome:
    slug, name = stage.item["llm"], stage.item["construction"]
    llm = stage.params.llms[slug]
    questions = questions_of(read_table(stage.use(DATA / "build_prompts" / name / "questions.parquet")))
    print(f"{slug}, {name}: {demand(questions, llm)}", flush=True)
    scratch = project_folder() / SCRATCH / stage.name / slug
    replies = replies_to(questions, llm, scratch, f"{stage.name} {slug} {name}")
    write_table(replies, stage.data / "replies.parquet")
    write_model_facts(ModelFacts(llm.name, "instructed", None, ""), stage.data)
    return Outcome(counts={"requests": len(replies), "failed": int(replies["failed"].sum())})


if __name__ == "__main__":
    run_stage(ask_llms, "llm", "construction")
