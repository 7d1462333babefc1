import pandas as pd
import pytest

from cxprobe.constructions import Label
from cxprobe.labelling import Session, answer, group_sentences


def mined(sequences: int = 4, each: int = 7) -> pd.DataFrame:
    rows = [
        {"id": f"mined-{sequence}-{number}", "text": f"Sentence {number}.", "tags": f"DT NN{sequence}"}
        for sequence in range(sequences)
        for number in range(each)
    ]
    return pd.DataFrame(rows)


def session(labels=(), who="Ann", seed=1) -> Session:
    return Session(group_sentences(mined(), seed), tuple(labels), who, "2026-01-31")


def say(start: Session, *answers: str) -> Session:
    for text in answers:
        after = answer(start, text)
        assert after is not None
        start = after
    return start


def test_five_sentences_of_a_sequence_are_shown():
    group = session().current
    assert group.size == 7
    assert len(group.shown) == 5
    assert all(id_.startswith(f"mined-{group.tags[-1]}") for id_, _ in group.shown)


def test_the_order_is_shuffled_by_the_seed_and_by_nothing_else():
    orders = {seed: [group.tags for group in group_sentences(mined(12), seed)] for seed in (1, 2)}
    assert orders[1] != orders[2] != sorted(orders[2])
    shuffled = mined(12).sample(frac=1, random_state=0)
    assert [group.tags for group in group_sentences(shuffled, 1)] == orders[1]
    fewer = [tags for tags in orders[1] if tags in set(mined(5)["tags"])]
    assert [group.tags for group in group_sentences(mined(5), 1)] == fewer


def test_labelling_goes_on_where_it_stopped():
    first = say(session(), "p", "n")
    again = session(first.labels)
    assert again.left == 2
    assert again.current == first.current
    assert session(first.labels, who="Bo").left == 4


def test_a_label_of_a_single_sentence_leaves_the_sequence_to_be_labelled():
    start = session()
    after = say(start, "2n")
    assert after.labels == (Label("sentence", start.current.shown[1][0], "negative", "Ann", "2026-01-31"),)
    assert after.current == start.current


def test_undo_brings_back_what_was_there_before():
    one = say(session(), "p", "1u", "1n")
    assert say(one, "z").labels == say(session(), "p", "1u").labels
    assert say(one, "z", "z", "z", "z") == session()


@pytest.mark.parametrize("text", ["", "x", "6n", "0p", "pn", "n2"])
def test_what_is_no_answer_changes_nothing(text):
    assert answer(session(), text) is None


def test_when_all_is_labelled_there_is_nothing_left():
    end = say(session(), "p", "n", "u", "p")
    assert end.current is None
    assert end.left == 0
    assert say(end, "p") == end
