from collections import Counter

import pytest

from cxprobe.errors import PromptError
from cxprobe.prompts.items import RELATIONS, make_inference
from cxprobe.prompts.make import choose_examples

# Three hypotheses to a premise, as in the release; four premises to each of two constructions.
FULL = [
    make_inference(f"Premise {n} of {name}.", f"Hypothesis {gold}.", gold, name, "full")
    for name in ("odd", "even")
    for n in range(4)
    for gold in RELATIONS
]
# One hypothesis to a premise, as in a challenge set.
SINGLE = [
    make_inference(f"Single {n}.", "Hypothesis.", gold, "odd", "single")
    for n, gold in enumerate([*RELATIONS, *RELATIONS])
]


@pytest.mark.parametrize("shots", [1, 3])
def test_a_shot_is_one_example_of_each_relation(shots):
    examples = choose_examples([FULL], "odd", shots, seed=1)
    assert Counter(example.gold for example in examples) == dict.fromkeys(RELATIONS, shots)
    assert {example.construction for example in examples} == {"odd"}
    assert len({example.premise for example in examples}) == shots


def test_zero_shots_need_no_source():
    assert choose_examples([], "odd", 0, seed=1) == []
    assert choose_examples([FULL], None, 0, seed=1) == []


def test_each_source_gives_its_shots():
    examples = choose_examples([FULL, SINGLE], "odd", 2, seed=1)
    assert Counter((example.set, example.gold) for example in examples) == {
        (name, gold): 2 for name in ("full", "single") for gold in RELATIONS
    }


def test_the_draw_follows_from_the_seed_and_not_from_the_order_of_the_source():
    assert choose_examples([FULL], "odd", 2, seed=1) == choose_examples([FULL[::-1]], "odd", 2, seed=1)
    drawn = {tuple(example.id for example in choose_examples([FULL], None, 1, seed=seed)) for seed in range(5)}
    assert len(drawn) > 1


def test_the_relations_are_shown_in_a_drawn_order():
    orders = {tuple(example.gold for example in choose_examples([FULL], "odd", 1, seed=seed)) for seed in range(8)}
    assert len(orders) > 1


def test_a_source_that_is_too_small_is_told():
    with pytest.raises(PromptError, match="3 examples of each relation were asked for of odd, but a source has 2 of"):
        choose_examples([SINGLE], "odd", 3, seed=1)
    with pytest.raises(PromptError, match="0 of entailment, 0 of neutral, 0 of contradiction"):
        choose_examples([SINGLE], "even", 1, seed=1)
