"""score_pairs: all minimal pairs, a model -> how probable each token of their texts is."""

from functools import partial

from cxprobe.make.pairs import pairs_of
from cxprobe.measure.likelihood import HowToScore, distinct_texts, measure_texts, refuse_unscored, texts_of_pairs
from cxprobe.measure.precision import require_agreement
from cxprobe.models import load_language_model
from cxprobe.stages import Outcome, Stage, run_stage
from cxprobe.storage import DATA, read_table


def score_pairs(stage: Stage) -> Outcome:
    slug, params, settings = stage.item["model"], stage.params, stage.params.score_pairs
    files = [stage.use(DATA / "build_pairs" / f"{name}.parquet") for name in params.grid.pairs.constructions]
    pairs = [pairs_of(read_table(file)) for file in files]
    load = partial(load_language_model, device=settings.device)
    model = load(slug, params.models[slug])
    for own in pairs:  # all of them before the first is scored
        refuse_unscored(model, own, settings.bos)
    texts = distinct_texts(texts_of_pairs(model, own, settings.bos) for own in pairs)
    how = HowToScore(settings.schemes, settings.bos, settings.token_budget)
    check = partial(require_agreement, slug, params.models[slug], load, params.precision, params.seed)
    counts = measure_texts(slug, model, texts, how, check, what=f"{stage.name} {slug}", folder=stage.data)
    return Outcome(counts={"pairs": sum(map(len, pairs)), **counts})


if __name__ == "__main__":
    run_stage(score_pairs, "model")
