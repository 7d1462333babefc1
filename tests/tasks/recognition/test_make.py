from itertools import product

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cxprobe.constructions import LABELS, SPLITS
from cxprobe.errors import DataError
from cxprobe.tasks.recognition.make import all_sentences, balance, draw_subsets
from cxprobe.tasks.recognition.params import Subsets


def sentences(counts: dict[tuple[str, int, str], int]) -> pd.DataFrame:
    """Make so many sentences for each split, value and label."""
    rows = [
        (f"{split}-{value}-{label}-{number}", split, value, label)
        for (split, value, label), count in counts.items()
        for number in range(count)
    ]
    return pd.DataFrame(rows, columns=["id", "split", "length", "label"])


def full(values: range, count: int = 3) -> dict[tuple[str, int, str], int]:
    return dict.fromkeys(product(SPLITS, values, LABELS), count)


@settings(max_examples=15)
@given(
    st.dictionaries(st.tuples(st.sampled_from(SPLITS), st.integers(0, 8), st.sampled_from(LABELS)), st.integers(0, 5)),
    st.integers(1, 3),
)
def test_every_value_that_is_kept_is_balanced_and_every_other_is_reported(counts, wanted):
    counts = full(range(0, 2), 5) | counts
    table = sentences(counts)
    drawn, dropped = balance(table, "length", sizes(train_per_label=wanted, test_per_label=wanted), seed=1)
    if not drawn:
        return
    rows = pd.concat(drawn)
    assert rows["id"].is_unique
    counted = rows.groupby(["split", "value", "label"]).size()
    assert set(counted) == {wanted}
    kept = {(split, value) for split, value, _ in counted.index}
    assert all(counted[split, value].index.tolist() == ["negative", "positive"] for split, value in kept)
    reported = {(split, value) for split, _, value, *_ in dropped}
    assert not kept & reported
    least, most = rows.query("split == 'test'")["value"].agg(["min", "max"])
    for split, value, _ in counts:
        present = any(counts.get((split, value, label), 0) for label in LABELS)
        if present and (split == "test" or least <= value <= least + (most - least) / 4):
            assert (split, value) in kept | reported


@settings(max_examples=15)
@given(st.lists(st.tuples(st.sampled_from(["train", "test"]), st.sampled_from(LABELS)), max_size=30))
def test_all_sentences_are_balanced_over_the_labels_in_each_part(kinds):
    table = pd.DataFrame([{"id": str(n), "split": split, "label": label} for n, (split, label) in enumerate(kinds)])
    table = table.reindex(columns=["id", "split", "label"])
    rows = pd.concat([table, *all_sentences(table, seed=1)]).dropna()
    for split in ("train", "test"):
        rarer = min(kinds.count((split, label)) for label in LABELS)
        drawn = rows[rows["split"] == split]
        assert drawn["label"].value_counts().to_dict() == (dict.fromkeys(LABELS, rarer) if rarer else {})
    assert rows["id"].is_unique
    assert set(rows["id"]) <= set(table["id"])


def sizes(all_sentences: bool = False, **changes: int) -> Subsets:
    return Subsets(**{"train_per_label": 2, "test_per_label": 2} | changes, all_sentences=all_sentences)


def draw(table: pd.DataFrame, features: list[str], wanted: Subsets, drawn_for: dict[str, list[str]] | None = None):
    rows, _ = draw_subsets(table, drawn_for or {}, features, wanted, 1, "toy, mined")
    return rows


def test_each_feature_is_filled_from_the_sentences_that_were_drawn_for_it():
    table = sentences(full(range(4), 4)).assign(depth=lambda rows: rows["length"])
    half = [id_ for id_ in table["id"] if int(id_[-1]) < 2]
    rows = draw(table, ["length", "depth"], sizes(), {"length": half, "depth": table["id"].tolist()})
    assert set(rows.loc[rows["feature"] == "length", "id"]) <= set(half)
    expected = pd.concat(balance(table, "depth", sizes(), seed=1)[0])["id"].tolist()
    assert rows.loc[rows["feature"] == "depth", "id"].tolist() == expected


def test_where_nothing_can_be_drawn_the_source_is_named():
    with pytest.raises(DataError, match=r"^toy, mined: no value of any feature has 9 sentences of both labels"):
        draw(sentences(full(range(4))), ["length"], sizes(test_per_label=9))
