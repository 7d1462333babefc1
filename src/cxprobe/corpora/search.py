"""The search for candidates in sentences, or the reason for a rejection: by words alone, then by tags or trees."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from spacy.language import Language
from spacy.matcher import DependencyMatcher, Matcher
from spacy.tokens import Doc, Token

from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER
from cxprobe.corpora.params import Mining
from cxprobe.corpora.pattern import FROM_PARSES, FROM_TAGS, Alternative, Pattern
from cxprobe.corpora.readers import CorpusRecord
from cxprobe.errors import ConstructionError, raise_faults
from cxprobe.files.schema import suggest
from cxprobe.tagging import BATCH, load_tagger, sentence_spans

# What is longer is no sentence, and could take the tokeniser hours: its time grows with the square of a word's length.
LONGEST_WORD = 1000  # characters
_LONGEST_ON_AVERAGE = 100  # characters for each word that a sentence may have
REJECTED = "rejected: "  # before the reason, in the name of a count
_LINE = re.compile(r"[^\n]+")
_AFTER_TAGGING = ("other tags", "other dependencies")  # why a sentence is rejected that is tagged, or parsed


class Match(NamedTuple):
    """A place of a part: the part's key, the tokens in their order, and the tree's names."""

    part: int
    tokens: Sequence[int]
    names: Mapping[str, int] = MappingProxyType({})


class Found(NamedTuple):
    """A sentence that has the pattern.

    Attributes:
        tags: Of all tokens.
        words: Their number, by spaces.
        marks: The numbers, from 0, of the words at which the parts start.
        matched: The words of the match: the first character of each in the sentence, and the one after its last.
        slots: The words that the pattern names, in their order. Each has a ``slot``, its characters in the sentence
            (``start``, ``end``), its ``tag``, and as ``word`` its lemma, or without lemmas its form, in lower case.
    """

    tags: str
    words: int
    marks: tuple[int, ...]
    matched: tuple[tuple[int, int], ...]
    slots: tuple[dict[str, str | int], ...]


def pipeline_of(pattern: Pattern, settings: Mining) -> str:
    """Return which of the two pipelines of the section mining a pattern needs."""
    return settings.parser if pattern.is_parsed else settings.tagger


def load_pipeline(name: str, *patterns: Pattern) -> Language:
    """Load a pipeline of the section mining with the annotation of patterns, see `cxprobe.tagging.load_tagger`."""
    key = f"mining.{'parser' if any(pattern.is_parsed for pattern in patterns) else 'tagger'}"
    return load_tagger(key, name, asks_for=set().union(*(pattern.asks_for for pattern in patterns)))


class Matchers:
    """A pattern's parts as spaCy's matchers, with tags and without.

    Args:
        pattern: The pattern.
        nlp: The pipeline whose vocabulary and tokeniser are used.

    Attributes:
        pattern: The pattern.
        nlp: The pipeline.
    """

    def __init__(self, pattern: Pattern, nlp: Language) -> None:
        forms = pattern.forms
        # Parts that look for the same are looked for once, under the number of the first of them.
        self._parts = [forms.index(part) for part in forms]
        self.pattern = pattern
        self.nlp = nlp
        labels = list(nlp.pipe_labels.get("parser", pattern.labels))
        if strange := sorted(map(str, pattern.labels - set(labels))):
            raise ConstructionError(f"pattern.yaml: DEP: the parser gives no {strange[0]}{suggest(strange[0], labels)}")
        self._whole, self._lexical = (Matcher(nlp.vocab, validate=True) for _ in range(2))
        self._trees = DependencyMatcher(nlp.vocab, validate=True)
        self._names: dict[str, list[str]] = {}  # the key of a tree -> its words
        for part in sorted(set(self._parts)):
            for number, form in enumerate(forms[part]):
                try:
                    self._add(part, number, form)
                except ValueError as fault:
                    reason = " ".join(str(fault).split())
                    raise ConstructionError(f"pattern.yaml, parts[{part}].patterns: '{form.name}': {reason}") from None

    def _add(self, part: int, number: int, form: Alternative) -> None:
        """Add a form under the number of its part, and a tree also under its own."""
        if form.tokens:
            self._whole.add(str(part), [form.tokens])
            lexical = [{key: token[key] for key in token.keys() - FROM_TAGS - FROM_PARSES} for token in form.tokens]
            self._lexical.add(str(part), [lexical])
        else:
            nodes = [node.model_dump(exclude_none=True) for node in form.dependencies]
            self._trees.add(f"{part}.{number:03d}", [nodes])
            self._names[f"{part}.{number:03d}"] = [node.RIGHT_ID for node in form.dependencies]

    def refuse(self, doc: Doc) -> str | None:
        """Return the reason why the words of a sentence exclude the pattern, or None; words exclude no tree."""
        if self._names or self._first(self._of_tokens(self._lexical, doc)):
            return None
        return "other words"

    def match(self, doc: Doc) -> Found | str:
        """Return the match in a tagged or parsed sentence, or the reason for a rejection."""
        matches = self._of_tokens(self._whole, doc)
        trees = [(self.nlp.vocab.strings[key], found) for key, found in self._trees(doc)] if self._names else []
        for name, positions in sorted(trees):  # of two in the same place the first counts
            tree = dict(zip(self._names[name], positions, strict=True))
            matches.append(Match(int(name.split(".")[0]), sorted(positions), tree))
        first = self._first(matches)
        if not first:
            return _AFTER_TAGGING[self.pattern.is_parsed]
        text = doc.text
        marks = tuple(text.count(" ", 0, doc[match.tokens[0]].idx) for match in first)
        words = [doc[position] for match in first for position in match.tokens]
        matched = tuple((word.idx, word.idx + len(word)) for word in words)
        named = sorted((position, name) for match in first for name, position in match.names.items())
        slots = tuple(_slot(name, doc[position]) for position, name in named)
        return Found(" ".join(token.tag_ for token in doc), text.count(" ") + 1, marks, matched, slots)

    def _of_tokens(self, matcher: Matcher, doc: Doc) -> list[Match]:
        """Return the matches of a matcher of sequences."""
        spans = matcher(doc, as_spans=False) if len(matcher) else ()  # spaCy warns of one without patterns
        return [Match(int(self.nlp.vocab.strings[key]), range(start, end)) for key, start, end in spans]

    def _first(self, matches: list[Match]) -> list[Match]:
        """Return the earliest matches of all parts, each after the end of the one before, or nothing."""
        first: list[Match] = []
        for part in self._parts:
            last = first[-1].tokens[-1] if first else -1
            fitting = [match for match in matches if match.part == part and match.tokens[0] > last]
            if not fitting:
                return []
            first.append(min(fitting, key=lambda match: (match.tokens[-1], match.tokens[0])))
        return first


def _slot(name: str, token: Token) -> dict[str, str | int]:
    word = str(token.lemma_ or token.text).lower()
    return {"slot": name, "start": token.idx, "end": token.idx + len(token), "word": word, "tag": token.tag_}


def load_matchers(patterns: Mapping[str, Pattern], pipelines: Mapping[str, str]) -> dict[str, Matchers]:
    """Return the matchers of each construction; a pipeline that several constructions need is loaded once."""
    loaded = {}
    for pipeline in set(pipelines.values()):
        its_patterns = [pattern for name, pattern in patterns.items() if pipelines[name] == pipeline]
        loaded[pipeline] = load_pipeline(pipeline, *its_patterns)
    matchers = {}
    for name, pattern in patterns.items():
        try:
            matchers[name] = Matchers(pattern, loaded[pipelines[name]])
        except ConstructionError as fault:
            raise ConstructionError(f"{CONSTRUCTIONS_FOLDER / name}/{fault}") from None
    return matchers


def find(sentences: Sequence[tuple[str, Sequence[Matchers]]]) -> Iterator[list[Found | str]]:
    """Yield, for each sentence and each of its patterns, the places of the pattern or the reason for its absence.

    A sentence is tokenised once, and tagged and parsed once if its words allow one of its patterns.

    Args:
        sentences: Each with the patterns that are looked for in it, one at least; all are of one pipeline.
    """
    for start in range(0, len(sentences), BATCH):
        some = sentences[start : start + BATCH]
        nlp = some[0][1][0].nlp
        docs = [nlp.make_doc(sentence) for sentence, _ in some]
        refused = [[one.refuse(doc) for one in wanted] for doc, (_, wanted) in zip(docs, some, strict=True)]
        allowed = [number for number, reasons in enumerate(refused) if None in reasons]
        tagged = nlp.pipe([docs[number] for number in allowed], batch_size=BATCH)
        for number, doc in zip(allowed, tagged, strict=True):
            docs[number] = doc
        for doc, (_, wanted), reasons in zip(docs, some, refused, strict=True):
            yield [reason or one.match(doc) for one, reason in zip(wanted, reasons, strict=True)]


def check_examples(matchers: Matchers, path: Path) -> None:
    """Check a pattern with its own examples.

    Raises:
        ConstructionError: One line for every example that is found, or not found, against its list in the file.
    """
    pattern, faults = matchers.pattern, []
    every = [*pattern.must_match, *pattern.must_not_match]
    passing = {every[row] for row in _rows_that_match(every, {"": matchers})[""]}
    for sentence in pattern.must_match:
        doc = matchers.nlp(sentence)
        verdict = matchers.match(doc)
        if sentence not in passing:
            faults.append(f"{path}: must_match: the pre-filter loses {sentence!r}; loosen parts[..].prefilter")
        if not isinstance(verdict, Found):
            tags = [f"{token.text}/{token.tag_}" for token in doc]
            if pattern.is_parsed:
                tags = [f"{tag}/{token.dep_}(of {token.head.text})" for tag, token in zip(tags, doc, strict=True)]
            faults.append(f"{path}: must_match: {sentence!r} is not found ({verdict}); its tags are {' '.join(tags)}")
    for sentence in pattern.must_not_match:
        verdict = matchers.match(matchers.nlp(sentence))
        if sentence in passing and isinstance(verdict, Found):
            words = f"from the words {verdict.marks}; {verdict.tags}"
            faults.append(f"{path}: must_not_match: {sentence!r} is found, {words}")
    raise_faults(ConstructionError, faults)


class Passage(NamedTuple):
    """A line or a sentence: its record's number, where it is in it, and its text; a sentence's has single spaces."""

    record: int
    start: int
    end: int
    text: str


class Findings(NamedTuple):
    """The sentences of some records for a construction: rows of tables, and counts at each step.

    Attributes:
        candidates: Sentences that have the pattern: ``text``, ``url``, ``start`` and ``end`` in the url's document, and
            the attributes of `Found`.
        counts: Step, or reason for a rejection after `REJECTED` -> the number of documents or sentences.
    """

    candidates: list[dict[str, Any]]
    counts: Counter[str]


def search(records: Sequence[CorpusRecord], looking: Mapping[str, Matchers], most_words: int) -> dict[str, Findings]:
    """Find the candidates of all constructions in some records; steps that several of them need are done once.

    Args:
        records: The records.
        looking: Construction -> its matchers.
        most_words: A longer sentence is not a candidate; nor is one with a word of more than `LONGEST_WORD` characters.
    """
    findings = {name: Findings([], Counter()) for name in looking}
    documents = _rows_that_match([record.text for record in records], looking)
    some = sorted(set().union(*documents.values()))
    lines = [  # no sentence is longer than one
        Passage(number, *line.span(), line[0]) for number in some for line in _LINE.finditer(records[number].text)
    ]
    passing = sorted(set().union(*_rows_that_match([line.text for line in lines], looking).values()))
    sentences = [
        Passage(line.record, line.start + start, line.start + end, " ".join(line.text[start:end].split()))
        for line in (lines[row] for row in passing)
        for start, end in sentence_spans(line.text)
    ]
    matching = _rows_that_match([sentence.text for sentence in sentences], looking)
    for name, rows in matching.items():
        findings[name].counts["documents_that_pass"] = len({sentences[row].record for row in rows})
    for nlp in {id(matchers.nlp): matchers.nlp for matchers in looking.values()}.values():
        wanted: dict[int, list[str]] = {}  # number of a sentence -> the constructions that it may have
        for name, rows in matching.items():
            for row in rows if looking[name].nlp is nlp else ():
                wanted.setdefault(row, []).append(name)
        fitting = [row for row in sorted(wanted) if _fits(sentences[row].text, most_words, nlp.max_length)]
        searched = [(sentences[row].text, [looking[name] for name in wanted[row]]) for row in fitting]
        verdicts = dict(zip(fitting, find(searched), strict=True))
        for row, names in sorted(wanted.items()):
            of_row = verdicts.get(row, ["too long"] * len(names))
            for name, verdict in zip(names, of_row, strict=True):
                found, counts = findings[name]
                counts["sentences_that_pass"] += 1
                counts["candidates" if isinstance(verdict, Found) else f"{REJECTED}{verdict}"] += 1
                if isinstance(verdict, Found):
                    number, start, end, text = sentences[row]
                    place = {"start": records[number].base + start, "end": records[number].base + end}
                    found.append({"text": text, "url": records[number].url, **place, **verdict._asdict()})
    for _, counts in findings.values():
        counts["sentences_tagged"] = counts["candidates"] + sum(counts[REJECTED + why] for why in _AFTER_TAGGING)
    return findings


def _rows_that_match(texts: Sequence[str], looking: Mapping[str, Matchers]) -> dict[str, list[int]]:
    """Return the numbers of the texts that pass the pre-filter of each construction."""
    column = pa.array(texts, pa.string())
    return {
        name: pc.indices_nonzero(pc.match_substring_regex(column, matchers.pattern.prefilter)).to_pylist()
        for name, matchers in looking.items()
    }


def _fits(sentence: str, most_words: int, longest: int) -> bool:
    """Return whether a sentence has few enough words, and few enough characters for the tokeniser."""
    words = sentence.split(" ")
    longest = min(most_words * _LONGEST_ON_AVERAGE, longest)
    fits = len(sentence) <= longest and max(map(len, words)) <= LONGEST_WORD
    return len(words) <= most_words and (fits or len(sentence) <= LONGEST_WORD)
