"""extract_features: the subsets' sentences -> every layer's mean vector, layer-major and memory-mapped."""

from pathlib import Path

from cxprobe.errors import ModelError
from cxprobe.features import Tokens, extract, mean_cosines, tokenise
from cxprobe.models import Encoder, load_encoder
from cxprobe.seeding import draw_places
from cxprobe.stage import Outcome, Stage, run_stage
from cxprobe.storage import DATA, SCRATCH, read_table, scratch_folder

COMPARED = 32  # sentences on which bfloat16 is compared with float32 before the work begins


def extract_features(stage: Stage) -> Outcome | None:
    slug, source, name = stage.item.values()
    settings = stage.params.extract_features
    rows = read_table(stage.use(DATA / "build_splits" / source / f"{name}.parquet"))
    sentences = read_table(stage.use(DATA / source / name) / "sentences.parquet")
    wanted = sentences[sentences["id"].isin(rows["id"])]
    encoder = load_encoder(slug, stage.params.models[slug])
    tokens = tokenise(encoder, wanted["id"].tolist(), wanted["text"].tolist(), special_tokens=settings.special_tokens)
    agreement = _agreement(stage, encoder, tokens)
    done = extract(encoder, tokens, settings, scratch=_batches(stage, encoder, tokens), output=stage.data)
    if done is None:
        return None
    print(f"{done.batches} batches, {done.resumed} of them left by an earlier run")
    metrics = {"sentences": done.sentences, "tokens": done.tokens, **agreement}
    return Outcome(metrics, facts={"weights": encoder.fingerprint})


def _agreement(stage: Stage, encoder: Encoder, tokens: list[Tokens]) -> dict[str, float]:
    """Return how well a precision other than float32 agrees with it, and refuse it if that is not enough."""
    slug = stage.item["model"]
    spec = stage.params.models[slug]
    if spec.dtype == "float32":
        return {}
    reference = load_encoder(slug, spec.model_copy(update={"dtype": "float32"}))
    sample = [tokens[place] for place in draw_places(len(tokens), COMPARED, stage.params.seed, "compared")]
    cosine = float(mean_cosines(encoder, reference, sample).min())
    least = stage.params.extract_features.bfloat16_min_cosine
    if cosine < least:
        raise ModelError(
            f"models.{slug}: in {spec.dtype} the mean cosine with float32 is {cosine:.5f} in the worst layer, less "
            f"than extract_features.bfloat16_min_cosine ({least}); use dtype: float32"
        )
    return {"least_cosine_with_float32": cosine}


def _batches(stage: Stage, encoder: Encoder, tokens: list[Tokens]) -> Path:
    """Return the folder of the batches until they are joined."""
    spec, settings = stage.params.models[stage.item["model"]], stage.params.extract_features
    how = (settings.token_budget, settings.special_tokens)
    return scratch_folder(SCRATCH / stage.name, spec, encoder.fingerprint, how, tokens)


if __name__ == "__main__":
    run_stage(extract_features, "model", "source", "construction")
