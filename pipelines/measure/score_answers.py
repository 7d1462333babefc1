"""score_answers: all questions, a model -> how probable each token of every answer is; blind ones answer each item."""

from functools import partial
from pathlib import Path

import pandas as pd

from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import DATA
from cxprobe.lm.facts import write_model_facts
from cxprobe.lm.loading import load_language_model
from cxprobe.lm.ngrams import blind_facts
from cxprobe.lm.params import ModelSpec, Panel, ServedModel
from cxprobe.lm.precision import require_agreement
from cxprobe.lm.scoring import HowToScore, distinct_texts, measure_texts
from cxprobe.prompts.blind import answer_blindly
from cxprobe.prompts.measure import choices_of, refuse_too_long, texts_of_choices
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage


def score_answers(stage: Stage) -> Outcome | None:
    folders = [stage.use(DATA / "build_prompts" / name) for name in stage.params.grid.prompts.constructions]
    model = stage.params.models[stage.item["model"]]
    if not isinstance(model, Panel):
        return _score(stage, model, folders)
    items = pd.concat([read_table(folder / "items.parquet") for folder in folders], ignore_index=True)
    counts = {"items": len(items)}
    for slug, spec in model.members.items():
        answers = answer_blindly(spec, items, seed=stage.params.seed)
        write_table(answers, stage.data / slug / "answers.parquet")
        write_model_facts(blind_facts(spec.kind), stage.data / slug)
        counts[f"answered.{slug}"] = answers["id"].nunique()
    return Outcome(counts=counts)


def _score(stage: Stage, spec: ModelSpec | ServedModel, folders: list[Path]) -> Outcome | None:
    """Score every answer to every question by a language model."""
    slug, params, settings = stage.item["model"], stage.params, stage.params.score_answers
    choices = [
        choices_of(read_table(folder / "choices.parquet"), read_table(folder / "answers.parquet")) for folder in folders
    ]
    processes = stage.job.start(settings.for_model(spec))
    load = partial(load_language_model, device=processes.device)
    model = load(slug, spec)
    for own in choices:  # all of them before the first is scored
        refuse_too_long(model, own)
    texts = distinct_texts(texts_of_choices(own) for own in choices)
    how = HowToScore([settings.scheme], settings.bos, settings.token_budget)
    check = partial(require_agreement, slug, spec, load, params.precision, params.seed)
    what, folder = f"{stage.name} {slug}", stage.data
    counts = measure_texts(slug, model, texts, how, check, processes=processes, what=what, folder=folder)
    return None if counts is None else Outcome(counts={"questions": sum(map(len, choices)), **counts})


if __name__ == "__main__":
    run_stage(score_answers, "model")
