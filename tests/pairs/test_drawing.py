from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cxprobe.pairs.make import draw_items


def spread(counts, size):
    """Return how far apart the most and the least used of ``size`` things are."""
    return max(counts.values()) - (min(counts.values()) if len(counts) == size else 0)


@given(
    frames=st.integers(1, 9),
    nouns=st.integers(2, 9),
    people=st.integers(0, 2),
    fillers=st.lists(st.integers(1, 5), max_size=2),
    pronouns=st.integers(1, 2),
    wanted=st.integers(1, 60),
    seed=st.integers(0, 5),
)
def test_everything_is_used_equally_often_and_no_item_comes_twice(
    frames, nouns, people, fillers, pronouns, wanted, seed
):
    groups = [frames, *fillers]
    items = draw_items(groups, nouns, people, pronouns, wanted, np.random.default_rng(seed))
    partners = nouns if people else groups[1] if fillers else 1
    assert len(items) == min(wanted, frames * partners)
    assert len({(item.rows, item.people[:1]) for item in items}) == len(items)
    for group, size in enumerate(groups):
        assert spread(Counter(item.rows[group] for item in items), size) <= 1
    for place in range(people):
        assert spread(Counter(item.people[place] for item in items), nouns) <= 1 + (place and len(items) % nouns == 1)
    assert all(len(set(item.people)) == people for item in items)
    assert spread(Counter(item.pronouns for item in items), pronouns) <= 1
    if people == 2 and len(items) % nouns != 1:
        assert Counter(item.people[0] for item in items) == Counter(item.people[1] for item in items)


def test_a_draw_follows_from_its_generator():
    first, again = (draw_items([5, 3], 4, 2, 2, 20, np.random.default_rng(1)) for _ in range(2))
    assert first == again != draw_items([5, 3], 4, 2, 2, 20, np.random.default_rng(2))
