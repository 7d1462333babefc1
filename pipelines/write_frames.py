"""write_frames: a construction's pairs, an instructed model -> frames for a person to proof-read, and every reject."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from json import dumps
from pathlib import Path
from typing import Any

import pandas as pd

from cxprobe.constructions import load_construction
from cxprobe.judging import read_word
from cxprobe.pairs import (
    KEPT,
    PEOPLE_FILE,
    PairsFile,
    Proposal,
    Verdict,
    check_proposals,
    filter_proposals,
    frames_text,
    load_pairs,
    load_people,
    read_proposals,
    show,
    templates_of,
)
from cxprobe.params import CONSTRUCTIONS_FOLDER
from cxprobe.prompting import (
    Question,
    Reply,
    demand,
    load_writing_prompt,
    open_llm,
    put_questions,
    require_sentences,
)
from cxprobe.prompting_params import DIAGNOSTIC_VERDICTS, INSTANCE_VERDICTS
from cxprobe.seeding import generator_for
from cxprobe.stage import Outcome, Stage, run_stage
from cxprobe.storage import SCRATCH, replacing, write_table

PROMPTS_FILE = Path("prompts/frames.yaml")

Asked = list[tuple[Question, Reply]]


def write_frames(stage: Stage) -> Outcome:
    name, settings = stage.item["construction"], stage.params.write_frames
    for file in ("construction.yaml", "pairs.yaml"):
        stage.use(CONSTRUCTIONS_FOLDER / name / file)
    people = load_people(stage.use(PEOPLE_FILE))
    content, about = load_pairs(name, people), load_construction(name).model_dump(include={"name", "gloss", "positive"})
    require_sentences(name, content.tests, [variant.context for variant in content.variants.values()])
    prompt = load_writing_prompt(settings.prompt, stage.use(PROMPTS_FILE).parent)
    ask = partial(_ask, stage, open_llm(stage.params.llms[stage.item["llm"]]))
    slots = {slot: content.slots[slot].gloss for slot in content.frames[0]}
    templates = templates_of(content, people)
    writing = [
        prompt.ask_for_frames(about, templates, slots, _examples(stage, content, request), settings.per_request)
        for request in range(settings.requests)
    ]
    written = ask([Question(f"write/{request}", text) for request, text in enumerate(writing)])
    texts = [text for _, reply in written for text in read_proposals(reply.text or "")]
    proposals = check_proposals(texts, content, people)

    def instance(proposal: Proposal) -> list[str]:
        contexts = dict.fromkeys(shown.context for shown in show(content, proposal.row, people).values())
        return [prompt.ask_about_instance(about, context) for context in contexts]

    def diagnostics(proposal: Proposal) -> list[str]:
        return [prompt.ask_about_diagnostic(*shown) for shown in show(content, proposal.row, people).values()]

    first = ask(_about_each("instance", proposals, instance))
    proposals = filter_proposals(proposals, _verdicts(first, INSTANCE_VERDICTS), settings.accepted)
    second = ask(_about_each("diagnostic", proposals, diagnostics))
    proposals = filter_proposals(proposals, _verdicts(second, DIAGNOSTIC_VERDICTS), DIAGNOSTIC_VERDICTS[:1])
    kept = [proposal.row for proposal in proposals if proposal.reason == KEPT]
    head = [
        f"{len(kept)} of {len(texts)} frames that {stage.item['llm']} wrote for {name}, after both filters. No person",
        "has read them yet: read each with what it says in every variant, and move those that are right to the frames",
        f"of constructions/{name}/pairs.yaml.",
    ]
    with replacing(stage.data / "frames.yaml") as frames:
        frames.write_text(frames_text(head, content, kept, people), encoding="utf-8")
    replies = _replies([*written, *first, *second])
    write_table(replies, stage.data / "replies.parquet")
    counts = Counter(proposal.reason for proposal in proposals)
    return Outcome(
        metrics={
            "requests": len(replies),
            "requests_failed": int(replies["failed"].sum()),
            "proposals": len(proposals),
            "kept": len(kept),
            "rejected": {reason: number for reason, number in counts.items() if reason != KEPT},
        },
        tables={
            "proposals": pd.DataFrame(
                [(one.text, one.reason, one.detail) for one in proposals], columns=["proposal", "reason", "detail"]
            ),
            "counts": pd.DataFrame(counts.most_common(), columns=["reason", "proposals"]),
        },
    )


def _examples(stage: Stage, content: PairsFile, request: int) -> list[str]:
    """Return the frames that a request shows, as the model shall write its own; each request has a draw of its own."""
    rng = generator_for(stage.params.seed, stage.name, stage.item["construction"], request)
    places = rng.permutation(len(content.frames))[: stage.params.write_frames.examples]
    return [dumps(content.frames[place], ensure_ascii=False) for place in places]


def _ask(stage: Stage, model: Any, questions: Sequence[Question]) -> Asked:
    """Say what it takes, and put the questions."""
    if not questions:
        return []
    slug = stage.item["llm"]
    llm = stage.params.llms[slug]
    needed, what = demand(questions, llm), questions[0].id.partition("/")[0]
    print(
        f"{slug}, {stage.item['construction']}, {what}: {needed.requests:,} requests at most, about "
        f"{needed.input_tokens:,} tokens to read and {needed.output_tokens:,} to write at most; what an earlier run "
        "was told is not asked again",
        flush=True,
    )
    return list(zip(questions, put_questions(questions, llm, model, SCRATCH / stage.name / slug), strict=True))


def _about_each(what: str, proposals: Sequence[Proposal], questions: Callable[[Proposal], list[str]]) -> list[Question]:
    """Return what is asked about the proposals that are left; an id has the proposal's place among all."""
    return [
        Question(f"{what}/{place}/{number}", text)
        for place, proposal in enumerate(proposals)
        if proposal.reason == KEPT
        for number, text in enumerate(questions(proposal))
    ]


def _verdicts(asked: Asked, allowed: Sequence[str]) -> list[Verdict]:
    return [
        Verdict(int(question.id.split("/")[1]), "failed", f"no reply: {reply.error}")
        if reply.text is None
        else Verdict(int(question.id.split("/")[1]), read_word(reply.text, allowed) or "unparsed", reply.text)
        for question, reply in asked
    ]


def _replies(asked: Asked) -> pd.DataFrame:
    rows = [
        (question.id, question.text, reply.text or "", reply.text is None, reply.error) for question, reply in asked
    ]
    return pd.DataFrame(rows, columns=["id", "question", "reply", "failed", "error"])


if __name__ == "__main__":
    run_stage(write_frames, "llm", "construction")
