"""score_prompts: all questions, a model -> how probable each token of every answer is; blind ones answer each item."""

from pathlib import Path

import pandas as pd

from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import DATA
from cxprobe.lm.language_models import write_model_facts
from cxprobe.lm.loading import load_language_model
from cxprobe.lm.ngrams import blind_facts
from cxprobe.lm.params import Panel, members_of
from cxprobe.lm.scoring import HowToScore, MeasuredModel, distinct_texts, measure_texts
from cxprobe.prompts.measure import answer_blindly, check_lengths, texts_of_choices
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage


def score_prompts(stage: Stage) -> Outcome | None:
    params = stage.params
    folders = [stage.use(DATA / "make_prompts" / name) for name in params.prompts.constructions]
    entry = params.models[stage.item]
    if isinstance(entry, Panel):
        return _answer(stage, entry, folders)
    counts: dict[str, float] = {}
    for member in members_of(params.models, [stage.item]):
        scored = _score(stage, member.slug, member.spec, folders, stage.data / member.inside)
        counts |= {f"{name}.{member.slug}" if member.inside.name else name: n for name, n in (scored or {}).items()}
    return Outcome(counts=counts) if counts else None


def _answer(stage: Stage, panel: Panel, folders: list[Path]) -> Outcome:
    """Let blind models answer every item, whether or not it is asked about."""
    items = pd.concat([read_table(folder / "items.parquet") for folder in folders], ignore_index=True)
    counts = {"items": len(items)}
    for slug, spec in panel.members.items():
        answers = answer_blindly(spec, items, seed=stage.params.seed)
        write_table(answers, stage.data / slug / "answers.parquet")
        write_model_facts(blind_facts(spec.kind), stage.data / slug)
        counts[f"answered.{slug}"] = answers["id"].nunique()
    return Outcome(counts=counts)


def _score(stage: Stage, slug: str, spec: object, folders: list[Path], to: Path) -> dict[str, float] | None:
    """Score every answer to every question by a language model; None in a process that only helps."""
    settings = stage.params.prompts.score
    choices = []
    for folder in folders:
        questions, answers = (read_table(folder / f"{table}.parquet") for table in ("choices", "answers"))
        choices.append(answers[["id", "text"]].merge(questions, on="id", validate="many_to_one"))
    model = MeasuredModel.of(stage, slug, spec, load_language_model)
    for of_construction in choices:  # all of them before the first is scored
        check_lengths(model.described, of_construction)
    texts = distinct_texts(texts_of_choices(of_construction) for of_construction in choices)
    how = HowToScore([settings.scheme], settings.bos, settings.token_budget)
    counts = measure_texts(model, texts, how, to)
    return None if counts is None else {"questions": sum(own["id"].nunique() for own in choices), **counts}


if __name__ == "__main__":
    run_stage(score_prompts, "models")
