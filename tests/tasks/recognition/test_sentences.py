import contextlib
import itertools
import re
from collections import Counter
from fractions import Fraction
from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from labelling_desk import label, table_of
from nltk import CFG, Nonterminal
from scipy.stats import binom, chisquare
from sklearn.linear_model import LogisticRegression

from conftest import ROOT
from cxprobe.constructions import ALL_SENTENCES, SPLITS
from cxprobe.constructions.construction import Grammars, load_construction
from cxprobe.errors import ConstructionError, DataError
from cxprobe.labels import DECIDES
from cxprobe.models.params import NgramFeatures, Rule, TagNgrams
from cxprobe.tasks.recognition.make import draw_subsets
from cxprobe.tasks.recognition.measure import count_features
from cxprobe.tasks.recognition.params import Subsets
from cxprobe.tasks.recognition.sentences import (
    Shape,
    ShapeSampler,
    apply_labels,
    generate_sentences,
    load_grammars,
    read_grammar,
    split_sequences,
)

PER_LABEL = 5
CONSTRUCTIONS = ROOT / "constructions"
CC = "comparative-correlative"


@pytest.fixture(scope="module")
def toy(toy_constructions):
    construction = load_construction("toy", toy_constructions)
    return construction, load_grammars("toy", construction, toy_constructions)


@pytest.fixture(scope="module")
def generated(toy):
    return generate_sentences("toy", *toy, per_label=PER_LABEL, seed=1)


def sizes_of_cells(generated) -> set[int]:
    """Return how many sentences were drawn for the values of features, with each label and in each half."""
    (sentences, draws), sizes = generated, set()
    for feature, ids in draws.items():
        drawn = sentences.set_index("id").loc[ids].assign(**{ALL_SENTENCES: 0})
        sizes |= {*pd.crosstab([drawn["split"], drawn[feature]], drawn["label"]).to_numpy().flat}
    return sizes


def test_every_value_of_every_feature_is_filled_for_both_labels(generated):
    sentences, draws = generated
    assert sizes_of_cells(generated) == {PER_LABEL}
    assert all(len(set(ids)) == len(ids) for ids in draws.values())
    assert set(sentences.set_index("id").loc[draws["length"], "length"]) == set(range(8, 18))


def test_features_can_be_recounted_from_the_text(generated):
    content = {"red", "blue", "green", "old", "young", "big", "small", "fast", "slow", "calm"}
    for row in generated[0].to_dict("records"):
        words = [word.strip(".,") for word in row["text"].split()]
        adjectives = [number for number, word in enumerate(words) if word in content]
        assert row["length"] == len(words)
        # A positive half starts with the article before its adjective, a negative one with the adjective.
        assert row["second_start"] == adjectives[1] - (row["label"] == "positive")


def test_the_seed_decides_and_nothing_else(toy, generated):
    construction, grammars = toy
    renamed = construction.model_copy(update={"name": "What people call it"})
    again = generate_sentences("toy", renamed, grammars, per_label=PER_LABEL, seed=1)
    assert again[0].equals(generated[0])
    assert again[1] == generated[1]
    assert generate_sentences("toy", *toy, per_label=PER_LABEL, seed=2)[1] != generated[1]


def small(construction, *content):
    return construction.model_copy(
        update={"grammar": construction.grammar.model_copy(update={"content": list(content)})}
    )


def test_a_text_with_two_labels_is_refused(toy):
    construction, grammars = toy
    both = CFG.fromstring("POS -> '0' 'a' '0' N\nNEG -> '0' N '0' 'a' | '0' 'a' '0' N\nN -> 'c'")
    with pytest.raises(ConstructionError, match="the train grammar derives 'a c' both as positive and as negative"):
        generate_sentences("both", small(construction, "N"), grammars | {"train": both}, per_label=2, seed=1)


GRAMMARS = sorted(path.parts[-3] for path in (ROOT / "constructions").glob("*/grammars/train.cfg"))
SECOND = sorted(path.parts[-3] for path in (ROOT / "constructions").glob("*/grammars/balanced_train.cfg"))


@pytest.mark.parametrize(
    ("name", "source"), [*((name, "generated") for name in GRAMMARS), *((name, "balanced") for name in SECOND)]
)
def test_every_construction_with_grammars_can_be_generated(name, source):
    """The contract: grammars parse, halves are disjoint, markers are right, and every cell gives two sentences."""
    construction = load_construction(name, CONSTRUCTIONS).for_source(source)
    grammars = load_grammars(name, construction, CONSTRUCTIONS, source=source)
    assert sizes_of_cells(generate_sentences(name, construction, grammars, per_label=2, seed=1)) == {2}


