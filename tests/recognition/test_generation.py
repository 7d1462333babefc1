from collections import Counter

import pytest
from nltk import CFG

from conftest import ROOT, TRAIN_CFG
from cxprobe.constructions.construction import load_construction
from cxprobe.constructions.sentences import Shortfall
from cxprobe.errors import ConstructionError
from cxprobe.recognition.make import draw_table, generate_sentences, load_grammars, sentence_table

PER_LABEL = 5


@pytest.fixture(scope="module")
def toy(toy_constructions):
    construction = load_construction("toy", toy_constructions)
    return construction, load_grammars("toy", construction, toy_constructions)


@pytest.fixture(scope="module")
def generated(toy):
    return generate_sentences("toy", *toy, per_label=PER_LABEL, seed=1)


def test_every_value_of_every_feature_is_filled_for_both_labels(generated):
    by_id = {one.id: one for one in generated.sentences}
    assert not generated.shortfalls
    for feature, ids in generated.draws.items():
        assert len(set(ids)) == len(ids)
        drawn = [by_id[id_] for id_ in ids]
        cells = Counter((one.split, one.features[feature], one.label) for one in drawn)
        assert set(cells.values()) == {PER_LABEL}
    lengths = {by_id[id_].features["length"] for id_ in generated.draws["length"]}
    assert lengths == set(range(8, 18))


def test_every_sentence_is_there_once(generated):
    texts = {(one.split, one.text) for one in generated.sentences}
    assert len({one.id for one in generated.sentences}) == len(texts) == len(generated.sentences)


def test_features_can_be_recounted_from_the_text(generated):
    content = {"red", "blue", "green", "old", "young", "big", "small", "fast", "slow", "calm"}
    for one in generated.sentences:
        words = [word.strip(".,") for word in one.text.split()]
        adjectives = [number for number, word in enumerate(words) if word in content]
        assert one.features["length"] == len(words)
        # A positive half starts with the article before its adjective, a negative one with the adjective.
        assert one.features["second_start"] == adjectives[1] - (one.label == "positive")


def test_clusters_are_the_template_and_the_first_word_of_each_category(generated):
    (one,) = [one for one in generated.sentences if one.id == generated.draws["length"][0]]
    assert one.clusters.keys() == {"template", "ADJ", "NOUN", "VERB"}
    words = one.text.replace(",", "").replace(".", "").split()
    assert one.clusters["ADJ"] == next(word for word in words if word == one.clusters["ADJ"])
    assert one.clusters["template"].split()[words.index(one.clusters["NOUN"])] == "NOUN"


def test_the_seed_decides_and_nothing_else(toy, generated):
    construction, grammars = toy
    renamed = construction.model_copy(update={"name": "What people call it"})
    assert generate_sentences("toy", renamed, grammars, per_label=PER_LABEL, seed=1) == generated
    assert generate_sentences("toy", *toy, per_label=PER_LABEL, seed=2) != generated


def small(construction, *content):
    return construction.model_copy(
        update={"grammar": construction.grammar.model_copy(update={"content": list(content)})}
    )


def test_a_value_that_the_grammar_cannot_fill_is_reported(toy):
    construction, grammars = toy
    few = CFG.fromstring("POS -> '0' 'a' '0' 'b' | '0' 'a' '0' 'b' N\nNEG -> '0' 'b' '0' 'a'\nN -> 'c' | 'd'")
    found = generate_sentences("few", small(construction, "N"), grammars | {"train": few}, per_label=2, seed=1)
    assert Shortfall("train", "length", 2, "positive", 2, 1) in found.shortfalls
    assert Shortfall("train", "length", 3, "negative", 2, 0) in found.shortfalls
    assert not any(shortfall.split == "test" for shortfall in found.shortfalls)
    assert len([one for one in found.sentences if one.split == "train"]) == 4


