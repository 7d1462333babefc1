"""From a sentence to a candidate or the reason for its rejection: first by its words alone, then by its tags."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from spacy.language import Language
from spacy.matcher import DependencyMatcher, Matcher
from spacy.tokens import Doc

from cxprobe import tagging
from cxprobe.corpora.pattern import Pattern, lexical_only
from cxprobe.corpora.readers import Block
from cxprobe.errors import ConstructionError
from cxprobe.segmentation import joined, sentences
from cxprobe.tagging import BATCH

# What is longer is no sentence, and could take the tokeniser hours: its time grows with the square of a word's length.
LONGEST_WORD = 1000  # characters
_LONGEST_ON_AVERAGE = 100  # characters for each word that a sentence may have
_AFTER_TAGGING = ("other tags", "other dependencies")  # reasons of a rejection


class Match(NamedTuple):
    """A place where a part is: the part's key, the tokens, and which of them have a name in the tree."""

    part: int
    tokens: Sequence[int]
    names: Mapping[str, int] = MappingProxyType({})

    @property
    def start(self) -> int:
        """The first token."""
        return min(self.tokens)

    @property
    def end(self) -> int:
        """The token behind the last."""
        return max(self.tokens) + 1


class Slot(NamedTuple):
    """A word that a pattern names: its name, its characters in the sentence, and its lemma in lower case."""

    slot: str
    start: int
    end: int
    word: str


class Found(NamedTuple):
    """A sentence that has the pattern.

    Attributes:
        tags: Of all tokens.
        words: Their number, by spaces.
        marks: The numbers, from 0, of the words at which the parts start.
        slots: The words that the pattern names, in their order; without lemmas, ``word`` is the form in lower case.
    """

    tags: str
    words: int
    marks: tuple[int, ...]
    slots: tuple[Slot, ...]


class Rejected(NamedTuple):
    """Why a sentence is not a candidate."""

    reason: str


def load_tagger(name: str, pattern: Pattern) -> Language:
    """Load a pipeline of the section mining with what a pattern asks for, see `cxprobe.tagging.load_tagger`."""
    place = f"mining.{'parser' if pattern.is_parsed else 'tagger'}"
    return tagging.load_tagger(place, name, asks_for=pattern.asks_for)


