import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from small_corpora import CC, pattern_of
from spacy.language import Language
from spacy.tokens import Doc

from conftest import PATTERN, ROOT, write_toy_construction
from cxprobe.corpora.pattern import Pattern, load_wanted
from cxprobe.corpora.readers import CorpusRecord
from cxprobe.corpora.search import Found, Matchers, check_examples, find, load_pipeline, search
from cxprobe.errors import ConstructionError
from cxprobe.tagging import sentence_spans

MINED = sorted(path.parent.name for path in (ROOT / "constructions").glob("*/pattern.yaml"))


@pytest.fixture(scope="module")
def correlative():
    return load_wanted("comparative-correlative", ROOT / "constructions").pattern


def judge(pattern, tagger, sentence):
    nlp = load_pipeline(str(tagger), pattern)
    ((found,),) = find([(sentence, [Matchers(pattern, nlp)])])
    return found


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


def test_a_sentence_without_the_form_is_dropped_with_the_reason(correlative, toy_tagger):
    assert judge(correlative, toy_tagger, "The coin and the taller man.") == "other words"


# The ten sentences of Weissweiler et al. 2022, Table 8, as the tagger of the project tags them. Of their words those
# are here that the pattern asks for; "er" stands for an adjective or adverb in -er, a dot for any other word.
TABLE_8 = [
    "./`` the/DT er/JJR ./RP the/DT er/JJR ./. ./''",
    "./PRP ./VBZ the/DT more/JJR ./NN ./PRP ./VBZ the/DT er/JJR ./PRP$ ./NN ./VBZ ./.",
    "./PRP ./VBZ ./DT ./NN ./RB ./IN the/DT more/JJR ./NN ./PRP ./VBP the/DT er/JJR ./PRP$ ./NN ./VBZ ./.",
    "./PRP ./VBZ ./JJ ./NN ./, ./RB ./, ./IN the/DT more/RBR ./JJ ./PRP ./VBP the/DT better/JJR ./.",
    "./IN ./JJ ./NNS ./, the/DT more/JJR ./NNS ./PRP ./VBP the/DT er/JJR ./PRP$ ./NN ./NN ./.",
    "./VB the/DT er/JJR ./IN the/DT er/JJR ./. ./''",
    "./DT ./NN the/DT er/JJR ./NNS ./VBP ./RP the/DT er/JJR ./NNS ./VBZ ./JJ ./.",
    "./IN ./DT ./NN the/DT er/JJR ./NN ./VBZ ./VBN ./RB ./TO ./VB the/DT er/JJR ./NNS ./.",
    "./DT ./JJ ./NN ./VBZ ./IN the/DT er/JJR ./NN ./IN ./JJ ./NN ./IN the/DT er/JJR ./NN ./.",
    "./VB ./DT ./JJ ./NN ./IN the/DT er/JJR ./NN ./JJ ./IN the/DT er/JJR ./NN ./IN ./DT ./NN ./.",
]


@pytest.mark.parametrize("tagged", TABLE_8)
def test_the_pattern_finds_what_the_paper_shows(correlative, toy_tagger, tagged):
    nlp = load_pipeline(str(toy_tagger), correlative)
    words, tags = zip(*(token.rsplit("/", 1) for token in tagged.split()), strict=True)
    found = Matchers(correlative, nlp).match(Doc(nlp.vocab, words=words, tags=tags))
    assert isinstance(found, Found)
    assert found.marks == tuple(number for number, word in enumerate(words) if word == "the")


VERB = {"RIGHT_ID": "verb", "RIGHT_ATTRS": {"TAG": {"REGEX": "^VB"}}}
RECIPIENT = {"LEFT_ID": "verb", "REL_OP": ">", "RIGHT_ID": "recipient", "RIGHT_ATTRS": {"DEP": "iobj"}}
THEME = {"LEFT_ID": "verb", "REL_OP": ">", "RIGHT_ID": "theme", "RIGHT_ATTRS": {"DEP": "obj"}}
DITRANSITIVE = pattern_of(dependencies=[VERB, RECIPIENT, THEME])


FAULTS = [
    ({"dependencies": [VERB, THEME | {"RIGHT_ATTRS": {"DEP": "1"}}]}, "DEP: the parser gives no 1 .*iobj"),
    ({"dependencies": [VERB, THEME | {"RIGHT_ATTRS": {"DEP": {"IN": ["obj", "dobj"]}}}]}, "mean 'obj'"),
    ({"dependencies": [VERB, THEME | {"RIGHT_ATTRS": {"DEP": {"NOT_IN": ["dobj"]}}}]}, "mean 'obj'"),
    ({"dependencies": [VERB, {name: THEME[name] for name in THEME if name != "LEFT_ID"}]}, "'a form': .*LEFT_ID"),
    ({"dependencies": [VERB, THEME | {"RIGHT_ID": "verb"}]}, "'a form': .*RIGHT_ID"),
    ({"dependencies": [VERB, THEME | {"REL_OP": "=>"}]}, "'a form': .*=>"),
    ({"tokens": [{"TAG": {"INN": ["JJ"]}}]}, "'a form': .*INN"),
    ({"tokens": [{"TGA": "JJ"}]}, "'a form': .*TGA"),
]


@pytest.mark.parametrize(("form", "said"), FAULTS)
def test_a_label_that_the_parser_does_not_give_and_what_spacy_does_not_know_are_refused(form, said):
    parser = load_pipeline(str(ROOT / "models/parser/en_ewt_cxprobe"), DITRANSITIVE)
    with pytest.raises(ConstructionError, match=rf"(?s)pattern\.yaml.*{said}"):
        Matchers(pattern_of(**form), parser)


