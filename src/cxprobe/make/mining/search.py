"""A block of records -> its candidates, in two steps: first by the words, then by the tags.

RE2 over whole columns finds the documents and then the sentences that can match. Only these are tokenised, and only
those whose tokens can match are tagged.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from spacy.language import Language

from cxprobe.constructions import Pattern
from cxprobe.make.mining.blocks import Block
from cxprobe.make.mining.matching import Found, Matchers, Rejected, find, tag_everything
from cxprobe.segmentation import joined, sentences

# What is longer is no sentence, and could take the tokeniser hours: its time grows with the square of a word's length.
LONGEST_WORD = 1000  # characters
_LONGEST_ON_AVERAGE = 100  # characters for each word that a sentence may have

Finder = Callable[[Matchers, Language, Sequence[str]], list[Found | Rejected]]


class Searcher(NamedTuple):
    """All that a search needs.

    Attributes:
        pattern: What is looked for.
        matchers: The same, compiled.
        nlp: The tagger.
        most_words: A longer sentence is not a candidate; nor is one with a word of more than `LONGEST_WORD` characters.
    """

    pattern: Pattern
    matchers: Matchers
    nlp: Language
    most_words: int


class Line(NamedTuple):
    """A line of a record, or all of them: which record, where in it, and their text."""

    record: int
    start: int
    text: str


class Sentence(NamedTuple):
    """A sentence of a block: which record, where in it, and its text with single spaces."""

    record: int
    start: int
    end: int
    text: str


class Candidate(NamedTuple):
    """A sentence that has the pattern; ``start`` and ``end`` are characters of what ``url`` names."""

    text: str
    url: str
    start: int
    end: int
    tags: str
    words: int
    marks: list[int]


class Reject(NamedTuple):
    """A sentence that passed the pre-filter and is not a candidate."""

    url: str
    start: int
    end: int
    reason: str


class Findings(NamedTuple):
    """What a block holds; ``counts`` has the numbers of documents and sentences at each step."""

    candidates: list[Candidate]
    rejects: list[Reject]
    counts: Counter[str]


def search(block: Block, searcher: Searcher) -> Findings:
    """Find the candidates of a block."""
    passing = pc.indices_nonzero(pc.match_substring_regex(block.texts, searcher.pattern.document_filter))
    documents = _without_excluded_words(block.texts, passing, searcher)
    cut = _sentences(_lines(block, documents, searcher))
    passed = pc.match_substring_regex(
        pa.array([one.text for one in cut], pa.string()), searcher.pattern.sentence_filter
    )
    kept = [cut[row] for row in pc.indices_nonzero(passed).to_pylist()]
    findings = _judge(block, kept, searcher, find)
    findings.counts.update(
        {
            "documents": len(block.texts),
            "documents_that_pass": len(documents),
            "documents_with_dropped_words_only": len(passing) - len(documents),
            "sentences_of_their_lines_that_pass": len(cut),
            "sentences_that_pass": len(kept),
            "sentences_tagged": len(kept) - sum(one.reason != "other tags" for one in findings.rejects),
            "bytes_of_text": pc.sum(pc.binary_length(block.texts)).as_py() or 0,
        }
    )
    return findings


def _without_excluded_words(texts: pa.Array, documents: pa.Array, searcher: Searcher) -> pa.Array:
    """Return those of the documents that would pass even without the words that no part may contain."""
    if searcher.matchers.never is None:
        return documents
    struck = pc.replace_substring_regex(texts.take(documents), searcher.matchers.never, r"\1#\2")
    return documents.filter(pc.match_substring_regex(struck, searcher.pattern.document_filter))


def search_by_tagging_everything(block: Block, searcher: Searcher) -> Findings:
    """Find the candidates of a block by tagging every sentence of every record; slow, for tests."""
    everything = (Line(record, 0, text) for record, text in enumerate(block.texts.to_pylist()))
    return _judge(block, _sentences(everything), searcher, tag_everything)


def _lines(block: Block, documents: pa.Array, searcher: Searcher) -> Iterator[Line]:
    """Yield the lines of some documents that can hold a match; no sentence is longer than a line."""
    lines = pc.split_pattern(block.texts.take(documents), "\n")
    texts, record = lines.flatten(), pc.list_parent_indices(lines).to_numpy()
    lengths = pc.utf8_length(texts).to_numpy() + 1
    starts = np.cumsum(lengths, dtype=np.int64) - lengths
    starts -= starts[lines.offsets.to_numpy()[record]]
    for row in pc.indices_nonzero(pc.match_substring_regex(texts, searcher.pattern.sentence_filter)).to_pylist():
        yield Line(documents[int(record[row])].as_py(), int(starts[row]), texts[row].as_py())


def _sentences(lines: Iterable[Line]) -> list[Sentence]:
    return [
        Sentence(line.record, line.start + span.start, line.start + span.end, joined(line.text[span.start : span.end]))
        for line in lines
        for span in sentences(line.text)
    ]


def _judge(block: Block, kept: Sequence[Sentence], searcher: Searcher, finder: Finder) -> Findings:
    fits = [_fits(one.text, searcher) for one in kept]
    fitting = [one for one, short in zip(kept, fits, strict=True) if short]
    judged = iter(finder(searcher.matchers, searcher.nlp, [one.text for one in fitting]))
    candidates: list[Candidate] = []
    rejects: list[Reject] = []
    for one, short in zip(kept, fits, strict=True):
        verdict = next(judged) if short else Rejected("too long")
        url, base = block.urls[one.record], block.bases[one.record]
        start, end = base + one.start, base + one.end
        if isinstance(verdict, Rejected):
            rejects.append(Reject(url, start, end, verdict.reason))
        else:
            candidates.append(Candidate(one.text, url, start, end, verdict.tags, verdict.words, list(verdict.marks)))
    return Findings(candidates, rejects, Counter())


def _fits(sentence: str, searcher: Searcher) -> bool:
    """Return whether a sentence has few enough words, and few enough characters for the tokeniser."""
    if sentence.count(" ") >= searcher.most_words:
        return False
    if len(sentence) <= LONGEST_WORD:
        return True
    most = min(searcher.most_words * _LONGEST_ON_AVERAGE, searcher.nlp.max_length)
    return len(sentence) <= most and max(map(len, sentence.split(" "))) <= LONGEST_WORD
