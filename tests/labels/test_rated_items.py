from dataclasses import replace

import pytest

from cxprobe.models.texts import Pair
from cxprobe.tasks.pairs.rated import items_of_pairs
from cxprobe.tasks.prompts.items import Inference, Reasoning
from cxprobe.tasks.prompts.rated import items_of_inferences, items_of_reasonings

NEITHER = "There is not enough information to tell."


def pair(number: int, context: str = "Ann baked Eve a cake.", **groups: str) -> Pair:
    gap = " " if context else ""
    texts = (context, f"{gap}The cook is Ann.", f"{gap}The cook is Eve.")
    groups = {"construction": "toy", "variant": "A", **groups}
    return Pair(f"toy-{number}", "toy-item", *texts, groups, {"frame": "toy 3", "noun1": "Ann"})


def reasoning(number: int = 0, **changes) -> Reasoning:
    texts = ("Ann is older.", "Who is calmer?", "the cook", "Bob")
    return replace(Reasoning(f"base-toy-{number}", *texts, "A", "toy", "base", "toy-1", True), **changes)


def test_a_pair_is_shown_as_two_whole_texts_of_which_the_good_one_is_right():
    for number in range(20):
        (one,) = items_of_pairs([pair(number, sentence="rival")])
        assert set(one.options.values()) == {f"Ann baked Eve a cake. The cook is {name}." for name in ("Ann", "Eve")}
        assert one.options[one.gold].endswith("Ann.")
        assert (one.kind, one.id, one.frame, one.text) == ("pairs", f"toy-{number}", "toy 3", "")


def test_which_text_is_a_follows_from_the_id_and_each_is_as_often():
    golds = [one.gold for one in items_of_pairs([pair(number) for number in range(400)])]
    assert 150 < golds.count("A") < 250
    swapped = [replace(pair(number), good=pair(number).bad, bad=pair(number).good) for number in range(400)]
    turned = [one.gold for one in items_of_pairs(swapped)]
    assert all(one != other for one, other in zip(golds, turned, strict=True))


def test_a_pair_without_a_context_or_a_frame_is_an_item_too():
    (one,) = items_of_pairs([replace(pair(0, context=""), clusters={})])
    assert one.options[one.gold] == "The cook is Ann."
    assert one.frame == "toy-item"


def test_an_inference_is_asked_in_plain_words():
    known = Inference("Ann sang {x}.", "Ann was heard.", "neutral", "toy", "templatic", "heard", "asserted")
    (one,) = items_of_inferences([known])
    assert one.text == "Suppose this is true: Ann sang {x}."
    assert one.question == "What about this statement: Ann was heard."
    assert list(one.options) == ["entailment", "neutral", "contradiction"]
    assert not [shown for shown in one.options.values() if "neutral" in shown or "entail" in shown]
    assert (one.gold, one.frame) == ("neutral", known.premise_id)


@pytest.mark.parametrize(("gold", "right"), [("A", "The cook"), ("B", "Bob"), ("C", NEITHER)])
def test_the_answer_to_a_multiple_choice_item_stays_right_whatever_the_order_of_its_options(gold, right):
    for number in range(10):
        known = reasoning(number, gold=gold)
        turned = reasoning(number, gold={"A": "B", "B": "A", "C": "C"}[gold], a=known.b, b=known.a)
        one, other = items_of_reasonings([known, turned])
        assert one == other
        assert one.options[one.gold] == right
        assert one.options["C"] == NEITHER


def test_a_multiple_choice_item_whose_words_change_is_another_item():
    ids = {
        next(items_of_reasonings([one])).id
        for one in (reasoning(), reasoning(text="Ann is old."), reasoning(question="Who?"), reasoning(b="Cleo"))
    }
    assert len(ids) == 4
