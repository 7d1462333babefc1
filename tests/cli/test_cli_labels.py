"""The commands of labelling, run as a person runs them, with answers typed."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import pytest
from labelling_desk import TAGS, mined
from quick_python import quick_python
from typer.testing import CliRunner

from conftest import ROOT, change_params, project_environment, save_toy_tagger, shrink, write_toy_construction
from cxprobe.cli import app
from cxprobe.files.tables import write_table
from cxprobe.people.labels import PersonLabel, read_labels, write_labels

LABELS = "constructions/toy/labels.tsv"


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project in which four sequences were mined from a small corpus, as the working directory."""
    write_toy_construction(tmp_path / "constructions")
    change_params(tmp_path, ROOT / "params.yaml", settings)
    save_toy_tagger(tmp_path / "tagger")
    table = mined(4).assign(length=10, second_start=5)  # the features of the toy construction
    write_table(table, tmp_path / "data" / "mine_sentences" / "toys" / "toy" / "sentences.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def settings(params: dict) -> None:
    shrink(params)
    params["mining"]["tagger"] = "tagger"


def command(*arguments: str) -> list[str]:
    """Return a command that runs in a process of its own."""
    Path("run.py").write_text("from cxprobe.cli import app; app()")
    return [f"{quick_python()}/python", "run.py", *arguments]


def run(answers: str, *arguments: str) -> SimpleNamespace:
    done = CliRunner().invoke(app, list(arguments), input=answers)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return SimpleNamespace(code=done.exit_code, out=done.stdout, err=done.stderr)


def test_two_people_label_resume_and_are_compared(project):
    first = run("what\nz\np\nq\n", "label", "toy", "--who", "Ann")
    assert first.code == 0, first.err
    assert "'what' is not an answer: p positive" in first.out
    assert f"3 sequences left; the labels are in {LABELS}" in first.out
    assert "0 sequences left" in run("n\nn\nn\n", "label", "toy", "--who", "Ann").out
    run("p\np\nn\nn\n", "label", "toy", "--who", "Bo")
    lines = (project / LABELS).read_text().splitlines()
    assert len(lines) == 9
    assert lines[1:] == sorted(lines[1:])
    compared = run("", "agreement", "toy").out
    assert "Ann and Bo: 3 of 4 alike, kappa 0.500" in compared
    assert "Ann: negative, Bo: positive" in compared
    assert re.search(r"\n  .*the red cat runs, the fast dog sings\.\thttps://example\.org/\d+#0\n", compared)


def test_precision_and_what_is_left_to_find_are_printed_after_a_session_and_with_agreement(project):
    said = run("q\n", "label", "toy", "--who", "Ann").out
    assert "precision is not known" in said
    assert "0 positive, 0 negative; with recognition.make.labels.folds = 2 each label needs at least 2" in said
    first = run("p\nn\nq\n", "label", "toy", "--who", "Ann")
    lines = first.out.splitlines()[-3:]
    assert "each label needs at least 2" in first.out
    assert re.fullmatch(
        r"precision 0\.50 \[0\.\d\d, 0\.\d\d\], n = 4: the first 2 of 4 sequences in random order, unclear .*", lines[0]
    )
    assert lines[1] == "instances among all: 4 [2, 6] of 8 sentences"
    assert lines[2] == "instances among those nobody has labelled: 2 [0, 4] of 4 sentences"
    assert run("", "agreement", "toy").out.splitlines()[-3:] == lines


def test_a_third_person_decides_what_two_label_differently(project):
    said = run("p\np\nn\nn\n", "label", "toy", "--who", "Ann").out
    assert "\n4 sentences would test a probe; some 40 are wanted for an interval of 15 points to each side" in said
    assert "\n  length: 2 sentences would test its probe\n" in said
    run("p\nn\np\nn\n", "label", "toy", "--who", "Bo")
    assert "2 to decide" in run("", "agreement", "toy").out
    refused = run("", "agreement", "toy", "--decide", "--who", "Bo")
    assert refused.code == 2
    assert "Bo is one of those who disagree" in refused.err
    decided = run("p\nz\np\nn\n", "agreement", "toy", "--decide", "--who", "Cy")
    assert "Ann: positive\nBo: negative\n" in decided.out
    assert "0 decisions left" in decided.out
    decisions = [(one.who, one.label) for one in read_labels(project / LABELS) if "Cy" in one.who]
    assert sorted(decisions) == [("Cy (decides)", "negative"), ("Cy (decides)", "positive")]
    after = run("", "agreement", "toy").out
    assert "to decide" not in after
    assert "Ann and Bo: 2 of 4 alike, kappa 0.000" in after
    assert "there is nothing to decide" in run("", "agreement", "toy", "--decide", "--who", "Cy").out


def test_people_who_labelled_nothing_alike_are_not_compared(project):
    targets = {"A": (TAGS, "XX"), "B": (TAGS,), "C": ("YY",)}
    write_labels(
        [PersonLabel("sequence", tags, "positive", who, "2026-01-31") for who in targets for tags in targets[who]],
        project / LABELS,
    )
    said = run("", "agreement", "toy").out
    assert "A and B: 1 of 1 alike" in said
    assert " C" not in said
    assert "nothing to compare" not in said
    write_labels([one for one in read_labels(project / LABELS) if one.who != "B"], project / LABELS)
    assert "nothing was labelled by two people; there is nothing to compare" in run("", "agreement", "toy").out


def test_conflicts_are_listed_without_the_mined_sentences_too(project):
    said = (("A", "positive"), ("B", "negative"))
    labels = [PersonLabel("sequence", tags, label, who, "2026-01-31") for who, label in said for tags in (TAGS, "XX")]
    write_labels(labels, project / LABELS)
    assert "1 conflicts more are about what this corpus does not have" in run("", "agreement", "toy").out
    (project / "data" / "mine_sentences" / "toys" / "toy" / "sentences.parquet").unlink()
    shown = run("", "agreement", "toy").out
    assert f"sequence\t{TAGS}\tA: positive, B: negative" in shown
    assert "the sentences are not shown" in shown
    assert "`dvc repro mine_sentences` makes it" in run("", "label", "toy", "--who", "Ann").err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["label", "toy", "--who", "Cy (decides)"], "decisions are made by `cxprobe agreement toy --decide`"),
        (["label", "toy", "--who", "A\tB"], "a name of printable characters is needed"),
        (["agreement", "toy", "--browser"], "--browser goes with --decide"),
    ],
)
def test_what_does_not_fit_is_told(project, arguments, message):
    done = run("", *arguments)
    assert done.code == 2
    assert message in done.err
    assert not (project / LABELS).exists()