class Matchers:
    """A pattern's parts as spaCy's matchers, with tags and without.

    Args:
        pattern: What to look for.
        nlp: The pipeline whose vocabulary and tokeniser are used.

    Attributes:
        pattern: What is looked for.
        nlp: The pipeline.
        never: RE2 expression of a word that no part may contain, with the characters before and after it as groups 1
            and 2, or None. It has only words that the tokeniser keeps whole, in places where it is sure to do so.
    """

    def __init__(self, pattern: Pattern, nlp: Language) -> None:
        forms = [pattern.alternatives(part) for part in range(len(pattern.parts))]
        # Parts that look for the same are looked for once, under the number of the first of them.
        self._parts = [forms.index(part) for part in forms]
        self.pattern = pattern
        self.nlp = nlp
        self._never = {nlp.vocab.strings.add(word): word for word in pattern.never}
        self._whole, self._lexical = Matcher(nlp.vocab, validate=True), Matcher(nlp.vocab, validate=True)
        self._trees = DependencyMatcher(nlp.vocab, validate=True)
        self._keys: dict[int, tuple[int, list[str]]] = {}  # of a form: its part, and the names of its words
        for part, form in [(number, form) for number in sorted(set(self._parts)) for form in forms[number]]:
            key = nlp.vocab.strings.add(str(len(self._keys)))
            self._keys[key] = (part, [node.RIGHT_ID for node in form.dependencies])
            try:
                if form.tokens:
                    self._whole.add(key, [form.tokens])
                    self._lexical.add(key, [lexical_only(form.tokens)])
                else:
                    self._trees.add(key, [[node.model_dump(exclude_none=True) for node in form.dependencies]])
            except ValueError as fault:
                said = " ".join(str(fault).split())
                raise ConstructionError(f"pattern.yaml, parts[{part}].patterns: '{form.name}': {said}") from None
        alone = [re.escape(word) for word in pattern.never if word.isalpha() and len(nlp.make_doc(word)) == 1]
        self.never = rf"([\s\p{{Z}}])(?i:{'|'.join(alone)})([\s\p{{Z}},;:!?])" if alone else None

    def tokenise(self, sentence: str) -> Doc | Rejected:
        """Return a sentence's tokens if its words allow the pattern, or why they do not; of trees they say nothing."""
        doc = self.nlp.make_doc(sentence)
        matches = [] if len(self._trees) else self._of_tokens(self._lexical, doc)
        if len(self._trees) or self._first([match for match in matches if not self._never_in(doc, match)]):
            return doc
        if not self._first(matches):
            return Rejected("other words")
        return Rejected(f"dropped word: {min(filter(None, (self._never_in(doc, match) for match in matches)))}")

    def match(self, doc: Doc) -> Found | Rejected:
        """Return the places of the parts in a tagged or parsed sentence, or that its tags or its tree do not match."""
        matches = self._of_tokens(self._whole, doc)
        for key, tokens in self._trees(doc) if len(self._trees) else ():
            part, names = self._keys[key]
            matches.append(Match(part, tokens, dict(zip(names, tokens, strict=True))))
        first = self._first([match for match in matches if not self._never_in(doc, match)])
        if not first:
            return Rejected("other dependencies" if self.pattern.is_parsed else "other tags")
        text = doc.text
        marks = tuple(text.count(" ", 0, doc[match.start].idx) for match in first)
        named = sorted((place, name) for match in first for name, place in match.names.items())
        slots = [
            Slot(name, token.idx, token.idx + len(token), (token.lemma_ or token.text).lower())
            for token, name in ((doc[place], name) for place, name in named)
        ]
        return Found(" ".join(token.tag_ for token in doc), text.count(" ") + 1, marks, tuple(slots))

    def _of_tokens(self, matcher: Matcher, doc: Doc) -> list[Match]:
        """Return what a matcher of sequences finds."""
        found = matcher(doc, as_spans=False) if len(matcher) else ()  # spaCy warns of one without patterns
        return [Match(self._keys[key][0], range(*place)) for key, *place in found]

    def _never_in(self, doc: Doc, match: Match) -> str:
        """Return a word that no part may contain and this match does, or ""."""
        words = (doc[place].lower for place in match.tokens)
        return next((self._never[word] for word in words if word in self._never), "")

    def _first(self, matches: list[Match]) -> list[Match]:
        """Return the earliest matches of all parts, each after the end of the one before, or nothing."""
        first: list[Match] = []
        for part in self._parts:
            free = first[-1].end if first else 0
            fitting = [match for match in matches if match.part == part and match.start >= free]
            if not fitting:
                return []
            first.append(min(fitting, key=lambda match: (match.end, match.start)))
        return first


def find(matchers: Matchers, sentences: Sequence[str]) -> list[Found | Rejected]:
    """Return, for each sentence, the places of the pattern or why it is not there; tag only where it can be."""
    docs = [matchers.tokenise(sentence) for sentence in sentences]
    tagged = matchers.nlp.pipe((doc for doc in docs if isinstance(doc, Doc)), batch_size=BATCH)
    return [doc if isinstance(doc, Rejected) else matchers.match(next(tagged)) for doc in docs]


def check_examples(pattern: Pattern, nlp: Language, path: Path) -> None:
    """Check a pattern with its own examples.

    Raises:
        ConstructionError: One line for every example that is found, or not found, against what the file says.
    """
    matchers = Matchers(pattern, nlp)
    faults = []
    for sentence, doc in zip(pattern.must_match, nlp.pipe(pattern.must_match), strict=True):
        found = matchers.match(doc)
        if not passes(pattern, sentence):
            faults.append(f"{path}: must_match: the pre-filter loses {sentence!r}; loosen parts[..].prefilter")
        if isinstance(found, Rejected):
            tags = " ".join(f"{token.text}/{token.tag_}" for token in doc)
            faults.append(f"{path}: must_match: {sentence!r} is not found ({found.reason}); its tags are {tags}")
    for sentence, doc in zip(pattern.must_not_match, nlp.pipe(pattern.must_not_match), strict=True):
        if isinstance(found := matchers.match(doc), Found):
            faults.append(f"{path}: must_not_match: {sentence!r} is found, from the words {found.marks}; {found.tags}")
    if faults:
        raise ConstructionError("\n".join(faults))


