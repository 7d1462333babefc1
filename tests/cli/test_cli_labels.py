"""The commands of labelling, run as a person runs them: in a process of its own, with answers typed."""

import subprocess
import sys

import pandas as pd

from conftest import ROOT, change_params, project_environment, shrink, write_toy_construction


def label(folder, answers: str, command: str = "label", *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from cxprobe.cli import app; app()", command, "toy", *options],
        cwd=folder,
        input=answers,
        env=project_environment(ROOT),
        capture_output=True,
        text=True,
        check=False,
    )


def prepare(folder) -> None:
    write_toy_construction(folder / "constructions")
    change_params(folder, ROOT / "presets" / "embedded.yaml", shrink)
    rows = [{"id": f"mined-{n}", "text": f"Sentence {n}.", "tags": f"DT {['NN', 'VB'][n % 2]}"} for n in range(4)]
    (folder / "data" / "mine_sentences" / "toy").mkdir(parents=True)
    pd.DataFrame(rows).to_parquet(folder / "data" / "mine_sentences" / "toy" / "sentences.parquet")


def test_two_people_label_resume_and_are_compared(tmp_path):
    prepare(tmp_path)
    first = label(tmp_path, "what\nz\np\nq\n", "label", "--who", "Ann")
    assert first.returncode == 0, first.stderr
    assert "'what' is not an answer: p positive" in first.stdout
    assert "1 sequences left; the labels are in constructions/toy/labels.tsv" in first.stdout
    assert "0 sequences left" in label(tmp_path, "n\n", "label", "--who", "Ann").stdout
    label(tmp_path, "p\np\n", "label", "--who", "Bo")
    lines = (tmp_path / "constructions" / "toy" / "labels.tsv").read_text().splitlines()
    assert len(lines) == 5
    assert lines[1:] == sorted(lines[1:])
    compared = label(tmp_path, "", "agreement").stdout
    assert "Ann and Bo: 1 of 2 alike, kappa 0.000" in compared
    assert "Ann: negative, Bo: positive" in compared


def test_what_was_not_mined_cannot_be_labelled(tmp_path):
    prepare(tmp_path)
    (tmp_path / "data" / "mine_sentences" / "toy" / "sentences.parquet").unlink()
    done = label(tmp_path, "", "label", "--who", "Ann")
    assert done.returncode == 2
    assert "`dvc repro mine_sentences` makes it" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_mistyped_construction_is_told_and_makes_no_folder(tmp_path):
    prepare(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", "from cxprobe.cli import app; app()", "label", "tyo"],
        cwd=tmp_path,
        env=project_environment(ROOT),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "constructions/tyo/construction.yaml: there is no such file" in done.stderr
    assert not (tmp_path / "constructions" / "tyo").exists()
