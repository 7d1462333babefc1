"""From a sentence to a candidate or the reason for its rejection: first by its words alone, then by its tags."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple
from zlib import crc32

import pyarrow as pa
import pyarrow.compute as pc
from spacy.language import Language
from spacy.matcher import Matcher
from spacy.tokens import Doc, Token

from cxprobe import tagging
from cxprobe.corpora.pattern import Node, Pattern, lexical_only
from cxprobe.corpora.readers import Block
from cxprobe.corpora.trees import Words, find_trees
from cxprobe.errors import ConstructionError
from cxprobe.segmentation import joined, sentences
from cxprobe.tagging import BATCH

# What is longer is no sentence, and could take the tokeniser hours: its time grows with the square of a word's length.
LONGEST_WORD = 1000  # characters
_LONGEST_ON_AVERAGE = 100  # characters for each word that a sentence may have
_AFTER_TAGGING = ("other tags", "other dependencies")  # why a sentence is rejected that is tagged, or parsed


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
    """A word that a pattern names: its name, its characters in the sentence, its lemma in lower case, its tag."""

    slot: str
    start: int
    end: int
    word: str
    tag: str


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


def load_tagger(name: str, *patterns: Pattern) -> Language:
    """Load a pipeline of the section mining with what patterns ask for, see `cxprobe.tagging.load_tagger`."""
    place = f"mining.{'parser' if any(pattern.is_parsed for pattern in patterns) else 'tagger'}"
    return tagging.load_tagger(place, name, asks_for=set().union(*(pattern.asks_for for pattern in patterns)))


class Matchers:
    """A pattern's parts as spaCy's matchers, with tags and without.

    Args:
        pattern: What to look for.
        nlp: The pipeline whose vocabulary and tokeniser are used.
        words: What the words of its trees are, together with those of other patterns; None for these alone.

    Attributes:
        pattern: What is looked for.
        nlp: The pipeline.
        never: RE2 expression of a word that no part may contain, with the characters before and after it as groups 1
            and 2, or None. It has only words that the tokeniser keeps whole, in places where it is sure to do so.
    """

    def __init__(self, pattern: Pattern, nlp: Language, words: Words | None = None) -> None:
        forms = [pattern.alternatives(part) for part in range(len(pattern.parts))]
        # Parts that look for the same are looked for once, under the number of the first of them.
        self._parts = [forms.index(part) for part in forms]
        self.pattern = pattern
        self.nlp = nlp
        self._never = {nlp.vocab.strings.add(word): word for word in pattern.never}
        self._whole, self._lexical = Matcher(nlp.vocab, validate=True), Matcher(nlp.vocab, validate=True)
        self._not_found = Rejected(_AFTER_TAGGING[pattern.is_parsed])
        self._words = words or Words(nlp)
        self._trees: list[tuple[int, Sequence[Node], list[int]]] = []  # of a tree: its part, its words, their keys
        self._keys: dict[int, int] = {}  # of a sequence of tokens: its part
        for part, form in [(number, form) for number in sorted(set(self._parts)) for form in forms[number]]:
            key = nlp.vocab.strings.add(str(len(self._keys)))
            self._keys[key] = part
            try:
                if form.tokens:
                    self._whole.add(key, [form.tokens])
                    self._lexical.add(key, [lexical_only(form.tokens)])
                else:
                    keys = [self._words.add(node.RIGHT_ATTRS) for node in form.dependencies]
                    self._trees.append((part, form.dependencies, keys))
            except ValueError as fault:
                said = " ".join(str(fault).split())
                raise ConstructionError(f"pattern.yaml, parts[{part}].patterns: '{form.name}': {said}") from None
        alone = [re.escape(word) for word in pattern.never if word.isalpha() and len(nlp.make_doc(word)) == 1]
        self.never = rf"([\s\p{{Z}}])(?i:{'|'.join(alone)})([\s\p{{Z}},;:!?])" if alone else None

    def refuse(self, doc: Doc) -> Rejected | None:
        """Return why a sentence's words do not allow the pattern, or None if they do; of trees they say nothing."""
        if self._trees:
            return None
        matches = self._of_tokens(self._lexical, doc)
        if self._first([match for match in matches if not self._never_in(doc, match)]):
            return None
        if not self._first(matches):
            return Rejected("other words")
        return Rejected(f"dropped word: {min(filter(None, (self._never_in(doc, match) for match in matches)))}")

    def match(self, doc: Doc) -> Found | Rejected:
        """Return the places of the parts in a tagged or parsed sentence, or that its tags or its tree do not match."""
        matches = self._of_tokens(self._whole, doc)
        for part, nodes, keys in self._trees:
            names = [node.RIGHT_ID for node in nodes]
            trees = find_trees(doc, nodes, keys, self._words)
            matches += [Match(part, tree, dict(zip(names, tree, strict=True))) for tree in trees]
        first = self._first([match for match in matches if not self._never_in(doc, match)])
        if not first:
            return self._not_found
        text = doc.text
        marks = tuple(text.count(" ", 0, doc[match.start].idx) for match in first)
        named = sorted((place, name) for match in first for name, place in match.names.items())
        slots = [
            Slot(name, token.idx, token.idx + len(token), _word(token), token.tag_)
            for token, name in ((doc[place], name) for place, name in named)
        ]
        return Found(" ".join(token.tag_ for token in doc), text.count(" ") + 1, marks, tuple(slots))

    def _of_tokens(self, matcher: Matcher, doc: Doc) -> list[Match]:
        """Return what a matcher of sequences finds."""
        found = matcher(doc, as_spans=False) if len(matcher) else ()  # spaCy warns of one without patterns
        return [Match(self._keys[key], range(*place)) for key, *place in found]

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


