"""Small corpora with something broken in them, and what mines them as the stage does."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

from pydantic import TypeAdapter

from conftest import ROOT
from cxprobe.corpora.engine import collect, make_job, run_shards
from cxprobe.corpora.params import Corpus, Mining
from cxprobe.corpora.pattern import Pattern, load_wanted
from cxprobe.corpora.readers import list_corpus
from cxprobe.files.tables import read_table

CC = "comparative-correlative"
ADJECTIVES = ("taller", "older", "colder", "shorter")


def write_corpus(folder: Path, shards: int = 4) -> None:
    folder.mkdir()
    for shard in range(shards):
        texts = [
            f"Shard {shard} has number {n}. The {first} it was, the {second} the thing {n} became. The other end."
            for n, (first, second) in enumerate((a, b) for a in ADJECTIVES for b in ADJECTIVES)
        ]
        lines = [json.dumps({"text": text, "url": f"{shard}/{n}"}) for n, text in enumerate(texts)]
        lines.insert(3, '{"broken')
        (folder / f"{shard}.json.gz").write_bytes(gzip.compress("\n".join(lines).encode()))


def corpus_of(folder: Path | str, format: str = "jsonl") -> Corpus:
    return Corpus(folder=str(folder), glob=None, format=format, text="text", url="url")


def settings_of(tagger: Path, workers: int = 1) -> Mining:
    return TypeAdapter(Mining).validate_python(
        {
            "constructions": {},
            "watched": [],
            "tagger": str(tagger),
            "parser": "no_such_parser",
            "most_words": 60,
            "longest_line": 10000,
            "most_faults": 0.1,
            "duplicates": {"shingle": 3, "permutations": 64, "threshold": 0.9},
            "engine": {"kind": "local", "arguments": {"workers": workers}},
        }
    )


def job_of(corpus: Corpus, settings: Mining, scratch: Path, constructions: Sequence[str] = (CC,)):
    """Return all that is mined, by construction, and the job of mining it."""
    wanted = {name: load_wanted(name, ROOT / "constructions") for name in constructions}
    patterns = {name: one.pattern for name, one in wanted.items()}
    return wanted, make_job(corpus, list_corpus(corpus)["name"].tolist(), settings, patterns, scratch)


def mine(corpus: Corpus, settings: Mining, scratch: Path, output: Path):
    """Mine the comparative correlative; return its sentences, numbers of steps and rejects, counts, and faults."""
    wanted, job = job_of(corpus, settings, scratch)
    run_shards(job)
    known = collect(job, wanted, "books", output)
    return read_table(output / CC / "sentences.parquet"), known["found"][CC], known["counts"], known["faults"]


def pattern_of(prefilter: str = ".", **form) -> Pattern:
    """Return a pattern of one part that has one form, its tokens or its dependencies."""
    part = {"prefilter": prefilter, "patterns": [{"name": "a form", **form}]}
    return Pattern.model_validate({"parts": [part], "must_match": ["x"], "must_not_match": ["y"]})
