"""A corpus in CoNLL-U is mined by the words, tags and trees of its files."""

import gzip
import time

import pytest
import spacy
from small_corpora import TREEBANK, corpus_of, pattern_of
from spacy.tokens import Doc
from spacy.vocab import Vocab

from cxprobe.corpora.readers import Unreadable, read_shard
from cxprobe.corpora.search import REJECTED, Matchers, search

VERB = {"RIGHT_ID": "verb", "RIGHT_ATTRS": {"LEMMA": "give"}}
RECIPIENT = {"LEFT_ID": "verb", "REL_OP": ">", "RIGHT_ID": "recipient", "RIGHT_ATTRS": {"DEP": "iobj"}}


def read(tmp_path, text, longest=10_000):
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.conllu.gz").write_bytes(gzip.compress(text.encode()))
    every = list(read_shard(corpus_of(folder, "conllu"), "a.conllu.gz", longest))
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
    slots = [tuple(slot.values()) for slot in candidate["slots"]]
    assert slots == [("verb", 12, 16, "give", "VB"), ("recipient", 17, 20, "she", "PRP")]
    assert [candidate["text"][start:end] for start, end in candidate["matched"]] == ["give", "her"]


# What replaces what in `TREEBANK`, and what its fault must say.
FAULTS = [
    ("\t4:aux\t_", "\t4:aux", "10 columns"),
    ("4\tgive", "9\tgive", "numbered from 1"),
    ("2-3\t", "2-1\t", "'2-1'"),
    ("\t0\troot", "\t8\troot", "head"),
    ("\t0\troot", f"\t{'9' * 20}\troot", "too large"),
    ("\t0\troot", "\t7\troot", "cycle"),
    ("give her it.", "give him it.", "give him it."),
    ("\tVERB\tVB\t", "\tVEERB\tVB\t", "VEERB"),
]


@pytest.mark.parametrize(("old", "new", "said"), FAULTS)
def test_a_sentence_with_a_fault_is_told_once_by_its_first_line_and_the_next_one_is_read(tmp_path, old, new, said):
    assert old in TREEBANK
    records, faults = read(tmp_path, TREEBANK.replace(old, new, 1))
    assert [(record.text, record.url) for record in records] == [("Give her", "conllu://notes#notes-1")]
    assert [(one.shard, one.line) for one in faults] == [("a.conllu.gz", 1)]
    assert said in faults[0].fault


def sentence_of(text, forms, *contractions):
    """Return a sentence in CoNLL-U; contractions are the first word, the last one and how they are written."""
    rows = [f"{number}\t{form}" for number, form in enumerate(forms, start=1)]
    for first, last, form in reversed(contractions):
        rows.insert(first - 1, f"{first}-{last}\t{form}")
    return "\n".join([f"# text = {text}", *(row + 8 * "\t_" for row in rows)]) + "\n"


@pytest.mark.parametrize(
    ("sentence", "pieces"),
    [
        (
            sentence_of("Il parle du chat.", ["Il", "parle", "de", "le", "chat", "."], (3, 4, "du")),
            "Il parle d u chat .",
        ),
        (sentence_of("Aux  armes!", ["à", "les", "armes", "!"], (1, 2, "Aux")), "A ux armes !"),
        (sentence_of("dámelo", ["da", "me", "lo"], (1, 3, "dámelo")), "d á melo"),
        (sentence_of("10\u00a0000 (or so)", ["10\u00a0000", "(", "or", "so", ")"]), "10 000 ( or so )"),
        (sentence_of("Two dogs sleep.", ["Two", "dogs", "sleep", "."]), "Two dogs sleep ."),  # without SpaceAfter
        (sentence_of("Two dogs sleep!", ["Two", "dogs", "sleep", "."]), None),
        (sentence_of("Two dogs", ["Two"]), None),
        (sentence_of("a x", ["b", "c", "x"], (1, 2, "a")), None),  # a letter for two words
    ],
)
def test_words_are_cut_as_the_text_has_them_or_not_at_all(tmp_path, sentence, pieces):
    records, faults = read(tmp_path, sentence)
    assert [" ".join(record.sentence["words"]) for record in records] == ([pieces] if pieces else [])
    assert [one.line for one in faults] == ([] if pieces else [1])
    for record in records:
        assert Doc(Vocab(), **record.sentence).text == record.text
        assert f"# text = {record.text}" == " ".join(sentence.split("\n")[0].split())


def test_a_text_that_the_file_does_not_have_is_made_of_what_is_written(tmp_path):
    sentence = sentence_of("", ["va", "à", "le", "!"], (2, 3, "au")).partition("\n")[2]
    (record,), _ = read(tmp_path, sentence.replace("au" + 8 * "\t_", "au" + 7 * "\t_" + "\tSpaceAfter=No"))
    assert (record.text, record.sentence["words"]) == ("va au!", ["va", "a", "u", "!"])


def test_a_tree_as_deep_as_its_sentence_is_long_is_read_at_once(tmp_path):
    rows = [f"{number}\tw\tw\tX\tX\t_\t{number - 1}\tdep\t_\t_" for number in range(1, 30_001)]
    began = time.process_time()
    records, _ = read(tmp_path, "\n".join(rows), longest=10**7)
    assert len(records) == 1
    assert time.process_time() - began < 10  # each way to the root step by step takes a minute


@pytest.mark.parametrize("line", ["x" * 20_000, "# no empty line\n" * 2_000])
def test_what_never_ends_is_not_kept_in_memory(tmp_path, line):
    records, faults = read(tmp_path, line + "\n\n" + TREEBANK)
    assert [record.text for record in records] == ["They didn't give her it.", "Give her"]
    assert len(faults) == 1
    assert "mining.longest_line (10,000)" in faults[0].fault
