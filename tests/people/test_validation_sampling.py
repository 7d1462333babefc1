from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judged import item, items

from cxprobe.errors import DataError
from cxprobe.people.rated_items import draw_sample


def spread(values) -> int:
    counts = Counter(values).values()
    return max(counts) - min(counts)


@settings(max_examples=30)
@given(st.integers(1, 4), st.integers(1, 5), st.integers(1, 3), st.integers(0, 9), st.data())
def test_a_sample_is_balanced_over_constructions_and_strata_and_comes_from_the_items(some, frames, values, seed, data):
    known = items(some, frames, values)
    wanted = data.draw(st.integers(1, len(known)))
    sample = draw_sample(known, wanted, seed)
    assert len({one.id for one in sample}) == len(sample) == wanted
    assert {one.id for one in sample} <= {one.id for one in known}
    if wanted >= some:
        assert spread(one.construction for one in sample) <= 1
    for name in {one.construction for one in sample}:
        own = [one for one in sample if one.construction == name]
        strata = Counter((one.stratum["variant"], one.stratum["order"]) for one in own)
        counts = [strata[f"v{value}", order] for value in range(values) for order in "os"]
        assert max(counts) - min(counts) <= 1
        assert spread(one.stratum["order"] for one in own) <= 1 or len(own) < 2


def test_frames_are_used_equally_often_where_the_strata_leave_a_choice():
    sample = draw_sample(items(1, frames=10, values=2), 20, seed=3)
    assert spread(one.frame for one in sample) <= 1
    assert len({one.frame for one in sample}) == 10


def test_the_same_seed_draws_the_same_items_in_whatever_order_they_are_known():
    known = items(3, 4, 2)
    first = [one.id for one in draw_sample(known, 17, seed=5)]
    assert first == [one.id for one in draw_sample(known[::-1], 17, seed=5)]
    assert first != [one.id for one in draw_sample(known, 17, seed=6)]


def test_a_construction_with_few_items_gives_all_it_has_and_the_others_give_the_rest():
    known = [item(0, "small", variant="A"), *items(1, 5, 2)]
    assert Counter(one.construction for one in draw_sample(known, 9, seed=1)) == {"small": 1, "c0": 8}


def test_a_column_that_only_some_items_have_is_a_stratum_like_any_other():
    known = [item(number, variant="A") for number in range(4)]
    known += [item(number, variant="A", sentence="rival") for number in range(4, 8)]
    sample = draw_sample(known, 4, seed=1)
    assert sum("sentence" in one.stratum for one in sample) == 2
    assert draw_sample([item(0)], 1, seed=1) == [item(0)]


@pytest.mark.parametrize("wanted", [0, 25])
def test_more_items_than_there_are_cannot_be_drawn(wanted):
    with pytest.raises(DataError, match=r"there are 24 items to draw from; ask for 1 to 24"):
        draw_sample(items(2, 3, 2), wanted, seed=1)
