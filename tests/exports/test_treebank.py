"""`cxprobe export conllu`: mined sentences are parsed, and named by what people called them."""

import pandas as pd
import pytest
from command_line import call

from conftest import ROOT, change_params, toy_params, write_toy_construction
from cxprobe.corpora.conllu import read_conllu
from cxprobe.files.tables import write_table
from cxprobe.files.writing import DATA
from cxprobe.labels.labels import PersonLabel, write_labels

PARSER = ROOT / "models" / "parser" / "en_ewt_cxprobe"
MINED = DATA / "mine_sentences" / "toys" / "toy" / "sentences.parquet"
SENTENCES = [  # id, text, url, tags, and what fills the slots
    ("mined-1", "She gave him tea.", "book#1", "PRP VBD PRP NN .", ["gave", "him", "tea"]),
    ("mined-2", "They told us a long story.", "book#2", "PRP VBD PRP DT JJ NN .", ["told", "us", "story"]),
    ("mined-3", "We called him a fool.", "letters#1", "PRP VBD PRP DT NN .", ["called", "him", "fool"]),
    ("mined-4", "I sent her flowers!", "letters#2", "PRP VBD PRP NNS .", ["sent", "her", "flowers"]),
]


def slots(text, words):
    return [
        {"slot": slot, "start": text.index(word), "end": text.index(word) + len(word), "word": word, "tag": "X"}
        for slot, word in zip(["verb", "recipient", "main-theme"], words, strict=True)
    ]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A project with four mined sentences, of which three have labels."""
    write_toy_construction(tmp_path / "constructions")
    monkeypatch.chdir(tmp_path)

    def change(params):
        params["mining"]["parser"] = str(PARSER)

    change_params(tmp_path, toy_params(), change)
    rows = [
        (id_, text, url, number, tags, slots(text, of)) for number, (id_, text, url, tags, of) in enumerate(SENTENCES)
    ]
    write_table(pd.DataFrame(rows, columns=["id", "text", "url", "start", "tags", "slots"]), MINED)
    labels = [
        ("sequence", SENTENCES[0][3], "positive"),
        ("sentence", "mined-2", "positive"),
        ("sentence", "mined-3", "negative"),
    ]
    written = [PersonLabel(kind, target, label, "Ann", "2026-01-31") for kind, target, label in labels]
    write_labels(written, tmp_path / "constructions" / "toy" / "labels.tsv")
    return tmp_path


def export():
    return call("export", "conllu", "out.conllu", "--construction", "toy")


def test_labelled_sentences_are_a_treebank_with_the_construction_where_it_is(folder):
    code, output = export()
    assert code == 0, output
    assert "left out: 1 sentences: not labelled" in output
    assert "3 sentences, 2 with Cxn=Toy" in output
    one, two, three = read_conllu(folder / "out.conllu")
    assert [(sentence.id, sentence.text, sentence.document) for sentence in (one, two, three)] == [
        ("mined-1", "She gave him tea.", "book"),
        ("mined-2", "They told us a long story.", "book"),
        ("mined-3", "We called him a fool.", "letters"),
    ]
    assert [word.cxn for word in one.words] == [(), ("Toy",), (), (), ()]
    elements = ["2:Toy.Verb", "2:Toy.Recipient", "2:Toy.MainTheme"]
    assert [word.elements for word in one.words] == [(), *((element,) for element in elements), ()]
    assert [word.form for word in two.words if word.elements] == ["told", "us", "story"]
    assert not any(word.cxn or word.elements for word in three.words)


def test_sentences_of_which_none_has_a_label_are_refused(folder):
    (folder / "constructions" / "toy" / "labels.tsv").unlink()
    code, output = export()
    assert code == 2
    assert "toy: no mined sentence has a label; label some" in output


def test_words_that_another_pipeline_had_are_refused(folder):
    table = pd.read_parquet(MINED)
    table.at[0, "slots"] = [dict(table.at[0, "slots"][0], start=5)]  # within "gave"
    write_table(table, MINED)
    code, output = export()
    assert code == 2
    assert "mined-1: was mined with other words than mining.parser has now" in output
    assert not (folder / "out.conllu").exists()
