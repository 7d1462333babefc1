"""The tagger: any spaCy pipeline, loaded without what tags do not need."""

import spacy
from spacy.language import Language

from cxprobe.constructions import Pattern
from cxprobe.errors import ModelError
from cxprobe.make.mining.forward import run_forward_only

# Components that set no attribute of single tokens, and take time.
NOT_NEEDED = ("parser", "ner", "lemmatizer", "senter", "entity_linker", "textcat")
# What a token pattern may ask for beside tags, which only this component sets.
FROM_MORPHOLOGIZER = frozenset({"POS", "MORPH"})


def load_tagger(name: str, pattern: Pattern) -> Language:
    """Load a spaCy pipeline, by the name of an installed package or by its folder, without what tags do not need.

    Raises:
        ModelError: It does not exist, or does not set tags.
    """
    asked = {
        key
        for part in range(len(pattern.parts))
        for tokens in pattern.alternatives(part)
        for one in tokens
        for key in one
    }
    without = NOT_NEEDED if asked & FROM_MORPHOLOGIZER else (*NOT_NEEDED, "morphologizer")
    try:
        nlp = spacy.load(name, exclude=list(without))
    except OSError as fault:
        raise ModelError(
            f"mine_sentences.tagger: '{name}' is neither a folder with a spaCy pipeline nor an installed package; "
            f"install it, or name another ({' '.join(str(fault).split())[:200]})"
        ) from None
    if not nlp("The more.").has_annotation("TAG"):
        raise ModelError(
            f"mine_sentences.tagger: '{name}' sets no fine-grained tags; its components are {nlp.pipe_names}"
        )
    for _, component in nlp.pipeline:
        if hasattr(component, "model"):
            run_forward_only(component.model)
    return nlp
