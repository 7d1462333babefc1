"""What a person who labels sees, and what answers do."""

import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from labelling_desk import label, mined, session

from cxprobe.labels.labels import DECIDES, JUDGEMENTS, read_labels
from cxprobe.labels.mined import SentenceGroup, disputes, group_sentences
from cxprobe.labels.sessions import lines_of
from cxprobe.tasks.recognition.sentences import apply_labels


def say(session, *answers: str) -> str:
    return [session.say(text) for text in answers][-1]


def test_the_order_is_shuffled_by_the_seed_and_by_nothing_else():
    orders = {seed: [group.tags for group in group_sentences(mined(5), seed)] for seed in range(4)}
    assert len({tuple(order) for order in orders.values()}) > 1
    shuffled = mined(5).sample(frac=1, random_state=0)
    assert [group.tags for group in group_sentences(shuffled, 1)] == orders[1]
    fewer = [tags for tags in orders[1] if tags in set(mined(3)["tags"])]
    assert [group.tags for group in group_sentences(mined(3), 1)] == fewer


def test_a_label_of_a_single_sentence_leaves_the_sequence_to_be_labelled(tmp_path):
    start = session(tmp_path)
    assert "sentence 2 is negative" in say(start, "2n")
    assert start.labels == [label("sentence", start.groups[0].sentences[1].id, "negative", "Ann")]
    assert (start.position, len(start.left)) == (0, 4)


@pytest.mark.parametrize("text", ["", "x", "6n", "0p", "pn", "n2", "/", "3n", "2\x1b"])
def test_what_is_no_answer_changes_nothing_and_says_so(tmp_path, text):
    start = session(tmp_path)
    said = start.say(text)
    assert "is not an answer" in said or "there is no sentence" in said
    assert said.isprintable()
    assert (start.labels, start.position) == ([], 0)


def test_when_all_is_labelled_it_says_so_and_a_label_can_be_replaced(tmp_path):
    start = session(tmp_path)
    assert say(start, "p", "n", "u", "p").endswith("all are labelled, q ends")
    say(start, "s", "u")
    assert [one.label for one in start.given.values()].count("unclear") == 2
    assert len(start.given) == 4


def test_what_is_shown_has_marked_words_and_own_labels_and_those_of_others_only_to_who_decides(tmp_path):
    known = label("sentence", mined()["id"][0], "negative", "Ann")
    start = session(tmp_path, [known, label("sequence", "x", "unclear", "Bo")])
    position = next(n for n, group in enumerate(start.groups) if group.sentences[0].id == known.target)
    say(start, *["s"] * position, "p", *["b"] * ((start.position - position) % 4))
    start.position = position
    lines = list(lines_of(start, lambda _: [(0, 3)]))
    assert lines[0] == f"\n{position + 1} of 4, 1 labelled"
    assert "You have labelled it positive; a new answer replaces that." in lines
    assert any("**the**" in line and line.endswith("   (negative)") for line in lines)
    assert not any("Bo" in line for line in lines)
    said = {"Ann": "positive", "Bo": "negative"}
    start.groups = tuple(group._replace(others=said) for group in start.groups)
    assert {"Ann: positive", "Bo: negative"} <= set(lines_of(start, lambda _: ()))


def test_disputes_are_what_keeps_a_mined_sentence_from_having_a_label():
    groups = group_sentences(mined(3), 1)
    first, second, third = groups
    differ = {"Ann": "positive", "Bo": "negative"}
    labels = [label("sequence", tags, *said[::-1]) for tags in (first.tags, "not mined") for said in differ.items()]
    labels += [label("sequence", second.tags, "positive", who) for who in differ]
    labels += [label("sentence", second.sentences[1].id, "negative", "Bo")]
    labels += [label("sequence", third.tags, "positive", "Ann")]
    labels += [label("sentence", third.sentences[0].id, "negative", "Ann")]
    one = SentenceGroup("sentence", second.sentences[1].id, second.tags, (second.sentences[1],), differ)
    assert list(disputes(groups, labels)) == [first._replace(others=differ), one]


LABEL = st.tuples(st.integers(0, 5), st.sampled_from(JUDGEMENTS[:2]), st.sampled_from(["Ann", "Bo", f"Cy{DECIDES}"]))


@given(st.lists(LABEL, max_size=14))
def test_when_every_dispute_is_decided_no_sentence_is_left_out_for_a_conflict(drawn):
    table = mined(2)
    groups = group_sentences(table, 1)
    targets = [("sequence", group.tags) for group in groups] + [("sentence", one) for one in table["id"]]
    by_key = {(targets[place], who): (judgement, who) for place, judgement, who in drawn}
    labels = [label(*target, *said) for (target, _), said in by_key.items()]
    rounds = 0
    while found := list(disputes(groups, labels)):
        labels += [label(group.kind, group.target, "positive", f"Dee{DECIDES}") for group in found]
        labels = [one for one in labels if one.who != f"Cy{DECIDES}"]
        rounds += 1
        assert rounds <= 3
    assert "conflict" not in apply_labels(table, labels).left_out


# Two people who label, each in a process of its own.
WRITER = """
import sys
from pathlib import Path
from cxprobe.labels.mined import SentenceGroup
from cxprobe.labels.sessions import Session

groups = [SentenceGroup("sequence", f"NN {number}", f"NN {number}", ()) for number in range(250)]
session = Session(groups, Path("toy/labels.tsv"), sys.argv[1], "2026-01-31")
print("begun", flush=True)
sys.stdin.readline()
for _ in groups:
    session.say("p")
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
