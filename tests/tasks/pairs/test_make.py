"""Minimal pairs of a construction: what is drawn, how pairs are worded, and how a table keeps them."""

import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_pairs import load_all, load_toy

from conftest import PAIRS, PEOPLE
from cxprobe.errors import DataError
from cxprobe.models.texts import Pair, pair_table, pairs_of
from cxprobe.tasks.pairs.make import build_pairs, draw_items, render_pairs, replace_content
from cxprobe.tasks.pairs.params import AskedPairs, MakePairs, PerCell
from cxprobe.tasks.pairs.sources import first_items
from cxprobe.text import article_of, wrong_articles


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
    assert len({(*item.rows, *item.people[:1]) for item in items}) == len(items)
    for group, size in enumerate(groups):
        assert spread(Counter(item.rows[group] for item in items), size) <= 1
    for place in range(people):
        assert spread(Counter(item.people[place] for item in items), nouns) <= 1 + (place and len(items) % nouns == 1)
    assert all(len(set(item.people)) == people for item in items)
    assert spread(Counter(item.pronouns for item in items), pronouns) <= 1
    if people == 2 and len(items) % nouns != 1:
        assert Counter(item.people[0] for item in items) == Counter(item.people[1] for item in items)


def test_the_members_of_an_item_are_worded_as_the_templates_say(tmp_path):
    pairs = render_pairs("x", *load_toy(tmp_path), 1, seed=0)
    members = {
        (pair.groups["variant"], pair.groups["order"]): pair
        for pair in pairs
        if pair.groups["noun_type"] == "female-name"
    }
    original, switched, of_b = members["A", "original"], members["A", "switched"], members["B", "original"]
    first, verb, second, gift = original.context.removesuffix(".").split(" ", 3)
    assert original.good == f" The one who gave her something is {first}."
    assert original.bad == f" The one who gave her something is {second}."
    assert switched.context == f"{second} {verb} {first} {gift}."
    assert switched.good == original.bad
    assert of_b.good == f" She got {gift} because {first} gave it to {second}."
    assert of_b.bad == f" She got {gift} because {second} gave it to {first}."
    assert len({pair.item for pair in members.values()}) == 1


FORM = """\
tests: form
slots: {{one: {{gloss: a noun}}, article: {{gloss: its article}}, other: {{gloss: another}}}}
variants:
  A:
    continuation: "she took {{article}} {{thing}} and {{article}} {{other}}."
    contrast: {{thing: {{good: "{{one}}", bad: "{{other}}"}}}}
frames: [{{one: cup, article: some}}, {{one: box, article: {article}}}]
fillers: {{others: [{{other: loaf}}, {others}]}}
"""


RIVAL = PAIRS.replace("  A:\n", '  A:\n    rival: "{N1} {verb} {gift} for {N2}\'s brother."\n')


ORIGINS = [("", "paper", "own"), ("    origin: paper\n", "paper", "paper"), ("    origin: own\n", "own", "own")]


@pytest.mark.parametrize(("says", "construction", "rival"), ORIGINS)
def test_after_a_rival_which_has_an_origin_of_its_own_the_other_member_is_right(tmp_path, says, construction, rival):
    pairs = render_pairs("x", *load_toy(tmp_path, RIVAL.replace("  A:\n", "  A:\n" + says)), 3, seed=0)
    of_a = [pair for pair in pairs if pair.groups["variant"] == "A"]
    asked = {(pair.item, pair.groups["order"], pair.groups["sentence"]): pair for pair in of_a}
    assert len(asked) == 3 * 3 * 2 * 2
    for (item, order, sentence), pair in asked.items():
        other = asked[item, order, {"construction": "rival", "rival": "construction"}[sentence]]
        assert ("brother" in pair.context) == (sentence == "rival")
        assert (pair.good, pair.bad, pair.clusters) == (other.bad, other.good, other.clusters)
        assert pair.groups["origin"] == {"construction": construction, "rival": rival}[sentence]


