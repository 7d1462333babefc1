"""Trees of dependencies in parsed sentences, as spaCy's DependencyMatcher finds them.

spaCy's own tries all combinations of words that have the attributes of a tree's nodes: 20 seconds for a sentence of 200
words with many verbs and objects. Here trees grow from word to word, and such a sentence takes 20 milliseconds.
"""

from collections.abc import Callable, Mapping, Sequence

from spacy.matcher import DependencyMatcher
from spacy.tokens import Doc, Token
from spacy.vocab import Vocab

from cxprobe.corpora.pattern import Node

# Operator -> the words that it relates to the word at a position; spaCy has no public name for them.
_RELATED: Mapping[str, Callable[[Doc, int], list[Token]]] = DependencyMatcher(Vocab())._ops


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
            {**tree, node.RIGHT_ID: word.i}
            for tree in trees
            for word in _RELATED[str(node.REL_OP)](doc, tree[str(node.LEFT_ID)])
            if word.i in allowed
        ]
    return trees
