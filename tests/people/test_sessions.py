import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from labelling_desk import mined, session

from cxprobe.errors import ConstructionError
from cxprobe.people.labels import PersonLabel, read_labels, with_label, write_labels
from cxprobe.people.mined import group_sentences
from cxprobe.people.sessions import SavedSession, Session, apply_answer


def say(start: Session, *answers: str) -> Session:
    for text in answers:
        start = apply_answer(start, text)
        assert not start.refused, start.said
    return start


def test_the_order_is_shuffled_by_the_seed_and_by_nothing_else():
    orders = {seed: [group.tags for group in group_sentences(mined(5), seed)] for seed in range(4)}
    assert len({tuple(order) for order in orders.values()}) > 1
    shuffled = mined(5).sample(frac=1, random_state=0)
    assert [group.tags for group in group_sentences(shuffled, 1)] == orders[1]
    fewer = [tags for tags in orders[1] if tags in set(mined(3)["tags"])]
    assert [group.tags for group in group_sentences(mined(3), 1)] == fewer


def test_labelling_goes_on_where_it_stopped():
    first = say(session(), "p", "n")
    again = session(first.labels)
    assert len(again.unlabelled) == 2
    assert again.current == first.current
    assert len(session(first.labels, who="Bo").unlabelled) == 4


def test_a_label_of_a_single_sentence_leaves_the_sequence_to_be_labelled():
    start = session()
    after = say(start, "2n")
    assert after.labels == (PersonLabel("sentence", start.current.shown[1].id, "negative", "Ann", "2026-01-31"),)
    assert after.current == start.current


def test_undo_brings_back_what_was_there_before_and_shows_it():
    one = say(session(), "p", "1u", "1n")
    assert say(one, "z").labels == say(session(), "p", "1u").labels
    assert say(one, "z", "z", "z") == session()
    assert apply_answer(session(), "z").refused
    relabelled = say(session(), "p", "g 1", "n")
    assert relabelled.labels[0].label == "negative"
    undone = say(relabelled, "z")
    assert (undone.labels[0].label, undone.position) == ("positive", 0)


@given(st.lists(st.sampled_from(["p", "n", "u", "1n", "2p", "s", "b", "g 3", "z"]), max_size=12))
def test_undoing_everything_leaves_the_labels_as_they_were(answers):
    start = after = session([PersonLabel("sequence", mined()["tags"][0], "unclear", "Ann", "2026-01-30")])
    for text in answers:
        after = apply_answer(after, text)
    while after.history:
        after = apply_answer(after, "z")
    assert set(after.labels) == set(start.labels)


@pytest.mark.parametrize(
    "text", ["", "x", "6n", "0p", "pn", "n2", "g", "g x", "g 0", "g 5", "g 99999999999", "/", "3n", "2\x1b"]
)
def test_what_is_no_answer_changes_nothing_and_says_so(text):
    after = apply_answer(session(), text)
    assert after.refused
    assert after.said.isprintable()
    assert after == session()
    assert not apply_answer(after, "p").refused


def test_when_all_is_labelled_nothing_is_shown_but_undo_and_going_back_work():
    end = say(session(), "p", "n", "u", "p")
    assert end.current is None
    assert end.unlabelled == []
    assert apply_answer(end, "p").refused
    assert apply_answer(end, "1p").refused
    assert say(end, "g 2", "p").unlabelled == []
    assert [say(end, text).position for text in ("z", "b", "s")] == [3, 3, 0]


def test_every_answer_is_in_the_file_at_once_beside_what_others_have_written_meanwhile(tmp_path):
    path, saved = tmp_path / "labels.tsv", SavedSession(session(), tmp_path / "labels.tsv")
    saved.say("p")
    assert read_labels(path) == list(saved.session.labels)
    theirs = PersonLabel("sequence", saved.session.groups[1].tags, "negative", "Bo", "2026-01-31")
    write_labels(with_label(read_labels(path), theirs), path)
    saved.say("n")
    assert sorted((label.who, label.label) for label in read_labels(path)) == [
        ("Ann", "negative"),
        ("Ann", "positive"),
        ("Bo", "negative"),
    ]
    saved.say("z")
    saved.say("z")
    assert read_labels(path) == [theirs]


def test_a_file_that_somebody_has_damaged_is_told_and_left_as_it_is(tmp_path):
    saved = SavedSession(session(), tmp_path / "labels.tsv")
    (tmp_path / "labels.tsv").write_text("<<<<<<< HEAD\n")
    with pytest.raises(ConstructionError, match=r"labels\.tsv, line 1"):
        saved.say("p")
    assert len(saved.session.unlabelled) == 4
    assert (tmp_path / "labels.tsv").read_text() == "<<<<<<< HEAD\n"


def test_an_answer_reaches_only_the_sentences_that_were_shown(tmp_path):
    saved = SavedSession(session(), tmp_path / "labels.tsv")
    assert not saved.say("p", shown=1).refused
    again = saved.say("n", shown=1)
    assert again.refused
    assert "nothing was done" in again.said
    assert {label.label for label in read_labels(tmp_path / "labels.tsv")} == {"positive"}


# Two people who label, as the terminal and the page in the browser do, each in a process of its own.
WRITER = """
import sys
from pathlib import Path
from cxprobe.people.mined import SentenceGroup
from cxprobe.people.sessions import SavedSession, start_session

groups = [SentenceGroup("sequence", f"NN {number}", f"NN {number}", ()) for number in range(250)]
saved = SavedSession(start_session(groups, [], sys.argv[1], "2026-01-31"), Path("toy/labels.tsv"))
print("begun", flush=True)
sys.stdin.readline()
for _ in groups:
    assert not saved.say("p").refused
"""


@pytest.mark.pipeline
def test_of_500_answers_that_two_people_give_at_once_none_is_lost(tmp_path):
    (tmp_path / "toy").mkdir()
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, who], cwd=tmp_path, **pipes) for who in ("Ann", "Bo")]
    assert [writer.stdout.readline() for writer in writers] == ["begun\n"] * 2
    for writer in writers:
        writer.stdin.write("go\n")
        writer.stdin.flush()
    assert [writer.wait() for writer in writers] == [0, 0]
    labels = read_labels(tmp_path / "toy" / "labels.tsv")
    assert Counter(label.who for label in labels) == {"Ann": 250, "Bo": 250}
