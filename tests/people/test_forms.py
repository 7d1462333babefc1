import re
from collections import Counter, defaultdict
from dataclasses import replace
from math import ceil

import numpy as np
import pytest
from html_page import Page
from hypothesis import given, settings
from hypothesis import strategies as st
from judged import WORDING, items

from cxprobe.errors import DataError
from cxprobe.people.forms import (
    OPTION_LETTERS,
    Form,
    RatedItem,
    deal,
    draw_sample,
    form_table,
    items_table,
    make_forms,
    render_page,
    split_in_halves,
)

KNOWN = items(2, 8, 2)  # 64


def made(raters: int = 3, most: int = 16, seed: int = 1):
    return make_forms(KNOWN, WORDING.checks, raters, most, seed)


def asked(form):
    return [one for one in form.questions if one.kind != "check"]


def test_each_form_has_one_check_of_every_kind_and_none_comes_first():
    orders = set()
    for form in made():
        kinds = [one.id for one in form.questions if one.kind == "check"]
        assert sorted(kinds) == ["agreement", "instruction", "shuffled"]
        assert form.questions[0].kind != "check"
        orders.add(tuple(kinds))
    assert len(orders) == 3


def test_what_a_check_calls_right_is_the_sentence_that_the_wording_calls_right():
    for form in made():
        for one in form.questions:
            if one.kind == "check":
                members = {member.right: member.wrong for member in dict(WORDING.checks)[one.id].members}
                right, wrong = one.options["right"], one.options["wrong"]
                assert members[right] == wrong
                assert ("choose " in one.question) == (one.id == "instruction")
                assert one.id != "instruction" or one.question.endswith(f"choose {one.letter}.")


def test_the_sides_of_an_item_take_turns_over_its_forms_and_those_of_a_form_over_its_items():
    sides = defaultdict(Counter)
    for form in made():
        right = Counter(one.letter for one in asked(form))
        assert right["A"] == right["B"] == 8
        for one in asked(form):
            sides[one.id][one.letter] += 1
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
        right = Counter(one.letter for one in asked(form))
        assert abs(right["A"] - right["B"]) <= 1
        assert all(list(one.options.values())[2] == neither for one in asked(form))
        for one in asked(form):
            firsts[one.id][next(iter(one.options))] += 1
    assert all(sorted(own.values()) == [1, 2] for own in firsts.values())


def test_relations_keep_their_order_in_a_form_and_turn_it_round_in_the_next():
    names = WORDING.tasks.inference.options.model_dump()
    inferences = [
        RatedItem("inference", f"i{n}", "one", f"p{n}", {}, "P.", f"H{n}.", names, "neutral") for n in range(8)
    ]
    forms = make_forms(inferences, WORDING.checks, 2, 4, 1)
    orders = [{tuple(one.options) for one in asked(form)} for form in forms]
    forwards, backwards = ("entailment", "neutral", "contradiction"), ("contradiction", "neutral", "entailment")
    assert orders == [{forwards}, {backwards}, {forwards}, {backwards}]
    assert all(one.letter == "B" and one.options["neutral"] == "It may be true or false." for one in asked(forms[0]))


def test_the_table_of_a_form_does_not_say_what_is_right():
    table = items_table(made())
    form = form_table(table, made()[0])
    assert not {"gold", "answers", "stratum", "item", "kind"} & set(form.columns)
    own = table[table["form"] == 1]
    assert form[["number", "a", "b"]].to_numpy().tolist() == own[["number", "a", "b"]].to_numpy().tolist()
    assert set(form["answer"]) == set(form["rater"]) == {""}


@settings(max_examples=40)
@given(st.integers(1, 3), st.integers(1, 6), st.integers(1, 4), st.integers(1, 20), st.integers(0, 9))
def test_every_item_is_in_as_many_forms_as_people_are_to_judge_it(some, frames, raters, most, seed):
    known = items(some, frames, 2)
    forms = deal(known, raters, most, np.random.default_rng(seed))
    assert Counter(place for form in forms for place in form) == dict.fromkeys(range(len(known)), raters)
    assert all(len(set(form)) == len(form) <= most for form in forms)
    assert max(map(len, forms)) - min(map(len, forms)) <= 1
    assert len(forms) == raters * ceil(len(known) / most)


def test_a_form_has_no_frame_twice_where_there_are_enough_forms():
    known = items(1, 10, 2)  # four items of a frame, each in three forms
    forms = deal(known, 3, 7, np.random.default_rng(1))
    assert len(forms) == 18  # in each of three rounds six, two more than a frame has items
    assert not [
        form for form in forms if len({(known[one].construction, known[one].frame) for one in form}) < len(form)
    ]


edges = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), unique=True, max_size=60)


