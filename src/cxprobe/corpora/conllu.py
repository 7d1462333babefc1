"""Sentences in CoNLL-U, with constructions in MISC as UCxn writes them.

`Cxn=` stands on the head of a construction and names it; `CxnElt=` stands on its parts, `<head>:<construction>.<role>`.

Source:
    Weissweiler et al. 2024 (UCxn: Typologically Informed Annotation of Constructions Atop Universal Dependencies).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

from spacy.tokens import Doc, Token
from spacy.vocab import Vocab

from cxprobe.errors import DataError
from cxprobe.files.reading import read_text
from cxprobe.segmentation import joined

NO_HEAD = -1  # of a word without a place in a tree


class TreeWord(NamedTuple):
    """A syntactic word; "_" stands for an annotation that is absent.

    Attributes:
        form: As it is written.
        lemma: Its lemma.
        upos: Its universal part of speech.
        xpos: Its tag in the treebank's own set.
        feats: Its morphology, as "Number=Sing|Person=3".
        head: The number, from 1, of the word that it depends on; 0 for the root, `NO_HEAD` where there is no tree.
        deprel: The relation to its head.
        space: Whether a space follows.
        cxn: The constructions of which it is the head, as ("Ditransitive",).
        elements: Its roles in constructions, as ("2:Ditransitive.Rec",), 2 being the number of their head.
    """

    form: str
    lemma: str = "_"
    upos: str = "_"
    xpos: str = "_"
    feats: str = "_"
    head: int = NO_HEAD
    deprel: str = "_"
    space: bool = True
    cxn: tuple[str, ...] = ()
    elements: tuple[str, ...] = ()


class Contraction(NamedTuple):
    """Words that are written as one, such as "de" and "le" as "du": the numbers of the first and the last, from 1."""

    first: int
    last: int
    form: str


class ConlluSentence(NamedTuple):
    """A sentence; ``document`` is what "newdoc id" names, or "" where there is none."""

    id: str
    text: str
    document: str
    words: tuple[TreeWord, ...]
    contractions: tuple[Contraction, ...] = ()

    @property
    def parts(self) -> Iterator[tuple[str, tuple[TreeWord, ...]]]:
        """What stands in the text, one after the other, each with its words."""
        contractions = {one.first: one for one in self.contractions}
        number = 1
        while number <= len(self.words):
            _, last, form = contractions.get(number, Contraction(number, number, self.words[number - 1].form))
            yield form, self.words[number - 1 : last]
            number = last + 1

    @property
    def text_of_words(self) -> str:
        """The text as the words and the spaces after them have it."""
        return "".join(form + " " * words[-1].space for form, words in self.parts).strip()

    def as_written(self) -> "ConlluSentence | None":
        """Return the sentence with the forms and spaces that its text has, with single spaces; None if they do not fit.

        The words of a contraction share its letters: "de" and "le" become "d" and "u".
        """
        text, place, written = joined(self.text), 0, list[TreeWord]()
        for form, words in self.parts:
            rest = joined(form)
            if len(rest) < len(words) or not text.startswith(rest, place):
                return None
            place += len(rest)
            for follow, word in zip(range(len(words) - 1, -1, -1), words, strict=True):
                alike = takewhile(lambda pair: pair[0].lower() == pair[1].lower(), zip(rest, word.form, strict=False))
                end = min(max(len([*alike]), 1), len(rest) - follow) if follow else len(rest)
                written.append(word._replace(form=rest[:end], space=not follow and text.startswith(" ", place)))
                rest = rest[end:]
            place += written[-1].space
        return self._replace(text=text, words=tuple(written), contractions=()) if place == len(text) else None


def read_conllu(path: Path, *, tags: bool = False) -> Iterator[ConlluSentence]:
    """Yield the sentences of a file in CoNLL-U, compressed (.gz) or not; empty nodes are left out.

    Args:
        path: The file.
        tags: Whether the last column has one tag a word, "B-DITRAN", "I-DITRAN" or "O", in place of MISC, as in the ASC
            treebank. Such a word is the head of the construction DITRAN.

    Raises:
        DataError: It is no such file; with the line.
    """
    document, lines = "", dict[int, str]()
    for number, line in enumerate([*read_text(path, DataError).split("\n"), ""], start=1):
        if content := line.removesuffix("\r"):
            lines[number] = content
        elif has_words(lines):
            document = document_of(lines, document)
            yield read_sentence(lines, document, f"{path}, ", tags=tags)
            lines = {}


def has_words(lines: Mapping[int, str]) -> bool:
    """Return whether lines are a sentence: comments alone belong to the sentence that follows."""
    return not all(line.startswith("#") for line in lines.values())


def document_of(lines: Mapping[int, str], document: str) -> str:
    """Return the document of a sentence: that of its comment "newdoc", or else that of the sentence before it."""
    for key, _, value in (line[1:].partition("=") for line in lines.values() if line.startswith("#")):
        if key.split()[:1] == ["newdoc"]:
            document = value.strip()
    return document


def read_sentence(lines: Mapping[int, str], document: str, place: str = "", *, tags: bool = False) -> ConlluSentence:
    """Read a sentence of CoNLL-U; empty nodes are left out.

    Args:
        lines: The number of each line -> the line: comments, then words.
        document: Its document, see `document_of`.
        place: The file, before the number of a line in messages.
        tags: See `read_conllu`.

    Raises:
        DataError: A line does not follow the CoNLL-U format, or the sentence has no word. The message names the line.
    """
    comments, rows = dict[str, str](), list[tuple[str, list[str]]]()
    for number, line in lines.items():
        if line.startswith("#") and not rows:
            key, _, value = line[1:].partition("=")
            comments[key.strip()] = value.strip()
            continue
        where, cells = f"{place}line {number}", line.split("\t")
        if len(cells) != 10:
            raise DataError(f"{where}: CoNLL-U has 10 columns, found {len(cells)}; put one tab between two")
        rows.append((where, cells))
    words, contractions = _words(rows, tags)
    if not words:
        raise DataError(
            f"{rows[0][0]}: this sentence has no word, only tokens that words are joined to, or empty nodes"
        )
    name = comments.get("sent_id", f"line {max(lines) + 1}")
    sentence = ConlluSentence(name, comments.get("text", ""), document, words, contractions)
    return sentence if sentence.text else sentence._replace(text=sentence.text_of_words)


def _words(rows: Sequence[tuple[str, list[str]]], tags: bool) -> tuple[tuple[TreeWord, ...], tuple[Contraction, ...]]:
    """Return the words of a sentence and its contractions; rows are their cells, each with its place."""
    words, contractions = list[TreeWord](), list[Contraction]()
    last, space_after = 0, True  # of the words that are written as one, and whether a space follows them
    most = sum(cells[0].isdecimal() for _, cells in rows)
    heads = {str(number) for number in range(most + 1)}
    for where, cells in rows:
        number, hyphen, end = cells[0].partition("-")
        misc = {} if tags else dict(part.partition("=")[::2] for part in cells[9].split("|"))
        space = misc.get("SpaceAfter") != "No"
        if hyphen and number == str(len(words) + 1) and end in heads and last <= len(words) < int(end):
            last, space_after = int(end), space
            contractions.append(Contraction(len(words) + 1, last, cells[1]))
            continue
        if "." in number and number.partition(".")[0] == str(len(words)):
            continue
        if hyphen or number != str(len(words) + 1):
            raise DataError(f"{where}: the number {cells[0]!r} cannot follow {len(words)}; number words from 1")
        if cells[6] != "_" and cells[6] not in heads:
            raise DataError(f"{where}: the head {cells[6]!r} is none of 0 to {most}, the sentence's words, nor _")
        if tags and cells[9] != "O" and cells[9][:2] not in ("B-", "I-"):
            raise DataError(f"{where}: {cells[9]!r} in the last column is no tag such as O or B-DITRAN")
        if len(words) < last:
            space = space and space_after if len(words) + 1 == last else False
        head = NO_HEAD if cells[6] == "_" else int(cells[6])
        cxn = (cells[9][2:],) * (cells[9] != "O") if tags else _values(misc, "Cxn")
        form, lemma, upos, xpos, feats = cells[1:6]
        words.append(TreeWord(form, lemma, upos, xpos, feats, head, cells[7], space, cxn, _values(misc, "CxnElt")))
    rooted = {0, NO_HEAD}  # the numbers of words whose way has an end
    for word in words:
        head, way = word.head, set[int]()
        while head not in rooted and head not in way:
            way.add(head)
            head = words[head - 1].head
        if head in way:
            raise DataError(f"{rows[0][0]}: the heads of this sentence go round in a circle; each way must end at 0")
        rooted |= way
    return tuple(words), tuple(contractions)


def _values(misc: Mapping[str, str], key: str) -> tuple[str, ...]:
    return tuple(misc[key].split(",")) if misc.get(key) else ()


def conllu_text(sentences: Iterable[ConlluSentence]) -> str:
    """Return sentences as a file in CoNLL-U; `read_conllu` gives them back.

    Their texts and forms have no tab and no line break.
    """
    lines, document = list[str](), ""
    for sentence in sentences:
        if sentence.document != document:
            document = sentence.document
            lines.append(f"# newdoc id = {document}")
        lines += [f"# sent_id = {sentence.id}", f"# text = {sentence.text}"]
        contractions = {one.first: one for one in sentence.contractions}
        for number, word in enumerate(sentence.words, start=1):
            if one := contractions.get(number):
                lines.append("\t".join([f"{one.first}-{one.last}", one.form, *"_" * 8]))
            misc = []
            if word.cxn:
                misc.append(f"Cxn={','.join(word.cxn)}")
            if word.elements:
                misc.append(f"CxnElt={','.join(word.elements)}")
            if not word.space:
                misc.append("SpaceAfter=No")
            head = "_" if word.head == NO_HEAD else str(word.head)
            lines.append("\t".join([str(number), *word[:5], head, word.deprel, "_", "|".join(misc) or "_"]))
        lines.append("")
    return "\n".join(lines) + "\n"


def gold_doc(sentence: ConlluSentence, vocab: Vocab) -> Doc:
    """Return a sentence of spaCy with the words, tags, lemmas and tree of a treebank's.

    Raises:
        DataError: spaCy refuses a tag or a feature.
    """
    words = sentence.words
    columns: dict[str, Any] = {"words": [word.form for word in words], "spaces": [word.space for word in words]}
    for name, place in {"lemmas": 1, "pos": 2, "tags": 3, "morphs": 4}.items():
        columns[name] = ["" if word[place] == "_" else word[place] for word in words]
    if all(word.head != NO_HEAD for word in words):
        columns["heads"] = [number if word.head == 0 else word.head - 1 for number, word in enumerate(words)]
        columns["deps"] = ["ROOT" if word.head == 0 else word.deprel for word in words]
    try:
        return Doc(vocab, **columns)
    except ValueError as fault:
        raise DataError(f"the sentence {sentence.id} is no CoNLL-U that spaCy reads: {fault}") from fault


def annotated_sentence(
    doc: Doc, id: str, document: str, construction: str = "", parts: Sequence[tuple[str, Token]] = ()
) -> ConlluSentence:
    """Return a parsed sentence, with a construction where one is named.

    The head of the construction is the part that is highest in the tree, the first one of several; the root of the
    sentence if there are no parts. A tree has one root: what else the parser left without a head depends on it as
    "parataxis", as in UD English EWT.

    Args:
        doc: The sentence, which has a tree.
        id: Of the sentence.
        document: That it is from.
        construction: As UCxn names it, such as "Ditransitive"; "" for none.
        parts: The role of each part, such as "Rec", and its word.
    """
    root = next(token for token in doc if token.head == token)
    top = min((token for _, token in parts), key=lambda token: (len(list(token.ancestors)), token.i), default=root)
    words = []
    for token in doc:
        head, deprel = token.head.i + 1, token.dep_
        if token == root:
            head, deprel = 0, "root"
        elif token.head == token:
            head, deprel = root.i + 1, "parataxis"
        known = (token.lemma_, token.pos_, token.tag_, str(token.morph))
        lemma, upos, xpos, feats = (cell or "_" for cell in known)
        word = TreeWord(token.text, lemma, upos, xpos, feats, head, deprel, space=bool(token.whitespace_))
        if construction:
            elements = [f"{top.i + 1}:{construction}.{role}" for role, part in parts if part == token]
            word = word._replace(cxn=(construction,) * (token == top), elements=tuple(elements))
        words.append(word)
    return ConlluSentence(id, doc.text, document, tuple(words))
