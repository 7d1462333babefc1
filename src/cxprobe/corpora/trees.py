"""Trees of dependencies in parsed sentences, as spaCy's DependencyMatcher finds them.

spaCy's own looks at all combinations of words, and at the words of a sentence anew for each pattern: with a dozen
constructions that takes as long as parsing. Here words are looked at once, and trees grow from word to word.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from spacy.language import Language
from spacy.matcher import Matcher
from spacy.tokens import Doc, Token

from cxprobe.corpora.pattern import Node

_MOST_KNOWN = 1_000_000  # combinations of values that are remembered at once
_SIDES = {".": "+", ".*": "++", ";": "-", ";*": "--"}  # of operators that are about places alone


class Words:
    """Which words of a sentence are what the trees of some patterns ask for.

    Words with the same attributes, such as tag and dependency, are the same, so spaCy's Matcher is asked once about
    each combination of values.

    Args:
        nlp: The pipeline whose vocabulary is used.
    """

    def __init__(self, nlp: Language) -> None:
        self._vocab = nlp.vocab
        # Names of attributes -> what decides, and combination of values -> the keys of what such a word is.
        self._known: dict[tuple[str, ...], tuple[Matcher, dict[tuple[Any, ...], list[int]]]] = {}
        self._last: tuple[Doc | None, Mapping[int, list[int]]] = (None, {})

    def add(self, attributes: dict[str, Any]) -> int:
        """Return the key of what a word must be; a number that is the same for the same attributes.

        Raises:
            ValueError: spaCy does not take it.
        """
        names = tuple(sorted(attributes))
        if names not in self._known:
            self._known[names] = (Matcher(self._vocab, validate=True), {})
        matcher, known = self._known[names]
        if repr(attributes) not in matcher:
            matcher.add(repr(attributes), [[attributes]])
            known.clear()
        return int(self._vocab.strings[repr(attributes)])

    def places(self, doc: Doc) -> Mapping[int, list[int]]:
        """Return the places of the words, by key, of those that are there; of the last sentence they are known."""
        if self._last[0] is not doc:
            places: defaultdict[int, list[int]] = defaultdict(list)
            for names, (matcher, known) in self._known.items():
                ids: list[int | str] = ["ORTH" if name == "TEXT" else name for name in names or ("SPACY",)]
                rows: list[list[Any]] = doc.to_array(ids).reshape(len(doc), -1).tolist()
                for place, values in enumerate(map(tuple, rows)):
                    if values not in known:
                        if len(known) > _MOST_KNOWN:
                            known.clear()
                        known[values] = sorted({key for key, _, _ in matcher(doc[place : place + 1], as_spans=False)})
                    for key in known[values]:
                        places[key].append(place)
            self._last = (doc, places)
        return self._last[1]


def find_trees(doc: Doc, nodes: Sequence[Node], keys: Sequence[int], words: Words) -> list[list[int]]:
    """Return the places of a tree: for each, the words of the nodes in their order.

    Args:
        doc: A parsed sentence.
        nodes: The tree.
        keys: What `Words.add` has returned for each node.
        words: What the words of the sentence are.
    """
    places = words.places(doc)
    if not all(key in places for key in keys):
        return []
    names = [node.RIGHT_ID for node in nodes]
    trees = [[place] for place in places[keys[0]]]
    for node, key in zip(nodes[1:], keys[1:], strict=True):
        left, operator, allowed = names.index(str(node.LEFT_ID)), str(node.REL_OP), set(places[key])
        trees = [[*tree, place] for tree in trees for place in _related(doc[tree[left]], operator) if place in allowed]
    return trees


def _related(token: Token, operator: str) -> list[int]:
    """Return the places of the words that stand to a word as an operator of the DependencyMatcher says."""
    base = operator.rstrip("+-*")
    words: Iterable[Token]
    match base:
        case "<":
            words = [token.head] if token.head.i != token.i else []
        case ">":
            words = token.children
        case "<<":
            words = token.ancestors
        case ">>":
            words = (word for word in token.subtree if word.i != token.i)
        case "$":
            words = token.head.children
        case _:  # before or after in the same tree
            words = [token, *token.ancestors][-1].subtree
    side = _SIDES.get(operator, operator.removeprefix(base))
    sign = -1 if "-" in side else 1
    steps = ((word.i, sign * (word.i - token.i)) for word in words)
    return [place for place, step in steps if not side or step == 1 or (step > 1 and len(side) > 1)]
