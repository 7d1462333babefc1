"""Mining, in MB of text per second of one core's processor time: from .json.gz to tagged candidates.

CXPROBE_BENCH_CORPUS names a folder of .json.gz files shaped like C4 ("text" and "url" in each line). The limit is
reading alone; the peers are Python's own gzip and json, and tagging every sentence.
"""

import gzip
import json
import os
import subprocess
import sys
import time
from collections import Counter
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pytest
from threadpoolctl import threadpool_limits

from cxprobe.constructions import load_construction, load_pattern
from cxprobe.make.mining import Keys, Matchers, Searcher, load_tagger, read_jsonl, search, search_by_tagging_everything

ROOT = Path(__file__).parent.parent
TAGGER = ROOT / "models" / "tagger" / "en_ewt_cxprobe"
CORPUS = os.environ.get("CXPROBE_BENCH_CORPUS", "")
SAMPLE = 150  # records that are tagged as a whole
LONGEST_LINE = 4_000_000

pytestmark = [
    pytest.mark.skipif(not CORPUS, reason="CXPROBE_BENCH_CORPUS names no folder of .json.gz files"),
    pytest.mark.benchmark(group="mining", timer=time.process_time, disable_gc=True),
]
RATES: dict[str, float] = {}  # what has been measured so far, in MB of text per second

MEMORY = """
import resource, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from test_mining import blocks, searcher
from cxprobe.make.mining.search import search
looking = searcher("comparative-correlative")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for block in blocks([Path(sys.argv[2])]):
    search(block, looking)
print(before // 1024, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    pa.set_cpu_count(1)
    with threadpool_limits(1):
        yield


def shards() -> list[Path]:
    return sorted(Path(CORPUS).glob("*.json.gz"))


def blocks(paths):
    for path in paths:
        with path.open("rb") as file:
            yield from read_jsonl(file, path.name, Keys("text", "url"), LONGEST_LINE)


def searcher(name: str) -> Searcher:
    construction = load_construction(name, ROOT / "constructions")
    pattern = load_pattern(name, construction, ROOT / "constructions")
    nlp = load_tagger(str(TAGGER), pattern)
    return Searcher(pattern, Matchers(pattern, nlp), nlp, most_words=100)


def megabytes(block) -> float:
    return sum(len(text.as_buffer()) for text in block.texts) / 1e6


def report(benchmark, what: str, size: float, **more: float) -> None:
    RATES[what] = size / benchmark.stats.stats.min
    others = {f"times {name}": round(RATES[what] / rate, 2) for name, rate in RATES.items() if name != what}
    benchmark.extra_info.update({"MB/s": round(RATES[what], 1), **others, **more})
    print(f"\n{what}: {RATES[what]:.1f} MB/s; {others} {more or ''}")


def test_reading_as_python_does(benchmark):
    def read() -> int:
        return sum(len(json.loads(line)["text"].encode()) for path in shards() for line in gzip.open(path))

    size = benchmark.pedantic(read, rounds=3)
    report(benchmark, "gzip and json", size / 1e6)


def test_reading_alone(benchmark):
    size = sum(map(megabytes, blocks(shards())))
    benchmark.pedantic(lambda: [len(block.urls) for block in blocks(shards())], rounds=5)
    report(benchmark, "reading", size)


@pytest.mark.parametrize("name", ["let-alone", "comparative-correlative"])
def test_candidates(benchmark, name):
    looking = searcher(name)

    def mine() -> Counter[str]:
        total: Counter[str] = Counter()
        for block in blocks(shards()):
            findings = search(block, looking)
            total.update(findings.counts)
            total["candidates"] += len(findings.candidates)
        return total

    counts = benchmark.pedantic(mine, rounds=5, warmup_rounds=1)
    more = {key: counts[key] for key in ("sentences_tagged", "candidates")}
    report(benchmark, name, counts["bytes_of_text"] / 1e6, **more)


def test_tagging_everything(benchmark):
    looking = searcher("comparative-correlative")
    block = next(islice(blocks(shards()), 1))
    sample = block._replace(texts=block.texts.slice(0, SAMPLE), urls=block.urls[:SAMPLE], bases=block.bases[:SAMPLE])
    benchmark.pedantic(lambda: search_by_tagging_everything(sample, looking), rounds=2)
    report(benchmark, "tagging everything", megabytes(sample))


@pytest.mark.parametrize("copies", [1, 8])
def test_memory_does_not_grow_with_the_shard(benchmark, tmp_path, copies):
    shard = tmp_path / "all.json.gz"
    with shard.open("wb") as file:
        file.writelines(path.read_bytes() for _ in range(copies) for path in shards())
    command = [sys.executable, "-c", MEMORY, str(Path(__file__).parent), str(shard)]
    done = benchmark.pedantic(lambda: subprocess.run(command, capture_output=True, text=True, check=True), rounds=1)
    before, peak = map(int, done.stdout.split()[-2:])
    print(
        f"\n{copies} copies of the corpus in one shard: {peak} MB at most, {before} MB of them before the first block"
    )
    benchmark.extra_info.update({"peak MB": peak, "before MB": before})
    assert peak < 1000
