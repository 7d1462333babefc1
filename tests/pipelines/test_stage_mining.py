"""The stage as DVC runs it, in a project of its own."""

import json
import runpy
import shutil
from collections import Counter

import pandas as pd
import pytest
import spacy

from conftest import ROOT, change_params, make_project, run
from cxprobe.cli.project import create_project
from cxprobe.corpora.pattern import load_wanted
from cxprobe.corpora.search import in_reference
from cxprobe.files.writing import write_json
from cxprobe.project.params import load_params
from cxprobe.run.stage import Stage

pytestmark = pytest.mark.pipeline

SENTENCES = "data/mine_sentences/toys/toy/sentences.parquet"


def test_the_stage_mines_what_params_name_and_runs_once(tmp_path):
    folder = tmp_path / "project"
    make_project(folder)
    run(folder, "dvc", "repro", "mine_sentences")
    sentences = pd.read_parquet(folder / SENTENCES)
    columns = ["id", "text", "url", "start", "end", "tags", "slots", "length", "second_start"]
    assert sentences.columns.tolist() == columns
    results = folder / "results" / "mine_sentences" / "toys"
    counts = pd.read_csv(results / "counts.csv").set_index("count")["value"]
    assert counts["shards"] == 2
    assert counts["faults"] == len(pd.read_csv(results / "faults.csv")) == 2
    assert len(pd.read_parquet(folder / "data/mine_sentences/toys/faults.parquet")) == 2
    steps = pd.read_csv(results / "steps.csv").set_index(["construction", "what"])["number"]
    assert steps["toy", "sentences"] == len(sentences) == 80
    rejects = pd.read_csv(results / "rejects.csv")
    assert rejects.columns.tolist() == ["construction", "reason", "sentences"]
    assert not list((folder / "data" / ".scratch" / "mine_sentences").iterdir())
    again = run(folder, "dvc", "repro", "mine_sentences").stdout
    assert "Stage 'mine_sentences@toys' didn't change, skipping" in again


def test_a_new_file_of_the_corpus_is_noticed(tmp_path):
    folder = tmp_path / "project"
    make_project(folder)
    run(folder, "dvc", "repro", "mine_sentences")
    text = '{"text": "Then the blue queen waits, the calm boy laughs.", "url": "toy/new"}'
    (folder / "corpus" / "new.jsonl").write_text(text)
    run(folder, "dvc", "repro", "mine_sentences")
    assert "toy/new" in set(pd.read_parquet(folder / SENTENCES)["url"])


def test_two_workers_mine_the_same_and_do_not_make_the_stage_run_again(tmp_path):
    folder = tmp_path / "project"
    make_project(folder)
    run(folder, "dvc", "repro", "mine_sentences")
    params = (folder / "params.yaml").read_text()
    assert "workers: 1" in params
    (folder / "params.yaml").write_text(params.replace("workers: 1", "workers: 2"))
    skipped = "Stage 'mine_sentences@toys' didn't change, skipping"
    assert skipped in run(folder, "dvc", "repro", "mine_sentences").stdout
    before = pd.read_parquet(folder / SENTENCES)
    run(folder, "dvc", "repro", "--force", "--no-run-cache", "mine_sentences")
    pd.testing.assert_frame_equal(before, pd.read_parquet(folder / SENTENCES))


def test_a_project_of_a_preset_that_mines_nothing_can_mine(tmp_path):
    folder = tmp_path / "project"
    create_project(folder, "pairs")
    texts = ["She cannot walk, let alone run.", "They would not eat it, let alone pay for it.", "Nothing else is here."]
    (folder / "texts").mkdir()
    lines = [json.dumps({"text": text, "url": f"own/{number}"}) for number, text in enumerate(texts)]
    (folder / "texts" / "own.jsonl").write_text("\n".join(lines))

    def mine(params):
        corpus = {"kind": "files", "folder": "texts", "glob": None, "format": "jsonl", "text": "text", "url": "url"}
        params["corpora"]["own"] = corpus
        params["mining"] |= {"constructions": {"let-alone": "own"}, "watched": ["own"]}

    change_params(folder, folder / "params.yaml", mine)
    source = {"PYTHONPATH": str(ROOT / "src")}
    assert "no fault" in run(folder, "cxprobe", "check", **source).stdout
    run(folder, "dvc", "repro", "mine_sentences", **source)
    mined = pd.read_parquet(folder / "data" / "mine_sentences" / "own" / "let-alone" / "sentences.parquet")
    assert mined["url"].tolist() == ["own/0", "own/1"]


