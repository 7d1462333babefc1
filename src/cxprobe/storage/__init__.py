"""The only reader and writer of data/ and results/: whole files, aligned and finite numbers, digests."""

from cxprobe.storage.answers import AnswerStore, answers_folder, key_of
from cxprobe.storage.arrays import (
    Vectors,
    feature_files,
    is_array_of,
    merge_features,
    read_features,
    write_array,
    write_sparse_features,
)
from cxprobe.storage.files import (
    DATA,
    RESULTS,
    SCRATCH,
    DiskFullError,
    digest,
    full_disk,
    project_folder,
    read_json,
    replacing,
    scratch_folder,
    significant,
    write_bytes,
    write_json,
)
from cxprobe.storage.models import read_model_facts, write_model_facts
from cxprobe.storage.tables import growing_table, join_tables, read_table, write_table
from cxprobe.storage.tokens import (
    read_pair_answers,
    token_scores_of,
    token_table,
    write_preferences,
    write_token_scores,
)

__all__ = [
    "DATA",
    "RESULTS",
    "SCRATCH",
    "AnswerStore",
    "DiskFullError",
    "Vectors",
    "answers_folder",
    "digest",
    "feature_files",
    "full_disk",
    "growing_table",
    "is_array_of",
    "join_tables",
    "key_of",
    "merge_features",
    "project_folder",
    "read_features",
    "read_json",
    "read_model_facts",
    "read_pair_answers",
    "read_table",
    "replacing",
    "scratch_folder",
    "significant",
    "token_scores_of",
    "token_table",
    "write_array",
    "write_bytes",
    "write_json",
    "write_model_facts",
    "write_preferences",
    "write_sparse_features",
    "write_table",
    "write_token_scores",
]
