"""Corpora: what they consist of (`list_corpus`), and how they become files that can be read one by one (`open_corpus`).

A corpus is a folder of files, here or elsewhere, or the documentation of installed packages. This package imports
little, since every `dvc repro` lists every corpus.
"""

from cxprobe.make.corpora.sources import list_corpus, open_corpus

__all__ = ["list_corpus", "open_corpus"]