def passes(pattern: Pattern, sentence: str) -> bool:
    """Return whether the pre-filter lets a sentence through, both in a document and alone."""
    text = pa.array([sentence])
    filters = (pattern.document_filter, pattern.sentence_filter)
    return all(pc.match_substring_regex(text, expression)[0].as_py() for expression in filters)


class Span(NamedTuple):
    """A line or a sentence of a block: which record, where in it, and its text; a sentence's has single spaces."""

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
    slots: list[dict[str, str | int]]


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


def search(block: Block, matchers: Matchers, most_words: int) -> Findings:
    """Find the candidates of a block.

    Args:
        block: The records.
        matchers: What is looked for.
        most_words: A longer sentence is not a candidate; nor is one with a word of more than `LONGEST_WORD` characters.
    """
    pattern, never = matchers.pattern, matchers.never
    passing = pc.indices_nonzero(pc.match_substring_regex(block.texts, pattern.document_filter))
    documents = passing
    if never is not None:  # only those that would pass even without the words that no part may contain
        struck = pc.replace_substring_regex(block.texts.take(passing), never, r"\1#\2")
        documents = passing.filter(pc.match_substring_regex(struck, pattern.document_filter))
    texts = ((record, block.texts[record].as_py()) for record in documents.to_pylist())
    lines = [line for record, text in texts for line in _lines(record, text)]  # no sentence is longer than a line
    spans = list(_sentences(_that_match(lines, pattern.sentence_filter)))
    kept = _that_match(spans, pattern.sentence_filter)
    fits = [_fits(sentence.text, most_words, matchers.nlp.max_length) for sentence in kept]
    fitting = [sentence.text for sentence, short in zip(kept, fits, strict=True) if short]
    verdicts = iter(find(matchers, fitting))
    candidates, rejects = [], []
    for sentence, short in zip(kept, fits, strict=True):
        verdict = next(verdicts) if short else Rejected("too long")
        base = block.bases[sentence.record]
        place = (block.urls[sentence.record], base + sentence.start, base + sentence.end)
        if isinstance(verdict, Rejected):
            rejects.append(Reject(*place, verdict.reason))
        else:
            slots = [slot._asdict() for slot in verdict.slots]
            candidates.append(Candidate(sentence.text, *place, verdict.tags, verdict.words, list(verdict.marks), slots))
    counts = Counter(
        documents=len(block.texts),
        documents_that_pass=len(documents),
        documents_with_dropped_words_only=len(passing) - len(documents),
        sentences_of_their_lines_that_pass=len(spans),
        sentences_that_pass=len(kept),
        sentences_tagged=len(candidates) + sum(reject.reason in _AFTER_TAGGING for reject in rejects),
        bytes_of_text=pc.sum(pc.binary_length(block.texts)).as_py() or 0,
    )
    return Findings(candidates, rejects, counts)


def _lines(record: int, text: str) -> Iterator[Span]:
    start = 0
    for line in text.split("\n"):
        yield Span(record, start, start + len(line), line)
        start += len(line) + 1


def _sentences(texts: Iterable[Span]) -> Iterator[Span]:
    """Yield the sentences of some texts, with single spaces."""
    for text in texts:
        for start, end in sentences(text.text):
            yield Span(text.record, text.start + start, text.start + end, joined(text.text[start:end]))


def _that_match(spans: Sequence[Span], expression: str) -> list[Span]:
    passed = pc.match_substring_regex(pa.array([span.text for span in spans], pa.string()), expression)
    return [spans[row] for row in pc.indices_nonzero(passed).to_pylist()]


def _fits(sentence: str, most_words: int, longest: int) -> bool:
    """Return whether a sentence has few enough words, and few enough characters for the tokeniser."""
    if sentence.count(" ") >= most_words:
        return False
    if len(sentence) <= LONGEST_WORD:
        return True
    longest = min(most_words * _LONGEST_ON_AVERAGE, longest)
    return len(sentence) <= longest and max(map(len, sentence.split(" "))) <= LONGEST_WORD
