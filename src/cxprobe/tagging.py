"""Where sentences end, and fine-grained tags of their words: for what is mined from corpora, and for baselines.

Sentences end by the characters alone, so that a text is cut alike whether or not it is tagged. Tags are those of a
spaCy pipeline.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from cxprobe.errors import ModelError
from cxprobe.files.writing import digest_of_files

if TYPE_CHECKING:
    from spacy.language import Language

BATCH = 256  # sentences that the tagger takes at once
# Components of a pipeline that set nothing that is asked for here, and take time.
_NOT_NEEDED = ("ner", "senter", "entity_linker", "textcat")
# After these, and a full stop, no sentence ends.
_TITLES = "mr mrs ms dr prof st rev hon gen col capt lt sgt maj messrs mme mlle jr sr"
_REFERENCES = "vs cf eg ie viz fig figs eq eqs sec nos vol vols ch chap pp ed eds al approx"
_NAMES = "dept inc ltd co corp bros ave mt ft"
_MONTHS = "jan feb aug sept oct nov dec"
ABBREVIATIONS = frozenset(f"{_TITLES} {_REFERENCES} {_NAMES} {_MONTHS}".split())
_ENDS, _CLOSERS, _OPENERS = ".!?…", "”’\"'`)\\]*_", "“‘\"'`(\\[*_"
_WORD_BEFORE = re.compile(r"([^\W\d_]+)\.$")
_WINDOW = 16  # characters before a full stop in which an abbreviation is looked for
# It begins where no such character is before it, and gives nothing back: a line of dots takes no longer than another.
_END = re.compile(
    rf"(?<![{_ENDS}{_CLOSERS}])[{_CLOSERS}]*+(?P<stop>[{_ENDS}][{_ENDS}{_CLOSERS}]*+)(?P<gap>\s++)"
    rf"(?=[{_OPENERS}]*+(?P<next>\w))|\n"
)


def sentence_spans(document: str) -> Iterator[tuple[int, int]]:
    """Yield where each sentence of a document starts and ends, in characters, without the white space around it.

    A sentence ends at a line break, and at a full stop, question mark, exclamation mark or ellipsis (with the
    quotes and brackets that close there) that white space and a capital letter follow, unless the word before the
    full stop is a single letter or one of `ABBREVIATIONS`.
    """
    start = 0
    for match in _END.finditer(document):
        if _ends(document, match):
            yield from _stripped(document, start, match.end())
            start = match.end()
    yield from _stripped(document, start, len(document))


def _ends(document: str, match: re.Match[str]) -> bool:
    if match["gap"] is None or "\n" in match["gap"]:
        return True
    if not (match["next"].isupper() or match["next"].istitle()):
        return False
    if sum(character in _ENDS for character in match["stop"]) > 1:
        return True
    stop = match.start("stop")
    before = _WORD_BEFORE.search(document, max(0, stop - _WINDOW), stop + 1)
    return before is None or not (len(before[1]) == 1 or before[1].lower() in ABBREVIATIONS)


def _stripped(document: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    text = document[start:end]
    left = len(text) - len(text.lstrip())
    if left < len(text):
        yield start + left, start + len(text.rstrip())


def load_tagger(place: str, name: str, *, asks_for: Collection[str] = ()) -> "Language":
    """Load a spaCy pipeline, by the name of an installed package or by its folder, without what is not needed.

    Args:
        place: What names the pipeline, for messages, such as "mining.tagger".
        name: The package or folder.
        asks_for: What is needed beside TAG: some of POS, MORPH, DEP, LEMMA. With DEP or LEMMA nothing of parses is left
            out, so that words have lemmas where the pipeline has any.

    Raises:
        ModelError: It does not exist, or does not set what is needed.
    """
    import spacy  # takes a second to import, and models that are no baselines do without it
    from thinc.api import NumpyOps, Ops, get_current_ops, set_current_ops

    class BlasOps(NumpyOps):  # type: ignore[misc]
        """Multiplies matrices as NumPy does: on some processors three times as fast as thinc's own library."""

        gemm = Ops.gemm

    parses = not {"DEP", "LEMMA"}.isdisjoint(asks_for)
    left_out = [] if parses else ["parser", "lemmatizer", "trainable_lemmatizer"]
    left_out += [] if parses or not {"POS", "MORPH"}.isdisjoint(asks_for) else ["morphologizer"]
    usual = get_current_ops()
    set_current_ops(BlasOps())
    try:
        nlp = spacy.load(name, exclude=[*_NOT_NEEDED, *left_out])
    except OSError as fault:
        raise ModelError(
            f"{place}: '{name}' is neither a folder with a spaCy pipeline nor an installed package; "
            f"install it, or name another ({' '.join(str(fault).split())[:200]})"
        ) from None
    finally:
        set_current_ops(usual)
    example = nlp("They gave him more.")
    if absent := [key for key in sorted({"TAG", *asks_for}) if not example.has_annotation(key)]:
        raise ModelError(
            f"{place}: '{name}' does not set {', '.join(absent)}, which is needed; its components are "
            f"{nlp.pipe_names}; name another pipeline"
        )
    return nlp


class Tagger:
    """A pipeline that tags each sentence once, however many texts and models ask for it."""

    def __init__(self, nlp: "Language") -> None:
        self._nlp = nlp
        self._known: dict[str, str] = {}

    def tags_of(self, texts: Sequence[str]) -> list[str]:
        """Return the tags of each text, with spaces between them; its sentences are tagged one by one."""
        read = [[text[start:end] for start, end in sentence_spans(text)] for text in texts]
        new = list(dict.fromkeys(sentence for text in read for sentence in text if sentence not in self._known))
        for sentence, doc in zip(new, self._nlp.pipe(new, batch_size=BATCH), strict=True):
            self._known[sentence] = " ".join(token.tag_ for token in doc)
        return [" ".join(self._known[sentence] for sentence in text) for text in read]


@cache
def open_tagger(name: str, sha256: str | None) -> Tagger:
    """Return the tagger of a pipeline, the same one for all that ask for it.

    Args:
        name: An installed package, or a folder.
        sha256: That of what ``sha256sum`` prints for all its files, one line each in the order of their paths in the
            folder; None for any.

    Raises:
        ModelError: It does not exist, does not set tags, or has another hash.
    """
    nlp = load_tagger("tagger", name)
    actual = digest_of_files(nlp.path, (path for path in nlp.path.rglob("*") if path.is_file()))
    if sha256 and actual != sha256:
        raise ModelError(
            f"tagger: the files of {nlp.path} have SHA-256 {actual}, params say {sha256}; this is another pipeline: "
            "take the right one, or change sha256 if this is the one you want"
        )
    return Tagger(nlp)