@pytest.mark.parametrize("half", ["train", "test"])
def test_both_labels_of_the_comparative_correlative_have_the_same_words_with_the_same_probability(half):
    """The rules of the negatives are those of the positives, but for the order of symbols inside one of them.

    On this rests that layer 0 and a bag of words can tell nothing.
    """
    rules = load_grammars(CC, load_construction(CC, CONSTRUCTIONS), CONSTRUCTIONS)[half].productions()

    def bags(prefix: str) -> Counter:
        named = [rule for rule in rules if prefix in str(rule.lhs())]
        return Counter(
            tuple(sorted(str(part).replace(prefix, "X") for part in (rule.lhs(), *rule.rhs()))) for rule in named
        )

    assert bags("POS") == bags("NEG") != Counter()


SEQUENCE, SENTENCE = "sequence", "sentence"
OWN = [(SEQUENCE, "DT", "positive"), (SENTENCE, "b", "negative")]
MAJORITY = [(SEQUENCE, "DT", "positive", "A"), (SEQUENCE, "DT", "positive", "B"), (SEQUENCE, "DT", "negative", "C")]
UNCLEAR = [(SEQUENCE, "JJ", "positive", "A"), (SEQUENCE, "JJ", "unclear", "B"), (SEQUENCE, "NN", "unclear", "A")]
# "b" has a label of its own, so that the decision about its sequence is not one about it.
DECIDED = [
    (SEQUENCE, "DT", "positive", "A"),
    (SEQUENCE, "DT", "negative", f"C{DECIDES}"),
    (SENTENCE, "b", "positive", "A"),
]
DECIDED += [(SENTENCE, "c", "positive", "B"), (SENTENCE, "c", "positive", f"D{DECIDES}")]
DECIDED += [(SEQUENCE, "JJ", "unclear", f"C{DECIDES}"), (SEQUENCE, "NN", "positive", f"C{DECIDES}")]
DECIDED += [(SEQUENCE, "NN", "negative", f"D{DECIDES}")]


@pytest.mark.parametrize(
    ("tags", "said", "labels", "left_out"),
    [
        (["DT", "DT", "IN"], OWN, {"a": "positive", "b": "negative"}, {"not labelled": 1}),
        (["DT", "JJ", "NN"], MAJORITY + UNCLEAR, {}, {"conflict": 2, "unclear": 1}),
        (["DT", "DT", "DT", "JJ", "NN"], DECIDED, {"a": "negative", "c": "positive"}, {"conflict": 2, "unclear": 1}),
    ],
    ids=["its own label counts before that of its sequence", "no majority decides", "a decision replaces what is said"],
)
def test_a_sentence_has_the_label_that_all_agree_on(tags, said, labels, left_out):
    mined = pd.DataFrame({"id": [*"abcde"[: len(tags)]], "tags": tags})
    sentences, counted = apply_labels(mined, table_of(*(label(*one) for one in said), label(SENTENCE, "x", "unclear")))
    assert dict(sentences[["id", "label"]].to_numpy().tolist()) == labels
    assert counted == left_out | {"label of what was not mined": 1}


def labelled_table(sizes: dict[str, list[int]]) -> pd.DataFrame:
    """Make, for each label, sequences of so many sentences."""
    rows = [
        (f"{name}{place}.{number}", f"u{number}", f"{name} {place}", name, [], [])
        for name, counts in sizes.items()
        for place, count in enumerate(counts)
        for number in range(count)
    ]
    table = pd.DataFrame(rows, columns=["id", "url", "tags", "label", "matched", "slots"])
    return table.assign(text="t", start=0, end=1, length=range(len(rows)))


SIZES = st.lists(st.integers(1, 4), min_size=3, max_size=12)


def alike(table: pd.DataFrame) -> list[set[str]]:
    """Return the groups of sentences that must stay together, by looking at all pairs until nothing changes."""
    groups = [{one} for one in table["id"]]
    own = table.set_index("id")
    for first, second in itertools.combinations(table["id"], 2):
        if own["tags"][first] == own["tags"][second] or own["url"][first] == own["url"][second]:
            linked = [group for group in groups if group & {first, second}]
            groups = [group for group in groups if group not in linked] + [set().union(*linked)]
    return groups


