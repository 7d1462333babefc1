"""Minimal pairs and what models answered about them, made up, and the rates of these."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from cxprobe.models.texts import TokenScores, token_table
from cxprobe.results.rates import divided_by, rates_of, with_further
from cxprobe.tasks.pairs.evaluate import FACETS, further_rates, pair_responses, pool_pairs, with_units
from cxprobe.tasks.pairs.params import EvaluatePairs

# What pairs have where a test does not say otherwise.
USUAL = {"construction": "toy", "tests": "meaning", "words": "real", "source": "real", "variant": "A"}
USUAL |= {"sentence": "construction", "noun_type": "female", "order": "original", "origin": "paper"}


def crossed(**values) -> pd.DataFrame:
    """Return a row for each combination of values, the last of which change first, and what pairs usually have."""
    table = pd.MultiIndex.from_product(values.values(), names=values).to_frame(index=False)
    return table.assign(**{name: value for name, value in USUAL.items() if name not in values})


def tokens(text: str, scheme: str, log_probs: list[float]) -> TokenScores:
    ends = [place for place, letter in enumerate(text + " ") if letter == " "]
    spans = list(zip([0, *ends[:-1]], ends, strict=True))
    places = np.arange(len(spans))
    return TokenScores(text, scheme, places, np.array(spans), np.array(log_probs, dtype=float))


ONE = {"item": "i", "cluster_frame": "f"}
ONE |= {name: USUAL[name] for name in ("construction", "tests", "words", "source", "variant")}
TEXTS = pd.DataFrame(
    [
        {"id": "a", "context": "it is", "good": " so", "bad": " not", "order": "original", **ONE},
        {"id": "b", "context": "", "good": "it is so", "bad": "it is not", "order": "switched", **ONE},
    ]
)
SCORED = [
    tokens("it is so", "pll", [-1, -1, -4]),
    tokens("it is not", "pll", [-1, -1, -3]),
    tokens("it is so", "pll_word_l2r", [-1, -1, -2]),
    tokens("it is not", "pll_word_l2r", [-1, -1, -2]),
]
ANSWERS = token_table(SCORED)


def own(scheme: str = "pll", score: str = "sum") -> EvaluatePairs:
    return EvaluatePairs(scheme=scheme, score=score)


def responses_of(decided: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the responses of models to decided pairs."""
    tables = [pair_responses(with_units(table)).assign(task="pairs", model=name) for name, table in decided.items()]
    return pd.concat(tables, ignore_index=True)


def all_rates(responses: pd.DataFrame) -> pd.DataFrame:
    """Return the rates by every facet, and those that no facet gives."""
    pooled = pool_pairs(responses)
    return with_further(rates_of(pooled, FACETS), further_rates(pooled))


def rates_of_pairs(responses: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """Return the rates that some facets divide, by construction, source, these facets, measure and model."""
    keys = ["construction", "source", *columns, "measure", "model"]
    return divided_by(all_rates(responses), *columns).set_index(keys).sort_index()
