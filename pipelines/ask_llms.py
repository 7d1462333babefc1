"""ask_llms: a construction's items and the prompts -> questions, put to an instructed model, and its raw replies."""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from cxprobe.params import CONSTRUCTIONS_FOLDER
from cxprobe.prompting import (
    Material,
    Question,
    build_questions,
    demand,
    load_inference_prompts,
    load_items,
    load_reasoning_prompts,
    open_llm,
    put_questions,
    read_inference_file,
    render_inferences,
    render_reasonings,
)
from cxprobe.records import Inference
from cxprobe.stage import Outcome, Stage, run_stage
from cxprobe.storage import SCRATCH, write_table


def ask_llms(stage: Stage) -> Outcome:
    name, slug = stage.item["construction"], stage.item["llm"]
    llm = stage.params.llms[slug]
    model = open_llm(llm)
    material, repairs = _material(stage, name)
    table = build_questions(name, material, stage.params.ask_llms, seed=stage.params.seed)
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
            "repairs": repairs,
        },
    )


def _material(stage: Stage, name: str) -> tuple[Material, pd.DataFrame]:
    """Return what is asked about a construction, and what had to be repaired in files from elsewhere."""
    settings = stage.params.ask_llms
    stage.use(CONSTRUCTIONS_FOLDER / name / "items.yaml")
    items = load_items(name)
    own = render_inferences(items, name)
    sources = {source for shots in settings.shots for source in shots.sources}
    paths = {of: of for of in sources - {"templatic", "challenge"}} | settings.files
    files = {of: read_inference_file(stage.use(Path(path)), of) for of, path in paths.items()}
    repairs = [(of, repair.line, repair.what) for of, file in files.items() for repair in file.repairs]
    sets = {of: _of_set(own, of) for of in ("templatic", "challenge")}
    material = Material(
        inferences={of: sets[of] for of in settings.sets if of in sets}
        | {of: [item for item in files[of].items if item.construction == name] for of in settings.files},
        reasonings=render_reasonings(items, name, seed=stage.params.seed) if "reasoning" in settings.sets else [],
        sources=sets | {of: file.items for of, file in files.items()},
        inference_prompts=load_inference_prompts(),
        reasoning_prompts=load_reasoning_prompts(),
    )
    return material, pd.DataFrame(repairs, columns=["file", "line", "what"])


def _of_set(items: Iterable[Inference], of: str) -> list[Inference]:
    return [item for item in items if item.set == of]


if __name__ == "__main__":
    run_stage(ask_llms, "llm", "construction")
