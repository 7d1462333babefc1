"""Sentences and pairs from files of every format, and back."""

import gzip
import io
import math
import sys

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxprobe.errors import DataError
from cxprobe.files.texts import TABLES, read_sentence_file, read_texts, refuse_unwritable, write_table_as

CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0") | st.sampled_from("\"',\t\r\n= "), max_size=10)
WORDS = st.sampled_from(["NA", "null", "nan", "", "=1+1", '"Go," he said.', "007", "1.10", " x ", "\ufeffx"])


@pytest.mark.parametrize("kind", TABLES)
@given(rows=st.lists(st.tuples(CELLS | WORDS, CELLS | WORDS), min_size=1, max_size=4))
def test_what_is_written_is_read_back_equal(tmp_path_factory, kind, rows):
    folder = tmp_path_factory.mktemp("texts")
    table = pd.DataFrame(rows, columns=["text", "verb"], dtype="str")
    if kind == "tsv" and any(set(cell) & set("\t\r\n") for row in rows for cell in row):
        with pytest.raises(DataError, match=r"a\.tsv: a cell of .* is .* has no tab or line break in a cell"):
            write_table_as(table, str(folder / "a.tsv"))
        assert list(folder.iterdir()) == []
    else:
        write_table_as(table, str(folder / f"a.{kind}"))
        pd.testing.assert_frame_equal(read_texts(folder / f"a.{kind}").reset_index(drop=True), table)
        assert [path.name for path in folder.iterdir()] == [f"a.{kind}"]


@pytest.mark.parametrize("kind", ["tsv", "csv", "jsonl"])
@given(number=st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_that_is_written_is_read_back_equal(tmp_path_factory, kind, number):
    path = tmp_path_factory.mktemp("numbers") / f"a.{kind}"
    write_table_as(pd.DataFrame({"text": ["a", "b"], "sum": [number, math.nan]}), str(path))
    first, second = read_texts(path)["sum"]
    assert (float(first), second) == (number, "")


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["Cc"])).filter(str.strip), min_size=1))
def test_every_line_of_a_text_file_comes_back(tmp_path_factory, lines):
    path = tmp_path_factory.mktemp("lines") / "a.txt"
    path.write_bytes("\r\n\n".join(["first", *lines]).encode())
    assert read_sentence_file(str(path))["text"].tolist() == ["first", *lines]


@pytest.mark.parametrize("number", ["1.10", "-0.0", "1e5", "12345678901234567890.5", "7", "9" * 5_000])
def test_a_number_of_json_comes_back_as_it_is_written(tmp_path, number):
    (tmp_path / "a.jsonl").write_text(f'{{"text": "the cat", "version": {number}, "none": null}}\n\n{{"text": "a"}}')
    table = read_sentence_file(str(tmp_path / "a.jsonl"))
    assert table.to_dict("list") == {"text": ["the cat", "a"], "version": [number, ""], "none": ["", ""]}


def test_standard_input_has_a_sentence_a_line(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"the cat\nthe dog\n")))
    assert read_sentence_file("-")["text"].tolist() == ["the cat", "the dog"]


def test_the_column_is_the_one_that_is_named_or_the_only_one_with_a_usual_name(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("sentence,other\nthe cat,the dog\n")
    assert read_sentence_file(str(path))["text"].tolist() == ["the cat"]
    assert read_sentence_file(str(path), "other")["text"].tolist() == ["the dog"]
    with pytest.raises(DataError, match="no column 'othr'; did you mean 'other'"):
        read_sentence_file(str(path), "othr")
    path.write_text("a,b\nthe cat,the dog\n")
    with pytest.raises(DataError, match="the columns are a, b; give --column"):
        read_sentence_file(str(path))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", "", "there is no text"),
        ("a.csv", "text\n", "there is no text"),
        ("a.csv", "text,text\na,b\n", "the column 'text' is there twice"),
        ("a.csv", "text,verb\na,b\n ,c\n", "line 3: text is ' '"),
        ("a.csv", "text,mean\nTwo dogs sleep.,3,5\n", "line 2 has 3 cells, .* such as 3,5 needs"),
        ("a.csv", "text;mean;gloss, free\na;3,5;b\n", "line 1: semicolons separate the cells, but commas must"),
        ("a.csv", "text\tmean\na\t3,5\n", "line 1: tabs separate the cells, but commas must"),
        ("a.tsv", '"text","mean"\n"a","3,5"\n', "commas separate the cells, but tabs must; call it .csv"),
        ("a.csv", "sep=,\r\ntext,mean\r\na,3\r\n", "line 1: 'sep=,' is for spreadsheets; delete it: commas separate"),
        ("a.csv", "text,verb\na\n", "line 2 has 1 cells, and the header has 2"),
        ("a.csv", 'text,verb\n"a,b\n', "unexpected end of data"),
        ("a.jsonl", '{"text": "a"', "line 1: Expecting"),
        ("a.jsonl", '{"text": ["a"]}', "line 1: expected an object of texts"),
        ("a.jsonl", "[" * 50_000, "cannot be read as jsonl"),
        ("a.parquet", "PAR1", "cannot be read as parquet"),
        ("a.xlsx", "a", "'xlsx' is no format of texts .*; save a table as CSV UTF-8"),
        ("a.tsv", 'text\tverb\n"No, she said."\tb\nYes.\tb\n', "stand in double quotes, as spreadsheets write them"),
        ("a.csv", 'text,verb\n"a\nb",c\n\n ,c\n', "line 5: text is ' '"),
    ],
)
def test_what_is_no_file_of_texts_is_refused_with_its_place(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=message) as raised:
        read_sentence_file(str(tmp_path / name))
    assert str(raised.value).startswith(str(tmp_path / name))


@pytest.mark.parametrize("kind", ["csv", "tsv", "txt", "jsonl", "CSV"])
def test_a_compressed_file_is_read_as_the_file_itself(tmp_path, kind):
    (tmp_path / f"a.{kind}").write_text('{"text": "a;b"}\n' if kind == "jsonl" else "text\na;b\n")
    (tmp_path / f"a.{kind}.gz").write_bytes(gzip.compress((tmp_path / f"a.{kind}").read_bytes()))
    pd.testing.assert_frame_equal(read_texts(tmp_path / f"a.{kind}"), read_texts(tmp_path / f"a.{kind}.gz"))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_of_every_system_and_a_byte_order_mark_are_read(tmp_path, end):
    (tmp_path / "a.csv").write_bytes(f'\ufefftext,verb{end}"The more, the better.",a{end}{end}'.encode())
    assert read_texts(tmp_path / "a.csv").to_dict("list") == {"text": ["The more, the better."], "verb": ["a"]}


@pytest.mark.parametrize(
    ("output", "message"),
    [("a.txt", "cannot be written as 'txt'"), ("out", "as ''; name it .tsv, .csv"), ("x/a.tsv", "create it")],
)
def test_an_output_that_cannot_be_written_is_refused_before_work(tmp_path, monkeypatch, output, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match=message):
        refuse_unwritable(output)
