"""fit_pair_probes: minimal pairs, a model -> which text of each pair the probe of each layer takes for right."""

from functools import partial
from shutil import rmtree
from typing import cast

import pandas as pd

from cxprobe.files.arrays import read_features
from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import DATA, SCRATCH, project_folder, scratch_folder
from cxprobe.lm.embedding import extract, tokenise, vectors_of
from cxprobe.lm.facts import write_model_facts as write_facts
from cxprobe.lm.loading import load_encoder
from cxprobe.lm.params import ModelSpec
from cxprobe.lm.precision import require_agreement
from cxprobe.lm.tokenizers import refuse_unknown
from cxprobe.pairs.probing import probe_pairs
from cxprobe.probing import Fitting, Regularisation
from cxprobe.run.progress import progress
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage


def fit_pair_probes(stage: Stage) -> Outcome | None:
    params, slug, settings = stage.params, stage.item["model"], stage.params.extract_features
    pairs = {name: _real_pairs(stage, name) for name in params.grid.ways.constructions}
    texts = list(
        dict.fromkeys(text for own in pairs.values() for end in ("good", "bad") for text in own[f"{end}_text"])
    )
    processes, spec = stage.job.start(settings), cast(ModelSpec, params.models[slug])  # params.yaml may name no panel
    load = partial(load_encoder, device=processes.device)
    unknown = refuse_unknown(encoder := load(slug, spec), texts, "the texts of pairs")
    tokens = tokenise(encoder, texts, texts, special_tokens=settings.special_tokens)
    check = partial(require_agreement, slug, spec, load, params.precision, params.seed)
    difference = {} if processes.counts else check(encoder, tokens, vectors_of)
    decisive = (spec, encoder.fingerprint, settings.token_budget, settings.special_tokens)
    scratch = scratch_folder(project_folder() / SCRATCH / stage.name, *decisive, processes.kind_of_device, tokens)
    with progress(len(texts), "texts", f"{stage.name} {slug}", kept=f"kept in {scratch}") as shown:
        folders = {"scratch": scratch, "output": scratch / "all"}
        done = extract(encoder, tokens, settings, processes=processes, **folders, progress=shown.update)
    if done is None:  # this process only helps to compute the batches
        return None
    features, how = read_features(scratch / "all"), params.fit_pair_probes
    for name, own in pairs.items():
        fitting = Fitting(how.max_iter, params.seed, f"{slug}, pairs of {name}")
        found = probe_pairs(own, features, Regularisation(how.C, 0.0, False), fitting, folds=how.folds, jobs=how.jobs)
        write_table(found, stage.data / f"{name}.parquet")
    write_facts(encoder.facts, stage.data)
    rmtree(scratch)
    return Outcome(
        counts={"pairs": sum(map(len, pairs.values())), "texts": len(texts), "unknown": unknown, **difference}
    )


def _real_pairs(stage: Stage, name: str) -> pd.DataFrame:
    """Return a construction's pairs with its own words, and their whole texts as good_text and bad_text."""
    table = read_table(stage.use(DATA / "build_pairs" / f"{name}.parquet"))
    own = table[table["words"] == "real"]
    return own.assign(good_text=own["context"] + own["good"], bad_text=own["context"] + own["bad"])


if __name__ == "__main__":
    run_stage(fit_pair_probes, "model")
