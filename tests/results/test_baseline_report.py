import pandas as pd
import pytest

from cxprobe.models.params import Member, ModelSpec, NgramFeatures, Rule
from cxprobe.results.baseline_report import baseline_table
from cxprobe.results.rates import Facet

BASELINES = {
    "character-ngrams": NgramFeatures(kind="character_ngrams", lengths=[2, 6]),
    "bag-of-words": NgramFeatures(kind="word_ngrams", lengths=[1, 1]),
    "positions": Rule(kind="positions"),
}
MEMBERS = [Member(slug, spec, "panel") for slug, spec in BASELINES.items()]
REAL = Member("bert", ModelSpec(name="bert", revision=None, sha256=None, dtype="float32"), "bert")


FACETS = [Facet("", has_verdicts=True)]


def rates(*rows):
    table = pd.DataFrame(rows, columns=["construction", "model", "value", "low", "high", "n", "chance"])
    return table.assign(source="own", facet="", level="", measure="accuracy")


def test_a_card_says_by_whom_a_data_set_is_solved():
    table = baseline_table(
        rates(
            ("length", "character-ngrams", 0.977, 0.95, 0.99, 300, 0.5),
            ("length", "positions", 0.6, 0.5, 0.7, 300, 0.5),
            ("length", "bert", 0.99, 0.95, 1, 300, 0.5),
        ),
        FACETS,
        limit=0.6,
        members=[*MEMBERS, REAL],
    )
    assert table["model"].tolist() == ["character-ngrams", "positions"]  # a real model solves it with the construction
    assert table["solved"].tolist() == [True, False]  # the limit itself is allowed
    assert [bool(text) for text in table["says"]] == [True, False]


def test_the_limit_is_the_same_share_of_the_way_from_chance_to_all():
    table = baseline_table(
        rates(("pairs", "positions", 0.5, 0.4, 0.6, 90, 0.5), ("reasoning", "positions", 0.5, 0.4, 0.6, 90, 1 / 3)),
        FACETS,
        limit=0.6,
        members=MEMBERS,
    )
    assert table["limit"].tolist() == pytest.approx([0.6, 1 / 3 + 0.2 * 2 / 3])
    assert table["solved"].tolist() == [False, True]
