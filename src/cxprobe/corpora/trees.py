"""Trees of dependencies in parsed sentences, as spaCy's DependencyMatcher finds them.

spaCy's own tries all combinations of words that have the attributes of a tree's nodes: 20 seconds for a sentence of 200
words with many verbs and objects. Here trees grow from word to word, and such a sentence takes 20 milliseconds.
"""

from collections.abc import Iterable, Sequence

from spacy.tokens import Doc, Token

from cxprobe.corpora.pattern import Node

_SIDES = {".": "+", ".*": "++", ";": "-", ";*": "--"}  # of operators that are about places alone


def find_trees(doc: Doc, nodes: Sequence[Node], positions: Sequence[Sequence[int]]) -> list[dict[str, int]]:
    """Return the places of a tree: for each, the name of a node -> the position of its word.

    Args:
        doc: A parsed sentence.
        nodes: The tree.
        positions: For each node, the positions of the words that have its attributes.
    """
    trees = [{nodes[0].RIGHT_ID: position} for position in positions[0]]
    for node, of_node in zip(nodes[1:], positions[1:], strict=True):
        allowed = set(of_node)
        trees = [
            {**tree, node.RIGHT_ID: position}
            for tree in trees
            for position in _related(doc[tree[str(node.LEFT_ID)]], str(node.REL_OP))
            if position in allowed
        ]
    return trees


def _related(token: Token, operator: str) -> list[int]:
    """Return the positions of the words that an operator of the DependencyMatcher relates to a word."""
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
    return [position for position, step in steps if not side or step == 1 or (step > 1 and len(side) > 1)]
