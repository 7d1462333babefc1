"""What a page tells to do, done: a construction, a treebank as a corpus, and the commands for files."""

import re
import shutil
import subprocess

import pytest
from typer.testing import CliRunner
from whole_project import change
from written_pages import fences

from conftest import ROOT, write_toy_files
from cxprobe.cli import app
from cxprobe.corpora.params import Corpus
from cxprobe.corpora.readers import read_shard

PAGE = ROOT / "docs" / "tutorials" / "construction.md"


@pytest.fixture
def project(tmp_path, monkeypatch):
    """The folder of a small project in which the tutorial was followed up to `cxprobe check`."""
    write_toy_files(tmp_path)
    shutil.copytree(ROOT / "lexicon", tmp_path / "lexicon", dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["add", "construction", "benefactive"])
    assert done.exit_code == 0, done.output
    for words in re.findall(r"^ {4}rm (.*)$", PAGE.read_text(), re.M):
        subprocess.run(["rm", *words.split()], check=True)
    names = re.findall(r"Replace the content of `(constructions/[\w/.-]+)`", PAGE.read_text())
    for name, text in zip(names, fences(PAGE, "yaml"), strict=False):
        (tmp_path / name).write_text(text)
    assert sorted(path.name for path in (tmp_path / "constructions" / "benefactive").iterdir()) == [
        "construction.yaml",
        "contrasts.yaml",
        "form_pairs.yaml",
    ]
    return tmp_path


def test_the_construction_of_the_tutorial_is_without_fault(project):
    change(project, lambda params: params["contrasts"]["constructions"].append("benefactive"))
    change(project, lambda params: params["pairs"]["constructions"].append("benefactive-form"))
    done = CliRunner().invoke(app, ["check"])
    assert done.exit_code == 0, done.output


def test_the_construction_of_the_tutorial_is_compared_in_each_condition_and_wording(project):
    typed = ["compare", "benefactive", "--frames", "2", "--model", "mini-clm"]
    done = CliRunner().invoke(app, [*typed, "--try"])
    assert done.exit_code == 0, done.output
    assert {"rival_near", "one-who", "it-was"} <= {*done.stdout.split()}
    assert "unseen" not in CliRunner().invoke(app, typed).stderr
    path = project / "constructions/benefactive/contrasts.yaml"
    path.write_text(path.read_text().replace("near {theme}", "beside {theme}"))
    assert (
        "2 of these frames were asked before the questions or conditions changed"
        in CliRunner().invoke(app, typed).stderr
    )


def test_the_contrasts_with_two_contexts_of_the_tutorial_are_without_fault_and_are_compared(project):
    [text] = [one for one in fences(PAGE, "yaml") if "a stretch of time" in one]
    path = project / "constructions/benefactive/contrasts.yaml"
    path.write_text(text)
    done = CliRunner().invoke(app, ["check", "benefactive"])
    assert done.exit_code == 0, done.output
    done = CliRunner().invoke(app, ["compare", "benefactive", "--try", "--frames", "2", "--model", "mini-clm"])
    assert done.exit_code == 0, done.output
    assert "--try asks the rows of frames; a verdict takes --all --frames 16, without --try" in done.stdout
    plain = "for all of the {time}, not for part of it"
    path.write_text(text.replace(plain, "for all of the {time}").replace("The {doing}", "The {doin}"))
    message = CliRunner().invoke(app, ["check", "benefactive"]).stderr
    assert message.count("'doin'") == 1
    path.write_text(text.replace(plain, "for all of the {time}"))
    message = CliRunner().invoke(app, ["check", "benefactive"]).stderr
    assert "name an answer in both contexts of a pair, or in neither" in message


CORPUS = ROOT / "docs" / "tutorials" / "corpus.md"


def test_the_command_for_treebanks_writes_each_sentence_as_a_paragraph(tmp_path):
    [command] = re.findall(r"`(sed [^`]+)`", CORPUS.read_text())
    for name, text in {"dev": "Give her it", "train": "the # text = is kept"}.items():
        lines = [
            "# newdoc id = a",
            f"# text = {text}",
            "# text_en = Another one",
            "1\tGive\tgive",
            "2\tthe\tthe",
            "",
            "",
        ]
        (tmp_path / f"{name}.conllu").write_text("\n".join(lines))
    subprocess.run(command, shell=True, cwd=tmp_path, check=True)
    records = read_shard(Corpus(folder=str(tmp_path)), "treebank.txt", longest=1000)
    assert [record.text.strip() for record in records] == ["Give her it", "the # text = is kept"]


SCORING = ROOT / "docs" / "howto" / "score-a-file.md"


def test_the_commands_for_files_run_one_after_the_other(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in re.findall(r"Save as `([\w.]+)`[^\n]*\n\n```text\n(.*?)^```", SCORING.read_text(), re.M | re.S):
        (tmp_path / name).write_text(text)
    commands = re.findall(r"^ {4}cxprobe (.*)$", SCORING.read_text(), re.M)
    for command in commands:
        done = CliRunner().invoke(app, command.split())
        assert done.exit_code == 0, (command, done.output)
    written = {path.name for path in tmp_path.iterdir()}
    assert {"sentences.txt", "pairs.tsv", "tokens.csv", "scores.tsv", "decisions.tsv"} == written
