from collections import Counter

import pytest
from nltk import CFG

from conftest import ROOT
from cxprobe.constructions.construction import load_construction
from cxprobe.errors import ConstructionError
from cxprobe.tasks.recognition.sentences import generate_sentences, load_grammars

PER_LABEL = 5


@pytest.fixture(scope="module")
def toy(toy_constructions):
    construction = load_construction("toy", toy_constructions)
    return construction, load_grammars("toy", construction, toy_constructions)


@pytest.fixture(scope="module")
def generated(toy):
    return generate_sentences("toy", *toy, per_label=PER_LABEL, seed=1)


def test_every_value_of_every_feature_is_filled_for_both_labels(generated):
    by_id = generated.sentences.set_index("id")
    assert generated.not_filled.empty
    for feature, ids in generated.draws.groupby("feature")["id"]:
        assert len(set(ids)) == len(ids)
        cells = by_id.loc[ids].groupby(["split", feature, "label"]).size()
        assert set(cells) == {PER_LABEL}
    drawn = generated.draws.loc[generated.draws["feature"] == "length", "id"]
    assert set(by_id.loc[drawn, "length"]) == set(range(8, 18))


def test_features_can_be_recounted_from_the_text(generated):
    content = {"red", "blue", "green", "old", "young", "big", "small", "fast", "slow", "calm"}
    for row in generated.sentences.to_dict("records"):
        words = [word.strip(".,") for word in row["text"].split()]
        adjectives = [number for number, word in enumerate(words) if word in content]
        assert row["length"] == len(words)
        # A positive half starts with the article before its adjective, a negative one with the adjective.
        assert row["second_start"] == adjectives[1] - (row["label"] == "positive")


def test_the_seed_decides_and_nothing_else(toy, generated):
    construction, grammars = toy
    renamed = construction.model_copy(update={"name": "What people call it"})
    again = generate_sentences("toy", renamed, grammars, per_label=PER_LABEL, seed=1)
    assert all(one.equals(other) for one, other in zip(again, generated, strict=True))
    assert not generate_sentences("toy", *toy, per_label=PER_LABEL, seed=2).sentences.equals(generated.sentences)


def small(construction, *content):
    return construction.model_copy(
        update={"grammar": construction.grammar.model_copy(update={"content": list(content)})}
    )


def test_a_value_that_the_grammar_cannot_fill_is_reported(toy):
    construction, grammars = toy
    few = CFG.fromstring("POS -> '0' 'a' '0' 'b' | '0' 'a' '0' 'b' N\nNEG -> '0' 'b' '0' 'a'\nN -> 'c' | 'd'")
    found = generate_sentences("few", small(construction, "N"), grammars | {"train": few}, per_label=2, seed=1)
    rows = found.not_filled.to_numpy().tolist()
    assert ["train", "length", 2, "positive", 2, 1] in rows
    assert ["train", "length", 3, "negative", 2, 0] in rows
    assert set(found.not_filled["split"]) == {"train"}
    assert (found.sentences["split"] == "train").sum() == 4


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
    construction = load_construction(name, ROOT / "constructions").for_source(source)
    grammars = load_grammars(name, construction, ROOT / "constructions", source=source)
    assert generate_sentences(name, construction, grammars, per_label=2, seed=1).not_filled.empty


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