def test_common_nouns_stand_in_their_typical_roles_and_exchanged(tmp_path):
    typical = [("the waiter", "the guest"), ("the nurse", "the patient")]
    text = PAIRS.replace("frames:\n", "typical: [[the waiter, the guest], [the nurse, the patient]]\nframes:\n")
    pairs = render_pairs("x", *load_toy(tmp_path, text, PEOPLE.replace("  job:", "  common-noun:")), 6, seed=0)
    for order, seats in (("original", typical), ("switched", [roles[::-1] for roles in typical])):
        contexts = [
            pair.context
            for pair in pairs
            if (pair.groups["variant"], pair.groups["noun_type"], pair.groups["order"]) == ("A", "common-noun", order)
        ]
        roles = [[text.startswith(a.capitalize()) and f" {b} " in text for a, b in seats] for text in contexts]
        assert sorted(roles) == [[False, True]] * 3 + [[True, False]] * 3
    names = {pair.clusters["noun1"] for pair in pairs if pair.groups["noun_type"] == "female-name"}
    assert names <= {"Ann", "Eve", "Ida", "Mia"}


def test_a_variant_that_does_not_show_what_tells_items_apart_is_refused(tmp_path):
    hidden = (
        '  hidden: {context: "{verb} {gift}.", continuation: "she {was} glad.", '
        "contrast: {was: {good: was, bad: were}}}\nframes:\n"
    )
    toy = load_toy(tmp_path, PAIRS.replace("frames:\n", hidden))
    with pytest.raises(DataError, match=r"twice; two rows of its pairs\.yaml differ in nothing that the variant shows"):
        render_pairs("x", *toy, 9, seed=0)


@pytest.mark.parametrize(
    ("article", "other", "message"),
    [
        ("the", "box", r"x.pairs\.yaml, variant A: 'She took the box and the box\.' is both the right and"),
        ("a", "apple", r"x.pairs\.yaml, variant A: .*: 'a apple' has the wrong article"),
    ],
)
def test_what_only_certain_rows_make_together_is_refused(tmp_path, article, other, message):
    text = FORM.format(article=article, others=f"{{other: {other}}}, {{other: pie}}")
    text = text.replace("frames: [", "frames: [{one: jar, article: some}, ")  # the third beside the second filler
    with pytest.raises(DataError, match=message):
        render_pairs("x", *load_toy(tmp_path, text), 9, seed=0)


def test_an_item_is_clustered_by_its_frame_its_wording_its_people_and_the_large_groups_it_draws_from(tmp_path):
    [pair, *_] = render_pairs("x", *load_toy(tmp_path), 1, seed=0)
    assert {pair.clusters["noun1"], pair.clusters["noun2"]} == {pair.context.split()[0], pair.context.split()[2]}
    assert pair.clusters["wording"].startswith("x ")
    assert "{" in pair.clusters["wording"]
    for number, names in ((1, {"frame", "wording"}), (9, {"frame", "wording", "others"})):
        others = ", ".join(f"{{other: v{k}}}" for k in range(number))
        [pair, *_] = render_pairs("x", *load_toy(tmp_path, FORM.format(article="the", others=others)), 1, seed=0)
        assert set(pair.clusters) == names


def test_a_table_gives_its_pairs_back_and_pairs_of_other_files_share_no_cluster_that_they_lack(tmp_path):
    pairs = render_pairs("x", *load_toy(tmp_path), 5, seed=2)
    assert pairs_of(pair_table(pairs)) == pairs
    first = Pair("a", "a", "", "good", "bad", {"field": "go"}, {"verb": "go"})
    assert pairs_of(pair_table([first, first])) == [first, first]
    table = pair_table([first, Pair("b", "b", "", "good", "bad", {}, {"item": "b"})]).set_index("id")
    assert table.loc["b", ["field", "cluster_verb", "cluster_item"]].tolist() == ["", "b", "b"]
    assert table.loc["a", ["field", "cluster_verb", "cluster_item"]].tolist() == ["go", "go", "a"]


def settings(meaning=4, pseudowords=4, form=1) -> MakePairs:
    return MakePairs(pairs_per_condition=PerCell(meaning=meaning, form=form, control=1), pseudowords=pseudowords)


