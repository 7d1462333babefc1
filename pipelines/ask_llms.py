"""ask_llms: a construction's items and the prompts -> questions, put to an instructed model, and its raw replies."""

import pandas as pd

from cxprobe.prompting import (
    Question,
    build_questions,
    demand,
    inferences_of,
    load_inference_prompts,
    load_material,
    load_reasoning_prompts,
    material_files,
    open_llm,
    put_questions,
)
from cxprobe.stage import Outcome, Stage, run_stage
from cxprobe.storage import DATA, SCRATCH, read_table, write_table


def ask_llms(stage: Stage) -> Outcome:
    name, slug = stage.item["construction"], stage.item["llm"]
    llm, settings, seed = stage.params.llms[slug], stage.params.ask_llms, stage.params.seed
    model = open_llm(llm)
    for path in material_files(name, settings):
        stage.use(path)
    pool = inferences_of(read_table(stage.use(DATA / "pool_examples" / f"{name}.parquet")))
    material = load_material(name, settings, pool, seed=seed)
    table = build_questions(name, material, load_inference_prompts(), load_reasoning_prompts(), settings, seed=seed)
    questions = [Question(str(id_), str(text)) for id_, text in zip(table["id"], table["question"], strict=True)]
    needed = demand(questions, llm)
    print(
        f"{slug}, {name}: {needed.requests:,} requests at most, about {needed.input_tokens:,} tokens to read and "
        f"{needed.output_tokens:,} to write at most; what an earlier run was told is not asked again",
        flush=True,
    )
    replies = put_questions(questions, llm, model, SCRATCH / stage.name / slug)
    failed = [reply.text is None for reply in replies]
    replied = table.assign(
        reply=[reply.text or "" for reply in replies], failed=failed, error=[reply.error for reply in replies]
    )
    write_table(replied, stage.data.with_suffix(".parquet"))
    return Outcome(
        metrics={"requests": len(replied), "failed": sum(failed)},
        tables={
            "asked": replied.groupby(
                ["kind", "set", "prompt", "shots", "examples", "chain_of_thought"], as_index=False
            ).size(),
            "repairs": pd.DataFrame(
                [(of, *repair) for of, repairs in material.repairs.items() for repair in repairs],
                columns=["file", "line", "what"],
            ),
        },
    )


if __name__ == "__main__":
    run_stage(ask_llms, "llm", "construction")
