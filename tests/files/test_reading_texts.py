"""Sentences and pairs from files of every format."""

import io
import sys

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxprobe.errors import DataError
from cxprobe.files.texts import read_sentence_file, read_texts, refuse_unwritable, write_table_as

ROWS = pd.DataFrame({"text": ['She said "no", twice.', "the  cat", "NA"], "verb": ["say", "", "1"]})


@pytest.mark.parametrize("kind", ["tsv", "csv", "jsonl", "parquet"])
def test_what_is_written_is_read_again_unchanged(tmp_path, kind):
    table = ROWS.replace('"', "'", regex=True) if kind == "tsv" else ROWS
    write_table_as(table, str(tmp_path / f"a.{kind}"))
    pd.testing.assert_frame_equal(read_sentence_file(str(tmp_path / f"a.{kind}")), table, check_dtype=False)
    assert [path.name for path in tmp_path.iterdir()] == [f"a.{kind}"]


def test_a_text_file_has_a_sentence_a_line(tmp_path):
    (tmp_path / "a.txt").write_bytes("\ufeffthe cat\r\n\nél, ok \n".encode())
    assert read_sentence_file(str(tmp_path / "a.txt"))["text"].tolist() == ["the cat", "él, ok "]
    (tmp_path / "a.txt").write_bytes(b"the cat\r\rthe dog\r")  # as old programs of Apple wrote
    assert read_sentence_file(str(tmp_path / "a.txt"))["text"].tolist() == ["the cat", "the dog"]


@pytest.mark.parametrize("number", ["1.10", "-0.0", "1e5", "12345678901234567890.5", "7"])
def test_a_number_of_json_comes_back_as_it_is_written(tmp_path, number):
    (tmp_path / "a.jsonl").write_text(f'{{"text": "the cat", "version": {number}}}\n')
    assert read_sentence_file(str(tmp_path / "a.jsonl"))["version"].tolist() == [number]


def test_standard_input_has_a_sentence_a_line_or_the_format_that_is_given(monkeypatch):
    for content, given_ in (("the cat\nthe dog\n", None), ("text\tverb\nthe cat\tx\nthe dog\ty\n", "tsv")):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content.encode())))
        assert read_sentence_file("-", given_)["text"].tolist() == ["the cat", "the dog"]


def test_the_column_is_the_one_that_is_named_or_the_only_one_with_a_usual_name(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("sentence,other\nthe cat,the dog\n")
    assert read_sentence_file(str(path))["text"].tolist() == ["the cat"]
    assert read_sentence_file(str(path), column="other")["text"].tolist() == ["the dog"]
    with pytest.raises(DataError, match=r"no column 'verb' .allowed: other, sentence"):
        read_sentence_file(str(path), column="verb")
    with pytest.raises(DataError, match="no column 'othr'; did you mean 'other'"):
        read_sentence_file(str(path), column="othr")
    path.write_text("a,b\nthe cat,the dog\n")
    with pytest.raises(DataError, match="the columns are a, b; give --column"):
        read_sentence_file(str(path))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", b"", "there is no text"),
        ("a.csv", b"text\n", "there is no text"),
        ("a.csv", b"text,text\na,b\n", "the column 'text' is there twice"),
        ("a.csv", b"text,verb\na,b\n ,c\n", "row 2: text is ' '"),
        ("a.csv", b"text\n\xff\n", "UTF-8"),
        ("a.jsonl", b'{"text": "a"', "line 1: not valid JSON"),
        ("a.jsonl", b'{"text": 5}\n', "line 1: text is 5; write a string"),
        ("a.jsonl", b'{"text": "a", "text": "z"}\n', "line 1: not valid JSON: the key 'text' is there twice"),
        ("a.jsonl", b'{"text": "a"}\n{"text": "\\ud800"}\n', "line 2: 'text' is .* half a surrogate pair"),
        ("a.csv", "text,te\u200bxt\na,b\n".encode(), "line 1: in the name of a column, U\\+200B in 'te"),
        ("a.jsonl", '{"text": "a", "te\u200bxt": "b"}\n'.encode(), "line 1: in the name of a column, U\\+200B"),
        ("a.parquet", b"PAR1", "cannot be read as parquet"),
        ("a.doc", b"a", "the format is 'doc'; give --format with one of txt, tsv"),
    ],
)
def test_what_is_no_file_of_texts_is_refused_with_its_place(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_sentence_file(str(tmp_path / name))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "a.csv",
            "good,bad\na,b\nThe more, the better.,The more, better.\n",
            r"line 3: expected 2 cells \(good, bad\), found 4; ",
        ),
        ("a.csv", "good,bad\nonly\n", "line 2: expected 2 cells .*, found 1; put texts with commas between double"),
        ("a.csv", "text\nThe more, the better.\n", "expected 1 cells .text.* found 2; .* double quotes, or use .tsv"),
        ("a.csv", 'text,verb\n"a\n, b",c\n\na,b,c\n', "line 5: "),
        ("a.csv", 'good,bad\n"No," she said.,"No" she say.\n', "line 2: .* expected after .* between double quotes"),
        ("a.csv", 'good,bad\n"No,she say.\n', "line 2: .* between double quotes"),
        ("a.tsv", "good\tbad\na\tb\tc\n", "line 2: expected 2 cells .* found 3; put one tab between two cells"),
        ("a.tsv", "text\nShe\tsmiles.\n", "line 2: expected 1 cells .* found 2"),
    ],
)
def test_a_line_with_more_or_fewer_cells_than_the_header_is_refused(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=message):
        read_texts(str(tmp_path / name))


def test_quoted_commas_and_line_ends_of_every_system_are_read(tmp_path):
    for end in ("\n", "\r\n", "\r"):
        (tmp_path / "a.csv").write_bytes(f'text,verb{end}"The more, the better.",a{end}{end}'.encode())
        assert read_texts(str(tmp_path / "a.csv")).to_dict("list") == {"text": ["The more, the better."], "verb": ["a"]}


@pytest.mark.parametrize(
    ("output", "given_", "message"),
    [
        ("a.txt", None, "cannot be written as 'txt'"),
        ("out.xlsx", None, "as 'xlsx'; give --output-format with one of tsv, csv, jsonl, parquet"),
        ("-", "xlsx", "as 'xlsx'; give --output-format"),
        ("out", None, "as ''; give --output-format"),
        ("-", "parquet", "parquet cannot be written to standard output"),
        ("x/a.tsv", None, "create it"),
    ],
)
def test_an_output_that_cannot_be_written_is_refused_before_work(tmp_path, monkeypatch, output, given_, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match=message):
        refuse_unwritable(output, given_)


LINES = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs"), exclude_characters="\u2028\u2029\x85"))


@given(st.lists(LINES.filter(str.strip), min_size=1))
def test_every_line_of_a_text_file_comes_back(tmp_path_factory, lines):
    path = tmp_path_factory.mktemp("lines") / "a.txt"
    path.write_bytes("\n".join(lines).encode())
    expected = [lines[0].removeprefix("\ufeff"), *lines[1:]]
    assert read_sentence_file(str(path))["text"].tolist() == [line for line in expected if line.strip()]
