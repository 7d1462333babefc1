import pytest
from hypothesis import given
from hypothesis import strategies as st
from labelling_desk import BLANK
from spacy.matcher import DependencyMatcher
from spacy.tokens import Doc

from cxprobe.corpora.pattern import OPERATORS, Node
from cxprobe.corpora.trees import Words, find_trees

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
            "REL_OP": draw(st.sampled_from(sorted(OPERATORS))),
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


@given(WORDS, trees())
def test_the_trees_are_those_that_spacy_finds(words, nodes):
    doc, theirs = doc_of(words), DependencyMatcher(BLANK.vocab)
    theirs.add("tree", [nodes])
    ours = Words(BLANK)
    keys = [ours.add(node["RIGHT_ATTRS"]) for node in nodes]
    found = find_trees(doc, [Node.model_validate(node) for node in nodes], keys, ours)
    assert sorted(found) == sorted(places for _, places in theirs(doc))


def test_what_several_patterns_ask_of_a_word_has_one_key():
    words = Words(BLANK)
    assert words.add({"TAG": "VB"}) == words.add({"TAG": "VB"}) != words.add({"TAG": "NN"})


def test_another_sentence_is_looked_at_anew():
    words = Words(BLANK)
    key = words.add({"TAG": "VB"})
    first, second = (Doc(BLANK.vocab, ["w", "w"], tags=tags) for tags in (["VB", "NN"], ["NN", "VB"]))
    assert [words.places(doc)[key] for doc in (first, first, second, first)] == [[0], [0], [1], [0]]


def test_what_spacy_does_not_take_is_refused():
    with pytest.raises(ValueError, match="Invalid token patterns"):
        Words(BLANK).add({"TAG": 7})
