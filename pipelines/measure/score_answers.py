"""score_answers: all questions as texts to continue, a model -> how probable each token of every answer is."""

from functools import partial

from cxprobe.measure.likelihood import (
    HowToScore,
    choices_of,
    distinct_texts,
    measure_texts,
    refuse_too_long,
    texts_of_choices,
)
from cxprobe.measure.precision import require_agreement
from cxprobe.models import load_language_model
from cxprobe.stages import Outcome, Stage, run_stage
from cxprobe.storage import DATA, read_table


def score_answers(stage: Stage) -> Outcome:
    slug, params, settings = stage.item["model"], stage.params, stage.params.score_answers
    folders = [stage.use(DATA / "build_prompts" / name) for name in params.grid.prompts.constructions]
    choices = [
        choices_of(read_table(folder / "choices.parquet"), read_table(folder / "answers.parquet")) for folder in folders
    ]
    load = partial(load_language_model, device=settings.device)
    model = load(slug, params.models[slug])
    for own in choices:  # all of them before the first is scored
        refuse_too_long(model, own)
    texts = distinct_texts(texts_of_choices(own) for own in choices)
    how = HowToScore([settings.scheme], settings.bos, settings.token_budget)
    check = partial(require_agreement, slug, params.models[slug], load, params.precision, params.seed)
    counts = measure_texts(slug, model, texts, how, check, what=f"{stage.name} {slug}", folder=stage.data)
    return Outcome(counts={"questions": sum(map(len, choices)), **counts})


if __name__ == "__main__":
    run_stage(score_answers, "model")
