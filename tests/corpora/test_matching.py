import pytest

from conftest import PATTERN, ROOT
from cxprobe.constructions.construction import load_construction
from cxprobe.corpora.pattern import leave_out, load_pattern
from cxprobe.corpora.search import Found, Matchers, Rejected, check_examples, find, load_tagger
from cxprobe.errors import ConstructionError, ModelError, ParamsError

MINED = sorted(path.parent.name for path in (ROOT / "constructions").glob("*/pattern.yaml"))
PLACE = "mining.left_out.comparative-correlative"
OTHER_STEM = "comparative of another stem"


@pytest.fixture(scope="module")
def correlative():
    construction = load_construction("comparative-correlative", ROOT / "constructions")
    return load_pattern("comparative-correlative", construction, ROOT / "constructions")


def judge(pattern, tagger, sentence):
    nlp = load_tagger(str(tagger), pattern)
    return find(Matchers(pattern, nlp), [sentence])[0]


@pytest.mark.parametrize(
    ("sentence", "words", "marks"),
    [
        ("The longer we waited, the colder it became.", 8, (0, 4)),
        ("He said — “the more careful you are, the worse.”", 10, (3, 8)),
        ("Of the taller trees, the older ones and the younger ones fell.", 12, (1, 4)),
        ("The more money he had, the less time (the fewer friends).", 11, (0, 5)),
    ],
)
def test_marks_are_the_words_that_the_parts_start_at(correlative, toy_tagger, sentence, words, marks):
    found = judge(correlative, toy_tagger, sentence)
    assert isinstance(found, Found)
    assert (found.words, found.marks) == (words, marks)
    assert all(sentence.split(" ")[mark].lower().strip("“(") == "the" for mark in found.marks)


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("The other one and the power of the taller man.", "dropped word: other"),
        ("The taller man and a colder day.", "other words"),
        ("The coin and the taller man.", "other words"),
        ("The more elephants came, the more lions came.", None),
    ],
)
def test_a_sentence_is_dropped_for_a_reason(correlative, toy_tagger, sentence, reason):
    verdict = judge(correlative, toy_tagger, sentence)
    assert verdict == Rejected(reason) if reason else isinstance(verdict, Found)


def test_the_tags_of_the_whole_sentence_are_kept(correlative, toy_tagger):
    found = judge(correlative, toy_tagger, "The longer we waited, the colder it became.")
    assert found.tags == "DT JJR NN NN . DT JJR NN NN ."


def test_examples_that_do_not_hold_are_all_named(toy_constructions, toy_tagger, tmp_path):
    (tmp_path / "toy").mkdir()
    path = tmp_path / "toy" / "pattern.yaml"
    path.write_text(
        PATTERN.replace("must_match: [", 'must_match: ["The cat, the dog.", "A red cat.", ').replace(
            "must_not_match: [", 'must_not_match: ["The red cat saw the old dog.", '
        )
    )
    pattern = load_pattern("toy", load_construction("toy", toy_constructions), tmp_path)
    with pytest.raises(ConstructionError) as raised:
        check_examples(pattern, load_tagger(str(toy_tagger), pattern), path)
    lines = str(raised.value).splitlines()
    assert len(lines) == 4
    assert "must_match: 'The cat, the dog.' is not found (other tags); its tags are The/DT cat/NN" in lines[0]
    assert "must_match: the pre-filter loses 'A red cat.'" in lines[1]
    assert "must_not_match: 'The red cat saw the old dog.' is found" in lines[3]


def test_a_tagger_that_is_not_there_is_named(correlative):
    with pytest.raises(ModelError, match=r"mining\.tagger: 'no_such_pipeline' is neither a folder"):
        load_tagger("no_such_pipeline", correlative)


@pytest.mark.parametrize("name", MINED)
def test_every_pattern_holds_its_examples_with_the_tagger_of_the_project(name):
    construction = load_construction(name, ROOT / "constructions")
    pattern = load_pattern(name, construction, ROOT / "constructions")
    nlp = load_tagger(str(ROOT / "models" / "tagger" / "en_ewt_cxprobe"), pattern)
    check_examples(pattern, nlp, ROOT / "constructions" / name / "pattern.yaml")


# Forms that a run leaves out


def test_what_is_left_out_is_as_good_as_not_enabled(correlative):
    content = correlative.model_dump()
    for part in content["parts"]:
        part["patterns"] = [form for form in part["patterns"] if form["name"] != OTHER_STEM]
    assert leave_out(correlative, [OTHER_STEM], PLACE) == type(correlative).model_validate(content)
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
    assert isinstance(judge(correlative, toy_tagger, sentence), Found)
    left = judge(leave_out(correlative, [OTHER_STEM], PLACE), toy_tagger, sentence)
    assert isinstance(left, Found) == by_the_letter


def test_an_unknown_form_is_told_with_those_that_there_are(correlative):
    with pytest.raises(
        ParamsError, match=f"{PLACE}: 'comparative of other stem' is not .* did you mean '{OTHER_STEM}'"
    ):
        leave_out(correlative, ["comparative of other stem"], PLACE)


def test_a_part_keeps_a_form(correlative):
    every = [form.name for form in correlative.parts[0].patterns]
    with pytest.raises(ParamsError, match=r"parts\[0\] of its pattern.yaml has no form left"):
        leave_out(correlative, every, PLACE)
