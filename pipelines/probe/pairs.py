"""probe_pairs: minimal pairs, a model -> which text of each pair the probe of each layer takes for right."""

from typing import cast

from cxprobe.files.arrays import read_features
from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import SCRATCH, project_folder
from cxprobe.models.embedding import embed_texts, load_encoder
from cxprobe.models.measuring import MeasuredModel
from cxprobe.probing import Fitting, Regularisation
from cxprobe.run.running import Outcome, Stage, run_stage
from cxprobe.tasks.pairs.params import PairsStage, ProbePairs
from cxprobe.tasks.pairs.probing import probe_pairs as probe
from cxprobe.tasks.pairs.probing import whole_texts
from cxprobe.tasks.pairs.sources import MADE

KEPT = project_folder() / SCRATCH / "probes"


def probe_pairs(stage: Stage[PairsStage]) -> Outcome | None:
    params, settings = stage.params, cast(ProbePairs, stage.params.pairs.probe)  # not null where models are probed
    made = {name: read_table(stage.use(MADE / f"{name}.parquet")) for name in settings.constructions}
    pairs = {name: whole_texts(name, table) for name, table in made.items()}
    texts = list(dict.fromkeys(text for table in pairs.values() for side in ("good", "bad") for text in table[side]))
    model = MeasuredModel.of(stage, stage.item, params.models[stage.item], load_encoder)
    counts = embed_texts(model, {"texts": texts}, token_budget=settings.token_budget, folder=stage.data)
    if counts is None:  # this process only helps to fill the store
        return None
    features, regularisation = read_features(stage.data / "texts"), Regularisation(settings.C, settings.standardise)
    for name, table in pairs.items():
        fitting = Fitting(settings.max_iter, params.seed, f"{stage.item}, pairs of {name}")
        jobs = params.compute.jobs
        predicted = probe(table, features, regularisation, fitting, folds=settings.folds, jobs=jobs, kept=KEPT)
        write_table(predicted, stage.data / f"{name}.parquet")
    return Outcome(counts={"pairs": sum(map(len, pairs.values())), **counts})


if __name__ == "__main__":
    run_stage(probe_pairs, PairsStage, "models")
