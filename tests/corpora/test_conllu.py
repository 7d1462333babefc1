"""CoNLL-U with constructions: what was written is read again, and what others published has what they say it has."""

import gzip

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from small_corpora import TREEBANK
from spacy.tokens import Doc

from cxprobe.corpora.conllu import (
    NO_HEAD,
    ConlluSentence,
    Contraction,
    TreeWord,
    annotated_sentence,
    conllu_text,
    gold_doc,
    read_conllu,
)
from cxprobe.errors import DataError


def read(tmp_path, text, name="some.conllu", **settings):
    (tmp_path / name).write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return list(read_conllu(tmp_path / name, **settings))


@pytest.mark.parametrize("name", ["some.conllu", "some.conllu.gz"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_words_constructions_documents_and_spaces_are_read(tmp_path, name, line_end):
    first, second = read(tmp_path, TREEBANK.replace("\n", line_end), name)
    assert (first.id, first.document, second.id, second.document) == ("letters-1", "letters", "notes-1", "notes")
    assert first.words[0] == TreeWord("They", "they", "PRON", "PRP", "Number=Plur|Person=3", 4, "nsubj")
    assert first.words[3].cxn == ("Ditransitive", "Negation#2")
    assert [word.elements for word in first.words[3:6]] == [
        ("4:Ditransitive.V",),
        ("4:Ditransitive.Rec",),
        ("4:Ditransitive.Theme",),
    ]
    assert gold_doc(first, spacy.blank("en").vocab).text.strip() == first.text
    assert second.text == "Give her"  # it has none itself
    assert [word.head for word in second.words] == [NO_HEAD, NO_HEAD]


def test_tags_in_the_last_column_are_heads_of_constructions(tmp_path):
    rows = [("She", 2, "O"), ("gave", 0, "B-DITRAN"), ("him", 2, "O"), ("tea", 2, "I-TRAN_S")]
    text = "".join(f"{n}\t{form}\t_\t_\t_\t_\t{head}\tdep\t_\t{tag}\n" for n, (form, head, tag) in enumerate(rows, 1))
    (sentence,) = read(tmp_path, text, tags=True)
    assert [word.cxn for word in sentence.words] == [(), ("DITRAN",), (), ("TRAN_S",)]
    with pytest.raises(DataError, match=r"line 4: 'Cxn=A' in the last column is no tag such as O or B-DITRAN"):
        read(tmp_path, text.replace("I-TRAN_S", "Cxn=A"), tags=True)


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("\t4:aux\t_", "\t4:aux", "line 6: CoNLL-U has 10 columns, found 9"),
        ("2-3\tdidn't", "2-1\tdidn't", "line 5: the number '2-1' cannot follow 1"),
        ("3\tn't", "4\tn't", "line 7: the number '4' cannot follow 2"),
        ("\t4\tadvmod", "\t9\tadvmod", "line 7: the head '9' is none of 0 to 7"),
        ("\t0\troot\t0", "\t7\troot\t0", "line 4: the heads of this sentence go round in a circle"),
    ],
)
def test_a_fault_is_named_with_its_line(tmp_path, old, new, fault):
    assert old in TREEBANK
    with pytest.raises(DataError, match=fault):
        read(tmp_path, TREEBANK.replace(old, new))


def texts(**more):
    letters = st.characters(exclude_categories=("C", "Z"), exclude_characters="\t\n\r", **more)
    return st.text(letters, min_size=1, max_size=6).filter(lambda text: text != "_")


@st.composite
def sentences(draw):
    n = draw(st.integers(1, 6))
    name, names = texts(), st.lists(texts(codec="ascii").map(lambda text: text.strip(",|=") or "X"), max_size=2)
    values = names.map(
        lambda found: tuple(value.replace(",", "").replace("|", "").replace("=", "") or "X" for value in found)
    )
    words = tuple(
        TreeWord(
            *(draw(name) for _ in range(5)),
            head=draw(st.integers(NO_HEAD, number)),  # a word before it, so that no heads go round in a circle
            deprel=draw(name),
            space=draw(st.booleans()),
            cxn=draw(values),
            elements=draw(values),
        )
        for number in range(n)
    )
    contractions = tuple(Contraction(n - 1, n, draw(name)) for _ in range(draw(st.integers(0, 1))) if n > 1)
    for one in contractions:
        words = (*words[: one.first - 1], words[one.first - 1]._replace(space=False), *words[one.first :])
    return ConlluSentence(draw(name), draw(name), draw(st.sampled_from(["one", "two"])), words, contractions)


