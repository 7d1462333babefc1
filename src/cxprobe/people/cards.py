"""Where in a mined sentence its hit is: what the pattern matched, found again by the tags that mining recorded."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from spacy.language import Language
from spacy.matcher import Matcher
from spacy.tokens import Doc

from cxprobe.constructions.construction import Construction
from cxprobe.corpora.pattern import Pattern, TokenPattern, lexical_only
from cxprobe.people.agreement import Conflict
from cxprobe.people.labels import Judgement
from cxprobe.people.sessions import Candidate, Group, Pace, Session
from cxprobe.people.surroundings import Surroundings


class Hit(NamedTuple):
    """A part of the construction in a sentence: characters from ``start`` up to ``end``, and the form that it has."""

    start: int
    end: int
    form: str


Finder = Callable[[str, str], tuple[Hit, ...]]


def hit_finder(pattern: Pattern, nlp: Language) -> Finder:
    """Return a function of a sentence and its tags that finds the parts of the construction in it, in their order.

    As in mining, the earliest place that leaves room for the other parts counts, and of several matches at that place
    the longest is shown. A sentence has no hits if the pattern no longer matches it, or if its tags are those of
    another tokeniser: it was mined with another pattern or tagger then.

    Args:
        pattern: What was mined.
        nlp: The pipeline whose tokeniser was used; it is not asked for tags.
    """
    never = frozenset(pattern.never)
    matchers = [_matcher(nlp, pattern, part) for part in range(len(pattern.parts))]

    def find(text: str, tags: str) -> tuple[Hit, ...]:
        doc, known = nlp.make_doc(text), tags.split(" ")
        if len(doc) != len(known):
            return ()
        for token, tag in zip(doc, known, strict=True):
            token.tag_ = tag
        return _chain(doc, matchers, never)

    return find


def _matcher(nlp: Language, pattern: Pattern, part: int) -> Matcher:
    matcher = Matcher(nlp.vocab, validate=True)
    for form in pattern.parts[part].patterns:
        if form.enabled:
            matcher.add(form.name, [[_with_tags_alone(token) for token in form.tokens]])
    return matcher


def _with_tags_alone(token: TokenPattern) -> TokenPattern:
    """Return a token pattern without what only a tagger says, but for the fine-grained tag, which is recorded."""
    return lexical_only([token])[0] | ({"TAG": token["TAG"]} if "TAG" in token else {})


def _chain(doc: Doc, matchers: list[Matcher], never: frozenset[str]) -> tuple[Hit, ...]:
    hits: list[Hit] = []
    free = 0
    for matcher in matchers:
        found = [
            (start, end, name)
            for name, start, end in matcher(doc, as_spans=False)
            if start >= free and not any(token.lower_ in never for token in doc[start:end])
        ]
        if not found:
            return ()
        first, free, _ = min(found, key=lambda one: (one[1], one[0]))
        start, end, name = max((one for one in found if one[0] == first), key=lambda one: one[1])
        span = doc[start:end]
        hits.append(Hit(span.start_char, span.end_char, doc.vocab.strings[name]))
    return _apart(hits)


def _apart(hits: list[Hit]) -> tuple[Hit, ...]:
    """Cut what the longest match of a part shares with the next part."""
    ends = [following.start for following in hits[1:]] + [hits[-1].end]
    return tuple(hit._replace(end=min(hit.end, end)) for hit, end in zip(hits, ends, strict=True))


class Desk(NamedTuple):
    """What is shown beside the sentences themselves.

    Attributes:
        construction: What is labelled, with what counts as positive.
        find_hits: Finds the hits of a sentence.
        surroundings: The id of a sentence -> the text around it, for the sentences where it is known.
        disputes: (kind, target) -> the labels that somebody decides about; empty where people label independently of
            each other, so that nobody sees the labels of others.
    """

    construction: Construction
    find_hits: Finder
    surroundings: Mapping[str, Surroundings]
    disputes: Mapping[tuple[str, str], Conflict]


class Line(NamedTuple):
    """A sentence as it is shown.

    Attributes:
        number: Its number in the group, from 1.
        text: The sentence.
        hits: Where the pattern matched.
        around: The text around it, or None if it is not known.
        source: Where it is from.
        label: The person's label of this sentence alone, if there is one.
    """

    number: int
    text: str
    hits: tuple[Hit, ...]
    around: Surroundings | None
    source: str
    label: Judgement | None


class Card(NamedTuple):
    """A group as it is shown.

    Attributes:
        number: Its number, from 1.
        kind: "sequence" or "sentence".
        tags: The sequence of tags.
        size: How many sentences have it; not all of them may be shown.
        label: The person's label of the group, if there is one.
        said: The labels that the person decides about: who, label.
        lines: The sentences.
    """

    number: int
    kind: str
    tags: str
    size: int
    label: Judgement | None
    said: tuple[tuple[str, Judgement], ...]
    lines: tuple[Line, ...]


def card_of(session: Session, desk: Desk) -> Card | None:
    """Return what is shown of a session, or None when all is labelled."""
    group = session.current
    if group is None or session.place is None:
        return None
    own, dispute = session.own, desk.disputes.get((group.kind, group.target))
    return Card(
        number=session.place + 1,
        kind=group.kind,
        tags=group.tags,
        size=len(group.sentences),
        label=own.get((group.kind, group.target)),
        said=dispute.labels if dispute else (),
        lines=tuple(_line(number, one, group, own, desk) for number, one in enumerate(group.shown, start=1)),
    )


def progress_of(session: Session) -> str:
    """Return in words how much is done, how fast, and how long the rest takes at this pace."""
    total, left = len(session.groups), session.left
    text = f"{total - left} of {total} labelled"
    pace = session.pace
    return f"{text}, {left} left{_at(pace, left)}" if left else f"{text}{_at(pace, left)}"


def _at(pace: Pace | None, left: int) -> str:
    if pace is None:
        return ""
    text = f"; {pace.seconds:.{int(pace.seconds < 10)}f} s each (median of {pace.n})"
    return f"{text}, about {_duration(pace.seconds * left)} to go" if left else text


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _line(number: int, one: Candidate, group: Group, own: Mapping[tuple[str, str], Judgement], desk: Desk) -> Line:
    return Line(
        number=number,
        text=one.text,
        hits=desk.find_hits(one.text, group.tags),
        around=desk.surroundings.get(one.id),
        source=one.url,
        label=own.get(("sentence", one.id)) if group.kind == "sequence" else None,
    )