def load_matchers(patterns: Mapping[str, Pattern], pipelines: Mapping[str, str]) -> dict[str, Matchers]:
    """Return the matchers of each construction; a pipeline that several constructions need is loaded once."""
    matchers: dict[str, Matchers] = {}
    for pipeline in set(pipelines.values()):
        of_it = {name: pattern for name, pattern in patterns.items() if pipelines[name] == pipeline}
        nlp = load_tagger(pipeline, *of_it.values())
        words = Words(nlp)
        matchers |= {name: Matchers(pattern, nlp, words) for name, pattern in of_it.items()}
    return {name: matchers[name] for name in patterns}


def find(sentences: Sequence[tuple[str, Sequence[Matchers]]]) -> Iterator[list[Found | Rejected]]:
    """Yield, for each sentence and each of its patterns, the places of the pattern or why it is not there.

    A sentence is tokenised once, and tagged and parsed once if its words allow one of its patterns.

    Args:
        sentences: Each with the patterns that are looked for in it, one at least; all are of one pipeline.
    """
    for start in range(0, len(sentences), BATCH):
        some = sentences[start : start + BATCH]
        nlp = some[0][1][0].nlp
        docs = [nlp.make_doc(sentence) for sentence, _ in some]
        refused = [[one.refuse(doc) for one in wanted] for doc, (_, wanted) in zip(docs, some, strict=True)]
        read = nlp.pipe((doc for doc, reasons in zip(docs, refused, strict=True) if None in reasons), batch_size=BATCH)
        for (_, wanted), reasons in zip(some, refused, strict=True):
            if None in reasons:
                doc = next(read)
                yield [reason or one.match(doc) for one, reason in zip(wanted, reasons, strict=True)]
            else:
                yield [reason for reason in reasons if reason]


def check_examples(matchers: Matchers, path: Path) -> None:
    """Check a pattern with its own examples.

    Raises:
        ConstructionError: One line for every example that is found, or not found, against what the file says.
    """
    pattern, nlp, faults = matchers.pattern, matchers.nlp, []
    for sentence, doc in zip(pattern.must_match, nlp.pipe(pattern.must_match), strict=True):
        found = matchers.match(doc)
        if not passes(pattern, sentence):
            faults.append(f"{path}: must_match: the pre-filter loses {sentence!r}; loosen parts[..].prefilter")
        if isinstance(found, Rejected):
            tags = " ".join(f"{token.text}/{token.tag_}" for token in doc)
            faults.append(f"{path}: must_match: {sentence!r} is not found ({found.reason}); its tags are {tags}")
    for sentence, doc in zip(pattern.must_not_match, nlp.pipe(pattern.must_not_match), strict=True):
        if passes(pattern, sentence) and isinstance(found := matchers.match(doc), Found):
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
    """What a block holds of a construction; ``counts`` has the numbers of documents and sentences at each step."""

    candidates: list[Candidate]
    rejects: list[Reject]
    counts: Counter[str]


def search(block: Block, looking: Mapping[str, Matchers], most_words: int) -> dict[str, Findings]:
    """Find the candidates of all constructions in a block; what several of them need is done once.

    Args:
        block: The records.
        looking: Construction -> what is looked for.
        most_words: A longer sentence is not a candidate; nor is one with a word of more than `LONGEST_WORD` characters.
    """
    findings = {name: Findings([], [], Counter()) for name in looking}
    documents = {name: _documents(block, matchers, findings[name].counts) for name, matchers in looking.items()}
    filters = {name: matchers.pattern.sentence_filter for name, matchers in looking.items()}
    texts = ((record, block.texts[record].as_py()) for record in sorted(set().union(*documents.values())))
    lines = [line for record, text in texts for line in _lines(record, text)]  # no sentence is longer than a line
    passing = sorted(set().union(*_rows_that_match(lines, filters).values()))
    spans = list(_sentences(lines[row] for row in passing))
    wanted: dict[int, list[str]] = {}  # number of a sentence -> the constructions that it may have
    for name, rows in _rows_that_match(spans, filters).items():
        for row in rows:
            if spans[row].record in documents[name]:
                wanted.setdefault(row, []).append(name)
    for row, verdicts in sorted(_verdicts(spans, wanted, looking, most_words).items()):
        sentence = spans[row]
        base = block.bases[sentence.record]
        place = (block.urls[sentence.record], base + sentence.start, base + sentence.end)
        for name, verdict in verdicts.items():
            candidates, rejects, counts = findings[name]
            counts["sentences_that_pass"] += 1
            if isinstance(verdict, Rejected):
                rejects.append(Reject(*place, verdict.reason))
                counts[f"rejected: {verdict.reason}"] += 1
            else:
                tags, words, marks, slots = verdict
                named = [slot._asdict() for slot in slots]
                candidates.append(Candidate(sentence.text, *place, tags, words, list(marks), named))
                counts["candidates"] += 1
    for _, _, counts in findings.values():
        counts["sentences_tagged"] = counts["candidates"] + sum(counts[f"rejected: {why}"] for why in _AFTER_TAGGING)
    return findings


