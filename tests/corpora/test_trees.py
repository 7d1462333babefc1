import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.matcher import DependencyMatcher, Matcher
from spacy.tokens import Doc

from cxprobe.corpora.pattern import OPERATOR, Node
from cxprobe.corpora.search import find_trees

BLANK = spacy.blank("en")
DEPS, TAGS = ("obj", "iobj"), ("VB", "NN")
ATTRIBUTES = [{}, {"TAG": "VB"}, {"DEP": "obj"}, {"TAG": {"REGEX": "^N"}}, {"DEP": {"IN": ["iobj", "ROOT"]}}]
WORDS = st.lists(st.tuples(st.integers(0, 9), st.sampled_from(DEPS), st.sampled_from(TAGS)), min_size=1, max_size=9)


@st.composite
def trees(draw):
    """Draw a tree to look for: each word stands in some relation to an earlier one."""
    nodes = [{"RIGHT_ID": "0", "RIGHT_ATTRS": draw(st.sampled_from(ATTRIBUTES))}]
    for number in range(1, draw(st.integers(1, 3)) + 1):
        relation = {
            "LEFT_ID": str(draw(st.integers(0, number - 1))),
            "REL_OP": draw(st.from_regex(OPERATOR, fullmatch=True)),
        }
        nodes.append({**relation, "RIGHT_ID": str(number), "RIGHT_ATTRS": draw(st.sampled_from(ATTRIBUTES))})
    return nodes


def doc_of(words) -> Doc:
    """Return a sentence, or several, in which every word depends on an earlier or a later one, or on none."""
    size = len(words)
    heads = [
        min(head, place) if tag == "VB" else max(place, size - 1 - head) for place, (head, _, tag) in enumerate(words)
    ]
    for place in range(size):  # a circle is cut where it is found
        seen, here = {place}, heads[place]
        while here not in seen and heads[here] != here:
            seen.add(here)
            here = heads[here]
        if heads[here] != here:
            heads[here] = here
    deps = [dep if heads[place] != place else "ROOT" for place, (_, dep, _) in enumerate(words)]
    return Doc(BLANK.vocab, ["w"] * size, heads=heads, deps=deps, tags=[tag for _, _, tag in words])


def places_with(attributes, doc) -> list[int]:
    matcher = Matcher(BLANK.vocab)
    matcher.add("word", [[attributes]])
    return [start for _, start, _ in matcher(doc)]


@given(WORDS, trees())
def test_the_trees_are_those_that_spacy_finds(words, nodes):
    doc, theirs = doc_of(words), DependencyMatcher(BLANK.vocab)
    theirs.add("tree", [nodes])
    places = [places_with(node["RIGHT_ATTRS"], doc) for node in nodes]
    found = find_trees(doc, [Node.model_validate(node) for node in nodes], places)
    assert sorted([*tree.values()] for tree in found) == sorted(tree for _, tree in theirs(doc))
