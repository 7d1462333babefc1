"""`cxprobe new`: what it writes passes `cxprobe check`, and it says what to do next."""

import shutil

import pytest
from typer.testing import CliRunner

from conftest import PEOPLE, ROOT, change_params, shrink, write_toy_construction, write_toy_labels
from cxprobe.cli import app
from cxprobe.run.params import load_params


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A project's folder without faults, as the working directory."""
    write_toy_construction(tmp_path / "constructions")
    write_toy_labels(tmp_path / "constructions")
    (tmp_path / "lexicon").mkdir()
    (tmp_path / "lexicon" / "people.yaml").write_text(PEOPLE)
    shutil.copytree(ROOT / "prompts", tmp_path / "prompts")
    change_params(tmp_path, ROOT / "params.yaml", shrink)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(*words: str):
    done = CliRunner().invoke(app, list(words))
    return done.exit_code, done.output


def test_a_new_construction_passes_the_check_in_every_line_of_work(folder):
    code, output = call("new", "construction", "my-own")
    assert code == 0, output
    assert "constructions/my-own/ has construction.yaml, grammars/test.cfg, grammars/train.cfg, items.yaml" in output
    assert "add 'my-own' in params.yaml" in output

    def use(params):
        params["recognition"]["constructions"]["my-own"] = ["generated"]
        for line in ("scenarios", "pairs", "prompts"):
            params[line]["constructions"].append("my-own")

    change_params(folder, folder / "params.yaml", use)
    code, output = call("check")
    assert code == 0, output


def test_a_copy_passes_the_check_and_what_was_left_out_is_said(folder):
    code, output = call("new", "construction", "copy", "--from", "toy")
    assert code == 0, output
    assert "constructions/toy/items.yaml was not copied: each of its premises may be in one construction only" in output
    assert "constructions/toy/labels.tsv was not copied: people judged" in output
    assert call("check")[0] == 0


def test_a_name_that_is_taken_or_is_no_name_is_refused_in_a_line(folder):
    assert call("new", "construction", "toy") == (
        2,
        "constructions/toy is there already; take another name, or remove it first\n",
    )
    code, output = call("new", "construction", "My Own")
    assert code == 2
    assert "take 'my-own'" in output
    assert "Traceback" not in output


def test_a_new_model_passes_the_check(folder):
    code, output = call(
        "new", "model", "roberta", "--name", "some/roberta", "--revision", "1a2b3c", "--dtype", "bfloat16"
    )
    assert code == 0, output
    assert "Next: add 'roberta' to a line of work" in output
    spec = load_params().models["roberta"]
    assert (spec.name, spec.revision, spec.sha256, spec.dtype) == ("some/roberta", "1a2b3c", None, "bfloat16")
    assert call("check")[0] == 0


def test_an_entry_can_be_shown_without_a_change(folder):
    before = (folder / "params.yaml").read_bytes()
    code, output = call("new", "model", "roberta", "--name", "some/roberta", "--revision", "1a2b3c", "--show")
    assert code == 0
    assert output == "roberta:\n  name: some/roberta\n  revision: 1a2b3c\n  sha256: null\n  dtype: float32\n"
    assert (folder / "params.yaml").read_bytes() == before


def test_a_model_that_is_there_is_refused_before_anything_is_read_or_copied(folder):
    code, output = call("new", "model", "one", "--name", "models/mini-mlm")
    assert code == 2
    assert "the name 'one' is taken" in output
    assert not (folder / "models").exists()
