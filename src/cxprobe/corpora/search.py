"""From a sentence to a candidate or the reason for its rejection: first by its words alone, then by its tags."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from spacy.language import Language
from spacy.matcher import Matcher
from spacy.tokens import Doc

from cxprobe.corpora.pattern import Pattern, TokenPattern, lexical_only
from cxprobe.corpora.readers import Block
from cxprobe.errors import ConstructionError
from cxprobe.segmentation import joined, sentences

BATCH = 256  # sentences that the tagger takes at once


Match = tuple[int, int, int]  # which part, its first token, and the token behind its last


class Found(NamedTuple):
    """A sentence that has the pattern; ``marks`` are the numbers, from 0, of the words at which its parts start."""

    tags: str
    words: int
    marks: tuple[int, ...]


class Rejected(NamedTuple):
    """Why a sentence is not a candidate."""

    reason: str


class Tokenised(NamedTuple):
    """A sentence whose words allow the pattern; ``matches`` are the places where they do."""

    doc: Doc
    matches: list[Match]


class Matchers:
    """A pattern's parts as spaCy's matchers, with tags and without.

    Args:
        pattern: What to look for.
        nlp: The pipeline whose vocabulary and tokeniser are used.

    Attributes:
        never: RE2 expression of a word that no part may contain, with the characters before and after it as groups 1
            and 2, or None. It has only words that the tokeniser keeps whole, in places where it is sure to do so.
    """

    def __init__(self, pattern: Pattern, nlp: Language) -> None:
        whole = [pattern.alternatives(part) for part in range(len(pattern.parts))]
        self._nlp = nlp
        self._never = {nlp.vocab.strings.add(word): word for word in pattern.never}
        self._whole = _matcher(nlp, whole)
        self._lexical = _matcher(nlp, [[lexical_only(tokens) for tokens in part] for part in whole])
        # Parts that look for the same are looked for once, under the number of the first of them.
        self._keys = [nlp.vocab.strings.add(str(whole.index(part))) for part in whole]
        alone = [re.escape(word) for word in pattern.never if word.isalpha() and len(nlp.make_doc(word)) == 1]
        self.never = rf"([\s\p{{Z}}])(?i:{'|'.join(alone)})([\s\p{{Z}},;:!?])" if alone else None

    def tokenise(self, sentence: str) -> Tokenised | Rejected:
        """Return a sentence's tokens if its words allow the pattern, or why they do not."""
        doc = self._nlp.make_doc(sentence)
        matches = self._lexical(doc, as_spans=False)
        kept = [match for match in matches if not self._never_in(doc, match)]
        if self._chain(kept) is not None:
            return Tokenised(doc, kept)
        if self._chain(matches) is None:
            return Rejected("other words")
        return Rejected(f"dropped word: {min(filter(None, (self._never_in(doc, match) for match in matches)))}")

    def confirm(self, doc: Doc, matches: list[Match]) -> Found | Rejected:
        """Return what `match` returns, for a sentence whose words match: tags can only remove matches."""
        return self._found(doc, self._chain(matches, lambda match: self._is_whole(doc, match)))

    def match(self, doc: Doc) -> Found | Rejected:
        """Return the places of the parts in a tagged sentence, or that its tags do not match."""
        matches = self._whole(doc, as_spans=False)
        return self._found(doc, self._chain([match for match in matches if not self._never_in(doc, match)]))

    def _is_whole(self, doc: Doc, match: Match) -> bool:
        key, start, end = match
        return (key, 0, end - start) in self._whole(doc[start:end], as_spans=False)

    def _found(self, doc: Doc, starts: list[int] | None) -> Found | Rejected:
        if starts is None:
            return Rejected("other tags")
        text = doc.text
        marks = tuple(text.count(" ", 0, doc[start].idx) for start in starts)
        return Found(" ".join(token.tag_ for token in doc), text.count(" ") + 1, marks)

    def _never_in(self, doc: Doc, match: Match) -> str:
        """Return a word that no part may contain and this match does, or ""."""
        words = (doc[place].lower for place in range(match[1], match[2]))
        return next((self._never[word] for word in words if word in self._never), "")

    def _chain(self, matches: list[Match], holds: Callable[[Match], bool] = lambda _: True) -> list[int] | None:
        """Return the earliest starts of all parts, each after the end of the one before, or None.

        Only matches for which ``holds`` is true count; it is called only for matches that could be the earliest.
        """
        starts: list[int] = []
        free = 0
        for part in self._keys:
            own = sorted((end, start) for key, start, end in matches if key == part and start >= free)
            earliest = next((one for one in own if holds((part, one[1], one[0]))), None)
            if earliest is None:
                return None
            free, start = earliest
            starts.append(start)
        return starts


def _matcher(nlp: Language, parts: list[list[list[TokenPattern]]]) -> Matcher:
    matcher = Matcher(nlp.vocab, validate=True)
    for number, alternatives in enumerate(parts):
        try:
            if parts.index(alternatives) == number:
                matcher.add(str(number), alternatives)
        except ValueError as fault:
            raise ConstructionError(f"pattern.yaml, parts[{number}].patterns: {' '.join(str(fault).split())}") from None
    return matcher


def find(matchers: Matchers, nlp: Language, sentences: Sequence[str]) -> list[Found | Rejected]:
    """Return, for each sentence, the places of the pattern or why it is not there; tag only where it can be."""
    looked = [matchers.tokenise(sentence) for sentence in sentences]
    tagged = nlp.pipe((one for one in looked if isinstance(one, Tokenised)), as_tuples=True, batch_size=BATCH)
    return [one if isinstance(one, Rejected) else matchers.confirm(*next(tagged)) for one in looked]


def tag_everything(matchers: Matchers, nlp: Language, sentences: Sequence[str]) -> list[Found | Rejected]:
    """Return what `find` returns, but tag every sentence; tests compare the two."""
    return [matchers.match(doc) for doc in nlp.pipe(sentences, batch_size=BATCH)]


def check_examples(pattern: Pattern, nlp: Language, path: Path) -> None:
    """Check a pattern with its own examples.

    Raises:
        ConstructionError: One line for every example that is found, or not found, against what the file says.
    """
    matchers = Matchers(pattern, nlp)
    faults = []
    for sentence, found in zip(pattern.must_match, tag_everything(matchers, nlp, pattern.must_match), strict=True):
        if not passes(pattern, sentence):
            faults.append(f"{path}: must_match: the pre-filter loses {sentence!r}; loosen parts[..].prefilter")
        if isinstance(found, Rejected):
            tags = " ".join(f"{token.text}/{token.tag_}" for token in nlp(sentence))
            faults.append(f"{path}: must_match: {sentence!r} is not found ({found.reason}); its tags are {tags}")
    others = tag_everything(matchers, nlp, pattern.must_not_match)
    for sentence, found in zip(pattern.must_not_match, others, strict=True):
        if isinstance(found, Found):
            faults.append(f"{path}: must_not_match: {sentence!r} is found, from the words {found.marks}; {found.tags}")
    if faults:
        raise ConstructionError("\n".join(faults))


def passes(pattern: Pattern, sentence: str) -> bool:
    """Return whether the pre-filter lets a sentence through, both in a document and alone."""
    text = pa.array([sentence])
    filters = (pattern.document_filter, pattern.sentence_filter)
    return all(pc.match_substring_regex(text, expression)[0].as_py() for expression in filters)


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
