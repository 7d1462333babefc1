import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import ROOT
from cxprobe.constructions.construction import load_construction
from cxprobe.corpora.pattern import load_pattern
from cxprobe.corpora.readers import Block
from cxprobe.corpora.search import Candidate, Found, Matchers, load_tagger, search
from cxprobe.segmentation import joined, sentences

PIECES = ["the", "The", "THE", "more", "less", "better", "taller", "other", "power", "river's", "never-ending"]
PIECES += ["careful", "quickly", "he", "Mr.", "J.", "saw", "it", "Bath", "e.g."]
PIECES += ["_the", "taller_", "(the", "older)", "“The", "worse”"]
GAPS = [*[" "] * 4, *"\n-—/\t;\u00a0\u2003\x85", "  ", ". ", "! ", ".” ", ", ", "… "]
MOST_WORDS = 12
DOCUMENTS = st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(GAPS)), max_size=25).map(
    lambda parts: "".join(piece + gap for piece, gap in parts)
)


def block_of(*texts: str) -> Block:
    return Block(pa.array(texts, pa.string()), [f"doc/{n}" for n in range(len(texts))], [0] * len(texts))


@pytest.fixture(scope="module")
def matchers(toy_tagger):
    construction = load_construction("comparative-correlative", ROOT / "constructions")
    pattern = load_pattern("comparative-correlative", construction, ROOT / "constructions")
    return Matchers(pattern, load_tagger(str(toy_tagger), pattern))


def search_by_tagging_everything(block: Block, matchers: Matchers) -> list[Candidate]:
    """Return the candidates of a block, without any pre-filter."""
    candidates = []
    for text, url in zip(block.texts.to_pylist(), block.urls, strict=True):
        places = list(sentences(text))
        tagged = matchers.nlp.pipe(joined(text[start:end]) for start, end in places)
        for (start, end), doc in zip(places, tagged, strict=True):
            found = matchers.match(doc)
            if isinstance(found, Found) and found.words <= MOST_WORDS:
                candidates.append(Candidate(doc.text, url, start, end, found.tags, found.words, list(found.marks), []))
    return candidates


@pytest.mark.pipeline
@settings(max_examples=600, deadline=None)
@given(st.lists(DOCUMENTS, max_size=4))
def test_two_steps_find_what_tagging_everything_finds(matchers, documents):
    block = block_of(*documents)
    assert search(block, matchers, MOST_WORDS).candidates == search_by_tagging_everything(block, matchers)


@pytest.mark.pipeline
def test_two_steps_find_in_real_prose_what_tagging_everything_finds(matchers):
    readme = (ROOT / "LICENSE").read_text()
    texts = [path.read_text() for path in sorted((ROOT / "src").rglob("*.py"))]
    correlatives = (
        "The longer it is,\tthe   older it gets. Mr. Bee ran the taller (the older) one.\nThe more, the\nworse."
    )
    block = block_of(readme, *texts, correlatives)
    candidates = search(block, matchers, MOST_WORDS).candidates
    assert candidates == search_by_tagging_everything(block, matchers)
    assert len(candidates) >= 2


def test_offsets_lead_back_to_the_document(matchers):
    document = "Nothing here. “The longer\u00a0it is,  the older it gets.” Nothing there."
    (found,) = search(block_of("none", document), matchers, MOST_WORDS).candidates
    assert found.url == "doc/1"
    assert " ".join(document[found.start : found.end].split()) == found.text == "“The longer it is, the older it gets.”"


def test_every_document_and_sentence_is_accounted_for(matchers):
    block = block_of(
        "The longer it is, the older it gets. The end.",
        "The longer it is, the older it gets, and so on and so on, without end.",
        "The power of the river, the other river.",
        "The taller of the Quaker (the other) ones and the power.",
        "the more. the less.",
        "Nothing.",
    )
    findings = search(block, matchers, MOST_WORDS)
    counts = findings.counts
    assert counts["documents"] == 6
    assert counts["bytes_of_text"] == sum(len(text.encode()) for text in block.texts.to_pylist())
    assert counts["sentences_that_pass"] == len(findings.candidates) + len(findings.rejects)
    assert [reject.reason for reject in findings.rejects if reject.url == "doc/1"] == ["too long"]
    assert counts["documents_with_dropped_words_only"] >= 1
    assert counts["sentences_tagged"] == len(findings.candidates)