def test_examples_that_do_not_hold_are_all_named(toy_tagger, tmp_path):
    write_toy_construction(tmp_path)
    path = tmp_path / "toy" / "pattern.yaml"
    path.write_text(
        PATTERN.replace("must_match: [", 'must_match: ["The cat, the dog.", "A red cat.", ').replace(
            "must_not_match: [", 'must_not_match: ["The red cat saw the old dog.", '
        )
    )
    pattern = load_wanted("toy", tmp_path).pattern
    with pytest.raises(ConstructionError) as raised:
        check_examples(Matchers(pattern, load_pipeline(str(toy_tagger), pattern)), path)
    lines = str(raised.value).splitlines()
    assert len(lines) == 4
    assert "must_match: 'The cat, the dog.' is not found (other tags); its tags are The/DT cat/NN" in lines[0]
    assert "must_match: the pre-filter loses 'A red cat.'" in lines[1]
    assert "must_not_match: 'The red cat saw the old dog.' is found" in lines[3]


@pytest.mark.parametrize("name", MINED)
def test_every_pattern_holds_its_examples_with_the_pipelines_of_the_project(name):
    pattern = load_wanted(name, ROOT / "constructions").pattern
    folder = ROOT / "models" / ("parser" if pattern.is_parsed else "tagger") / "en_ewt_cxprobe"
    nlp = load_pipeline(str(folder), pattern)
    check_examples(Matchers(pattern, nlp), ROOT / "constructions" / name / "pattern.yaml")


PIECES = ["the", "The", "THE", "more", "less", "better", "taller", "other", "power", "river's", "never-ending"]
PIECES += ["careful", "quickly", "he", "Mr.", "J.", "saw", "it", "Bath", "e.g."]
PIECES += ["let", "Let alone", "ruler it", "_the", "taller_", "(the", "older)", "“The", "worse”"]
GAPS = [*[" "] * 4, *"\n-—/\t;\u00a0\u2003\x85", "  ", ". ", "! ", ".” ", ", ", "… "]
MOST_WORDS = 12
DOCUMENTS = st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(GAPS)), max_size=25).map(
    lambda parts: "".join(piece + gap for piece, gap in parts)
)


def records_of(*texts: str) -> list[CorpusRecord]:
    return [CorpusRecord(text, f"doc/{n}") for n, text in enumerate(texts)]


@Language.component("toy_parser")
def parse(doc):
    """Let each word depend on the first one, or be the object of one in -er before it; this needs no training."""
    words = [token.text for token in doc]
    objects = [place > 0 and words[place - 1].endswith("er") for place in range(len(words))]
    heads = [place - 1 if is_object else 0 for place, is_object in enumerate(objects)]
    deps = ["obj" if is_object else "dep" if place else "ROOT" for place, is_object in enumerate(objects)]
    spaces = [bool(token.whitespace_) for token in doc]
    return Doc(doc.vocab, words, spaces, heads=heads, deps=deps, tags=["XX"] * len(words))


OBJECT = {"DEP": "obj", "LOWER": {"NOT_IN": ["it"]}}
TREE = {
    "name": "a tree",
    "dependencies": [
        {"RIGHT_ID": "verb", "RIGHT_ATTRS": {}},
        {"LEFT_ID": "verb", "REL_OP": ">", "RIGHT_ID": "object", "RIGHT_ATTRS": OBJECT},
    ],
}
PARSED = {"parts": [{"prefilter": "(?i:er)", "patterns": [TREE]}], "must_match": ["x"], "must_not_match": ["y"]}


@pytest.fixture(scope="module")
def looking(toy_tagger) -> dict[str, Matchers]:
    """Two constructions of one pipeline, and one of another that parses."""
    patterns = {name: load_wanted(name, ROOT / "constructions").pattern for name in (CC, "let-alone")}
    nlp = load_pipeline(str(toy_tagger), *patterns.values())
    parser = spacy.blank("en")
    parser.add_pipe("toy_parser")
    found = {name: Matchers(pattern, nlp) for name, pattern in patterns.items()}
    return {**found, "parsed": Matchers(Pattern.model_validate(PARSED), parser)}


def search_by_tagging_everything(records: list[CorpusRecord], matchers: Matchers) -> list[dict]:
    """Return the candidates of records, without any pre-filter."""
    candidates = []
    for text, url, *_ in records:
        places = list(sentence_spans(text))
        tagged = matchers.nlp.pipe(" ".join(text[start:end].split()) for start, end in places)
        for (start, end), doc in zip(places, tagged, strict=True):
            found = matchers.match(doc)
            if isinstance(found, Found) and found.words <= MOST_WORDS:
                place = {"url": url, "start": start, "end": end}
                candidates.append({"text": doc.text, **place, **found._asdict()})
    return candidates


@pytest.mark.pipeline
@settings(max_examples=600, deadline=None)
@given(st.lists(DOCUMENTS, max_size=4))
def test_two_steps_find_what_tagging_everything_finds(looking, documents):
    records = records_of(*documents)
    found = search(records, looking, MOST_WORDS)
    for name, matchers in looking.items():
        assert found[name].candidates == search_by_tagging_everything(records, matchers)
        assert found[name] == search(records, {name: matchers}, MOST_WORDS)[name]
