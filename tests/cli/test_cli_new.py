"""`cxprobe new`: what it writes has no fault, gives pairs, sentences and items, and it says what to do next."""

import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from ruamel.yaml import YAML
from toy_files import write_toy_files
from typer.testing import CliRunner

import cxprobe
from conftest import ROOT, change_params
from cxprobe.cli import app
from cxprobe.cli.project import add_construction
from cxprobe.constructions.construction import load_construction
from cxprobe.constructions.people import load_people
from cxprobe.corpora.engine import SLOTS
from cxprobe.files.tables import write_table
from cxprobe.lm.folders import digest_of
from cxprobe.pairs.frames import load_pairs, read_pairs_file
from cxprobe.people.labels import PersonLabel, write_labels
from cxprobe.project.checks import find_faults
from cxprobe.project.params import load_params
from cxprobe.recognition.sentences import generate_sentences, load_grammars


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A project's folder without faults, as the working directory."""
    write_toy_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(*words: str):
    done = CliRunner().invoke(app, ["new", *words])
    return done.exit_code, done.output


def test_a_new_construction_passes_the_check_in_every_line_of_work(folder):
    code, output = call("construction", "my-own")
    assert code == 0, output
    assert "constructions/my-own/ has construction.yaml, grammars/test.cfg, grammars/train.cfg, items.yaml" in output
    assert "add 'my-own' in params.yaml" in output
    assert call("construction", "another")[0] == 0  # its premises are others

    def use(params):
        params["recognition"]["constructions"]["my-own"] = ["generated"]
        for line in ("scenarios", "pairs", "prompts"):
            params[line]["constructions"].append("my-own")

    change_params(folder, folder / "params.yaml", use)
    assert find_faults() == []
    assert load_construction("my-own").name == "My own"
    for file in Path("constructions/my-own").rglob("*.*"):
        assert file.read_text().startswith("# "), file  # says what it is for
        assert not re.search("<SLUG>|<TITLE>", file.read_text()), file


def test_the_example_gives_pairs_whose_members_differ_and_a_grammar_that_fills_every_subset(folder):
    call("construction", "my-own")
    pairs = cxprobe.minimal_pairs("my-own", folder="constructions", per_cell=4)
    assert len(pairs) >= 8
    assert (pairs["good"] != pairs["bad"]).all()
    construction = load_construction("my-own")
    made = generate_sentences("my-own", construction, load_grammars("my-own", construction), per_label=10, seed=1)
    assert set(made.sentences["label"]) == {"positive", "negative"}


def test_a_copy_has_the_files_of_the_other_one_under_its_own_name_and_what_was_left_out_is_said(folder):
    code, output = call("construction", "copy", "--from", "toy")
    assert code == 0, output
    assert "constructions/toy/items.yaml was not copied: each of its premises may be in one construction only" in output
    assert "constructions/toy/labels.tsv was not copied: people judged" in output
    files = {path.name for path in Path("constructions/copy").iterdir()}
    assert files == {"construction.yaml", "grammars", "pairs.yaml", "pattern.yaml", "scenarios.yaml"}
    assert load_construction("copy").name == "Copy"
    assert load_construction("copy").gloss == load_construction("toy").gloss
    assert load_pairs("copy", load_people()) == load_pairs("toy", load_people())
    assert find_faults() == []


@pytest.mark.parametrize("source", sorted(path.parent.name for path in ROOT.glob("constructions/*/construction.yaml")))
def test_a_copy_of_any_carried_construction_has_no_fault(source, tmp_path, monkeypatch):
    shutil.copytree(ROOT / "constructions" / source, tmp_path / "constructions" / source)
    shutil.copytree(ROOT / "lexicon", tmp_path / "lexicon")
    monkeypatch.chdir(tmp_path)
    add_construction(f"{source}-2", source)
    assert [fault for fault in find_faults() if "constructions/" in fault] == []
    texts = [path.read_text() for path in (tmp_path / "constructions" / f"{source}-2").rglob("*.*")]
    head = f"# Copied from {source} by `cxprobe new construction`: replace what is about {source}."
    assert not [text for text in texts if source in text.replace(f"{source}-2", "").replace(head, "")]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["My Own"], "it may have small letters, digits and hyphens, and begins with a letter or digit; take 'my-own'"),
        (["../toy"], "take 'toy'"),
        (["ä"], "cannot be the name of a construction"),
        ([""], "cannot be the name of a construction"),
        (["toy"], "constructions/toy is there already; take another name, or remove it first"),
        (["all"], "is the name of the runs over all constructions"),
        (["new", "--from", "tyo"], "did you mean 'toy'"),
    ],
)
def test_a_name_that_cannot_be_is_refused_and_nothing_is_written(folder, words, said):
    before = sorted(folder.rglob("*"))
    code, output = call("construction", *words)
    assert (code, said in output) == (2, True), output
    assert sorted(folder.rglob("*")) == before


def mine(folder, *sentences):
    """Write mined sentences of the toy, each with a verb."""
    slots = [
        [{"slot": "verb", "start": text.index(verb), "end": text.index(verb) + len(verb), "word": verb, "tag": "VB"}]
        for text, verb in sentences
    ]
    texts = [text for text, _ in sentences]
    table = pd.DataFrame({"id": [f"mined-{n}" for n in range(len(texts))], "text": texts, "tags": "NN", "slots": slots})
    write_table(table, folder / "data/mine_sentences/toys/toy/sentences.parquet", {"slots": SLOTS})


def test_frames_are_begun_from_verbs_of_a_corpus_without_what_is_labelled_negative(folder):
    assert "dvc repro mine_sentences" in call("frames", "toy")[1]
    assert "did you mean 'toy'?" in call("frames", "tyo")[1]
    mine(folder, ("They throw him bread.", "throw"), ("They call him a fool.", "call"))
    labels = [PersonLabel("sentence", "mined-1", "negative", "Ann", "2026-01-31")]
    write_labels(labels, folder / "constructions/toy/labels.tsv")
    code, output = call("frames", "toy")
    assert code == 0, output
    frames = YAML(typ="safe").load(output)["frames"]
    assert [frame["verb"] for frame in frames] == ["throw"]
    assert frames[0].keys() == read_pairs_file("toy").frames[0].keys()
    assert "# in 1 of its sentences, such as: They throw him bread." in output


def test_the_entry_of_a_new_model_passes_the_check_where_it_is_pasted(folder):
    code, output = call(*("model", "roberta", "--name", "some/roberta", "--revision", "1a2b3c", "--dtype", "bfloat16"))
    assert code == 0, output
    head, entry, _ = output.split("\n\n")
    assert head == "Paste this at the end of the section models of params.yaml:"
    assert entry.startswith("  roberta:\n    name: some/roberta\n    revision: 1a2b3c\n")
    change_params(folder, folder / "params.yaml", lambda params: params["models"].update(YAML(typ="safe").load(entry)))
    spec = load_params().models["roberta"]
    assert (spec.name, spec.revision, spec.sha256, spec.dtype) == ("some/roberta", "1a2b3c", None, "bfloat16")
    assert find_faults() == []


def test_a_carried_model_that_the_project_lacks_is_copied_into_it(folder):
    code, output = call("model", "carried", "--name", "models/mini-mlm")
    assert code == 0, output
    entry = YAML(typ="safe").load(output.split("\n\n")[1])["carried"]
    assert entry["sha256"] == digest_of(Path("models/mini-mlm"))
    code, output = call("model", "one", "--name", "models/mini-clm")
    assert (code, "the name 'one' is taken" in output) == (2, True)
    assert not Path("models/mini-clm").exists()
