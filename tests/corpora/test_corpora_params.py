import os
from pathlib import Path

import pytest
from small_corpora import corpus_of, settings_of

from cxprobe.corpora.params import Corpus
from cxprobe.corpora.readers import list_corpus
from cxprobe.errors import DataError
from cxprobe.run.mining import CorporaParams

CORPORA = {
    "books": corpus_of("books"),
    "web": corpus_of("hf://datasets/a/b@1f/en"),
    "docs": corpus_of("data/write_corpora/docs"),
}


@pytest.mark.parametrize(
    ("constructions", "watched", "said"),
    [
        ({"way": "docs", "let-alone": "web"}, [], []),
        ({"way": "books"}, ["books"], []),
        ({"way": "books"}, [], ["mining.watched: must name books, since its files may change"]),
        ({"way": "docs"}, ["way"], ["mining.watched: corpora does not have way"]),
        ({"way": "bocks"}, [], ["mining.constructions.way: 'bocks' is not in corpora"]),
        ({"wya": "docs"}, [], ["mining.constructions.wya: 'wya' is not in constructions/"]),
    ],
)
def test_what_does_not_go_together_is_told(constructions, watched, said):
    settings = settings_of(Path("tagger")).model_copy(update={"constructions": constructions, "watched": watched})
    params = CorporaParams.model_construct(mining=settings, corpora=CORPORA)
    assert [fault.partition(";")[0] for fault in params.faults_between(["way", "let-alone"])] == said


def test_what_was_mined_is_in_the_folder_of_its_corpus():
    settings = settings_of(Path("tagger")).model_copy(update={"constructions": {"way": "docs", "let-alone": "web"}})
    assert settings.folder_of("way") == Path("data/mine_sentences/docs/way")
    assert settings.mined_in("web") == ["let-alone"]
    with pytest.raises(DataError, match=r"mining\.constructions .* does not have conative"):
        settings.folder_of("conative")


@pytest.mark.parametrize(
    ("folder", "said"),
    [
        ("hf://datasets/a/b/en", "names no revision, so the corpus may change under the results"),
        (" ", "folder\n.*should match pattern"),  # it would be the project itself
    ],
)
def test_a_folder_that_is_no_fixed_place_is_refused(folder, said):
    with pytest.raises(ValueError, match=said):
        corpus_of(folder)


def test_a_table_is_no_file_of_a_corpus():
    with pytest.raises(ValueError, match=r"glob: 'mine.csv' names tables.*write jsonl"):
        Corpus(folder="books", glob="mine.csv")


def test_files_are_listed_with_size_and_time(tmp_path):
    for number, name in enumerate(["b.json", "a.json.gz", "c.parquet"]):  # of another format
        (tmp_path / name).write_bytes(b"x" * (number + 3))
        os.utime(tmp_path / name, (0, 86400 * number))
    assert list_corpus(corpus_of(tmp_path)).to_numpy().tolist() == [
        ["a.json.gz", 4, "1970-01-02T00:00:00+00:00"],
        ["b.json", 3, "1970-01-01T00:00:00+00:00"],
    ]
