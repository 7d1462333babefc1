from collections import Counter, defaultdict
from dataclasses import replace

import pytest
from judged import items

from conftest import ROOT
from cxprobe.errors import DataError
from cxprobe.people.forms import form_table, items_table, make_forms
from cxprobe.people.rated_items import items_of_inferences
from cxprobe.people.wording import load_wording
from cxprobe.prompts.items import Inference

WORDING = load_wording(ROOT / "prompts" / "validation.yaml")
KNOWN = items(2, 8, 2)  # 64


def made(raters: int = 3, most: int = 16, seed: int = 1):
    return make_forms(KNOWN, WORDING.checks, raters, most, seed)


def asked(form):
    return [one for one in form.questions if one.kind != "check"]


def test_each_form_has_one_check_of_every_kind_and_none_comes_first():
    orders = set()
    for form in made():
        kinds = [one.item for one in form.questions if one.kind == "check"]
        assert sorted(kinds) == ["agreement", "instruction", "shuffled"]
        assert form.questions[0].kind != "check"
        orders.add(tuple(kinds))
    assert len(orders) == 3


def test_checks_are_spread_over_a_form():
    for form in made():
        places = [number for number, one in enumerate(form.questions) if one.kind == "check"]
        thirds = [(place - before) * 3 / len(asked(form)) for before, place in enumerate(places)]
        assert all(third <= place <= third + 1 + 3 / 16 for third, place in enumerate(thirds))


def test_what_a_check_calls_right_is_the_sentence_that_the_wording_calls_right():
    for form in made():
        for one in form.questions:
            if one.kind == "check":
                members = {member.right: member.wrong for member in WORDING.checks.of(one.item).members}
                right, wrong = one.options["AB".index(one.gold)], one.options["BA".index(one.gold)]
                assert members[right] == wrong
                assert ("choose " in one.question) == (one.item == "instruction")
                assert one.item != "instruction" or one.question.endswith(f"choose {one.gold}.")


def test_the_sides_of_an_item_take_turns_over_its_forms_and_those_of_a_form_over_its_items():
    sides = defaultdict(Counter)
    for form in made():
        right = Counter(one.gold for one in asked(form))
        assert right["A"] == right["B"] == 8
        for one in asked(form):
            sides[one.item][one.gold] += 1
    assert all(sorted(own.values()) == [1, 2] for own in sides.values())
    assert len(sides) == 64


def test_a_and_b_are_right_equally_often_also_where_c_is_right_in_some():
    neither = "Nobody can tell."
    known = [
        replace(one, kind="reasoning", gold="ABCC"[number % 4], options=one.options | {"C": neither})
        for number, one in enumerate(KNOWN)
    ]
    firsts = defaultdict(Counter)
    for form in make_forms(known, WORDING.checks, 3, 16, 1):
        right = Counter(one.gold for one in asked(form))
        assert abs(right["A"] - right["B"]) <= 1
        assert all(one.options[2] == neither for one in asked(form))
        for one in asked(form):
            firsts[one.item][one.answers[0]] += 1
    assert all(sorted(own.values()) == [1, 2] for own in firsts.values())


def test_an_item_comes_once_in_each_third_of_the_forms():
    thirds = defaultdict(list)
    for form in made(most=15):
        own = asked(form)
        for place, one in enumerate(own):
            thirds[one.item].append(place / len(own))
    spread = [max(own) - min(own) for own in thirds.values()]
    assert min(spread) > 0.3


def test_options_and_the_right_letter_are_those_of_the_item():
    known = {one.id: one for one in KNOWN}
    for form in made():
        for one in asked(form):
            own = known[one.item]
            shown = dict(zip(one.answers, one.options, strict=True))
            assert shown == own.options
            assert one.answers["ABC".index(one.gold)] == own.gold


def test_relations_keep_their_order_in_a_form_and_turn_it_round_in_the_next():
    inferences = [
        Inference(f"i{n}", "P.", f"H{n}.", "neutral", "one", "templatic", f"p{n}", "t", "asserted") for n in range(8)
    ]
    forms = make_forms(items_of_inferences(inferences, WORDING.tasks.inference), WORDING.checks, 2, 4, 1)
    orders = [{one.answers for one in asked(form)} for form in forms]
    forwards, backwards = ("entailment", "neutral", "contradiction"), ("contradiction", "neutral", "entailment")
    assert orders == [{forwards}, {backwards}, {forwards}, {backwards}]
    assert all(one.gold == "B" and one.options[1] == "It may be true or false." for one in asked(forms[0]))


def test_the_same_seed_makes_the_same_forms():
    assert made() == made()
    assert made() != made(seed=2)
    assert (
        items_table(made())["export"][0] == items_table(made())["export"][0] != items_table(made(seed=2))["export"][0]
    )


def test_the_table_of_a_form_does_not_say_what_is_right():
    table = items_table(made())
    form = form_table(made()[0], table["export"][0])
    assert not {"gold", "answers", "stratum", "item", "kind"} & set(form.columns)
    own = table[table["form"] == 1]
    assert form[["number", "a", "b"]].to_numpy().tolist() == own[["number", "a", "b"]].to_numpy().tolist()
    assert set(form["answer"]) == set(form["rater"]) == {""}


@pytest.mark.parametrize(("raters", "most"), [(0, 16), (3, 0)])
def test_forms_need_raters_and_items(raters, most):
    with pytest.raises(DataError, match="each must be at least 1"):
        made(raters, most)


@pytest.mark.parametrize("most", [1, 2, 3])
def test_small_forms_have_all_checks_too(most):
    for form in made(1, most):
        assert sum(one.kind == "check" for one in form.questions) == 3
        assert 1 <= len(asked(form)) <= most
