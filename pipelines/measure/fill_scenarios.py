"""fill_scenarios: all scenarios, a masked model -> how probable each candidate word is in every text."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cxprobe.measure.likelihood import Usable, candidate_log_probabilities, drop_items, open_answers
from cxprobe.measure.precision import require_agreement
from cxprobe.models import MaskedLM, load_masked_lm
from cxprobe.progress import progress
from cxprobe.stages import Outcome, Stage, run_stage
from cxprobe.storage import DATA, read_table, write_model_facts, write_table

ASKED = ["text", "first", "second"]


def fill_scenarios(stage: Stage) -> Outcome:
    slug, params = stage.item["model"], stage.params
    ask = partial(_ask, token_budget=params.fill_scenarios.token_budget)
    load = partial(load_masked_lm, device=params.fill_scenarios.device)
    model = load(slug, params.models[slug])
    usable = {name: _usable(stage, name, model) for name in params.grid.scenarios.constructions}
    asked = {name: own.texts[ASKED].drop_duplicates(ignore_index=True) for name, own in usable.items()}
    rows = {name: list(table.itertuples(index=False, name=None)) for name, table in asked.items()}
    check = partial(require_agreement, slug, params.models[slug], load, params.precision, params.seed)
    difference = check(model, [row for own in rows.values() for row in own], lambda one, some: [ask(one, some)])
    total, what = sum(map(len, rows.values())), f"{stage.name} {slug}"
    with open_answers(slug, model) as store, progress(total, "texts", what, kept=f"kept in {store.folder}") as shown:
        log_p = {name: ask(model, own, store=store, progress=shown.update) for name, own in rows.items()}
    counts = Counter[str]()
    for name, (items, texts, dropped, dropped_items) in usable.items():
        found = asked[name].assign(log_p_first=log_p[name][:, 0], log_p_second=log_p[name][:, 1])
        scores = texts.merge(found, on=ASKED, validate="many_to_one")
        for stem, table in (("items", items), ("scores", scores), ("dropped", dropped)):
            write_table(table, stage.data / name / f"{stem}.parquet")
        counts.update(items=len(items), dropped_items=dropped_items)
        counts.update(texts=len(texts), distinct_texts=texts["text"].nunique())
    write_model_facts(model.facts, stage.data)
    return Outcome(counts={**counts, **difference})


def _usable(stage: Stage, name: str, model: MaskedLM) -> Usable:
    """Return what the model can be asked of a construction."""
    folder = stage.use(DATA / "build_scenarios" / name)
    items, texts = read_table(folder / "items.parquet"), read_table(folder / "texts.parquet")
    return drop_items(model, items, texts, place=f"models.{stage.item['model']}, {name}")


def _ask(model: MaskedLM, rows: Sequence[tuple[str, ...]], **options: Any) -> NDArray[np.float64]:
    """Return the natural logarithms of both candidates' probabilities, shape (texts, 2)."""
    texts, candidates = [text for text, *_ in rows], [words for _, *words in rows]
    return np.stack(candidate_log_probabilities(model, texts, candidates, **options))


if __name__ == "__main__":
    run_stage(fill_scenarios, "model")