def in_reference(url: str, share: float) -> bool:
    """Return whether the words of a record are counted as reference; of many records, a ``share`` in (0, 1] is."""
    return crc32(url.encode()) < share * 2**32


def class_of(tag: str) -> str:
    """Return the class of a word with a tag: VB of all verbs."""
    return tag[:2]


def count_words(block: Block, nlp: Language, share: float, most_words: int) -> Counter[tuple[str, str]]:
    """Return how often each word stands in the reference: (its lemma in lower case as in `Slot`, its class) -> number.

    Args:
        block: The records.
        nlp: The pipeline that reads the sentences in which slots are filled, with the same lemmas and tags.
        share: Of the records, see `in_reference`.
        most_words: A longer sentence is left out, as it is no candidate.
    """
    taken = (row for row, url in enumerate(block.urls) if in_reference(url, share))
    spans = _sentences(line for row in taken for line in _lines(row, block.texts[row].as_py()))
    texts = (span.text for span in spans if _fits(span.text, most_words, nlp.max_length))
    # Lemmas and tags do not need the parser, which takes half of the time.
    docs = nlp.pipe(texts, batch_size=BATCH, disable=["parser"])
    return Counter((_word(token), class_of(token.tag_)) for doc in docs for token in doc)


def _word(token: Token) -> str:
    return str(token.lemma_ or token.text).lower()


def _verdicts(
    spans: Sequence[Span], wanted: Mapping[int, list[str]], looking: Mapping[str, Matchers], most_words: int
) -> dict[int, dict[str, Found | Rejected]]:
    """Return, for each sentence that is wanted, the places of each construction that it may have."""
    verdicts: dict[int, dict[str, Found | Rejected]] = {row: {} for row in wanted}
    for nlp in {id(matchers.nlp): matchers.nlp for matchers in looking.values()}.values():
        names = {row: [name for name in of if looking[name].nlp is nlp] for row, of in wanted.items()}
        fitting = [row for row in sorted(wanted) if names[row] and _fits(spans[row].text, most_words, nlp.max_length)]
        sentences = [(spans[row].text, [looking[name] for name in names[row]]) for row in fitting]
        found = dict(zip(fitting, find(sentences), strict=True))
        for row, of in names.items():
            verdicts[row] |= zip(of, found.get(row, [Rejected("too long")] * len(of)), strict=True)
    return verdicts


def _documents(block: Block, matchers: Matchers, counts: Counter[str]) -> set[int]:
    """Return the records that may have a construction, and count them."""
    expression, never = matchers.pattern.document_filter, matchers.never
    passing = documents = pc.indices_nonzero(pc.match_substring_regex(block.texts, expression))
    if never is not None:  # only those that would pass even without the words that no part may contain
        struck = pc.replace_substring_regex(block.texts.take(passing), never, r"\1#\2")
        documents = passing.filter(pc.match_substring_regex(struck, expression))
    counts["documents_that_pass"] = len(documents)
    counts["documents_with_dropped_words_only"] = len(passing) - len(documents)
    return set(documents.to_pylist())


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


def _rows_that_match(spans: Sequence[Span], filters: Mapping[str, str]) -> dict[str, list[int]]:
    """Return the numbers of the texts that satisfy each expression."""
    texts = pa.array([span.text for span in spans], pa.string())
    return {
        name: pc.indices_nonzero(pc.match_substring_regex(texts, expression)).to_pylist()
        for name, expression in filters.items()
    }


def _fits(sentence: str, most_words: int, longest: int) -> bool:
    """Return whether a sentence has few enough words, and few enough characters for the tokeniser."""
    if sentence.count(" ") >= most_words:
        return False
    if len(sentence) <= LONGEST_WORD:
        return True
    longest = min(most_words * _LONGEST_ON_AVERAGE, longest)
    return len(sentence) <= longest and max(map(len, sentence.split(" "))) <= LONGEST_WORD
