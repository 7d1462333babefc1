"""score_pairs: a model and all minimal pairs -> the score of both members of each, by every score's name."""

import numpy as np
import pandas as pd

from cxprobe.likelihood import refuse_unscored
from cxprobe.likelihood import score_pairs as score
from cxprobe.models import load_language_model
from cxprobe.pairs import pairs_of
from cxprobe.seeding import draw_places
from cxprobe.stage import Outcome, Stage, run_stage
from cxprobe.storage import DATA, read_table, write_table

COMPARED = 64  # pairs of each construction on which another precision is compared with float32


def score_pairs(stage: Stage) -> Outcome:
    slug, settings = stage.item["model"], stage.params.score_pairs
    spec = stage.params.models[slug]
    pairs = {
        name: pairs_of(read_table(stage.use(DATA / "build_pairs" / f"{name}.parquet")))
        for name in stage.params.grid.pairs.constructions
    }
    model = load_language_model(slug, spec, settings.device)
    for own in pairs.values():  # all of them before the first is asked about
        refuse_unscored(model, own, settings)
    scored = {name: score(model, own, settings) for name, own in pairs.items()}
    for name, table in scored.items():
        write_table(table, stage.data / f"{name}.parquet")
    metrics: dict[str, float] = {"pairs": sum(map(len, pairs.values())), "scores": sum(map(len, scored.values()))}
    if spec.dtype != "float32":
        reference = load_language_model(slug, spec.model_copy(update={"dtype": "float32"}), settings.device)
        drawn = {
            name: draw_places(len(own), COMPARED, stage.params.seed, "compared", name) for name, own in pairs.items()
        }
        sample = [pairs[name][place] for name, places in drawn.items() for place in places]
        expected = score(reference, sample, settings)
        found = pd.concat(scored.values()).merge(expected, on=["id", "scheme", "score"], suffixes=("", "_expected"))
        metrics["decisions_as_in_float32"] = float(
            (np.sign(found["margin"]) == np.sign(found["margin_expected"])).mean()
        )
    return Outcome(metrics, facts={"weights": model.fingerprint, "kind": type(model).__name__})


if __name__ == "__main__":
    run_stage(score_pairs, "model")
