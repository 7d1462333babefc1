"""Write a trained pipeline as the project carries it: with a model card, and without the treebank's words.

The network works on hashes of words, so the strings of the training text are of no use; they would be nearly half a
megabyte, and the treebank's vocabulary. Only what labels and edit trees are written with stays. With --rounded, weights
and vectors have the digits of float16 alone, and are compressed to two thirds. Run it as
``python pack.py training/model-best en_ewt_cxprobe "What the pipeline is"``.
"""

import json
import sys
from pathlib import Path

import numpy as np
import spacy
import srsly
from numpy.typing import NDArray
from spacy.language import Language
from spacy.vectors import Vectors

VECTORS = 14_500  # the most frequent words; with more, the parser's folder would be above 15 MB
NO_TREE = 2**32 - 1  # what spaCy writes in the place of a part that an edit tree does not have

CARD = {
    "name": "ewt_cxprobe",
    "version": "1.0.0",
    "author": "cxprobe",
    "license": "CC BY-SA 4.0",
    "sources": [
        {
            "name": "UD English EWT v2.16",
            "url": "https://github.com/UniversalDependencies/UD_English-EWT/tree/r2.16",
            "author": "Natalia Silveira, Timothy Dozat, Christopher Manning, Nathan Schneider and others",
            "license": "CC BY-SA 4.0",
        }
    ],
}


def pack(source: Path, target: Path, description: str, *, is_rounded: bool = False) -> None:
    """Save the pipeline at ``source`` to ``target`` with its card, its most frequent vectors, and few strings."""
    nlp = spacy.load(source)
    nlp.meta.update({**CARD, "description": description})
    vectors = nlp.vocab.vectors
    if vectors.shape[0]:
        keys = [key for key, row in sorted(vectors.key2row.items(), key=lambda item: item[1]) if row < VECTORS]
        data = vectors.data[: len(keys)]
        kept = {"data": rounded(data) if is_rounded else data, "keys": keys, "attr": vectors.attr, "name": vectors.name}
        nlp.vocab.vectors = Vectors(strings=nlp.vocab.strings, **kept)
    for _, component in nlp.pipeline if is_rounded else ():
        for part in component.model.walk():
            for name in part.param_names:
                if part.has_param(name):
                    part.set_param(name, rounded(part.get_param(name)))
    nlp.to_disk(target)
    strings = needed_strings(nlp) | set(spacy.blank("en").vocab.strings)
    (target / "vocab" / "strings.json").write_text(json.dumps(sorted(strings)), "utf-8")


def rounded(numbers: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return numbers with the digits of float16; spaCy stores and computes in float32."""
    return numbers.astype(np.float16).astype(np.float32)


def needed_strings(nlp: Language) -> set[str]:
    """Return the labels of all components, and the letters that the lemmatizer's edit trees take away and put in.

    Rare trees, which spell out single words of the treebank, are no labels, and their letters are left out.
    """
    strings = {label for name, labels in nlp.pipe_labels.items() if name != "trainable_lemmatizer" for label in labels}
    if "trainable_lemmatizer" in nlp.pipe_names:
        lemmatizer = nlp.get_pipe("trainable_lemmatizer")
        trees = srsly.msgpack_loads(lemmatizer.trees.to_bytes())["trees"]
        reached = list(lemmatizer.cfg["labels"])
        while reached:
            tree = trees[reached.pop()]
            reached += [tree[side] for side in ("prefix_tree", "suffix_tree") if tree.get(side, NO_TREE) != NO_TREE]
            strings |= {nlp.vocab.strings[tree[key]] for key in ("orig", "subst") if key in tree}
    return strings


if __name__ == "__main__":
    pack(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], is_rounded="--rounded" in sys.argv)
