from collections import Counter, defaultdict
from math import ceil

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from judged import items

from cxprobe.people.forms import deal, split_evenly


@settings(max_examples=40)
@given(st.integers(1, 3), st.integers(1, 6), st.integers(1, 4), st.integers(1, 20), st.integers(0, 9))
def test_every_item_is_in_as_many_forms_as_people_are_to_judge_it(some, frames, raters, most, seed):
    known = items(some, frames, 2)
    forms = deal(known, raters, most, np.random.default_rng(seed))
    assert Counter(place for form in forms for place in form) == dict.fromkeys(range(len(known)), raters)
    assert all(len(set(form)) == len(form) <= most for form in forms)
    assert max(map(len, forms)) - min(map(len, forms)) <= 1
    assert len(forms) == max(raters, ceil(len(known) * raters / most))


def test_a_form_has_no_frame_twice_where_there_are_enough_forms():
    known = items(1, 10, 2)  # four items of a frame, each in three forms
    forms = deal(known, 3, 8, np.random.default_rng(1))
    assert len(forms) == 15
    assert not [
        form for form in forms if len({(known[one].construction, known[one].frame) for one in form}) < len(form)
    ]


def test_a_form_has_items_of_all_constructions():
    known = items(4, 12, 2)
    for form in deal(known, 3, 16, np.random.default_rng(2)):
        counts = Counter(known[place].construction for place in form)
        assert set(counts) == {"c0", "c1", "c2", "c3"}
        assert max(counts.values()) - min(counts.values()) <= 2


edges = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), unique=True, max_size=60)


@settings(max_examples=200)
@given(edges, st.integers(1, 5), st.integers(0, 9))
def test_every_vertex_has_its_edges_equally_often_in_each_part(edges, parts, seed):
    split = split_evenly(edges, parts, np.random.default_rng(seed))
    counts = defaultdict(Counter)
    for (left, right), part in zip(edges, split, strict=True):
        counts["left", left][part] += 1
        counts["right", right][part] += 1
    for own in counts.values():
        assert set(own) <= set(range(parts))
        assert max(own.values()) - min(own[part] for part in range(parts)) <= 1


def test_no_part_is_preferred():
    lonely = [(number, number) for number in range(400)]
    split = split_evenly(lonely, 2, np.random.default_rng(0))
    assert 150 < sum(split) < 250