@settings(max_examples=30)
@given(SIZES, SIZES, st.none() | st.integers(10, 40), st.integers(0, 5))
def test_what_must_stay_together_is_in_one_part_and_both_parts_have_both_labels(positive, negative, urls, seed):
    table, apart = labelled_table({"positive": positive, "negative": negative}), urls is not None
    drawn = np.random.default_rng(seed).integers(0, urls, len(table)) if apart else range(len(table))
    table["url"] = [f"u{number}" for number in drawn]
    groups, labels = alike(table), table.set_index("id")["label"]
    mixed = any(labels[list(group)].nunique() == 2 for group in groups)
    if min(sum(one in set(labels[list(group)]) for group in groups) for one in ("positive", "negative")) < 2:
        with pytest.raises(DataError, match="labelled sequences that share no document"):
            split_sequences(table, 2, seed, documents_apart=apart)
        return
    with contextlib.suppress(DataError) if mixed else contextlib.nullcontext():  # a group of both labels may not divide
        divided = split_sequences(table, 2, seed, documents_apart=apart)
        parts = divided.set_index("id")["split"]
        assert all(parts[list(group)].nunique() == 1 for group in groups)
        assert set(labels.groupby(parts).nunique()) == {2}
        clusters = ["cluster_template", "cluster_document", "cluster_source"]
        assert divided.columns.tolist() == ["id", "text", "label", "split", "length", *clusters]
        shuffled = table.sample(frac=1, random_state=seed)
        pd.testing.assert_frame_equal(split_sequences(shuffled, 2, seed, documents_apart=apart), divided)


PLACES = [
    ("networkx==3.4/networkx/_base.py#12", "networkx==3.4/networkx/_base.py", "networkx==3.4"),
    ("https://Blog.example.org/a?b=c==d/#e", "https://Blog.example.org/a?b=c==d/", "blog.example.org"),
    ("austen/emma.txt", "austen/emma.txt", "austen/emma.txt"),
]


@pytest.mark.parametrize(("url", "document", "source"), PLACES)
def test_sentences_are_clustered_by_document_and_source(url, document, source):
    table = labelled_table({"positive": [1] * 4, "negative": [1] * 4}).assign(url=url)
    divided = split_sequences(table, 2, 1, documents_apart=False)
    assert set(divided["cluster_document"]) == {document}
    assert set(divided["cluster_source"]) == {source}


def test_too_few_sequences_of_a_label_are_an_error_that_counts_them():
    table = labelled_table({"positive": [1, 1], "negative": [5]})
    with pytest.raises(DataError, match=r"2 positive, 1 negative; with recognition\.make\.labels\.folds = 2"):
        split_sequences(table, 2, 1, documents_apart=False)


FAULTS = [
    ("S -> A\nA -> 'unclosed\nB -> 'b'", "the grammar does not parse: Unable to parse line 2"),
    ("S -> 'NOUN' A | A\nA -> 'a' NOUN\nB -> 'b'", "NOUN is used and has no rule"),
    ("A -> 'a'", "construction.yaml names S, which has no rule here"),
    (None, "there is no such file"),
]


@pytest.mark.parametrize(("content", "said"), FAULTS)
def test_a_fault_of_a_grammar_is_told_with_its_file(tmp_path, content, said):
    path = tmp_path / "g.cfg"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ConstructionError) as raised:
        read_grammar(path, ["S"])
    assert str(path) in str(raised.value)
    assert said in str(raised.value)


def test_a_content_word_of_both_halves_is_refused(toy, tmp_path):
    (tmp_path / "x" / "grammars").mkdir(parents=True)
    for half, nouns in (("train", "'Cat'"), ("test", "'dog' | 'wild cat'")):
        text = f"POS -> '0' 'a' '0' N\nNEG -> '0' N '0' 'a'\nN -> {nouns}"
        (tmp_path / "x" / "grammars" / f"{half}.cfg").write_text(text)
    with pytest.raises(ConstructionError, match=r"test\.cfg: 'cat' \(N\) is also in .*train\.cfg \(N\)"):
        load_grammars("x", small(toy[0], "N"), tmp_path)


def test_punctuation_belongs_to_the_word_before_it_and_marks_are_no_words():
    terminals = ["Nowadays ,", "0", "the", "faster", ", and by the way ,", "0", "the", "better", "."]
    text, (words, marks) = sampler().spell(terminals)
    assert text == "Nowadays, the faster, and by the way, the better."
    assert words == 9
    assert [text.split()[mark] for mark in marks] == ["the", "the"]


def sampler(text: str = "S -> 'a'") -> ShapeSampler:
    start = {"positive": "S", "negative": "S"}
    rules = Grammars(start=start, content=["N"], marker="0", marks=1, no_space_before=[",", ";", "."])
    return ShapeSampler(CFG.fromstring(text), rules)


def strings(grammar: CFG, symbol: object) -> list[tuple[tuple[str, ...], Fraction]]:
    """Spell out every derivation with its probability: the oracle."""
    if isinstance(symbol, str):
        return [((symbol,), Fraction(1))]
    rules = grammar.productions(lhs=symbol)
    spelt = []
    for rule in rules:
        for parts in itertools.product(*(strings(grammar, part) for part in rule.rhs())):
            p = Fraction(1, len(rules))
            for _, q in parts:
                p *= q
            spelt.append((tuple(word for words, _ in parts for word in words), p))
    return spelt


