"""Measure a pipeline on a treebank file: with its tokens and from raw text, and its speed.

Run it as ``python measure.py en_ewt_cxprobe corpus/test.spacy``; the result is one JSON object. The file's texts are
one sentence or several each; a splitter or parser must then find where sentences end.
"""

import json
import sys
import time
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.scorer import Scorer
from spacy.tokens import Doc
from spacy.training import Corpus, Example

SCORES = {
    "UPOS": "pos_acc",
    "features": "morph_acc",
    "XPOS": "tag_acc",
    "lemma": "lemma_acc",
    "sentence F": "sents_f",
}
# What arguments and particles of a verb, and clauses beside it, are called.
RELATIONS = ("nsubj", "obj", "iobj", "obl", "xcomp", "compound:prt", "advcl", "acl:relcl", "nmod", "amod")
COMPARATIVES = frozenset({"JJR", "RBR"})
REPEATS = 5


def score(nlp: Language, examples: list[Example]) -> dict[str, object]:
    """Return spaCy's scores of what the pipeline sets, in per cent.

    A gold token that the tokenizer does not find is an error.
    UAS and LAS are of all words, as in the CoNLL shared tasks; those without punctuation are what spaCy reports.
    """
    docs = nlp.pipe([example.predicted.copy() for example in examples])
    read = [Example(doc, example.reference) for doc, example in zip(docs, examples, strict=True)]
    scores = Scorer(nlp).score(read)
    found: dict[str, object] = {
        name: round(100 * scores[key], 2) for name, key in SCORES.items() if scores.get(key) is not None
    }
    if "parser" in nlp.pipe_names:
        every = Scorer.score_deps(read, "dep", getter=lambda token, _: token.dep_)
        found |= {
            "UAS": round(100 * every["dep_uas"], 2),
            "LAS": round(100 * every["dep_las"], 2),
            "UAS without punctuation": round(100 * scores["dep_uas"], 2),
            "LAS without punctuation": round(100 * scores["dep_las"], 2),
            "F of relations": {name: round(100 * every["dep_las_per_type"][name]["f"], 1) for name in RELATIONS},
        }
    return found


def with_gold_tokens(nlp: Language, example: Example) -> Example:
    """Return the example with the treebank's tokens, as yet untagged, in the place of the tokenizer's."""
    gold = example.reference
    return Example(Doc(nlp.vocab, [t.text for t in gold], [bool(t.whitespace_) for t in gold]), gold)


def find(nlp: Language, examples: list[Example], tags: frozenset[str]) -> dict[str, float]:
    """Return how many tokens have one of the tags, and precision and recall in finding them; same tokens needed."""
    docs = nlp.pipe([example.predicted for example in examples])
    pairs = [
        pair for example, doc in zip(examples, docs, strict=True) for pair in zip(example.reference, doc, strict=True)
    ]
    hits = sum(gold.tag_ in tags and found.tag_ in tags for gold, found in pairs)
    in_gold, in_found = sum(gold.tag_ in tags for gold, _ in pairs), sum(found.tag_ in tags for _, found in pairs)
    return {"n": in_gold, "precision": round(100 * hits / in_found, 2), "recall": round(100 * hits / in_gold, 2)}


def words_per_second(nlp: Language, texts: list[str], pipes: list[str]) -> int:
    """Return the best of several timings over texts, in processor time, tokenisation (with a warm cache) included."""
    with nlp.select_pipes(enable=pipes):
        words = sum(len(doc) for doc in nlp.pipe(texts))
        seconds = []
        for _ in range(REPEATS):
            start = time.process_time()
            for _ in nlp.pipe(texts):
                pass
            seconds.append(time.process_time() - start)
    return round(words / min(seconds))


def measure(model: Path, corpus: Path) -> dict[str, object]:
    """Return the accuracies in per cent and the speeds in words a second of one core."""
    nlp = spacy.load(model)
    examples = list(Corpus(corpus)(nlp))
    sentences = [sent.text for example in examples for sent in example.reference.sents]
    texts = [example.text for example in examples]
    same_tokens = [with_gold_tokens(nlp, example) for example in examples]
    tagging = [name for name in nlp.pipe_names if name != "senter"]
    timings = {
        "single sentences without sentence splitter": words_per_second(nlp, sentences, tagging),
        "all components, whole texts": words_per_second(nlp, texts, nlp.pipe_names),
    }
    if "senter" in nlp.pipe_names:
        timings["sentence splitter alone, whole texts"] = words_per_second(nlp, texts, ["senter"])
    return {
        "words": sum(len(example.reference) for example in examples),
        "texts": len(texts),
        "sentences": len(sentences),
        "gold tokens": score(nlp, same_tokens),
        "gold tokens, JJR or RBR": find(nlp, same_tokens, COMPARATIVES),
        "raw text": score(nlp, examples),
        "words per second": timings,
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure(*map(Path, sys.argv[1:])), indent=2) + "\n")
