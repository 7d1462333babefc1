"""The command ``cxprobe label``, run as a person runs it: with tables that a spreadsheet fills in."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from labelling_desk import TAGS, label, mined, table_of
from typer.testing import CliRunner

from cxprobe.cli import app
from cxprobe.files.tables import write_table
from cxprobe.files.texts import read_texts, write_table_as
from cxprobe.labels import add_labels, read_labels

LABELS = Path("constructions/toy/labels.tsv")
SENTENCES = Path("data/mine_sentences/toys/toy/sentences.parquet")
JUDGEMENTS = {"p": "positive", "n": "negative", "-": ""}


@pytest.fixture(autouse=True)
def project(toy_project):
    """A project in which four sequences were mined from a small corpus, as the working directory."""
    LABELS.unlink()
    table = mined(4).assign(length=10, second_start=5)  # the features of the toy construction
    write_table(table, SENTENCES)


def run(*arguments: str) -> SimpleNamespace:
    done = CliRunner().invoke(app, ["label", "toy", *arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return SimpleNamespace(code=done.exit_code, out=done.stdout, err=done.stderr)


def fill_in(who: str, said: str) -> str:
    """Label the sentences of somebody's table in their order, a letter each, and return what the command prints."""
    exported = run("--who", who, "--export", "labels.csv")
    assert exported.code == 0, exported.err
    assert "Positive: each half is a clause" in exported.out
    sheet = read_texts("labels.csv")
    sheet.loc[sheet["kind"] == "sentence", "label"] = [JUDGEMENTS[one] for one in said]
    write_table_as(sheet, "labels.csv")
    imported = run("--import", "labels.csv")
    assert imported.code == 0, imported.err
    assert run().out == imported.out
    return imported.out


def test_two_people_label_go_on_later_and_are_compared_and_a_third_decides():
    first = fill_in("Ann", "p-------")
    assert "1 labels by Ann\n" in first
    assert "precision" not in first  # the first sequence has a sentence without a label
    assert "8 labels by Ann\n" in fill_in("Ann", "ppnnnnnn")
    compared = fill_in("Bo", "ppppnnnn")
    assert "8 sentences have labels of Ann and Bo, Cohen's kappa 0.500" in compared
    assert "2 sentences are called differently; --who 'NAME (decides)' --export FILE lists them" in compared
    assert "precision 0.38 [" in compared
    assert "instances in all 8 sentences: 3 [3, 3]" in compared
    decided = fill_in("Cy (decides)", "pn")
    assert "are called differently" not in decided
    assert "instances in all 8 sentences: 3 [3, 3]" in decided
    run("--who", "Cy (decides)", "--export", "labels.csv")
    assert len(Path("labels.csv").read_text().splitlines()) == 1  # the header


def test_labels_of_a_program_are_named_as_such_and_agree_with_nobody():
    own = [label("sentence", one, "positive", "model:reader-1") for one in mined(4)["id"]]
    add_labels(LABELS, table_of(*own))
    said = fill_in("Ann", "pppppppp")
    assert "8 labels by model:reader-1 (a program)\n" in said
    assert "8 labels by Ann\n" in said
    assert "kappa" not in said


def test_labels_of_what_was_not_mined_are_counted_apart():
    mined_ones = [label("sequence", TAGS, "positive"), label("sentence", mined(1)["id"][0], "negative")]
    others = [label("sequence", "NN", "positive"), label("sentence", "gone", "positive")]
    add_labels(LABELS, table_of(*mined_ones, *others, label("sentence", TAGS, "positive", "Bo")))
    said = run().out
    assert "2 labels by Ann, and 2 of what is not among the mined sentences\n" in said
    assert "0 labels by Bo, and 1 of what is not among the mined sentences\n" in said


def test_a_fault_of_a_table_that_was_filled_in_changes_nothing():
    fill_in("Ann", "pn------")
    assert read_labels(LABELS)["who"].tolist() == ["Ann"] * 2
    before = LABELS.read_bytes()
    sheet = read_texts("labels.csv")
    sheet.loc[[3, 4], "label"] = ["negative", "yes"]
    write_table_as(sheet, "labels.csv")
    refused = run("--import", "labels.csv")
    assert (refused.code, LABELS.read_bytes()) == (2, before)
    assert "labels.csv, line 6: label: 'yes'" in refused.err
    assert run("--import", "none.tsv").code == 2


def test_what_cannot_be_labelled_is_told():
    assert "--who 'A\\tB'" in run("--who", "A\tB", "--export", "labels.csv").err
    assert "--export needs the name of who labels" in run("--export", "labels.csv").err
    assert not Path("labels.csv").exists()
    SENTENCES.unlink()
    assert "`dvc repro`" in run().err
    assert not LABELS.exists()
