"""Precision and recall of a pattern on the annotation of treebanks."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

import pandas as pd
from spacy.tokens import Doc

from cxprobe.constructions.construction import load_construction
from cxprobe.corpora.conllu import ConlluSentence, gold_doc, read_conllu
from cxprobe.corpora.params import Mining
from cxprobe.corpora.pattern import load_pattern
from cxprobe.corpora.search import Found, Matchers, load_pipeline, passes, pipeline_of
from cxprobe.errors import DataError
from cxprobe.segmentation import joined
from cxprobe.stats import rate_by
from cxprobe.tagging import BATCH

# Where treebanks were joined, the last document that one of them names goes on through the others, whose sentences have
# ids of another kind.
_NUMBER = re.compile(r"[0-9]+$")
_SHOWN = 10  # mistakes of each kind


def search_treebank(
    sentences: Sequence[ConlluSentence], matchers: Matchers, constructions: Collection[str], *, gold: bool
) -> pd.DataFrame:
    """Return, for each sentence, the annotation of a construction and the verdict of a pattern.

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
    prefixes = tuple(f"{name}-" for name in constructions)
    annotated = [any(f"{name}-".startswith(prefixes) for name in names) for names in heads]
    if not any(annotated):
        known = ", ".join(sorted(set().union(*heads))) or "none"
        raise DataError(f"no sentence has the construction {', '.join(constructions)}; the files have {known}")
    texts = [joined(sentence.text) for sentence in sentences]
    passing = [row for row, text in enumerate(texts) if passes(matchers.pattern, text)]
    docs: Iterable[Doc]
    if gold:
        docs = (gold_doc(sentences[row].as_written() or sentences[row], matchers.nlp.vocab) for row in passing)
    else:
        docs = matchers.nlp.pipe((texts[row] for row in passing), batch_size=BATCH)
    why_not = ["pre-filter"] * len(sentences)
    for row, doc in zip(passing, docs, strict=True):
        if absent := matchers.absent(doc):
            raise DataError(
                f"the sentence {sentences[row].id} has no {absent}; let a pipeline parse it, without --gold"
            )
        verdict = matchers.match(doc)
        why_not[row] = "" if isinstance(verdict, Found) else verdict
    table = pd.DataFrame({"id": [sentence.id for sentence in sentences], "text": texts})
    documents = [
        f"{one.document} {_NUMBER.sub('', one.id)}" if one.document else f"sentence {row}"
        for row, one in enumerate(sentences)
    ]
    found = [not why for why in why_not]
    return table.assign(annotated=annotated, found=found, why_not=why_not, cluster_document=documents)


def rates_on_treebank(searched: pd.DataFrame) -> pd.DataFrame:
    """Return the precision of a pattern among its matches, and its recall among the annotated sentences.

    Args:
        searched: See `search_treebank`.

    Returns:
        Rows "precision" (absent if nothing was found) and "recall": measure, and rate, low, high and n, see `rate_by`.
    """
    precision = searched[searched["found"]].assign(measure="precision", rate=searched["annotated"])
    recall = searched[searched["annotated"]].assign(measure="recall", rate=searched["found"])
    return rate_by(pd.concat([precision, recall], ignore_index=True), "rate", ["measure"]).drop(columns="ties")


def pattern_on_treebanks(
    construction: str, files: Sequence[Path], names: Collection[str], mining: Mining, *, tags: bool, gold: bool
) -> Iterator[str]:
    """Yield in words the precision and recall of a construction's pattern, and its first mistakes of each kind.

    Args:
        construction: The construction's folder.
        files: Treebanks in CoNLL-U, also .gz.
        names: See `search_treebank`.
        mining: Which pipeline tags and parses.
        tags: Whether the last column has a tag a word, such as B-DITRAN, instead of ``Cxn=``.
        gold: See `search_treebank`.

    Raises:
        CxprobeError: The construction, its pattern or a treebank has faults; see `search_treebank`.
    """
    pattern = load_pattern(construction, load_construction(construction))
    matchers = Matchers(pattern, load_pipeline(pipeline_of(pattern, mining), pattern))
    sentences = [sentence for file in files for sentence in read_conllu(file, tags=tags)]
    searched = search_treebank(sentences, matchers, names, gold=gold)
    for rate in rates_on_treebank(searched).to_dict("records"):
        interval = f"[{rate['low']:.1%}, {rate['high']:.1%}]"
        yield f"{rate['measure']}: {rate['rate']:.1%} {interval}, n = {rate['n']:,} of {len(searched):,} sentences"
    mistakes = searched[searched["annotated"] != searched["found"]]
    for why, rows in mistakes.groupby("why_not"):
        reason = "not found because of " + str(why) if why else "found and not annotated"
        yield f"{len(rows):,} {reason}:"
        for row in rows.head(_SHOWN).itertuples():
            yield f"  {row.text} ({row.id})"