def test_pairs_come_with_their_own_words_and_with_pseudowords(tmp_path):
    toy = load_toy(tmp_path)
    built = build_pairs("toy", *toy, settings(), seed=0)
    # Two of words, two variants, two orders, three noun types, four pairs a cell.
    assert (len(built), built["item"].nunique()) == (96, 24)
    real = built[built["words"] == "real"]
    assert real["id"].tolist() == [pair.id for pair in render_pairs("toy", *toy, 4, seed=0)]
    assert build_pairs("toy", *toy, settings(pseudowords=None), seed=0).equals(real)


LOADED, EVERYBODY = load_all()
WITH_CONTENT = [name for name, content in LOADED.items() if content.content_slots]


def pseudowords_of(content) -> tuple[object, dict[str, str]]:
    """Return pairs with pseudowords, and what replaces each word."""
    replaced, words = replace_content(content, seed=1), dict[str, str]()
    for group, rows in content.groups.items():
        for before, after in zip(rows, replaced.groups[group], strict=True):
            pairs = zip(" ".join(before.values()).split(), " ".join(after.values()).split(), strict=True)
            words |= {one: other for one, other in pairs if one != other}
    return replaced, words


@pytest.mark.parametrize("name", WITH_CONTENT)
def test_pseudowords_keep_length_ending_and_article_and_are_no_words_of_the_pairs(name):
    content = LOADED[name]
    replaced, words = pseudowords_of(content)
    known = {word for row in content.frames for value in row.values() for word in value.split()}
    assert len({*words.values()}) == len(words)
    assert not {*words.values()} & known
    for word, pseudoword in words.items():
        assert len(pseudoword) == len(word)
        assert article_of(pseudoword) == article_of(word)
        for ending in ("ed", "ing", "s"):
            has_it = word.endswith(ending) and not word.endswith(("ss", "us", "is")) and len(word) >= len(ending) + 3
            assert pseudoword.endswith(ending) or not has_it
        if len(word) > 2:
            assert not re.search("[^aeiou]{6}|[aeiou]{3}", pseudoword)
    rendered = render_pairs(name, replaced, EVERYBODY, 50, seed=1, words="pseudo")
    assert not [pair for pair in rendered if wrong_articles(pair.context + pair.good)]


@pytest.mark.parametrize("name", WITH_CONTENT)
def test_pairs_with_pseudowords_are_the_same_pairs_otherwise(name):
    content = LOADED[name]
    replaced, pseudoword_of = pseudowords_of(content)
    words = {pseudoword: word for word, pseudoword in pseudoword_of.items()}
    real, pseudo = (render_pairs(name, one, EVERYBODY, 10, 3) for one in (content, replaced))
    for before, after in zip(real, pseudo, strict=True):
        back = " ".join(words.get(word.strip("."), word) for word in after.context.split())
        assert back.strip(".") == before.context.strip(".")
        assert after.context != before.context
        assert (after.good == before.good) is (after.bad == before.bad)


@pytest.fixture(scope="module")
def pairs():
    how, names = settings(meaning=5, form=6), ("ditransitive", "npi-licensing")
    return pd.concat([build_pairs(name, LOADED[name], EVERYBODY, how, 2022) for name in names], ignore_index=True)


def test_a_model_that_is_asked_less_is_asked_about_the_first_items_of_each_cell(pairs):
    few = first_items(pairs, AskedPairs(meaning=2, form=4, control=1))
    by = ["construction", "words", "variant", "sentence", "noun_type", "order"]
    assert set(few.loc[few["tests"] == "meaning"].groupby(by).size()) == {2}
    assert set(few.loc[few["tests"] == "form"].groupby(by).size()) == {4}
    assert set(few["words"]) == {"real", "pseudo"}
    for _, cell in pairs[pairs["tests"] == "meaning"].groupby(by):
        assert cell["id"].head(2).isin(few["id"]).all()
    # An item that is asked is asked in all its ways.
    assert few.groupby("item").size().equals(pairs[pairs["item"].isin(few["item"])].groupby("item").size())
    assert first_items(pairs, AskedPairs()) is pairs
