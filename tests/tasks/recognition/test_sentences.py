import contextlib
import itertools
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from labelling_desk import label, table_of
from nltk import CFG

from conftest import ROOT
from cxprobe.constructions.construction import load_construction
from cxprobe.errors import ConstructionError, DataError
from cxprobe.labels import DECIDES
from cxprobe.tasks.recognition.sentences import (
    apply_labels,
    generate_sentences,
    load_grammars,
    split_sequences,
)

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


def mined(*rows: tuple[str, str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["id", "tags"])


def test_a_sentence_has_the_label_of_its_sequence_unless_it_has_one_of_its_own():
    labels = [label("sequence", "DT JJR", "positive"), label("sentence", "b", "negative")]
    labelled = apply_labels(mined(("a", "DT JJR"), ("b", "DT JJR"), ("c", "DT")), table_of(*labels))
    assert labelled.sentences[["id", "label"]].to_numpy().tolist() == [["a", "positive"], ["b", "negative"]]
    assert labelled.left_out == {"not labelled": 1}
    assert labelled.unused == 0


def test_a_majority_does_not_decide():
    labels = [
        *(label("sequence", "DT", judgement, who) for who, judgement in zip("ABC", ["positive"] * 3, strict=True)),
        label("sequence", "DT", "negative", "D"),
        label("sequence", "JJ", "positive", "A"),
        label("sequence", "JJ", "unclear", "B"),
        label("sequence", "NN", "unclear", "A"),
    ]
    labelled = apply_labels(mined(("a", "DT"), ("b", "JJ"), ("c", "NN")), table_of(*labels))
    assert labelled.sentences.empty
    assert labelled.left_out == {"conflict": 2, "unclear": 1}


def test_a_decision_replaces_what_others_say_of_the_same_thing():
    labels = [
        label("sequence", "DT", "positive", "A"),
        label("sequence", "DT", "negative", "B"),
        label("sequence", "DT", "negative", f"C{DECIDES}"),
        label("sentence", "b", "positive", "A"),
        label("sentence", "c", "positive", "B"),
        label("sentence", "c", "positive", f"D{DECIDES}"),
        label("sequence", "JJ", "unclear", f"C{DECIDES}"),
        label("sequence", "NN", "positive", f"C{DECIDES}"),
        label("sequence", "NN", "negative", f"D{DECIDES}"),
    ]
    rows = [("a", "DT"), ("b", "DT"), ("c", "DT"), ("d", "JJ"), ("e", "NN")]
    labelled = apply_labels(mined(*rows), table_of(*labels))
    # "b" has a label of its own, so that the decision about its sequence is not one about it.
    assert labelled.sentences[["id", "label"]].to_numpy().tolist() == [["a", "negative"], ["c", "positive"]]
    assert labelled.left_out == {"conflict": 2, "unclear": 1}


def labelled_table(sizes: dict[str, list[int]]) -> pd.DataFrame:
    """Make, for each label, sequences of so many sentences."""
    rows = [
        {
            "id": f"{name}{place}.{number}",
            "text": "t",
            "url": f"u{number}",
            "tags": f"{name} {place}",
            "matched": [],
            "slots": [],
            "label": name,
        }
        for name, counts in sizes.items()
        for place, count in enumerate(counts)
        for number in range(count)
    ]
    return pd.DataFrame(rows).assign(start=0, end=1, length=range(sum(map(sum, sizes.values()))))


SIZES = st.lists(st.integers(1, 4), min_size=3, max_size=12)


@settings(max_examples=15)
@given(SIZES, SIZES, st.integers(2, 3), st.integers(0, 5))
def test_no_sequence_is_in_both_parts_and_both_have_both_labels(positive, negative, folds, seed):
    table = labelled_table({"positive": positive, "negative": negative})
    divided = split_sequences(table, folds, seed, documents_apart=False)
    assert sorted(divided["id"]) == sorted(table["id"])
    assert (divided.groupby("cluster_template")["split"].nunique() == 1).all()
    assert set(divided.groupby("split")["label"].nunique()) == {2}
    clusters = ["cluster_template", "cluster_document", "cluster_source"]
    assert divided.columns.tolist() == ["id", "text", "label", "split", "length", *clusters]
    shuffled = table.sample(frac=1, random_state=seed)
    pd.testing.assert_frame_equal(split_sequences(shuffled, folds, seed, documents_apart=False), divided)


def alike(table: pd.DataFrame) -> list[set[str]]:
    """Return the groups of sentences that must stay together, by looking at all pairs until nothing changes."""
    groups = [{one} for one in table["id"]]
    own = table.set_index("id")
    for first, second in itertools.combinations(table["id"], 2):
        if own["tags"][first] == own["tags"][second] or own["url"][first] == own["url"][second]:
            linked = [group for group in groups if group & {first, second}]
            groups = [group for group in groups if group not in linked] + [set().union(*linked)]
    return groups


@settings(max_examples=15)
@given(SIZES, SIZES, st.integers(10, 40), st.integers(0, 5))
def test_documents_that_are_kept_apart_take_all_that_is_linked_to_them_along(positive, negative, urls, seed):
    table = labelled_table({"positive": positive, "negative": negative})
    table["url"] = [f"u{number}" for number in np.random.default_rng(seed).integers(0, urls, len(table))]
    groups = alike(table)
    labels = table.set_index("id")["label"]
    mixed = any(labels[list(group)].nunique() == 2 for group in groups)
    if min(sum(one in set(labels[list(group)]) for group in groups) for one in ("positive", "negative")) < 2:
        with pytest.raises(DataError, match="labelled sequences that share no document"):
            split_sequences(table, 2, seed, documents_apart=True)
        return
    with contextlib.suppress(DataError) if mixed else contextlib.nullcontext():  # a group of both labels may not divide
        parts = split_sequences(table, 2, seed, documents_apart=True).set_index("id")["split"]
        assert all(parts[list(group)].nunique() == 1 for group in groups)
        assert set(labels.groupby(parts).nunique()) == {2}


@pytest.mark.parametrize(
    ("url", "document", "source"),
    [
        ("networkx==3.4/networkx/_base.py#12", "networkx==3.4/networkx/_base.py", "networkx==3.4"),
        ("https://Blog.example.org/a?b=c==d/#e", "https://Blog.example.org/a?b=c==d/", "blog.example.org"),
        ("austen/emma.txt", "austen/emma.txt", "austen/emma.txt"),
        ("", "", ""),
    ],
)
def test_sentences_are_clustered_by_document_and_source(url, document, source):
    table = labelled_table({"positive": [1] * 4, "negative": [1] * 4}).assign(url=url)
    divided = split_sequences(table, 2, 1, documents_apart=False)
    assert set(divided["cluster_document"]) == {document}
    assert set(divided["cluster_source"]) == {source}


def test_too_few_sequences_of_a_label_are_an_error_that_counts_them():
    table = labelled_table({"positive": [1, 1], "negative": [5]})
    with pytest.raises(DataError, match=r"1 negative; with recognition\.make\.labels\.folds = 2 each label needs at"):
        split_sequences(table, 2, 1, documents_apart=False)
