"""extract_features: the subsets' sentences, a model -> every layer's mean vectors, or what blind models count."""

from collections.abc import Mapping
from functools import partial
from shutil import rmtree

from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA, SCRATCH, project_folder, scratch_folder
from cxprobe.lm.embedding import extract, tokenise, vectors_of
from cxprobe.lm.language_models import write_model_facts
from cxprobe.lm.loading import load_encoder
from cxprobe.lm.params import ModelSpec, Panel, loaded_model
from cxprobe.lm.precision import require_agreement
from cxprobe.lm.tokenizers import refuse_unknown
from cxprobe.recognition.blind import write_counts
from cxprobe.run.progress import progress
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage

Sentences = Mapping[str, tuple[list[str], list[str]]]  # of each source, ids and texts


def extract_features(stage: Stage) -> Outcome | None:
    model, name = loaded_model(stage.params.models, stage.item["model"]), stage.item["construction"]
    sentences: dict[str, tuple[list[str], list[str]]] = {}
    for source in stage.params.grid.recognition.constructions[name]:
        table = read_table(stage.use(DATA / "build_recognition" / name / source) / "sentences.parquet")
        sentences[source] = (table["id"].tolist(), table["text"].tolist())
    if isinstance(model, Panel):
        write_counts(model.members, sentences, stage.data)
        return Outcome(counts={"sentences": sum(len(ids) for ids, _ in sentences.values())})
    return _extract(stage, model, sentences)


def _extract(stage: Stage, spec: ModelSpec, sentences: Sentences) -> Outcome | None:
    (slug, name), params, settings = stage.item.values(), stage.params, stage.params.extract_features
    processes = stage.job.start(settings)
    load = partial(load_encoder, device=processes.device)
    texts = [text for _, own in sentences.values() for text in own]
    unknown = refuse_unknown(encoder := load(slug, spec), texts, f"{name}'s sentences")
    read = partial(tokenise, encoder, special_tokens=settings.special_tokens)
    tokens = {source: read(*own) for source, own in sentences.items()}
    every = [sentence for own in tokens.values() for sentence in own]
    check = partial(require_agreement, slug, spec, load, params.precision, params.seed)
    difference = {} if processes.counts else check(encoder, every, vectors_of)
    decisive = (spec, encoder.fingerprint, settings.token_budget, settings.special_tokens, processes.kind_of_device)
    compute, scratch = partial(extract, encoder, processes=processes), project_folder() / SCRATCH / stage.name
    batches = {source: scratch_folder(scratch, *decisive, own) for source, own in tokens.items()}
    with progress(len(every), "sentences", f"{stage.name} {slug} {name}", kept=f"kept in {scratch}") as shown:
        done = [
            compute(own, settings, scratch=batches[one], output=stage.data / one, progress=shown.update)
            for one, own in tokens.items()
        ]
    if None in done:  # this process only helps to compute the batches
        return None
    write_model_facts(encoder.facts, stage.data)
    for folder in batches.values():
        rmtree(folder)
    tokens_in_all = sum(len(one.ids) for one in every)
    return Outcome(counts={"sentences": len(every), "tokens": tokens_in_all, "unknown": unknown, **difference})


if __name__ == "__main__":
    run_stage(extract_features, "model", "construction")
