"""Small corpora with something broken in them, and what mines them as the stage does."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

from pydantic import TypeAdapter

from conftest import ROOT
from cxprobe.corpora.collecting import collect, collect_corpus
from cxprobe.corpora.engine import make_job, run_shards
from cxprobe.corpora.params import Corpus, Mining
from cxprobe.corpora.pattern import load_wanted
from cxprobe.corpora.sources import open_corpus

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
    (folder / "damaged.json.gz").write_bytes((folder / "0.json.gz").read_bytes()[:90])


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
    return wanted, make_job(open_corpus(corpus), settings, patterns, scratch)


def mine(corpus: Corpus, settings: Mining, scratch: Path, output: Path):
    """Mine the comparative correlative; return how many shards were mined, what was found, and what was read."""
    wanted, job = job_of(corpus, settings, scratch)
    run = run_shards(job, settings.engine)
    return run, collect(job, CC, wanted[CC], settings.duplicates, output), collect_corpus(job, output)
