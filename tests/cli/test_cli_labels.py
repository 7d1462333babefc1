"""The command ``cxprobe label``, run as a person runs it: with keys pressed, and with tables."""

from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from labelling_desk import label, mined
from typer.testing import CliRunner

from cxprobe.cli import app
from cxprobe.files.tables import write_table
from cxprobe.labels import add_labels, read_labels

LABELS = Path("constructions/toy/labels.tsv")
SENTENCES = Path("data/mine_sentences/toys/toy/sentences.parquet")


@pytest.fixture(autouse=True)
def project(toy_project):
    """A project in which four sequences were mined from a small corpus, as the working directory."""
    LABELS.unlink()
    table = mined(4).assign(length=10, second_start=5)  # the features of the toy construction
    write_table(table, SENTENCES)


def run(keys: str, who: str, *arguments: str) -> SimpleNamespace:
    done = CliRunner().invoke(app, ["label", "toy", "--who", who, *arguments], input=keys)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return SimpleNamespace(code=done.exit_code, out=done.stdout, err=done.stderr)


def test_two_people_press_keys_go_on_later_and_are_compared_and_a_third_decides():
    first = run("xpq", "Ann")
    assert first.code == 0, first.err
    assert "Positive: each half is a clause" in first.out
    assert "**the** red cat runs, the fast dog sings." in first.out
    assert "p positive, n negative, u unclear, q quit" in first.out
    assert "1 labels by Ann" in first.out
    assert "precision" not in first.out  # the first sequence has a sentence without a label
    assert "8 labels by Ann" in run("pnnnnnn", "Ann").out
    compared = run("ppppnnnn", "Bo").out
    assert "8 sentences have labels of Ann and Bo, Cohen's kappa 0.500" in compared
    assert "2 sentences are called differently; --who 'NAME (decides)' decides" in compared
    assert "precision 0.38 [" in compared
    assert "instances in all 8 sentences: 3 [3, 3]" in compared
    decided = run("pn", "Cy (decides)").out
    assert "are called differently" not in decided
    assert "instances in all 8 sentences: 3 [3, 3]" in decided
    assert "**the**" not in run("", "Cy (decides)").out


def test_a_text_of_a_corpus_cannot_change_the_terminal_of_who_labels():
    table = mined(1).assign(length=10, second_start=5, url="http://a/\x1b[2J")
    table["text"] = table["text"] + "\x1b[8m\u202e\u200b"
    write_table(table, SENTENCES)
    said = run("q", "Ann").out
    assert "sings.\\x1b[8m\\u202e\\u200b\nhttp://a/\\x1b[2J\n" in said


def test_labels_of_a_program_are_named_as_such_and_agree_with_nobody():
    add_labels(LABELS, [label("sentence", one, "positive", "model:reader-1") for one in mined(4)["id"]])
    said = run("pppppppp", "Ann").out
    assert "8 labels by model:reader-1 (a program)\n" in said
    assert "8 labels by Ann\n" in said
    assert "kappa" not in said


def test_labels_go_through_a_spreadsheet_and_a_fault_of_it_changes_nothing():
    assert run("", "Ann", "--export", "labels.tsv").code == 0
    sheet = pd.read_csv("labels.tsv", sep="\t", dtype=str, keep_default_na=False)
    sheet.loc[[0, 1, 3], "label"] = ["positive", "negative", "unclear"]
    sheet.to_csv("labels.tsv", sep="\t", index=False)
    done = run("", "Ann", "--import", "labels.tsv")
    assert done.code == 0, done.err
    assert read_labels(LABELS)["who"].tolist() == ["Ann"] * 3
    before = LABELS.read_bytes()
    sheet.loc[[3, 4], "label"] = ["negative", "yes"]
    sheet.to_csv("labels.tsv", sep="\t", index=False)
    refused = run("", "Ann", "--import", "labels.tsv")
    assert (refused.code, LABELS.read_bytes()) == (2, before)
    assert "labels.tsv, line 6: label: 'yes'" in refused.err
    assert run("", "Ann", "--import", "none.tsv").code == 2


def test_what_cannot_be_labelled_is_told(monkeypatch):
    assert "A\\tB" in run("", "A\tB").err
    monkeypatch.setattr("typer.getchar", lambda: Path("/nowhere/tty").read_text())
    assert "keys are read from a terminal; without one use --export and --import" in run("", "Ann").err
    SENTENCES.unlink()
    assert "`dvc repro`" in run("", "Ann").err
    assert not LABELS.exists()
