"""Measure a pipeline on a treebank file: with its tokens and from raw text, and its speed.

Run it as ``python measure.py en_ewt_cxprobe corpus/test.spacy``; the result is one JSON object.
"""

import json
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Corpus, Example

SCORES = {"UPOS": "pos_acc", "UPOS and features": "morph_acc", "XPOS": "tag_acc", "sentence F": "sents_f"}
REPEATS = 5


def score(nlp: Language, examples: Iterable[Example]) -> dict[str, float]:
    """Return spaCy's scores, in per cent; a gold token that the tokenizer does not find is an error."""
    scores = nlp.evaluate(list(examples))
    return {name: round(100 * scores[key], 2) for name, key in SCORES.items()}


def with_gold_tokens(nlp: Language, example: Example) -> Example:
    """Return the example with the treebank's tokens, as yet untagged, in the place of the tokenizer's."""
    gold = example.reference
    return Example(Doc(nlp.vocab, [t.text for t in gold], [bool(t.whitespace_) for t in gold]), gold)


def words_per_second(nlp: Language, texts: list[str], pipes: list[str]) -> int:
    """Return the best of several timings over texts, tokenisation included."""
    with nlp.select_pipes(enable=pipes):
        words = sum(len(doc) for doc in nlp.pipe(texts))
        seconds = []
        for _ in range(REPEATS):
            start = time.perf_counter()
            for _ in nlp.pipe(texts):
                pass
            seconds.append(time.perf_counter() - start)
    return round(words / min(seconds))


def measure(model: Path, corpus: Path) -> dict[str, object]:
    """Return the accuracies in per cent and the speeds in words a second."""
    nlp = spacy.load(model)
    examples = list(Corpus(corpus)(nlp))
    sentences = [sent.text for example in examples for sent in example.reference.sents]
    texts = [example.text for example in examples]
    tagging = ["tok2vec", "morphologizer", "tagger"]
    return {
        "words": sum(len(example.reference) for example in examples),
        "sentences": len(sentences),
        "gold tokens": score(nlp, [with_gold_tokens(nlp, example) for example in examples]),
        "raw text": score(nlp, examples),
        "words per second": {
            "tagging single sentences": words_per_second(nlp, sentences, tagging),
            "all components, ten sentences a text": words_per_second(nlp, texts, [*tagging, "senter"]),
            "sentence splitter alone": words_per_second(nlp, texts, ["senter"]),
        },
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure(*map(Path, sys.argv[1:])), indent=2) + "\n")
