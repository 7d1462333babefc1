"""Files of texts that people bring: sentences and pairs in, tables of scores out.

`read_sentences` and `read_texts` read a file by the ending of its name, or standard input; `write_results`
writes a table likewise. Nothing of a text is changed, and what could mean two things is refused.
"""

from cxprobe.texts.reading import FORMATS, read_sentences, read_texts
from cxprobe.texts.writing import refuse_unwritable, write_results

__all__ = ["FORMATS", "read_sentences", "read_texts", "refuse_unwritable", "write_results"]
