"""MASC, the Manually Annotated Sub-Corpus of the American National Corpus, as nltk_data keeps it."""

import re
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

from nltk.tokenize.treebank import TreebankWordDetokenizer

_TEXTS = re.compile(r"/(?:spoken|written)/.+\.txt$")
RECORD_LINES = 20  # a line is a sentence or a short paragraph


def read_masc(archive: Path) -> Iterator[tuple[str, str]]:
    """Yield the records of the archive ``masc_tagged.zip``, in which every token is written word_TAG.

    The text is put together again by the Penn Treebank's rules for spaces, so its spaces are not always the original's.

    Yields:
        <spoken|written>/<file>/<part> and the text.
    """
    join = TreebankWordDetokenizer().detokenize
    with ZipFile(archive) as opened:
        for name in sorted(name for name in opened.namelist() if _TEXTS.search(name)):
            place = "/".join(Path(name).with_suffix("").parts[1:])
            lines = opened.read(name).decode("utf-8", errors="strict").splitlines()
            texts = [join([token.rpartition("_")[0] for token in line.split()]) for line in lines if line.strip()]
            for part in range(0, len(texts), RECORD_LINES):
                yield f"{place}/{part // RECORD_LINES}", "\n".join(texts[part : part + RECORD_LINES])
