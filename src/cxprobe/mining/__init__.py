"""Mining: from a corpus of any size to candidates for a construction, and from a person's judgement to labels.

What is looked for is data, constructions/<name>/pattern.yaml (`load_pattern`, `check_examples`). A corpus
(`open_corpus`) becomes a job (`make_job`) that datatrove runs shard by shard (`run_shards`): RE2 finds what can match,
and only that is tagged. The shards' finds become one table, each sentence once (`collect`). People label the candidates
by their sequence of tags (`group_sentences`, `Session`, `answer`), the labels are kept in git (`read_labels`,
`write_labels`), how far people agree is measured (`agreement`, `conflicts`), and what they agree on becomes data
(`apply_labels`, `split_sequences`). Where sentences end (`sentences`) is the same for text that is not mined.
"""

from cxprobe.mining.collecting import collect
from cxprobe.mining.corpora import make_job, open_corpus
from cxprobe.mining.engine import run_shards
from cxprobe.mining.labelled import apply_labels, split_sequences
from cxprobe.mining.labelling import HELP, Session, agreement, answer, conflicts, group_sentences
from cxprobe.mining.labels import Label, read_labels, write_labels
from cxprobe.mining.matching import check_examples
from cxprobe.mining.pattern import load_pattern
from cxprobe.mining.segmentation import sentences
from cxprobe.mining.tagging import load_tagger

__all__ = [
    "HELP",
    "Label",
    "Session",
    "agreement",
    "answer",
    "apply_labels",
    "check_examples",
    "collect",
    "conflicts",
    "group_sentences",
    "load_pattern",
    "load_tagger",
    "make_job",
    "open_corpus",
    "read_labels",
    "run_shards",
    "sentences",
    "split_sequences",
    "write_labels",
]
