"""Constructions: everything about them is data in ``constructions/<name>/``, and nothing about any one is Python.

Here construction.yaml and the lexicon of people that minimal pairs share are read, and what rules find in any file is
told with its line. Each task reads its own file: pairs.yaml, scenarios.yaml, items.yaml; `cxprobe.corpora` reads
pattern.yaml, and `cxprobe.labels` labels.tsv.
"""
