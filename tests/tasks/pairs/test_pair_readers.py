"""The readers on small files of our own, in the shape of the published ones; on those themselves where they are."""

import csv
import gzip
import json

import pytest
from toy_pairs import load_toy

from cxprobe.errors import DataError
from cxprobe.models.texts import Pair, pair_table, pairs_of
from cxprobe.tasks.pairs.benchmarks import read_benchmark, read_blimp, read_generic
from cxprobe.tasks.pairs.make import render_pairs
from cxprobe.tasks.pairs.params import Benchmark


def blimp_row(number, good, bad, **more):
    fixed = {"field": "syntax/semantics", "linguistics_term": "binding", "UID": "toy_paradigm", "pairID": str(number)}
    return json.dumps({"sentence_good": good, "sentence_bad": bad} | fixed | {"simple_LM_method": True} | more)


def test_blimp_s_pairs_are_whole_sentences_under_their_paradigm(tmp_path):
    path = tmp_path / "toy_paradigm.jsonl.gz"
    rows = [
        blimp_row(0, "Ann sees herself.", "Ann sees himself."),
        blimp_row(1, "It’s us.", "It’s us.", linguistics_term="s-selection"),
    ]
    path.write_bytes(gzip.compress(("\n".join(rows) + "\n").encode()))
    first, second = pairs_of(read_blimp(path))
    groups = {"field": "syntax-semantics", "phenomenon": "binding", "paradigm": "toy-paradigm"}
    members, id_ = ("Ann sees herself.", "Ann sees himself."), "toy_paradigm-0"
    assert first == Pair(id_, id_, "", *members, groups, {"pair": id_})
    assert second.good == second.bad == "It’s us."
    assert second.groups["phenomenon"] == "argument-structure"  # as in the paper


def benchmark(**changes) -> Benchmark:
    every = {"format": "blimp", "files": "*.jsonl", "by": ["paradigm"], "score": "sum"}
    return Benchmark(**every | changes)


def test_a_benchmark_is_all_its_files(tmp_path):
    for name in ("one", "two"):
        (tmp_path / f"{name}.jsonl").write_text(blimp_row(0, "Ann sees herself.", "Ann sees himself.", UID=name) + "\n")
    every = read_benchmark(tmp_path, benchmark())
    assert every["construction"].tolist() == ["one", "two"]
    assert read_benchmark(tmp_path, benchmark(files="one.*")).equals(every[:1])


FAULTS = [
    ({"by": ["kind", "genre"]}, "12", ": by names genre; the pairs can be reported by kind"),
    ({"score": "given_context"}, "12", ": score is given_context, which needs a context; 1 of 2 pairs have none"),
    ({}, "11", "/a.jsonl, row 2: the id '1' occurs more than once"),
]


@pytest.mark.parametrize(("changes", "ids", "message"), FAULTS)
def test_pairs_that_could_not_be_judged_are_refused_when_they_are_read(tmp_path, changes, ids, message):
    pair = {"good": "a", "bad": "b", "kind": "x"}
    rows = [pair | {"id": id_, "context": context} for id_, context in zip(ids, ("", "c"), strict=True)]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(DataError) as raised:
        read_benchmark(tmp_path, benchmark(**{"format": "pairs", "by": ["kind"]} | changes))
    assert str(raised.value).startswith(f"{tmp_path}{message}")


@pytest.mark.parametrize(("name", "remedy"), [("all", "a slug"), ("", "a slug"), ("..", "a slug"), ("A/b ", "a-b")])
@pytest.mark.parametrize("by", [["kind"], ["field", "kind"]])
def test_a_group_that_has_no_slug_is_refused_with_its_row_and_the_slug_to_write(tmp_path, name, remedy, by):
    rows = [f"{row}\ta\tb\t{group}\tx" for row, group in enumerate(["fine", name])]
    (tmp_path / "a.tsv").write_text("\n".join(["id\tgood\tbad\tkind\tfield", *rows]) + "\n")
    with pytest.raises(DataError) as raised:
        read_benchmark(tmp_path, benchmark(format="pairs", files="*", by=by))
    assert str(raised.value).startswith(f"{tmp_path / 'a.tsv'}, row 2: kind is {name!r}; ")
    assert f"write {remedy}" in str(raised.value)


def test_a_benchmark_has_the_columns_that_pairs_have(tmp_path):
    """So no name of a column of others can be taken for one of results."""
    pair = {"id": "1", "good": "a", "bad": "b", "margin": "x", "model": "y", "score": "z"}
    (tmp_path / "a.jsonl").write_text(json.dumps(pair))
    for by, group in ((["score"], []), (["score", "margin", "model"], ["x, y"])):
        [read] = read_benchmark(tmp_path, benchmark(format="pairs", by=by)).to_numpy().tolist()
        assert read == ["1", "1", "", "a", "b", "z", *group, "1"]


def test_the_generic_format_needs_an_id_and_two_texts_and_takes_what_else_there_is(tmp_path):
    (tmp_path / "a.tsv").write_text(
        'id\tgood\tbad\tcontext\titem\tconstruction\tcluster_frame\n1\tIt is "Ann".\tIt is Bo.\tWho?\tone\tx\tf\r\n'
    )
    assert pairs_of(read_generic(tmp_path / "a.tsv")) == [
        Pair("1", "one", "Who?", ' It is "Ann".', " It is Bo.", {"construction": "x"}, {"frame": "f"})
    ]
    (tmp_path / "a.jsonl").write_text('{"id": 7, "good": "Yes.", "bad": "No.", "context": null, "big": true}\n\n')
    [pair] = pairs_of(read_generic(tmp_path / "a.jsonl"))
    assert pair == Pair("7", "7", "", "Yes.", "No.", {"big": "true"}, {"item": "7"})


def test_what_is_rendered_is_in_the_generic_format(tmp_path):
    pairs = render_pairs("x", *load_toy(tmp_path), 4, seed=0)
    table = pair_table(pairs)
    table.to_json(tmp_path / "pairs.jsonl", orient="records", lines=True)
    table.to_csv(tmp_path / "pairs.csv", index=False)
    table.to_csv(tmp_path / "pairs.tsv", index=False, sep="\t", quoting=csv.QUOTE_NONE)
    assert all(pairs_of(read_generic(tmp_path / f"pairs.{ending}")) == pairs for ending in ("jsonl", "csv", "tsv"))


FAULTS_OF_FILES = [
    ("a.tsv", "id\tgood\n1\tx\n", "there is no column 'bad'"),
    ("a.tsv", "id\tgood\tbad\n1\tx\t\n", "line 2: bad is ''"),
    ("a.tsv.gz", "id\tgood\tbad\n", "cannot be read: Not a gzipped file"),
    ("a.tsv", "id\tgood\tbad\tcluster_f\n1\tx\ty\t\n", "line 2: cluster_f is ''"),
]


@pytest.mark.parametrize(("name", "text", "message"), FAULTS_OF_FILES)
def test_a_fault_in_a_file_is_told_with_its_place(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError) as raised:
        read_generic(tmp_path / name)
    assert str(raised.value).startswith(str(tmp_path / name))
    assert message in str(raised.value)


@pytest.mark.parametrize("place", [12, -8, -1])  # in the compressed body, in its checksum, at its end
def test_a_damaged_compressed_file_is_told(tmp_path, place):
    path = tmp_path / "toy.jsonl.gz"
    content = bytearray(gzip.compress(blimp_row(0, "It is Ann.", "It is a Ann.").encode(), mtime=0))
    content[place] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"toy\.jsonl\.gz: cannot be read: .*; fetch or write the file again"):
        read_blimp(path)
