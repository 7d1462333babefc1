"""The questions of the task, put to an instructed model."""

from cxprobe.errors import PromptError
from cxprobe.files.tables import write_table
from cxprobe.files.writing import SCRATCH, project_folder
from cxprobe.models.asking import demand, replies_to
from cxprobe.run.record import ModelFacts, write_model_facts
from cxprobe.run.stage import Outcome, Stage
from cxprobe.tasks.prompts.params import PromptsStage


def ask(stage: Stage[PromptsStage]) -> Outcome:
    """Ask a model about all constructions: ``replies.parquet`` and ``model.json``."""
    slug, llm = stage.item, stage.params.llms[stage.item]
    table = stage.params.prompts.llms[slug].part_of(stage.params.prompts.made("questions", stage.use))
    if table.empty:
        raise PromptError(
            f"prompts.llms.{slug}: no question is left for this model; change its sets or prompts.constructions"
        )
    print(f"{slug}: {demand(table['question'].tolist(), llm)}", flush=True)
    scratch = project_folder() / SCRATCH / stage.name / slug
    replies = replies_to(table, llm, scratch, f"{stage.name} {slug}")
    write_table(replies.assign(construction=table["construction"]), stage.data / "replies.parquet")
    write_model_facts(ModelFacts(llm.name, "instructed", None, ""), stage.data)
    return Outcome(counts={"requests": len(replies), "failed": int(replies["failed"].sum())})
