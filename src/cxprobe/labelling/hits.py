"""Where in a mined sentence its hit is: what the pattern matched, found again by the tags that mining recorded."""

from collections.abc import Callable
from typing import NamedTuple

from spacy.language import Language
from spacy.matcher import Matcher
from spacy.tokens import Doc

from cxprobe.constructions import Pattern, TokenPattern, lexical_only


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
