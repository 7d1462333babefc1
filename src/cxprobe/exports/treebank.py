"""Mined sentences as a treebank in CoNLL-U, with the construction as UCxn writes it."""

import re
from collections.abc import Iterator

import pandas as pd
from spacy.language import Language

from cxprobe.corpora.conllu import ConlluSentence, annotated_sentence
from cxprobe.errors import DataError


def camel_case(name: str) -> str:
    """Return the name of a folder or a slot as UCxn writes names: "ComparativeCorrelative", "Half1"."""
    return "".join(part[:1].upper() + part[1:] for part in re.split("[-_ ]", name))


def treebank_of(sentences: pd.DataFrame, nlp: Language, construction: str) -> Iterator[ConlluSentence]:
    """Yield mined sentences as a pipeline parses them, with the construction in those that are labelled positive.

    Args:
        sentences: Columns id, text, url, slots and label ("positive" or another).
        nlp: A pipeline with a parser.
        construction: As UCxn names it.

    Raises:
        DataError: A word that fills a slot is none of the pipeline's, or it has no parser.
    """
    rows = sentences[["id", "url", "slots", "label"]].itertuples(index=False)
    for (id_, url, slots, label), doc in zip(rows, nlp.pipe(sentences["text"]), strict=True):
        at = {token.idx: token for token in doc}
        if any(slot["start"] not in at for slot in slots):
            raise DataError(
                f"{id_}: was mined with other words than mining.parser has now; run `dvc repro mine_sentences`"
            )
        parts = [(camel_case(slot["slot"]), at[slot["start"]]) for slot in slots]
        document = url.partition("#")[0]
        yield annotated_sentence(doc, id_, document, construction if label == "positive" else "", parts)
