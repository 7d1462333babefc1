"""write_frames: pairs of constructions, an instructed model -> frames for a person to proof-read, and every reject."""

from collections import Counter
from functools import partial
from pathlib import Path
from typing import cast

import pandas as pd

from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER, load_construction
from cxprobe.constructions.people import PEOPLE_FILE, load_people
from cxprobe.files.tables import write_table
from cxprobe.files.writing import SCRATCH, project_folder, replacing
from cxprobe.lm.asking import demand, questions_of, replies_to
from cxprobe.pairs.frame_prompts import load_writing_prompt, require_sentences
from cxprobe.pairs.frames import load_pairs
from cxprobe.pairs.params import PairsStage, WriteFrames
from cxprobe.pairs.writing import FrameWriter
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage

PROMPTS_FILE = Path("prompts/frames.yaml")


def write_frames(stage: Stage[PairsStage]) -> Outcome:
    settings = cast(WriteFrames, stage.params.pairs.frames)  # not null where models write
    people = load_people(stage.use(PEOPLE_FILE))
    prompt = load_writing_prompt(settings.prompt, stage.use(PROMPTS_FILE).parent)
    contents = {}
    for name in settings.constructions:  # all of them are read before the first question is put
        for file in ("construction.yaml", "pairs.yaml"):
            stage.use(CONSTRUCTIONS_FOLDER / name / file)
        contents[name] = load_pairs(name, people)
        require_sentences(name, contents[name].tests, [one.context for one in contents[name].variants.values()])
    counts, proposals = Counter[str](), []
    for name, content in contents.items():
        about = load_construction(name).model_dump(include={"name", "gloss", "positive"})
        writer = FrameWriter(name, about, content, people, prompt, partial(_ask, stage, name))
        written = writer.write(settings, stage.params.seed)
        with replacing(stage.data / name / "frames.yaml") as frames:
            frames.write_text(writer.text_of(written.proposals, stage.item), encoding="utf-8")
        write_table(written.replies, stage.data / name / "replies.parquet")
        counts.update(written.counts)
        table = pd.DataFrame(written.proposals, columns=["proposal", "row", "reason", "detail"]).drop(columns="row")
        proposals.append(table.assign(construction=name))
    table = pd.concat(proposals, ignore_index=True)
    reasons = table.groupby(["construction", "reason"]).size().rename("proposals").reset_index()
    return Outcome(counts=counts, tables={"proposals": table, "reasons": reasons})


def _ask(stage: Stage[PairsStage], name: str, table: pd.DataFrame) -> pd.DataFrame:
    """Say what it takes, and put the questions."""
    questions, llm = questions_of(table), stage.params.llms[stage.item]
    what = f"{stage.item}, {name}, {table['id'].iloc[0].partition('/')[0]}"
    print(f"{what}: {demand(questions, llm)}", flush=True)
    replies = replies_to(questions, llm, project_folder() / SCRATCH / stage.name / stage.item, what)
    return table.merge(replies, on="id", validate="one_to_one")


if __name__ == "__main__":
    run_stage(write_frames, PairsStage, "llms")
