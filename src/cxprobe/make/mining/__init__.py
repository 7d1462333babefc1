"""Mining: from a corpus of any size to the sentences that may have a construction.

What is searched for is data, constructions/<name>/pattern.yaml, whose own examples are checked first
(`check_examples`). A corpus (`cxprobe.make.corpora`) becomes a job (`make_job`) that datatrove runs shard by shard
(`run_shards`): RE2 finds what can match, and only that is tagged. The finds of all shards become one table without
repetitions (`collect`).
"""

from cxprobe.make.mining.collecting import collect, refuse_unreadable
from cxprobe.make.mining.engine import count_finished, run_shards
from cxprobe.make.mining.forms import leave_out
from cxprobe.make.mining.jobs import make_job
from cxprobe.make.mining.matching import Matchers, check_examples
from cxprobe.make.mining.readers import Keys, read_jsonl
from cxprobe.make.mining.search import Searcher, search, search_by_tagging_everything
from cxprobe.make.mining.tagging import load_tagger

__all__ = [
    "Keys",
    "Matchers",
    "Searcher",
    "check_examples",
    "collect",
    "count_finished",
    "leave_out",
    "load_tagger",
    "make_job",
    "read_jsonl",
    "refuse_unreadable",
    "run_shards",
    "search",
    "search_by_tagging_everything",
]