# A sentence, and the words in its slots behind the subject.
GIVEN = {
    "{} gave him a book.": ("give", "he", "book"),
    "{} told her a story.": ("tell", "she", "story"),
    "{} gave the boy an apple.": ("give", "boy", "apple"),
    "{} sent him a letter.": ("send", "he", "letter"),
}
OTHERS = ("{} saw the boy.", "{} told a story.", "{} read a letter and gave up.", "The book was old.")
NAMES = ("Mary", "John", "Anna", "Peter", "Alice", "David")
SHARE = 0.5


def mined_slots(folder, shards):
    """Mine records of two sentences, the first of which is a ditransitive; return them and the table of its slots."""
    texts = [[one.format(name) for one in pair] for name in NAMES for pair in zip(GIVEN, OTHERS, strict=True)]
    lines = [json.dumps({"text": " ".join(text), "url": f"own/{row}"}) for row, text in enumerate(texts)]
    (folder / "texts").mkdir()
    for shard in range(shards):
        (folder / "texts" / f"{shard}.jsonl").write_text("\n".join(lines[shard::shards]))

    def change(params):
        corpus = {"kind": "files", "folder": "texts", "glob": None, "format": "jsonl", "text": "text", "url": "url"}
        params["corpora"]["own"] = corpus
        pipelines = {name: str(ROOT / params["mining"][name]) for name in ("tagger", "parser")}
        mined = {"constructions": {"ditransitive": "own"}, "watched": ["own"], "reference": SHARE}
        params["mining"] |= pipelines | mined | {"engine": {"kind": "local", "workers": 1}}
        params["mining"]["duplicates"]["threshold"] = 1.0
        params["recognition"] |= {"models": [], "constructions": {}}

    change_params(folder, ROOT / "params.yaml", change)
    shutil.copytree(ROOT / "constructions", folder / "constructions")
    wanted = load_wanted("ditransitive").model_dump(mode="json")
    write_json({"ditransitive": wanted}, folder / "data/list_corpora/own/wanted.json")
    stage = Stage("mine_sentences", "own", load_params())
    outcome = runpy.run_path(str(ROOT / "pipelines/corpora/mine.py"))["mine_sentences"](stage)
    return texts, outcome.tables["ditransitive/slots"]


@pytest.mark.parametrize("shards", [1, 4])
def test_words_in_slots_are_compared_with_the_words_of_the_same_share_of_records(tmp_path, monkeypatch, shards):
    monkeypatch.chdir(tmp_path)
    texts, table = mined_slots(tmp_path, shards)
    parsed = spacy.load(ROOT / "models/parser/en_ewt_cxprobe")
    taken = [in_reference(f"own/{row}", SHARE) for row in range(len(texts))]
    assert 0 < sum(taken) < len(texts)
    read = [sentence for text, is_taken in zip(texts, taken, strict=True) if is_taken for sentence in text]
    tokens = [token for sentence in read for token in parsed(sentence)]
    words = Counter((token.lemma_.lower(), token.tag_[:2]) for token in tokens)
    fillers = [(name.lower(), *filler) for name in NAMES for filler in GIVEN.values()]
    assert set(table["slot"]) == {"subject", "verb", "recipient", "theme"}
    for place, slot in enumerate(("subject", "verb", "recipient", "theme")):
        own = table[table["slot"] == slot].set_index("word")
        assert own["number"].to_dict() == Counter(filler[place] for filler in fillers)
        inside = Counter(filler[place] for filler, is_taken in zip(fillers, taken, strict=True) if is_taken)
        for word, row in own.iterrows():
            same = own.index[own["class"] == row["class"]]
            assert row["n"] == own.loc[same, "number"].sum()
            assert row["elsewhere"] == words[word, row["class"]] - inside[word]
            of_class = sum(number for (_, kind), number in words.items() if kind == row["class"])
            assert row["n_elsewhere"] == of_class - sum(inside[other] for other in same)
            assert row["share"] == pytest.approx(row["number"] / row["n"])


def test_the_number_of_shards_changes_no_word_of_a_slot(tmp_path, monkeypatch):
    tables = []
    for shards in (1, 4):
        (folder := tmp_path / str(shards)).mkdir()
        monkeypatch.chdir(folder)
        tables.append(mined_slots(folder, shards)[1])
    pd.testing.assert_frame_equal(*tables)
