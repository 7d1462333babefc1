"""A corpus in CoNLL-U is mined by the words, tags and trees of its files."""

import gzip
import time

import pytest
import spacy
from small_corpora import TREEBANK, corpus_of, pattern_of

from cxprobe.corpora.conllu import read_sentence
from cxprobe.corpora.readers import Unreadable, read_shard
from cxprobe.corpora.search import REJECTED, Matchers, search
from cxprobe.corpora.sources import open_corpus

VERB = {"RIGHT_ID": "verb", "RIGHT_ATTRS": {"LEMMA": "give"}}
RECIPIENT = {"LEFT_ID": "verb", "REL_OP": ">", "RIGHT_ID": "recipient", "RIGHT_ATTRS": {"DEP": "iobj"}}


def read(tmp_path, text, longest=10_000):
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.conllu.gz").write_bytes(gzip.compress(text.encode()))
    source = open_corpus(corpus_of(folder, "conllu"))
    every = list(read_shard(source, "a.conllu.gz", longest))
    faults = [one for one in every if isinstance(one, Unreadable)]
    return [one for one in every if one not in faults], faults


def test_sentences_have_their_text_their_document_and_their_id(tmp_path):
    records, faults = read(tmp_path, TREEBANK)
    assert [(record.text, record.url) for record in records] == [
        ("They didn't give her it.", "conllu://letters#letters-1"),
        ("Give her", "conllu://notes#notes-1"),
    ]
    assert not faults


def test_the_tree_and_the_tags_of_the_file_decide(tmp_path):
    records, _ = read(tmp_path, TREEBANK)
    patterns = {
        "tags": pattern_of("(?i:give)", tokens=[{"TAG": "VB"}]),
        "tree": pattern_of("(?i:give)", dependencies=[VERB, RECIPIENT]),
    }
    looking = {name: Matchers(one, spacy.blank("en")) for name, one in patterns.items()}  # it tags and parses nothing
    found = search(records, looking, most_words=50)
    for name, why_not in (("tags", "other tags"), ("tree", "not annotated: DEP")):
        (candidate,) = found[name].candidates
        assert candidate["tags"] == "PRP VBD RB VB PRP PRP ."
        assert (candidate["words"], candidate["marks"]) == (5, (2,))
        assert found[name].counts[REJECTED + why_not] == 1
    slots = {slot["slot"]: candidate["text"][slot["start"] : slot["end"]] for slot in candidate["slots"]}
    assert slots == {"verb": "give", "recipient": "her"}
    assert [candidate["text"][start:end] for start, end in candidate["matched"]] == ["give", "her"]


def test_a_word_of_a_contraction_is_found_in_the_text_as_it_is_written(tmp_path):
    words = ["1 Elle elle PRON", "2 parle parler VERB", "3-4 du _ _", "3 de de ADP", "4 le le DET", "5 chat chat NOUN"]
    lines = ["\t".join([*word.split(), *"__", "_" if "-" in word else "0", *"___"]) for word in words]
    records, faults = read(tmp_path, "\n".join(["# text = Elle parle du chat", *lines]) + "\n")
    assert not faults
    of = pattern_of("du", tokens=[{"POS": "ADP"}, {"POS": "DET"}])
    found = search(records, {"of": Matchers(of, spacy.blank("fr"))}, most_words=50)["of"]
    assert [candidate["text"] for candidate in found.candidates] == ["Elle parle du chat"]


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("4\tgive", "9\tgive", "line 8: the number '9' cannot follow 3"),
        ("\t0\troot", f"\t{'9' * 5000}\troot", "line 8: the head '999"),
        ("2-3\t", f"2-{'9' * 5000}\t", "line 5: the number '2-999"),
        ("give her it.", "give him it.", 'the words are "They didn\'t give her it.", and the text is'),
        ("\tVERB\tVB\t", "\tVEERB\tVB\t", "the sentence letters-1 is no CoNLL-U that spaCy reads"),
    ],
)
def test_a_sentence_with_a_fault_is_told_once_by_its_first_line_and_the_next_one_is_read(tmp_path, old, new, fault):
    assert old in TREEBANK
    records, faults = read(tmp_path, TREEBANK.replace(old, new, 1))
    assert [(record.text, record.url) for record in records] == [("Give her", "conllu://notes#notes-1")]
    assert [(one.line, one.offset) for one in faults] == [(1, 0)]
    assert faults[0].fault.startswith(fault)


def test_a_tree_as_deep_as_its_sentence_is_long_is_read_at_once():
    rows = [f"{number}\tw\tw\tX\tX\t_\t{number - 1}\tdep\t_\t_" for number in range(1, 30_001)]
    began = time.process_time()
    read_sentence(dict(enumerate(rows, start=1)), "")
    assert time.process_time() - began < 10  # each way to the root step by step takes a minute


@pytest.mark.parametrize("line", ["x" * 20_000, "# no empty line\n" * 2_000])
def test_what_never_ends_is_not_kept_in_memory(tmp_path, line):
    records, faults = read(tmp_path, line + "\n\n" + TREEBANK)
    assert [record.text for record in records] == ["They didn't give her it.", "Give her"]
    assert len(faults) == 1
    assert "mining.longest_line (10,000)" in faults[0].fault
