"""Mining, in MB of text per second of one core's processor time: from .json.gz to tagged candidates.

The corpus is made of the documentation of some installed packages, in documents as long as those of C4;
CXPROBE_BENCH_CORPUS names a folder of .json.gz files to take instead ("text" and "url" in each line). The limit is
reading alone; the peers are Python's own gzip and json, tagging every sentence, and each construction alone beside all
in one pass.
"""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from time import process_time

import pyarrow as pa
import pytest
from paired import take_turns
from threadpoolctl import threadpool_limits

from cxprobe.corpora.params import Corpus
from cxprobe.corpora.pattern import load_wanted
from cxprobe.corpora.readers import read_blocks
from cxprobe.corpora.search import BATCH, Matchers, load_matchers, search
from cxprobe.tagging import joined, sentence_spans
from documentation import find_packages, installed_prose

ROOT = Path(__file__).parent.parent
TAGGER, PARSER = (str(ROOT / "models" / kind / "en_ewt_cxprobe") for kind in ("tagger", "parser"))
PACKAGES = {"matplotlib", "numpy", "pandas", "scikit-learn", "scipy", "sqlalchemy"}
PARAGRAPHS = 12  # of a document: about 2 kB, as in C4
SAMPLE = 150  # records that are tagged as a whole
PARSED = 600  # records in which all constructions are looked for
LONGEST_LINE = 4_000_000
MOST_WORDS = 100
ROUNDS = 5
PYTHON, TAGGING = "gzip and json of Python", "tagging every sentence"
NAMES = ["let-alone", "comparative-correlative"]
TOGETHER = 0.5  # the goal: all constructions in one pass take at most twice the time of the slowest alone

# The system's count of a process begins with what the one that started it had in memory (getrusage); that of its own
# memory begins at 0.
MEMORY = """
import re, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from test_mining import MOST_WORDS, blocks, matchers
from cxprobe.corpora.search import search
def most():
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) // 1024
looking = matchers("comparative-correlative")
before = most()
for block in blocks([Path(sys.argv[2])]):
    search(block, looking, MOST_WORDS)
print(before, most())
"""


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    pa.set_cpu_count(1)
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="module")
def shards(tmp_path_factory) -> list[Path]:
    if folder := os.environ.get("CXPROBE_BENCH_CORPUS"):
        return sorted(Path(folder).glob("*.json.gz"))
    path = tmp_path_factory.mktemp("corpus") / "documentation.json.gz"
    found = find_packages(ROOT / "corpora" / "documentation.txt")
    packages = {name: package for name, package in found.items() if name.partition("==")[0] in PACKAGES}
    paragraphs = [text for _, text in installed_prose(packages)]
    with gzip.open(path, "wt", encoding="utf-8") as file:
        for start in range(0, len(paragraphs), PARAGRAPHS):
            document = {"text": "\n".join(paragraphs[start : start + PARAGRAPHS]), "url": f"documentation#{start}"}
            file.write(json.dumps(document) + "\n")
    return [path]


def blocks(paths):
    for path in paths:
        corpus = Corpus(folder=str(path.parent), format="jsonl")
        for records, _ in read_blocks(corpus, path.name, LONGEST_LINE):
            yield records


def matchers(*names: str) -> dict[str, Matchers]:
    folder = ROOT / "constructions"
    patterns = {name: load_wanted(name, folder).pattern for name in names}
    return load_matchers(patterns, {name: PARSER if one.is_parsed else TAGGER for name, one in patterns.items()})


def megabytes(records) -> float:
    return sum(len(record.text.encode()) for record in records) / 1e6


def test_mining_against_reading(shards, show):
    looking = matchers(*NAMES)
    size = sum(map(megabytes, blocks(shards)))

    def read_as_python_does():
        return sum(len(json.loads(line)["text"]) for path in shards for line in gzip.open(path))

    def mine(name):
        return [search(block, {name: looking[name]}, MOST_WORDS) for block in blocks(shards)]

    ways = {f"cxprobe, {name}": lambda name=name: mine(name) for name in NAMES}
    ways |= {"cxprobe, reading alone": lambda: sum(map(len, blocks(shards)))}
    seconds = take_turns({**ways, PYTHON: read_as_python_does}, ROUNDS, clock=process_time)
    show(f"mining of {size:.1f} MB, one core", seconds, "MB/s", size)


def test_mining_against_tagging_everything(shards, show):
    looking = matchers("comparative-correlative")
    (matcher,) = looking.values()
    sample = next(blocks(shards))[:SAMPLE]
    ways = {"cxprobe": lambda: search(sample, looking, MOST_WORDS)}
    texts = [record.text for record in sample]
    whole = [joined(text[start:end]) for text in texts for start, end in sentence_spans(text)]
    ways |= {TAGGING: lambda: [matcher.match(doc) for doc in matcher.nlp.pipe(whole, batch_size=BATCH)]}
    seconds = take_turns(ways, ROUNDS, clock=process_time)
    show(f"candidates of {SAMPLE} documents, one core", seconds, "MB/s", megabytes(sample), {TAGGING: 1})


def test_all_constructions_in_one_pass_against_each_alone(shards, show):
    names = sorted(path.parent.name for path in (ROOT / "constructions").glob("*/pattern.yaml"))
    looking, some = matchers(*names), next(blocks(shards))[:PARSED]
    alone = {name: lambda name=name: search(some, {name: looking[name]}, MOST_WORDS) for name in names}
    once = {name: times[0] for name, times in take_turns(alone, 1, clock=process_time).items()}
    slowest = max(once, key=once.__getitem__)
    peer = f"{slowest} alone, the slowest of them"
    ways = {f"all {len(names)} constructions": lambda: search(some, looking, MOST_WORDS), peer: alone[slowest]}
    seconds = take_turns(ways, ROUNDS, clock=process_time)
    show(f"candidates of {PARSED} documents, one core", seconds, "MB/s", megabytes(some), {peer: TOGETHER})


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("copies", [1, 8])
def test_memory_does_not_grow_with_the_shard(shards, tmp_path, capsys, copies):
    shard = tmp_path / "all.json.gz"
    with shard.open("wb") as file:
        file.writelines(path.read_bytes() for _ in range(copies) for path in shards)
    command = [sys.executable, "-c", MEMORY, str(Path(__file__).parent), str(shard)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    before, peak = map(int, done.stdout.split()[-2:])
    with capsys.disabled():
        print(f"\n{copies} copies of the corpus in one shard: {peak} MB at most, {before} MB before the first block")
    assert peak < 1000