@given(written=st.lists(sentences(), min_size=1, max_size=4))
def test_whatever_was_written_is_read_again(tmp_path_factory, written):
    path = tmp_path_factory.mktemp("written") / "some.conllu"
    path.write_text(conllu_text(written), newline="")
    assert list(read_conllu(path)) == written


def sentence_of(text, forms, *contractions):
    return ConlluSentence("1", text, "", tuple(map(TreeWord, forms)), contractions)


@pytest.mark.parametrize(
    ("sentence", "pieces"),
    [
        (
            sentence_of("Il parle du chat.", ["Il", "parle", "de", "le", "chat", "."], Contraction(3, 4, "du")),
            "Il parle d u chat .",
        ),
        (sentence_of("Aux  armes!", ["à", "les", "armes", "!"], Contraction(1, 2, "Aux")), "A ux armes !"),
        (sentence_of("dámelo", ["da", "me", "lo"], Contraction(1, 3, "dámelo")), "d á melo"),
        (sentence_of("I can't.", ["I", "ca", "n't", "."], Contraction(2, 3, "can't")), "I ca n't ."),
        (sentence_of("10\u00a0000 (or so)", ["10\u00a0000", "(", "or", "so", ")"]), "10 000 ( or so )"),
        (sentence_of("Two dogs sleep.", ["Two", "dogs", "sleep", "."]), "Two dogs sleep ."),  # without SpaceAfter
        (sentence_of("Two dogs sleep!", ["Two", "dogs", "sleep", "."]), None),
        (sentence_of("Two dogs", ["Two"]), None),
        (sentence_of("a x", ["b", "c", "x"], Contraction(1, 2, "a")), None),  # a letter for two words
    ],
)
def test_words_are_cut_as_the_text_has_them_or_not_at_all(sentence, pieces):
    written = sentence.as_written()
    assert (written and " ".join(word.form for word in written.words)) == pieces
    if written:
        assert gold_doc(written, spacy.blank("en").vocab).text == " ".join(sentence.text.split())


@pytest.mark.parametrize("place", ["range", "word"])
def test_a_text_that_the_file_does_not_have_is_made_of_what_is_written(tmp_path, place):
    end = {"range": "_", "word": "_", place: "SpaceAfter=No"}
    rows = ["1\tva", f"2-3\tau\tx\t{end['range']}", "2\tà", f"3\tle\tx\t{end['word']}", "4\t!"]
    cells = (row.split("\t") for row in rows)
    lines = ["\t".join([number, form, *"_" * 7, (rest or ["", "_"])[-1]]) for number, form, *rest in cells]
    (sentence,) = read(tmp_path, "\n".join(lines) + "\n")
    assert sentence.text == "va au!"
    assert sentence.contractions == (Contraction(2, 3, "au"),)


def test_a_parsed_sentence_names_its_construction_on_the_part_that_is_highest():
    words = ["Now", "they", "gave", "her", "tea", "."]
    heads, deps = [2, 2, 2, 2, 2, 5], ["advmod", "nsubj", "ROOT", "iobj", "obj", "ROOT"]
    doc = Doc(spacy.blank("en").vocab, words=words, heads=heads, deps=deps, spaces=[True] * 4 + [False] * 2)
    parts = [("Rec", doc[3]), ("V", doc[2]), ("Theme", doc[4])]
    sentence = annotated_sentence(doc, "1", "d", "Ditransitive", parts)
    assert sentence.text == "Now they gave her tea."
    assert [word.cxn for word in sentence.words] == [(), (), ("Ditransitive",), (), (), ()]
    assert [word.elements for word in sentence.words[2:5]] == [
        ("3:Ditransitive.V",),
        ("3:Ditransitive.Rec",),
        ("3:Ditransitive.Theme",),
    ]
    assert [(word.head, word.deprel) for word in sentence.words[-2:]] == [(3, "obj"), (3, "parataxis")]
    assert [word.head for word in sentence.words].count(0) == 1
    without = annotated_sentence(doc, "1", "d", "Ditransitive")
    assert [word.cxn for word in without.words].index(("Ditransitive",)) == 2  # the root
    none = annotated_sentence(doc, "1", "d", parts=parts)
    assert not any(word.cxn or word.elements for word in none.words)
    same = gold_doc(sentence, spacy.blank("en").vocab)
    assert ([token.text for token in same], [token.head.i for token in same]) == (words, [2, 2, 2, 2, 2, 2])