def oracle(text: str) -> dict[Shape, float]:
    sums: Counter[Shape] = Counter()
    for terminals, p in strings(CFG.fromstring(text), Nonterminal("S")):
        _, (words, marks) = sampler().spell(("Start", *terminals))
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
        if "0" not in terminals and sampler().spell(terminals)[1].words == 3:
            wanted[terminals] += p
    rng = np.random.default_rng(0)
    toy = sampler(text)
    drawn = Counter(tuple(terminal for terminal, _ in toy.draw("S", shape, rng)) for _ in range(4000))
    assert drawn.keys() == wanted.keys()
    expected = [float(wanted[key] / sum(wanted.values())) * 4000 for key in wanted]
    assert chisquare([drawn[key] for key in wanted], expected).pvalue > 0.001


def test_a_recursive_grammar_is_refused_with_its_loop():
    with pytest.raises(ConstructionError, match=r"recursive \(A -> B -> A\)"):
        sampler("S -> A\nA -> 'a' B\nB -> A | 'b'").shapes("S")


# The second pair of grammars and the placebo: the two classes differ in nothing that a baseline can count.

LIMIT = 0.6
TAGGER = str(ROOT / "models/tagger/en_ewt_cxprobe")
IN_SUBSETS = 40
BASELINES = [(CC, "balanced"), ("placebo-order", "generated")]


FEATURES = {
    "word n-grams": NgramFeatures(kind="word_ngrams", lengths=[1, 3]),
    "character n-grams": NgramFeatures(kind="character_ngrams", lengths=[2, 6]),
    "tag n-grams": TagNgrams(kind="tag_ngrams", lengths=[1, 3], tagger=TAGGER, sha256=None),
    "places": Rule(kind="positions"),
}


@cache
def make(name: str, source: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the sentences of one source, by id, and the rows of their balanced subsets."""
    construction = load_construction(name, CONSTRUCTIONS).for_source(source)
    grammars = load_grammars(name, construction, CONSTRUCTIONS, source=source)
    table, draws = generate_sentences(name, construction, grammars, IN_SUBSETS, seed=1)
    sizes = Subsets(train_per_label=IN_SUBSETS, test_per_label=IN_SUBSETS, all_sentences=False)
    rows, dropped = draw_subsets(table, draws, construction.features, sizes, 1, name)
    assert dropped.empty
    return table.set_index("id"), rows


def accuracies(sentences: pd.DataFrame, rows: pd.DataFrame, spec) -> dict[str, tuple[float, int]]:
    """Return, for each balanced subset, the accuracy of a logistic regression on its test part, and the part's size."""
    rates = {}
    for name, subset in rows.groupby("feature"):
        counts = count_features(sentences.loc[subset["id"], "text"].tolist(), spec)
        train, labels = (subset["split"] == "train").to_numpy(), subset["label"].to_numpy()
        model = LogisticRegression(max_iter=2000).fit(counts[train], labels[train])
        rates[name] = (model.score(counts[~train], labels[~train]), int((~train).sum()))
    return rates


@pytest.mark.pipeline
@pytest.mark.parametrize("kind", FEATURES)
@pytest.mark.parametrize("pair", BASELINES, ids=" ".join)
def test_no_baseline_model_tells_the_classes_apart_by_more_than_the_limit(pair, kind):
    for feature, (accuracy, n) in accuracies(*make(*pair), FEATURES[kind]).items():
        most = binom.ppf(0.999, n, LIMIT) / n  # the limit, and what chance can add to it in so many sentences
        assert accuracy <= most, (feature, accuracy, n)


@pytest.mark.parametrize("half", SPLITS)
def test_the_frames_of_both_labels_are_the_same_rules_with_the_two_verbs_exchanged(half):
    """So that words, tags, lengths and seams are equally probable under both labels, whatever a baseline counts."""
    construction = load_construction(CC, CONSTRUCTIONS).for_source("balanced")
    rules = load_grammars(CC, construction, CONSTRUCTIONS, source="balanced")[half].productions()
    other = {"SAY": "LIKE", "LIKE": "SAY", "POS": "NEG", "NEG": "POS"}

    def exchanged(text: str) -> str:
        return re.sub("SAY|LIKE|POS|NEG", lambda found: other[found[0]], text)

    frames = Counter(str(rule) for rule in rules if str(rule.lhs()) not in ("SAY", "LIKE"))
    assert Counter(map(exchanged, frames.elements())) == frames
