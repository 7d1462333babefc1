"""Write the trained pipeline as the project carries it: with a model card, and without the treebank's words.

The tagger works on hashes of words, so the strings of the training text are of no use; they would be nearly half a
megabyte, and the treebank's vocabulary. Run it as ``python pack.py training/model-best en_ewt_cxprobe``.
"""

import json
import sys
from pathlib import Path

import spacy

CARD = {
    "name": "ewt_cxprobe",
    "version": "1.0.0",
    "description": "Tagger, morphologizer and sentence splitter for English, trained on UD English EWT.",
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


def pack(source: Path, target: Path) -> None:
    """Save the pipeline at ``source`` to ``target`` with its card, and with no more strings than a blank one has."""
    nlp = spacy.load(source)
    nlp.meta.update(CARD)
    nlp.to_disk(target)
    labels = {label for pipe in ("morphologizer", "tagger") for label in nlp.pipe_labels[pipe]}
    strings = labels | set(spacy.blank("en").vocab.strings)
    (target / "vocab" / "strings.json").write_text(json.dumps(sorted(strings)), "utf-8")


if __name__ == "__main__":
    pack(*map(Path, sys.argv[1:]))
