"""The commands by which people judge, run as a person runs them: with answers typed, and with tables."""

import csv
from pathlib import Path
from types import SimpleNamespace

import pytest
from labelling_desk import mined
from typer.testing import CliRunner

from conftest import PEOPLE, ROOT, change_params, save_toy_tagger, shrink, write_toy_construction
from cxprobe.cli import app
from cxprobe.files.tables import write_table
from cxprobe.labels.labels import read_labels

LABELS = Path("constructions/toy/labels.tsv")


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    """A project in which four sequences were mined from a small corpus, as the working directory."""
    write_toy_construction(tmp_path / "constructions")
    (tmp_path / "lexicon").mkdir()
    (tmp_path / "lexicon" / "people.yaml").write_text(PEOPLE)
    change_params(tmp_path, ROOT / "params.yaml", settings)
    save_toy_tagger(tmp_path / "tagger")
    table = mined(4).assign(length=10, second_start=5)  # the features of the toy construction
    write_table(table, tmp_path / "data" / "mine_sentences" / "toys" / "toy" / "sentences.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def settings(params: dict) -> None:
    shrink(params)
    params["mining"]["tagger"] = "tagger"


def run(answers: str, *arguments: str) -> SimpleNamespace:
    done = CliRunner().invoke(app, list(arguments), input=answers)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return SimpleNamespace(code=done.exit_code, out=done.stdout, err=done.stderr)


def test_two_people_label_resume_and_are_compared():
    first = run("what\nz\np\nq\n", "label", "toy", "--who", "Ann")
    assert first.code == 0, first.err
    assert "'what' is not an answer: p positive" in first.out
    assert "Positive: each half is a clause" in first.out
    assert "**the** red cat runs, **the** fast dog sings." in first.out
    assert f"3 of 4 left; the labels are in {LABELS}" in first.out
    assert "0 of 4 left" in run("n\nn\nn\n", "label", "toy", "--who", "Ann").out
    compared = run("p\np\nn\nn\n", "label", "toy", "--who", "Bo").out
    assert "4 have labels of several people, Krippendorff's alpha 0.533" in compared
    assert "1 to decide: `cxprobe label toy --who 'NAME (decides)'`" in compared
    assert len(read_labels(LABELS)) == 8


def test_how_far_the_labels_suffice_and_how_precise_the_pattern_is_are_said_with_every_answer():
    said = run("p\nn\nq\n", "label", "toy", "--who", "Ann").out
    assert "0 positive, 0 negative; with recognition.make.labels.folds = 2 each label needs at least 2" in said
    assert said.count("precision 0.50 [0.") == 2  # beside the third sequence, and at the end
    assert said.count("instances among all: 4 [2, 6] of 8 sentences") == 2
    said = run("p\np\nn\nn\n", "label", "toy", "--who", "Bo").out
    assert "\n4 sentences would test a probe; some 40 are wanted for an interval of 15 points to each side" in said
    assert "\n  length: 2 sentences would test its probe\n" in said


def test_a_third_person_decides_what_two_label_differently():
    run("p\np\nn\nn\n", "label", "toy", "--who", "Ann")
    run("p\nn\np\nn\n", "label", "toy", "--who", "Bo")
    decided = run("p\nz\np\nn\n", "label", "toy", "--who", "Cy (decides)").out
    assert "Ann: positive\nBo: negative\n" in decided
    decisions = [(one.who, one.label) for one in read_labels(LABELS) if "Cy" in one.who]
    assert sorted(decisions) == [("Cy (decides)", "negative"), ("Cy (decides)", "positive")]
    after = run("", "label", "toy", "--who", "Cy (decides)").out
    assert "0 of 0 left" in after
    assert "to decide" not in after


def fill_in(file: str, column: str, values: dict[int, str]) -> None:
    """Write values into rows of a table, by their numbers, as a spreadsheet does."""
    with Path(file).open(newline="") as read:
        rows = list(csv.reader(read, delimiter="\t"))
    for number, value in values.items():
        rows[number][rows[0].index(column)] = value
    with Path(file).open("w", newline="") as written:
        csv.writer(written, delimiter="\t").writerows(rows)  # with the line ends of Windows


def test_labels_go_through_a_spreadsheet_and_twice_changes_nothing():
    for who, labels in (("Ann", {1: "positive", 2: "negative", 4: "unclear"}), ("Bo", {1: "positive"})):
        assert run("", "label", "toy", "--who", who, "--export", "labels.tsv").code == 0
        fill_in("labels.tsv", "label", labels)
        done = run("", "label", "toy", "--who", who, "--import", "labels.tsv")
        assert done.code == 0, done.err
    assert "1 have labels of several people" in done.out
    known = read_labels(LABELS)
    assert sorted((one.who, one.kind, one.label) for one in known) == [
        ("Ann", "sentence", "negative"),
        ("Ann", "sequence", "positive"),
        ("Ann", "sequence", "unclear"),
        ("Bo", "sequence", "positive"),
    ]
    before = LABELS.read_bytes()
    assert run("", "label", "toy", "--who", "Bo", "--import", "labels.tsv").code == 0
    assert LABELS.read_bytes() == before
    fill_in("labels.tsv", "label", {4: "negative", 5: "yes"})
    refused = run("", "label", "toy", "--who", "Bo", "--import", "labels.tsv")
    assert (refused.code, LABELS.read_bytes()) == (2, before)
    assert "labels.tsv, line 6: label 'yes' is unknown" in refused.err


def test_what_cannot_be_labelled_is_told():
    assert "a name of printable characters is needed" in run("", "label", "toy", "--who", "A\tB").err
    Path("data/mine_sentences/toys/toy/sentences.parquet").unlink()
    assert "`dvc repro mine_sentences` makes it" in run("", "label", "toy", "--who", "Ann").err
    assert not LABELS.exists()
