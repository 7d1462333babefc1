"""write_frames: a construction's pairs, an instructed model -> frames for a person to proof-read, and every reject."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cxprobe.constructions.construction import load_construction
from cxprobe.constructions.people import PEOPLE_FILE, load_people
from cxprobe.files.tables import write_table
from cxprobe.files.writing import SCRATCH, project_folder, replacing
from cxprobe.lm.asking import Question, demand, open_llm, put_questions
from cxprobe.pairs.frames import load_pairs
from cxprobe.pairs.writing import Exchange, FrameWriter
from cxprobe.prompts.writing import load_writing_prompt, require_sentences
from cxprobe.run.params import CONSTRUCTIONS_FOLDER
from cxprobe.run.progress import progress
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage

PROMPTS_FILE = Path("prompts/frames.yaml")


def write_frames(stage: Stage) -> Outcome:
    slug, name, settings = stage.item["llm"], stage.item["construction"], stage.params.write_frames
    for file in ("construction.yaml", "pairs.yaml"):
        stage.use(CONSTRUCTIONS_FOLDER / name / file)
    people = load_people(stage.use(PEOPLE_FILE))
    content, about = load_pairs(name, people), load_construction(name).model_dump(include={"name", "gloss", "positive"})
    require_sentences(name, content.tests, [variant.context for variant in content.variants.values()])
    prompt = load_writing_prompt(settings.prompt, stage.use(PROMPTS_FILE).parent)
    model = open_llm(stage.params.llms[slug])
    writer = FrameWriter(name, about, content, people, prompt, lambda texts: _ask(stage, model, texts))
    written = writer.write(settings, stage.params.seed)
    with replacing(stage.data / "frames.yaml") as frames:
        frames.write_text(writer.text_of(written, slug), encoding="utf-8")
    write_table(written.replies, stage.data / "replies.parquet")
    return Outcome(counts=written.counts, tables={"proposals": written.reasons, "reasons": written.reason_counts})


def _ask(stage: Stage, model: Any, texts: Mapping[str, str]) -> list[Exchange]:
    """Say what it takes, and put the questions."""
    slug = stage.item["llm"]
    llm, questions = stage.params.llms[slug], [Question(*one) for one in texts.items()]
    needed, what = demand(questions, llm), f"{slug}, {stage.item['construction']}, {questions[0].id.partition('/')[0]}"
    print(
        f"{what}: at most {needed.requests:,} requests, about {needed.input_tokens:,} input tokens and at most "
        f"{needed.output_tokens:,} output tokens; earlier replies are kept",
        flush=True,
    )
    scratch = project_folder() / SCRATCH / stage.name / slug
    with progress(len(questions), "questions", what, kept=f"kept in {scratch}") as shown:
        replies = put_questions(questions, llm, model, scratch, shown.update)
    return [Exchange(*asked, reply.text, reply.error) for asked, reply in zip(questions, replies, strict=True)]


if __name__ == "__main__":
    run_stage(write_frames, "llm", "construction")
