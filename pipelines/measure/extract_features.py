"""extract_features: the subsets' sentences, a model -> every layer's mean vectors, layer-major and memory-mapped."""

from functools import partial
from shutil import rmtree

from cxprobe.measure.features import extract, tokenise, vectors_of
from cxprobe.measure.precision import require_agreement
from cxprobe.models import load_encoder
from cxprobe.progress import progress
from cxprobe.stages import Outcome, Stage, run_stage
from cxprobe.storage import DATA, SCRATCH, project_folder, read_table, scratch_folder, write_model_facts


def extract_features(stage: Stage) -> Outcome | None:
    slug, name = stage.item["model"], stage.item["construction"]
    params, settings = stage.params, stage.params.extract_features
    encoder = load_encoder(slug, params.models[slug])
    tokens = {}
    for source in params.grid.recognition.constructions[name]:
        table = read_table(stage.use(DATA / "build_recognition" / name / source) / "sentences.parquet")
        ids, texts = table["id"].tolist(), table["text"].tolist()
        tokens[source] = tokenise(encoder, ids, texts, special_tokens=settings.special_tokens)
    every = [sentence for own in tokens.values() for sentence in own]
    check = partial(require_agreement, slug, params.models[slug], load_encoder, params.precision, params.seed)
    difference = check(encoder, every, vectors_of)
    scratch = project_folder() / SCRATCH / stage.name
    decisive = (params.models[slug], encoder.fingerprint, settings.token_budget, settings.special_tokens)
    batches = {source: scratch_folder(scratch, *decisive, own) for source, own in tokens.items()}
    with progress(len(every), "sentences", f"{stage.name} {slug} {name}", kept=f"kept in {scratch}") as shown:
        done = [
            extract(encoder, own, settings, scratch=batches[source], output=stage.data / source, progress=shown.update)
            for source, own in tokens.items()
        ]
    if None in done:  # in a process that helps the first one
        return None
    write_model_facts(encoder.facts, stage.data)
    for folder in batches.values():
        rmtree(folder)
    return Outcome(counts={"sentences": len(every), "tokens": sum(len(one.ids) for one in every), **difference})


if __name__ == "__main__":
    run_stage(extract_features, "model", "construction")
