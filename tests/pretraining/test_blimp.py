import gzip
import json

import pytest

from cxprobe.errors import DataError
from cxprobe.pretraining import Pair, read_blimp

LINE = {"UID": "p", "linguistics_term": "order", "sentence_good": "A cat.", "sentence_bad": "Cat a.", "field": "syntax"}


def test_the_first_pairs_of_each_file_are_read_packed_or_not(tmp_path):
    (tmp_path / "a.jsonl").write_text("\n".join([json.dumps(LINE)] * 3))
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(json.dumps(LINE | {"UID": "q"}).encode()))
    assert read_blimp(tmp_path, 2) == [Pair(paradigm, "order", "A cat.", "Cat a.") for paradigm in ("p", "p", "q")]


def test_a_folder_without_pairs_and_a_line_that_is_none_are_named(tmp_path):
    with pytest.raises(DataError, match="is it BLiMP's data folder"):
        read_blimp(tmp_path, 2)
    (tmp_path / "a.jsonl").write_text('{"sentence_good": "A cat."}')
    with pytest.raises(DataError, match=r"a\.jsonl: a line is no pair"):
        read_blimp(tmp_path, 2)
