"""How well a pattern finds what others annotated in treebanks."""

import re
from collections.abc import Collection, Sequence

import pandas as pd
from spacy.tokens import Doc

from cxprobe.corpora.conllu import ConlluSentence, gold_doc
from cxprobe.corpora.search import Found, Matchers, passes
from cxprobe.errors import DataError
from cxprobe.segmentation import joined
from cxprobe.stats import rate_by
from cxprobe.tagging import BATCH

# Where treebanks were joined, the last document that one of them names goes on through the others, whose sentences have
# ids of another kind.
_NUMBER = re.compile(r"[0-9]+$")


def search_treebank(
    sentences: Sequence[ConlluSentence], matchers: Matchers, constructions: Collection[str], *, gold: bool
) -> pd.DataFrame:
    """Return, for each sentence, whether others annotated a construction in it and whether a pattern finds it.

    As in mining, a sentence is found if it passes the pre-filter and has the pattern.

    Args:
        sentences: Of treebanks.
        matchers: The pattern.
        constructions: The names in the treebank that count, such as "Ditransitive". A name stands for its strategies
            too: "Interrogative" for "Interrogative-Polar-Direct".
        gold: Whether the treebank's own words, tags and trees are matched, and not those of the pipeline.

    Returns:
        One row a sentence: id, text, annotated, found, why_not ("", "pre-filter" or the reason of
        `cxprobe.corpora.search.Matchers.match`) and cluster_document (a sentence alone where no document is named).

    Raises:
        DataError: No sentence has any of the constructions, or one has no tree and ``gold`` is asked for.
    """
    heads = [{name.partition("#")[0] for word in sentence.words for name in word.cxn} for sentence in sentences]
    annotated = [
        any(name == one or name.startswith(f"{one}-") for name in names for one in constructions) for names in heads
    ]
    if not any(annotated):
        known = ", ".join(sorted(set().union(*heads))) or "none"
        raise DataError(f"no sentence has the construction {', '.join(constructions)}; the files have {known}")
    texts = [joined(sentence.text) for sentence in sentences]
    passing = [row for row, text in enumerate(texts) if passes(matchers.pattern, text)]
    docs = (
        (_with_tree(sentences[row], matchers) for row in passing)
        if gold
        else matchers.nlp.pipe((texts[row] for row in passing), batch_size=BATCH)
    )
    why_not = ["pre-filter"] * len(sentences)
    for row, doc in zip(passing, docs, strict=True):
        verdict = matchers.match(doc)
        why_not[row] = "" if isinstance(verdict, Found) else verdict
    return pd.DataFrame(
        {
            "id": [sentence.id for sentence in sentences],
            "text": texts,
            "annotated": annotated,
            "found": [not why for why in why_not],
            "why_not": why_not,
            "cluster_document": [
                f"{one.document} {_NUMBER.sub('', one.id)}" if one.document else f"sentence {row}"
                for row, one in enumerate(sentences)
            ],
        }
    )


def _with_tree(sentence: ConlluSentence, matchers: Matchers) -> Doc:
    doc = gold_doc(sentence, matchers.nlp.vocab)
    if absent := matchers.absent(doc):
        raise DataError(f"the sentence {sentence.id} has no {absent}; let a pipeline parse it, without --gold")
    return doc


def rates_on_treebank(searched: pd.DataFrame) -> pd.DataFrame:
    """Return the precision of a pattern among what it finds, and its recall among what was annotated.

    Args:
        searched: See `search_treebank`.

    Returns:
        Rows "precision" (absent if nothing was found) and "recall": measure, and rate, low, high and n, see `rate_by`.
    """
    found, annotated = searched[searched["found"]], searched[searched["annotated"]]
    credits = [
        found.assign(measure="precision", rate=found["annotated"]),
        annotated.assign(measure="recall", rate=annotated["found"]),
    ]
    return rate_by(pd.concat(credits, ignore_index=True), "rate", ["measure"]).drop(columns="ties")
