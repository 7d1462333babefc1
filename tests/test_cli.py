import shutil

import pytest

from conftest import PEOPLE, ROOT, change_params, run, shrink, write_toy_construction, write_toy_labels
from cxprobe import cli


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A project's folder with all that `cxprobe check` reads, and frames to be written."""
    write_toy_construction(tmp_path / "constructions")
    write_toy_labels(tmp_path / "constructions")
    (tmp_path / "lexicon").mkdir()
    (tmp_path / "lexicon" / "people.yaml").write_text(PEOPLE)
    shutil.copytree(ROOT / "prompts", tmp_path / "prompts")

    def change(params):
        shrink(params)
        params["grid"]["frames"] = {"llms": ["mock"], "constructions": ["toy"]}

    change_params(tmp_path, ROOT / "presets" / "embedded.yaml", change)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_check_accepts_a_project_that_is_as_it_should_be(project):
    assert "as they should be" in run(project, "cxprobe", "check").stdout


def test_check_tells_a_shared_content_word_and_exits_with_2(project):
    grammar = project / "constructions" / "toy" / "test.cfg"
    grammar.write_text(grammar.read_text().replace("'king'", "'cat'"))
    done = run(project, "cxprobe", "check", check=False)
    assert done.returncode == 2
    assert "line 8: 'cat' (NOUN) is also in constructions/toy/train.cfg, line 8 (NOUN)" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_second_construction_needs_no_python(project, tmp_path):
    write_toy_construction(tmp_path)
    (tmp_path / "toy").rename(project / "constructions" / "other")
    params = project / "params.yaml"
    params.write_text(params.read_text().replace("- toy", "- toy\n    - other").replace("[toy]", "[toy, other]"))
    assert "as they should be" in run(project, "cxprobe", "check").stdout


def test_check_reads_what_is_asked_and_how(folder, capsys):
    cli.check()
    assert "as they should be" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("constructions/toy/items.yaml", "{OBJ} {OBJ:was}", "{OJB} {OBJ:was}", "slot OJB is not in slots"),
        ("params.yaml", "short, expert]", "short, exprt]", "prompt 'exprt' is unknown; did you mean 'expert'?"),
        ("params.yaml", "plain-unsure]", "plain-sure]", "prompt 'plain-sure' is unknown"),
        ("params.yaml", ", verdict]", ", verdit]", "continuation 'verdit' is unknown; did you mean 'verdict'?"),
        ("params.yaml", "- number: 1", "- number: 3", "3 examples of each relation were asked for of toy"),
        ("params.yaml", "files: {}", "files: {cxnli: data/cxnli.tsv}", "data/cxnli.tsv: there is no such file"),
        ("params.yaml", "prompt: plain", "prompt: plane", "prompt 'plane' is unknown; did you mean 'plain'?"),
        ("prompts/reasoning.yaml", "{question}", "{qestion}", "prompts/reasoning.yaml: item"),
        ("prompts/frames.yaml", "{statement}", "", "prompts/frames.yaml: prompts.plain.diagnostic"),
        ("constructions/toy/pairs.yaml", "tests: meaning", "tests: form", "toy: the filters ask about a sentence and"),
    ],
)
def test_check_tells_a_fault_in_what_is_asked_or_how_and_exits_with_2(folder, capsys, file, old, new, message):
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new))
    with pytest.raises(SystemExit) as raised:
        cli.check()
    assert raised.value.code == 2
    assert message in capsys.readouterr().err
