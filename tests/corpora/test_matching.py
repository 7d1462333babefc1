import pytest

from conftest import PATTERN, ROOT
from cxprobe.constructions.construction import load_construction
from cxprobe.corpora.pattern import Pattern, load_pattern
from cxprobe.corpora.search import Found, Matchers, Rejected, check_examples, find, load_tagger, passes, tag_everything
from cxprobe.errors import ConstructionError, ModelError


@pytest.fixture(scope="module")
def correlative():
    construction = load_construction("comparative-correlative", ROOT / "constructions")
    return load_pattern("comparative-correlative", construction, ROOT / "constructions")


def judge(pattern, tagger, sentence):
    nlp = load_tagger(str(tagger), pattern)
    verdict = find(Matchers(pattern, nlp), nlp, [sentence])[0]
    assert tag_everything(Matchers(pattern, nlp), nlp, [sentence])[0]._fields == verdict._fields
    return verdict


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


def without(pattern: Pattern, form: str) -> Pattern:
    """Return a pattern in which a form is not enabled."""
    content = pattern.model_dump()
    forms = [one for part in content["parts"] for one in part["patterns"] if one["name"] == form]
    assert len(forms) == len(content["parts"])
    for one in forms:
        one["enabled"] = False
    return Pattern.model_validate(content)


def test_without_forms_of_another_stem_the_definition_of_the_paper_remains(correlative, toy_tagger):
    letter = without(correlative, "comparative of another stem")
    for sentence in ("The better you play, the taller he gets.", "The more money he had, the taller he got."):
        assert isinstance(judge(correlative, toy_tagger, sentence), Found)
        assert isinstance(judge(letter, toy_tagger, sentence), Rejected)
    assert isinstance(judge(letter, toy_tagger, "The more careful you are, the taller he gets."), Found)


def test_the_tags_of_the_whole_sentence_are_kept(correlative, toy_tagger):
    found = judge(correlative, toy_tagger, "The longer we waited, the colder it became.")
    assert found.tags == "DT JJR NN NN . DT JJR NN NN ."


@pytest.mark.parametrize("name", ["comparative-correlative", "let-alone"])
def test_the_pre_filter_loses_no_example(name):
    pattern = load_pattern(name, load_construction(name, ROOT / "constructions"), ROOT / "constructions")
    assert all(passes(pattern, sentence) for sentence in pattern.must_match)


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


@pytest.mark.parametrize("name", ["comparative-correlative", "let-alone"])
def test_every_pattern_holds_its_examples_with_the_tagger_of_the_project(name):
    construction = load_construction(name, ROOT / "constructions")
    pattern = load_pattern(name, construction, ROOT / "constructions")
    nlp = load_tagger(str(ROOT / "models" / "tagger" / "en_ewt_cxprobe"), pattern)
    check_examples(pattern, nlp, ROOT / "constructions" / name / "pattern.yaml")
