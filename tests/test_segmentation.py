import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxprobe.segmentation import joined, sentence_spans

PIECES = ["The", "the", "a", " ", "  ", "\n", "\u00a0", "\t", ".", "!", "…", "?", "”", '"', ")", "“", "(", "_", "’"]
PIECES += ["Mr", "Messrs", "É", "é", "St", "J", "e.g.", "7", "Etc", "better", "\x85", "\x1c", "\u2003", "ǅ", "#", "*"]
PIECES += [","]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)


def cut(document: str) -> list[str]:
    return [document[start:end] for start, end in sentence_spans(document)]


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ("He came. She left.", ["He came.", "She left."]),
        ("“Did he?” Yes… “Well.” (He did.)", ["“Did he?”", "Yes…", "“Well.”", "(He did.)"]),
        ("Mr. Smith met J. R. Brown. They spoke.", ["Mr. Smith met J. R. Brown.", "They spoke."]),
        ("It costs 3.5 dollars, e.g. in Rome.", ["It costs 3.5 dollars, e.g. in Rome."]),
        ("“Really?” he said.\nA heading\n\n  Text", ["“Really?” he said.", "A heading", "Text"]),
        ("  \n ", []),
    ],
)
def test_sentences_end_where_a_reader_would_say(document, expected):
    assert cut(document) == expected


@given(TEXTS)
def test_the_sentences_hold_every_word_of_the_document_in_order(document):
    assert " ".join(cut(document)).split() == document.split()
    assert all(joined(sentence) == " ".join(sentence.split()) for sentence in cut(document))


@pytest.mark.parametrize("unit", ["...", '".', ". (", "_*", "  "])
def test_a_megabyte_of_signs_takes_no_longer_than_one_of_words(unit):
    """Each sign was the beginning of a search to the end of the line: four megabytes of dots took days."""
    assert cut(f"A {unit * (10**6 // len(unit))}.") != []
