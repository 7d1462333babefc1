"""A construction is begun with files that hold: they are read, linted, and give pairs, sentences and items."""

import shutil

import pytest

import cxprobe
from conftest import PEOPLE, ROOT, write_toy_construction, write_toy_labels
from cxprobe.cli.faults import find_faults
from cxprobe.cli.project import add_construction
from cxprobe.constructions.construction import load_construction
from cxprobe.constructions.people import load_people
from cxprobe.errors import ConstructionError, ProjectError
from cxprobe.pairs.frames import load_pairs
from cxprobe.prompts.items import load_items
from cxprobe.recognition.sentences import generate_sentences, load_grammars
from cxprobe.scenarios.rules import load_scenarios


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A project with one construction, as the working directory."""
    write_toy_construction(tmp_path / "constructions")
    (tmp_path / "lexicon").mkdir()
    (tmp_path / "lexicon" / "people.yaml").write_text(PEOPLE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def faults_of(name: str) -> list[str]:
    """Return what `cxprobe check` says of a construction; params.yaml and prompts are not there."""
    return [fault for fault in find_faults() if f"constructions/{name}/" in fault]


def test_the_files_of_a_new_construction_have_no_fault(folder):
    assert add_construction("my-own") == []
    assert add_construction("another") == []
    assert faults_of("my-own") == faults_of("another") == []
    assert load_construction("my-own").name == "My own"
    assert load_scenarios("my-own")
    assert load_items("my-own").inference


def test_every_file_of_a_new_construction_says_what_it_is_for(folder):
    add_construction("my-own")
    for file in (folder / "constructions" / "my-own").rglob("*.*"):
        assert file.read_text().startswith("# "), file
        assert "<SLUG>" not in file.read_text()
        assert "<TITLE>" not in file.read_text()


def test_the_example_gives_pairs_whose_members_differ_and_a_grammar_that_fills_every_subset(folder):
    add_construction("my-own")
    pairs = cxprobe.minimal_pairs("my-own", folder="constructions", per_cell=4)
    assert len(pairs) >= 8
    assert (pairs["good"] != pairs["bad"]).all()
    construction = load_construction("my-own")
    made = generate_sentences("my-own", construction, load_grammars("my-own", construction), per_label=10, seed=1)
    assert set(made.sentences["label"]) == {"positive", "negative"}


def test_a_copy_has_the_files_of_the_other_one_under_its_own_name_and_no_fault(folder):
    write_toy_labels(folder / "constructions")
    left = add_construction("copy", "toy")
    files = {path.name for path in (folder / "constructions" / "copy").iterdir()}
    assert files == {"construction.yaml", "grammars", "pairs.yaml", "pattern.yaml", "scenarios.yaml"}
    assert [line.partition(" ")[0] for line in left] == [
        f"constructions/toy/{name}" for name in ("items.yaml", "labels.tsv")
    ]
    assert load_construction("copy").name == "Copy"
    assert load_construction("copy").gloss == load_construction("toy").gloss
    assert faults_of("copy") == []
    assert load_pairs("copy", load_people()) == load_pairs("toy", load_people())


@pytest.mark.parametrize("source", sorted(path.parent.name for path in ROOT.glob("constructions/*/construction.yaml")))
def test_a_copy_of_any_carried_construction_has_no_fault(source, tmp_path, monkeypatch):
    shutil.copytree(ROOT / "constructions" / source, tmp_path / "constructions" / source)
    shutil.copytree(ROOT / "lexicon", tmp_path / "lexicon")
    monkeypatch.chdir(tmp_path)
    add_construction(f"{source}-2", source)
    assert faults_of(f"{source}-2") == []
    texts = [path.read_text() for path in (tmp_path / "constructions" / f"{source}-2").rglob("*.*")]
    head = f"# Copied from {source} by"
    assert not [text for text in texts if source in text.replace(f"{source}-2", "").replace(head, "")]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("My Own", "it may have small letters, digits and hyphens, and begins with a letter or digit; take 'my-own'"),
        ("../toy", "take 'toy'"),
        ("-x", "take 'x'"),
        ("ä", "cannot be the name of a construction"),
        ("", "cannot be the name of a construction"),
        ("toy", "constructions/toy is there already"),
        ("all", "is what runs on all constructions together are called"),
    ],
)
def test_a_name_that_cannot_be_is_refused_and_nothing_is_written(folder, name, said):
    before = sorted(folder.rglob("*"))
    with pytest.raises(ProjectError) as fault:
        add_construction(name)
    assert said in str(fault.value)
    assert sorted(folder.rglob("*")) == before


def test_an_unknown_construction_is_not_copied(folder):
    with pytest.raises(ConstructionError, match="did you mean 'toy'"):
        add_construction("new", "tyo")
    assert not (folder / "constructions" / "new").exists()
