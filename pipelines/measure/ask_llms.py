"""ask_llms: the questions about a construction, put to an instructed model -> its raw replies."""

import pandas as pd

from cxprobe.measure.asking import Question, demand, open_llm, put_questions
from cxprobe.progress import progress
from cxprobe.records import ModelFacts
from cxprobe.stages import Outcome, Stage, run_stage
from cxprobe.storage import DATA, SCRATCH, project_folder, read_table, write_model_facts, write_table


def ask_llms(stage: Stage) -> Outcome:
    slug, name = stage.item["llm"], stage.item["construction"]
    llm = stage.params.llms[slug]
    model = open_llm(llm)
    table = read_table(stage.use(DATA / "build_prompts" / name / "questions.parquet"))
    questions = [Question(str(id_), str(text)) for id_, text in zip(table["id"], table["question"], strict=True)]
    needed = demand(questions, llm)
    print(
        f"{slug}, {name}: {needed.requests:,} requests at most, about {needed.input_tokens:,} input tokens and at most "
        f"{needed.output_tokens:,} output tokens; questions that an earlier run has put are not asked again",
        flush=True,
    )
    scratch = project_folder() / SCRATCH / stage.name / slug
    with progress(len(questions), "questions", f"{stage.name} {slug} {name}", kept=f"kept in {scratch}") as shown:
        replies = put_questions(questions, llm, model, scratch, shown.update)
    replied = pd.DataFrame(
        [(reply.id, reply.text or "", reply.text is None, reply.error) for reply in replies],
        columns=["id", "reply", "failed", "error"],
    )
    write_table(replied, stage.data / "replies.parquet")
    write_model_facts(ModelFacts(llm.name, "instructed", None, ""), stage.data)
    return Outcome(counts={"requests": len(replied), "failed": int(replied["failed"].sum())})


if __name__ == "__main__":
    run_stage(ask_llms, "llm", "construction")
