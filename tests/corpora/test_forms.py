"""Forms of a pattern that a run leaves out."""

import pytest

from conftest import ROOT
from cxprobe.constructions.construction import load_construction
from cxprobe.corpora.pattern import Pattern, leave_out, load_pattern
from cxprobe.corpora.search import Found, Matchers, find, load_tagger
from cxprobe.errors import ParamsError

PLACE = "mining.left_out.comparative-correlative"
OTHER_STEM = "comparative of another stem"


@pytest.fixture(scope="module")
def correlative():
    construction = load_construction("comparative-correlative", ROOT / "constructions")
    return load_pattern("comparative-correlative", construction, ROOT / "constructions")


def finds(pattern, tagger, sentence):
    nlp = load_tagger(str(tagger), pattern)
    return isinstance(find(Matchers(pattern, nlp), nlp, [sentence])[0], Found)


def test_what_is_left_out_is_as_good_as_not_enabled(correlative):
    content = correlative.model_dump()
    for part in content["parts"]:
        part["patterns"] = [form for form in part["patterns"] if form["name"] != OTHER_STEM]
    assert leave_out(correlative, [OTHER_STEM], PLACE) == Pattern.model_validate(content)
    assert leave_out(correlative, [], PLACE) == correlative


@pytest.mark.parametrize(
    ("sentence", "by_the_letter"),
    [
        ("The longer we waited, the colder it became.", True),
        ("The more careful you are, the older you get.", True),
        ("The longer we waited, the worse it became.", False),
        ("The more money he had, the longer we waited.", False),
    ],
)
def test_without_other_stems_the_letter_of_the_paper_is_found(correlative, toy_tagger, sentence, by_the_letter):
    assert finds(correlative, toy_tagger, sentence)
    assert finds(leave_out(correlative, [OTHER_STEM], PLACE), toy_tagger, sentence) == by_the_letter


def test_an_unknown_form_is_told_with_those_that_there_are(correlative):
    with pytest.raises(
        ParamsError, match=f"{PLACE}: 'comparative of other stem' is not .* did you mean '{OTHER_STEM}'"
    ):
        leave_out(correlative, ["comparative of other stem"], PLACE)


def test_a_part_keeps_a_form(correlative):
    every = [form.name for form in correlative.parts[0].patterns]
    with pytest.raises(ParamsError, match=r"parts\[0\] of its pattern.yaml has no form left"):
        leave_out(correlative, every, PLACE)
