"""What is refused of a corpus that cannot be read, or hardly."""

from collections import Counter

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from cxprobe.corpora.collecting import Collected, refuse_unreadable
from cxprobe.corpora.readers import READERS, Keys
from cxprobe.errors import DataError

FAULT = ("part-0.jsonl", 1, 0, "no text under the key 'txt'; its keys are text, url")


def outcome(documents: int, faults: int) -> Collected:
    table = pd.DataFrame([FAULT] * min(faults, 1), columns=["shard", "line", "offset", "fault"])
    counts = Counter(documents=documents, faults=faults, shards=3)
    return Collected(pd.DataFrame(), counts, pd.DataFrame(), table)


def test_a_corpus_without_a_document_is_refused_with_the_keys_that_were_there():
    with pytest.raises(DataError, match=r"corpora\.c4: none of .*part-0\.jsonl, line 1: .*its keys are text"):
        refuse_unreadable(outcome(0, 70), "c4", 1.0)


def test_an_empty_corpus_is_refused():
    with pytest.raises(DataError, match="none of its 3 files has a document"):
        refuse_unreadable(outcome(0, 0), "c4", 1.0)


@pytest.mark.parametrize(("faults", "refused"), [(0, False), (10, False), (11, True), (90, True)])
def test_more_faults_than_the_limit_are_refused(faults, refused):
    if not refused:
        refuse_unreadable(outcome(100 - faults, faults), "c4", 0.1)
        return
    with pytest.raises(DataError, match=rf"{faults} faults beside {100 - faults} documents .*most_faults \(0\.1\)"):
        refuse_unreadable(outcome(100 - faults, faults), "c4", 0.1)


@pytest.mark.parametrize("kind", [pa.int64(), pa.float32(), pa.bool_(), pa.list_(pa.string()), pa.date32()])
def test_a_column_of_another_kind_than_text_is_a_fault(tmp_path, kind):
    column = pa.array([None, None], kind)
    pyarrow.parquet.write_table(pa.table({"text": column}), tmp_path / "a.parquet")
    with (tmp_path / "a.parquet").open("rb") as file:
        (fault,) = READERS["parquet"](file, "a.parquet", Keys("text", "url"), 1000)
    assert "the column 'text' holds" in fault.fault


def test_text_in_a_dictionary_is_read(tmp_path):
    column = pa.array(["one", "two", "one"]).dictionary_encode()
    pyarrow.parquet.write_table(pa.table({"text": column}), tmp_path / "a.parquet")
    with (tmp_path / "a.parquet").open("rb") as file:
        (block,) = READERS["parquet"](file, "a.parquet", Keys("text", "url"), 1000)
    assert block.texts.to_pylist() == ["one", "two", "one"]