def test_a_grammar_with_just_enough_sentences_fills_every_feature_with_them(toy):
    construction, grammars = toy
    just = CFG.fromstring("POS -> '0' 'a' '0' N\nNEG -> '0' N '0' 'a'\nN -> 'c' | 'd'")
    found = generate_sentences("just", small(construction, "N"), grammars | {"train": just}, per_label=2, seed=1)
    assert not found.shortfalls
    train = {one.id for one in found.sentences if one.split == "train"}
    assert len(train) == 4
    assert all(train <= set(ids) for ids in found.draws.values())


def test_a_text_with_two_labels_is_refused(toy):
    construction, grammars = toy
    both = CFG.fromstring("POS -> '0' 'a' '0' N\nNEG -> '0' N '0' 'a' | '0' 'a' '0' N\nN -> 'c'")
    with pytest.raises(ConstructionError, match="the train grammar derives 'a c' both as positive and as negative"):
        generate_sentences("both", small(construction, "N"), grammars | {"train": both}, per_label=2, seed=1)


def test_a_wrong_number_of_markers_is_refused(toy):
    construction, grammars = toy
    one_marker = CFG.fromstring(TRAIN_CFG.replace("'0' ADJ 'the' VERB NOUN TAIL", "ADJ 'the' VERB NOUN TAIL"))
    with pytest.raises(ConstructionError, match="NEG has sentences with 1 markers '0', but"):
        generate_sentences("toy", construction, grammars | {"train": one_marker}, per_label=1, seed=1)


def test_tables_hold_every_feature_and_cluster(generated):
    table = sentence_table(generated.sentences)
    assert table.columns.tolist() == [
        *("id", "text", "label", "split", "length", "second_start"),
        *("cluster_template", "cluster_ADJ", "cluster_NOUN", "cluster_VERB"),
    ]
    assert set(draw_table(generated.draws)["id"]) == set(table["id"])


GRAMMARS = sorted(path.parts[-3] for path in (ROOT / "constructions").glob("*/grammars/train.cfg"))
SECOND = sorted(path.parts[-3] for path in (ROOT / "constructions").glob("*/grammars/balanced_train.cfg"))


@pytest.mark.parametrize(
    ("name", "source"), [*((name, "generated") for name in GRAMMARS), *((name, "balanced") for name in SECOND)]
)
def test_every_construction_with_grammars_can_be_generated(name, source):
    """The contract: grammars parse, halves are disjoint, markers are right, and every cell gives two sentences."""
    construction = load_construction(name, ROOT / "constructions").for_source(source)
    grammars = load_grammars(name, construction, ROOT / "constructions", source=source)
    assert not generate_sentences(name, construction, grammars, per_label=2, seed=1).shortfalls


@pytest.mark.parametrize("half", ["train", "test"])
def test_both_labels_of_the_comparative_correlative_have_the_same_words_with_the_same_probability(half):
    """The rules of the negatives are those of the positives, but for the order of symbols inside one of them.

    On this rests that layer 0 and a bag of words can tell nothing.
    """
    name = "comparative-correlative"
    construction = load_construction(name, ROOT / "constructions")
    rules = load_grammars(name, construction, ROOT / "constructions")[half].productions()

    def bags(prefix: str) -> Counter:
        named = [rule for rule in rules if prefix in str(rule.lhs())]
        return Counter(
            tuple(sorted(str(part).replace(prefix, "X") for part in (rule.lhs(), *rule.rhs()))) for rule in named
        )

    assert bags("POS") == bags("NEG") != Counter()


def test_a_construction_without_features_has_as_many_sentences_of_each_label_and_half(toy):
    construction, grammars = toy
    bare = construction.model_copy(update={"features": {}})
    generated = generate_sentences("toy", bare, grammars, per_label=PER_LABEL, seed=1)
    sizes = Counter((one.split, one.label) for one in generated.sentences)
    assert set(sizes.values()) == {PER_LABEL}
    assert len(sizes) == 4
    assert set(draw_table(generated.draws)["feature"]) == {"all_sentences"}
