"""fill_scenarios: a construction's scenarios, a masked model -> how probable each candidate word is in every text."""

from dataclasses import asdict

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cxprobe.errors import DataError
from cxprobe.likelihood import agreement, candidate_log_probabilities, decide, single_token_words
from cxprobe.models import MaskedLM, load_masked_lm
from cxprobe.params import CONSTRUCTIONS_FOLDER
from cxprobe.scenarios import drop_items, enumerate_items, fill_texts, load_scenarios
from cxprobe.seeding import draw_places
from cxprobe.stage import Outcome, Stage, run_stage
from cxprobe.storage import write_table

COMPARED = 128  # texts on which another precision is compared with float32
ASKED = ["text", "first", "second"]


def fill_scenarios(stage: Stage) -> Outcome:
    name, slug = stage.item["construction"], stage.item["model"]
    settings, seed = stage.params.fill_scenarios, stage.params.seed
    stage.use(CONSTRUCTIONS_FOLDER / name / "scenarios.yaml")
    scenarios = load_scenarios(name)
    model = load_masked_lm(slug, stage.params.models[slug], settings.device)
    wanted = enumerate_items(scenarios, share=settings.share, seed=seed)
    words = sorted(set(wanted[list(scenarios.candidates)].to_numpy().ravel()))
    anywhere = str(fill_texts(scenarios, wanted[:1], seed=seed)["text"].iloc[0])
    items, dropped = drop_items(scenarios, wanted, single_token_words(model, words, anywhere))
    if items.empty:
        raise DataError(
            f"models.{slug}: in each of the {len(wanted)} items of '{name}' a candidate is not one token of its "
            f"tokenizer ({', '.join(dropped['word'][:5])} ...); take other words in scenarios.yaml, or another model"
        )
    texts = fill_texts(scenarios, items, seed=seed)
    distinct = texts[ASKED].drop_duplicates(ignore_index=True)
    log_p = _log_probabilities(model, distinct, settings.token_budget)
    found = distinct.assign(log_p_first=log_p[:, 0], log_p_second=log_p[:, 1])
    write_table(items, stage.data / "items.parquet")
    write_table(texts.merge(found, on=ASKED, validate="many_to_one"), stage.data / "scores.parquet")
    counts = {"items": len(items), "dropped_items": len(wanted) - len(items), "texts": len(texts)}
    return Outcome(
        metrics={**counts, "distinct_texts": distinct["text"].nunique(), **_agreement(stage, distinct, log_p)},
        tables={"dropped": dropped},
        facts={"weights": model.fingerprint},
    )


def _log_probabilities(model: MaskedLM, asked: pd.DataFrame, token_budget: int) -> NDArray[np.float64]:
    """Return the natural logarithms of both candidates' probabilities, shape (texts, 2)."""
    candidates = asked[["first", "second"]].to_numpy().tolist()
    found = candidate_log_probabilities(model, asked["text"].tolist(), candidates, token_budget=token_budget)
    return np.stack(found)


def _agreement(stage: Stage, asked: pd.DataFrame, log_p: NDArray[np.float64]) -> dict[str, float]:
    """Return how well a precision other than float32 agrees with it on which candidate is the more probable."""
    slug, settings = stage.item["model"], stage.params.fill_scenarios
    spec = stage.params.models[slug]
    if spec.dtype == "float32":
        return {}
    reference = load_masked_lm(slug, spec.model_copy(update={"dtype": "float32"}), settings.device)
    places = draw_places(len(asked), COMPARED, stage.params.seed, "compared")
    texts = asked.iloc[places]
    expected = _log_probabilities(reference, texts, settings.token_budget)
    names = texts["text"].tolist()
    found = agreement(decide(names, *log_p[places].T), decide(names, *expected.T))
    return {f"float32_{name}": number for name, number in asdict(found).items()}


if __name__ == "__main__":
    run_stage(fill_scenarios, "model", "construction")
