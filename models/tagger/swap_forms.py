"""Copies of training sentences in which words on -er are put in, or change places with others of their kind.

English EWT has 75 comparative forms, too few to tell "the angrier" from "the reader". So three sorts of copies are
made, with the forms of lemminflect's lexicon: a comparative gives way to another one, a positive adjective or adverb
to its comparative or to any, and a noun on -er to another such noun. Neither the ending nor the article decides alone.

Run it as ``python swap_forms.py train.conllu swapped.conllu``.
"""

import gzip
import random
import sys
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

import lemminflect

Row = list[str]
Lexicon = dict[str, dict[str, str]]

SEED = 0
COPIES = 6  # of a sentence with a comparative; the other two sorts are copied once
OWN = 0.5  # share of the positives that get their own comparative instead of the next one in turn
CLASSES = {"JJR": "adj", "RBR": "adv", "JJ": "adj", "RB": "adv", "NN": "noun"}  # XPOS -> lemminflect's word class
BEFORE_POSITIVES = {"as", "how", "least", "less", "more", "most", "so", "such", "that", "too", "very"}
FORM, LEMMA, XPOS, FEATS = 1, 2, 4, 5  # columns of CoNLL-U


def read_lexicon() -> Lexicon:
    """Return lemma -> form on -er by word class; no noun is spelled like a comparative."""
    table = Path(lemminflect.__file__).parent / "resources" / "infl_lu.csv.gz"
    lexicon: Lexicon = {"adj": {}, "adv": {}, "noun": {}}
    for line in gzip.decompress(table.read_bytes()).decode().splitlines():
        lemma, kind, *inflections = line.split(",")
        if kind in lexicon and lemma.islower():
            form = lemma if kind == "noun" else inflections[0].split("/")[0]
            if form.endswith("er") and form.isalpha():
                lexicon[kind][lemma] = form
    comparatives = {*lexicon["adj"].values(), *lexicon["adv"].values()}
    lexicon["noun"] = {lemma: form for lemma, form in lexicon["noun"].items() if form not in comparatives}
    return lexicon


def is_swappable(rows: list[Row], at: int, tags: set[str], lexicon: Lexicon) -> bool:
    """Whether a row has one of the tags and is a word on -er, or a positive that could be a comparative here."""
    row = rows[at]
    if row[XPOS] not in tags or "Typo=Yes" in row[FEATS]:
        return False
    if row[XPOS] in {"JJ", "RB"}:
        gradable = row[FORM].lower() == row[LEMMA] and row[LEMMA] in lexicon[CLASSES[row[XPOS]]]
        return gradable and (at == 0 or rows[at - 1][FORM].lower() not in BEFORE_POSITIVES)
    return row[FORM].lower().endswith("er") and row[FORM].isalpha()


def swap(row: Row, lemma: str, form: str) -> Row:
    """Return the row with another word, written with the capitals of the old one; a positive becomes a comparative."""
    old = row[FORM]
    cased = form.upper() if old.isupper() else form.capitalize() if old[0].isupper() else form
    xpos = {"JJ": "JJR", "RB": "RBR"}.get(row[XPOS], row[XPOS])
    return [row[0], cased, lemma, row[3], xpos, row[FEATS].replace("Degree=Pos", "Degree=Cmp"), *row[6:]]


def swapped_sentences(text: str) -> Iterator[str]:
    """Yield the copies of a CoNLL-U text's sentences, each form of the lexicon in its turn.

    The surface line of a contraction ("mother's") is left as it is; spaCy's converter reads the parts only.
    """
    rng = random.Random(SEED)  # noqa: S311
    lexicon = read_lexicon()
    turns = {kind: cycle(rng.sample(sorted(forms.items()), len(forms))) for kind, forms in lexicon.items()}
    for sentence in text.strip().split("\n\n"):
        rows = [line.split("\t") for line in sentence.split("\n") if not line.startswith("#")]
        for tags, copies in (({"JJR", "RBR"}, COPIES), ({"JJ", "RB"}, 1), ({"NN"}, 1)):
            places = [at for at in range(len(rows)) if is_swappable(rows, at, tags, lexicon)]
            for _ in range(copies if places else 0):
                changed = list(rows)
                for at in places:
                    kind, lemma = CLASSES[rows[at][XPOS]], rows[at][LEMMA]
                    own = rows[at][XPOS] in {"JJ", "RB"} and rng.random() < OWN
                    changed[at] = swap(rows[at], *((lemma, lexicon[kind][lemma]) if own else next(turns[kind])))
                yield "\n".join("\t".join(row) for row in changed)


if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:])
    target.write_text("\n\n".join(swapped_sentences(source.read_text("utf-8"))) + "\n\n", "utf-8")
