import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from small_corpora import CC
from spacy.language import Language
from spacy.tokens import Doc

from conftest import ROOT
from cxprobe.corpora.pattern import Pattern, load_wanted
from cxprobe.corpora.readers import CorpusRecord
from cxprobe.corpora.search import Found, Matchers, load_pipeline, search
from cxprobe.tagging import joined, sentence_spans

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
        tagged = matchers.nlp.pipe(joined(text[start:end]) for start, end in places)
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
