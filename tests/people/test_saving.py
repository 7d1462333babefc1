import threading

import pytest
from labelling_desk import mined, session

from cxprobe.errors import ConstructionError
from cxprobe.people.labels import Label, read_labels, with_label, write_labels
from cxprobe.people.page import SavedSession


def saved(folder, clock=lambda: 0.0) -> SavedSession:
    return SavedSession(session(), folder / "labels.tsv", clock)


def test_every_answer_is_in_the_file_at_once(tmp_path):
    one = saved(tmp_path)
    for number, text in enumerate(("p", "n", "1u"), start=1):
        one.say(text)
        assert len(read_labels(tmp_path / "labels.tsv")) == number
    one.say("z")
    assert set(read_labels(tmp_path / "labels.tsv")) == set(one.session.labels)
    assert len(one.session.labels) == 2


def test_what_changes_no_label_writes_nothing(tmp_path):
    one = saved(tmp_path)
    for text in ("s", "b", "g 2", "/cat", "nonsense", "z"):
        one.say(text)
    assert not (tmp_path / "labels.tsv").exists()


def test_what_others_have_written_meanwhile_stays(tmp_path):
    path, one = tmp_path / "labels.tsv", saved(tmp_path)
    one.say("p")
    theirs = Label("sequence", one.session.groups[1].tags, "negative", "Bo", "2026-01-31")
    write_labels(with_label(read_labels(path), theirs), path)
    one.say("n")
    assert {(label.who, label.label) for label in read_labels(path)} == {
        ("Ann", "positive"),
        ("Ann", "negative"),
        ("Bo", "negative"),
    }
    one.say("z")
    one.say("z")
    assert read_labels(path) == [theirs]


def test_a_file_that_somebody_has_damaged_is_told_and_left_as_it_is(tmp_path):
    one = saved(tmp_path)
    (tmp_path / "labels.tsv").write_text("<<<<<<< HEAD\n")
    with pytest.raises(ConstructionError, match=r"labels\.tsv, line 1"):
        one.say("p")
    assert one.session.left == 4
    assert (tmp_path / "labels.tsv").read_text() == "<<<<<<< HEAD\n"


def test_an_answer_reaches_only_the_sentences_that_were_shown(tmp_path):
    one = saved(tmp_path)
    assert not one.say("p", shown=1).refused
    again = one.say("n", shown=1)
    assert again.refused
    assert "nothing was done" in again.said
    assert {label.label for label in read_labels(tmp_path / "labels.tsv")} == {"positive"}


def test_of_answers_that_arrive_at_the_same_time_none_is_lost(tmp_path):
    table = mined(5)
    one = SavedSession(session(table=table), tmp_path / "labels.tsv")
    threads = [threading.Thread(target=one.say, args=("p",)) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(read_labels(tmp_path / "labels.tsv")) == 5
    assert one.session.left == 0


def test_the_time_for_a_group_runs_from_when_it_is_shown(tmp_path):
    moments = iter([0.0, 10.0, 10.0, 25.0, 30.0, 30.0])
    one = saved(tmp_path, lambda: next(moments))
    one.say("p")
    one.say("1n")
    one.say("n")
    assert [step.seconds for step in one.session.history] == [10.0, None, 20.0]
