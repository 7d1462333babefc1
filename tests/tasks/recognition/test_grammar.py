from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk import CFG, Nonterminal
from scipy.stats import chisquare

from conftest import ROOT
from cxprobe.errors import ConstructionError
from cxprobe.tasks.recognition.sentences import (
    Shape,
    ShapeSampler,
    Spelling,
    check_lexical_halves,
    content_words,
    read_grammar,
)

CC = ROOT / "constructions" / "comparative-correlative"
SPELLING = Spelling("0", frozenset(",;."))


def test_the_papers_grammars_parse_and_share_no_content_word():
    categories = ["ADV", "NUM", "NOUN", "VERB"]
    check_lexical_halves(CC / "grammars/train.cfg", CC / "grammars/test.cfg", categories)
    words = content_words(read_grammar(CC / "grammars/train.cfg", categories), categories)
    assert len(words) == 40
    assert words["twenty-one"] == "NUM"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("S -> A\nA -> 'unclosed\nB -> 'b'", [": the grammar does not parse: Unable to parse line 2"]),
        (
            "# NOUN here is no use of it\nS -> 'NOUN' A | A\nA -> 'a' NOUN\nB -> VERB",
            [", line 3: NOUN is used and has no rule", ", line 4: VERB is used and has no rule"],
        ),
        ("A -> 'a'", [": construction.yaml names S, which has no rule here"]),
        # What stands between the quotes is then text, and the words are symbols, without spaces around them.
        ("S -> A\nA -> 'B '0' 'the' C .'", [", line 2: 0 is used and has no rule"]),
        (None, [" does not exist"]),
    ],
)
def test_a_fault_of_a_grammar_is_told_with_its_line(tmp_path, content, said):
    path = tmp_path / "g.cfg"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ConstructionError) as raised:
        read_grammar(path, ["S"])
    assert all(f"{path}{one}" in str(raised.value) for one in said)


def test_a_shared_content_word_is_named_with_both_lines(tmp_path):
    train, test = tmp_path / "train.cfg", tmp_path / "test.cfg"
    train.write_text("S -> N V\nN -> 'Cat'\nV -> 'runs'")
    test.write_text("S -> N V\n\nV -> 'sits'\nN -> 'dog' | 'wild cat'")
    with pytest.raises(ConstructionError) as raised:
        check_lexical_halves(train, test, ["N", "V"])
    assert str(raised.value).startswith(f"{test}, line 4: 'cat' (N) is also in {train}, line 2 (N)")


def test_punctuation_belongs_to_the_word_before_it_and_marks_are_no_words():
    terminals = ["Nowadays ,", "0", "the", "faster", ", and by the way ,", "0", "the", "better", "."]
    text, (words, marks) = SPELLING.spell(terminals)
    assert text == "Nowadays, the faster, and by the way, the better."
    assert words == 9
    assert [text.split()[mark] for mark in marks] == ["the", "the"]


def sampler(text: str) -> ShapeSampler:
    return ShapeSampler(CFG.fromstring(text), ["N"], SPELLING)


def strings(grammar: CFG, symbol: object) -> list[tuple[tuple[str, ...], Fraction]]:
    """Spell out every derivation with its probability: the oracle."""
    if isinstance(symbol, str):
        return [((symbol,), Fraction(1))]
    rules = grammar.productions(lhs=symbol)
    spelt = []
    for rule in rules:
        for parts in product(*(strings(grammar, part) for part in rule.rhs())):
            p = Fraction(1, len(rules))
            for _, q in parts:
                p *= q
            spelt.append((tuple(word for words, _ in parts for word in words), p))
    return spelt


def oracle(text: str) -> dict[Shape, float]:
    sums: Counter[Shape] = Counter()
    for terminals, p in strings(CFG.fromstring(text), Nonterminal("S")):
        _, (words, marks) = SPELLING.spell(("Start", *terminals))
        sums[Shape(words - 1, tuple(mark - 1 for mark in marks))] += p
    return {shape: float(p) for shape, p in sums.items()}


ALTERNATIVES = st.lists(st.sampled_from(["'a'", "'b c'", "'0'", "','", "", "B", "B 'd'", "C"]), min_size=1, max_size=4)


@settings(max_examples=60)
@given(ALTERNATIVES, st.lists(st.sampled_from(["'e'", "'0' 'f g'", ""]), min_size=1, max_size=3))
def test_probabilities_are_those_of_spelling_out_every_derivation(top, below):
    text = f"S -> A A | A '0' A\nA -> {' | '.join(top)}\nB -> {' | '.join(below)}\nC -> B B | 'h'"
    shapes = sampler(text).shapes("S")
    expected = oracle(text)
    assert shapes.keys() == expected.keys()
    assert all(shapes[shape] == pytest.approx(p) for shape, p in expected.items())


def test_draws_follow_the_grammars_distribution_given_the_shape():
    text = "S -> X Y | Y X\nX -> 'a' | 'a' | 'b' | 'c d'\nY -> 'e' | 'f g' | '0'"
    shape = Shape(3, ())
    wanted: Counter[tuple[str, ...]] = Counter()
    for terminals, p in strings(CFG.fromstring(text), Nonterminal("S")):
        if "0" not in terminals and SPELLING.spell(terminals)[1].words == 3:
            wanted[terminals] += p
    rng = np.random.default_rng(0)
    toy = sampler(text)
    drawn = Counter(tuple(leaf.terminal for leaf in toy.draw("S", shape, rng)) for _ in range(4000))
    assert drawn.keys() == wanted.keys()
    expected = [float(wanted[key] / sum(wanted.values())) * 4000 for key in wanted]
    assert chisquare([drawn[key] for key in wanted], expected).pvalue > 0.001


def test_a_recursive_grammar_is_refused_with_its_loop():
    with pytest.raises(ConstructionError, match=r"recursive \(A -> B -> A\)"):
        sampler("S -> A\nA -> 'a' B\nB -> A | 'b'").shapes("S")
