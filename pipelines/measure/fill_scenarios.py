"""fill_scenarios: all scenarios, a masked model or blind ones -> how probable each candidate word is in every text."""

from collections import Counter
from functools import partial
from pathlib import Path

import pandas as pd

from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import DATA
from cxprobe.lm.candidates import Usable, drop_items
from cxprobe.lm.facts import write_model_facts
from cxprobe.lm.loading import load_masked_lm
from cxprobe.lm.ngrams import blind_facts
from cxprobe.lm.params import ModelSpec, loaded_model
from cxprobe.lm.precision import require_agreement
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage
from cxprobe.scenarios.blind import fill_blindly
from cxprobe.scenarios.measure import fill_masks

NONE_DROPPED = pd.DataFrame(columns=["word", "reason", "items"])


def fill_scenarios(stage: Stage) -> Outcome | None:
    folders = {name: stage.use(DATA / "build_scenarios" / name) for name in stage.params.grid.scenarios.constructions}
    made = {name: [read_table(path / f"{of}.parquet") for of in ("items", "texts")] for name, path in folders.items()}
    model = loaded_model(stage.params.models, stage.item["model"])
    if isinstance(model, ModelSpec):
        return _fill(stage, model, made)
    counts: Counter[str] = Counter()
    for slug, spec in model.members.items():
        for name, (items, texts) in made.items():
            scores = fill_blindly(spec.kind, texts)
            counts.update(_write(stage.data / slug / name, Usable(items, texts, NONE_DROPPED, 0), scores))
        write_model_facts(blind_facts(spec.kind), stage.data / slug)
    return Outcome(counts=counts)


def _fill(stage: Stage, spec: ModelSpec, made: dict[str, list[pd.DataFrame]]) -> Outcome | None:
    """Ask a masked model what its tokenizer allows."""
    slug, params, processes = stage.item["model"], stage.params, stage.job.start(stage.params.fill_scenarios)
    model = (load := partial(load_masked_lm, device=processes.device))(slug, spec)
    usable = {name: drop_items(model, *tables, place=f"models.{slug}, {name}") for name, tables in made.items()}
    check = partial(require_agreement, slug, spec, load, params.precision, params.seed)
    what, budget = f"{stage.name} {slug}", params.fill_scenarios.token_budget
    if (filled := fill_masks(slug, model, usable, budget, check, processes=processes, what=what)) is None:
        return None  # this process only helps to fill the store
    counts: Counter[str] = Counter()
    for name, own in usable.items():
        counts.update(_write(stage.data / name, own, filled[0][name]))
    write_model_facts(model.facts, stage.data)
    return Outcome(counts={**counts, **filled[1]})


def _write(folder: Path, own: Usable, scores: pd.DataFrame) -> dict[str, int]:
    """Write what was asked about a construction and the answers, and count them."""
    for stem, table in (("items", own.items), ("scores", scores), ("dropped", own.dropped)):
        write_table(table, folder / f"{stem}.parquet")
    counts = {"items": len(own.items), "dropped_items": own.dropped_items}
    return counts | {"texts": len(scores), "distinct_texts": scores["text"].nunique()}


if __name__ == "__main__":
    run_stage(fill_scenarios, "model")