@settings(max_examples=200)
@given(edges, st.integers(0, 9))
def test_every_vertex_has_as_many_edges_in_one_half_as_in_the_other(edges, seed):
    split = split_in_halves(edges, np.random.default_rng(seed))
    counts = defaultdict(Counter)
    for (left, right), part in zip(edges, split, strict=True):
        counts["left", left][part] += 1
        counts["right", right][part] += 1
    for own in counts.values():
        assert set(own) <= {0, 1}
        assert abs(own[0] - own[1]) <= 1


FORM = make_forms(items(2, 4, 2), WORDING.checks, 2, 8, 1)[0]
TEXT = render_page(FORM, "export-0", WORDING.tasks.pairs)
PAGE = Page(TEXT)


def test_every_question_is_a_group_with_a_legend_and_radio_buttons_that_exclude_each_other():
    groups = [one for one in PAGE.all("fieldset") if one["attrs"]["id"] != "who"]
    assert [one["attrs"]["id"] for one in groups] == [f"q{number + 1}" for number in range(len(FORM.questions))]
    for group, question in zip(groups, FORM.questions, strict=True):
        own = group["attrs"]["id"]
        (legend,) = [one for one in PAGE.all("legend") if one["group"] == own]
        assert legend["text"].endswith(f"{question.text} {question.question}")
        buttons = [one["attrs"] for one in PAGE.all("input", type="radio") if one["group"] == own]
        assert {one["name"] for one in buttons} == {own}
        assert [one["value"] for one in buttons] == list(OPTION_LETTERS[: len(question.options)])
        assert not [one for one in buttons if "checked" in one]


def test_what_the_page_refers_to_is_there_once():
    ids = [one["attrs"]["id"] for one in PAGE.elements if "id" in one["attrs"]]
    assert len(ids) == len(set(ids))
    described = [one["attrs"]["aria-describedby"] for one in PAGE.elements if "aria-describedby" in one["attrs"]]
    assert {name for names in described for name in names.split()} <= set(ids)
    assert set(re.findall(r'getElementById\("([\w-]+)"\)', TEXT)) <= set(ids)


def test_the_page_asks_nothing_of_any_other_file_or_server():
    assert not re.search(r"https?:|//[a-z]|@import|url\(|fetch\(|XMLHttpRequest|sendBeacon|WebSocket", TEXT)
    assert not [one for one in PAGE.elements if "src" in one["attrs"] or "action" in one["attrs"]]
    links = [one["attrs"]["href"] for one in PAGE.elements if "href" in one["attrs"]]
    assert links == ["data:,"]
    (policy,) = PAGE.all("meta", **{"http-equiv": "Content-Security-Policy"})
    assert policy["attrs"]["content"].startswith("default-src 'none'")


def test_the_page_does_not_say_what_is_right():
    for question in FORM.questions:
        assert question.kind == "check" or question.id not in TEXT
    assert "gold" not in TEXT
    other = {"A": "B", "B": "A", "right": "wrong"}
    swapped = [replace(one, gold=other[one.gold]) for one in FORM.questions]
    assert render_page(Form(FORM.number, tuple(swapped)), "export-0", WORDING.tasks.pairs) == TEXT


@pytest.mark.parametrize("nasty", ['</script><b id="x">', "{{title}}", 'a "quoted" & <b>'])
def test_texts_are_texts_whatever_they_have(nasty):
    item = replace(FORM.questions[0], text=nasty, options={"A": nasty, "B": "B"})
    page = Page(render_page(Form(1, (item,)), "export-0", WORDING.tasks.pairs))
    (shown,) = page.all("span", **{"class": "text"})
    assert shown["text"] == nasty
    assert not page.all("b", id="x")


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
        assert spread(one.construction for one in sample) <= 2  # a turn has both orders
    for name in {one.construction for one in sample}:
        own = [one for one in sample if one.construction == name]
        strata = Counter((one.stratum["variant"], one.stratum["order"]) for one in own)
        counts = [strata[f"v{value}", order] for value in range(values) for order in "os"]
        assert max(counts) - min(counts) <= 1
        assert spread(one.stratum["order"] for one in own) <= 1 or len(own) < 2


def test_a_construction_that_is_asked_in_one_order_has_half_of_the_items_of_one_with_two():
    names = sorted({one.construction for one in KNOWN})
    known = [one for one in KNOWN if one.construction != names[0] or one.stratum["order"] == "o"]
    sample = Counter(one.construction for one in draw_sample(known, 12, seed=1))
    assert sample == {names[0]: 4, names[1]: 8}


@pytest.mark.parametrize("wanted", [0, 25])
def test_more_items_than_there_are_cannot_be_drawn(wanted):
    with pytest.raises(DataError, match=r"there are 24 items to draw from; ask for 1 to 24"):
        draw_sample(items(2, 3, 2), wanted, seed=1)
