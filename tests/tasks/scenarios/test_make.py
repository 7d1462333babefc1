from collections import Counter

import pytest

from conftest import ROOT
from cxprobe.tasks.scenarios.make import enumerate_items
from cxprobe.tasks.scenarios.rules import load_scenarios


def project_scenarios(name):
    return load_scenarios(name, ROOT / "constructions")


def test_all_items_are_there_in_every_order_and_turn(toy_constructions):
    items = enumerate_items(load_scenarios("toy", toy_constructions), share=1, seed=1)
    rows = [("big", "small"), ("fast", "slow"), ("old", "young")]
    turned = [*rows, *(row[::-1] for row in rows)]
    expected = {(*first, *second) for first in turned for second in turned if set(first) != set(second)}
    found = Counter(items[["ADJ1", "ANT1", "ADJ2", "ANT2"]].itertuples(index=False, name=None))
    assert found.keys() == expected
    assert set(found.values()) == {2}  # two draws
    assert items["id"].is_unique
    assert items.groupby(["ADJ1", "ADJ2"])["NOUN1"].nunique().eq(2).all()


@pytest.mark.parametrize("share", [0.001, 0.1])
@pytest.mark.parametrize(("name", "block"), [("comparative-correlative", 8), ("let-alone", 2)])
def test_in_every_share_each_candidate_is_right_as_often_as_wrong_and_rows_are_as_frequent(name, block, share):
    scenarios = project_scenarios(name)
    items = enumerate_items(scenarios, share=share, seed=5)
    first, second = scenarios.candidates
    assert Counter(items[first]) == Counter(items[second])
    assert len(items) % block == 0
    for set_, count in scenarios.items.cross.items():
        form = scenarios.words[set_].forms[0]
        columns = [f"cluster_{form}{number}" for number in range(1, count + 1)]
        half = len(scenarios.words[set_].forms) // 2
        words = ["/".join(sorted({row[0], row[half]})) for row in scenarios.words[set_].rows]
        frequencies = Counter(items[columns].to_numpy().ravel())
        found = [frequencies[word] // block for word in words]  # in blocks
        assert max(found) - min(found) <= 2 * count


def test_a_share_has_the_items_of_the_whole_with_their_words():
    scenarios = project_scenarios("let-alone")
    whole, part = (enumerate_items(scenarios, share=share, seed=3) for share in (1, 0.1))
    assert part.merge(whole, how="inner").equals(part)
    assert len(part) == pytest.approx(0.1 * len(whole), abs=2)
