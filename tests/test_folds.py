import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxprobe.probing import cut_folds


def cut(labels: list[bool], templates: list[str], most: int) -> list:
    return cut_folds(np.array(labels, dtype=bool), np.array(templates, dtype=object), most, seed=1)


def test_there_are_fewer_folds_where_a_label_has_few_templates():
    assert len(cut([True] * 6 + [False] * 9, list("abcdef") + list("ggghhhiii"), 5)) == 3


@pytest.mark.parametrize("templates", ["ab", "aabb", "aaab"])
def test_there_are_no_folds_where_a_label_has_one_template(templates):
    half = len(templates) // 2
    assert cut([True] * half + [False] * half, list(templates), 5) == []


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 6)), max_size=30), st.integers(2, 6))
def test_folds_are_apart_in_templates_and_train_on_both_labels(sentences, most):
    labels, templates = [label for label, _ in sentences], [f"t{number}" for _, number in sentences]
    held_out = []
    for train, held in cut(labels, templates, most):
        assert set(train) | set(held) == set(range(len(sentences)))
        assert not {templates[row] for row in train} & {templates[row] for row in held}
        assert {labels[row] for row in train} == {True, False}
        held_out += held.tolist()
    assert len(held_out) == len(set(held_out))