@pytest.mark.pipeline
def test_on_a_terminal_one_key_answers_without_enter(project):
    """In a process of its own, on a terminal of its own."""
    words = command("label", "toy", "--who", "Ann")
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(words[0], words, project_environment(ROOT) | {"TERM": "xterm"})
    seen = ""
    for keys, expected in (
        ("", "1 of 4"),
        ("p", "2 of 4"),
        ("2n", "sentence 2 is negative"),
        ("z", "undone"),
        ("u", "3 of 4"),
        ("g4\r", "4 of 4"),
        ("q", "2 sequences left"),
    ):
        os.write(terminal, keys.encode())
        seen = read_until(terminal, expected)
    assert os.waitpid(pid, 0)[1] == 0, seen
    assert sorted(one.label for one in read_labels(project / LABELS)) == ["positive", "unclear"]


def read_until(terminal: int, expected: str) -> str:
    """Return what a terminal shows until it shows a text and the program waits for a key, or has ended."""
    seen = ""
    while expected not in seen or termios.tcgetattr(terminal)[3] & termios.ICANON:
        if select.select([terminal], [], [], 0.02)[0]:
            try:
                seen += os.read(terminal, 1 << 16).decode(errors="replace")
            except OSError:  # the program has ended
                assert expected in seen, seen
                return seen
    return seen


@pytest.mark.pipeline
@pytest.mark.parametrize(("ends", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 128 + signal.SIGTERM)])
def test_the_browser_gets_an_address_and_a_signal_ends_the_program(project, ends, code):
    process = subprocess.Popen(
        [sys.executable, *command("label", "toy", "--who", "Ann", "--browser")[1:]],
        env=project_environment(ROOT),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    address = re.fullmatch(r"label at (http://127\.0\.0\.1:\d+/\S+/)\n", process.stdout.readline())[1]
    body = json.dumps({"text": "p", "shown": 1}).encode()
    request = urllib.request.Request(f"{address}answer", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as reply:
        assert json.load(reply)["left"] == 3
    assert len(read_labels(project / LABELS)) == 1
    process.send_signal(ends)
    out, err = process.communicate()
    assert process.returncode == code, err
    assert address.split("/")[-2] not in out + err  # the secret was said once, and not with each request
    assert ("3 sequences left" in out) == (ends == signal.SIGINT)
    assert "Traceback" not in err
