"""score_benchmarks: the minimal pairs of a benchmark, a model -> how probable each token of their texts is."""

from functools import partial

from cxprobe.make.pairs import pairs_of
from cxprobe.measure.likelihood import HowToScore, measure_texts, refuse_unscored, texts_of_pairs
from cxprobe.measure.precision import require_agreement
from cxprobe.models import load_language_model
from cxprobe.stages import Outcome, Stage, run_stage
from cxprobe.storage import DATA, read_table


def score_benchmarks(stage: Stage) -> Outcome:
    slug, name = stage.item["model"], stage.item["benchmark"]
    params, settings = stage.params, stage.params.score_pairs
    pairs = pairs_of(read_table(stage.use(DATA / "build_benchmarks" / f"{name}.parquet")))
    load = partial(load_language_model, device=settings.device)
    model = load(slug, params.models[slug])
    refuse_unscored(model, pairs, settings.bos)
    texts = texts_of_pairs(model, pairs, settings.bos)
    how = HowToScore(settings.schemes, settings.bos, settings.token_budget)
    check = partial(require_agreement, slug, params.models[slug], load, params.precision, params.seed)
    counts = measure_texts(slug, model, [texts], how, check, what=f"{stage.name} {slug} {name}", folder=stage.data)
    return Outcome(counts={"pairs": len(pairs), **counts})


if __name__ == "__main__":
    run_stage(score_benchmarks, "model", "benchmark")
