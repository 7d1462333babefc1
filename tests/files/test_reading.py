"""What is read of files that people write, and what is refused, with its place."""

import gzip
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from cxprobe.errors import DataError
from cxprobe.files import reading
from cxprobe.files.reading import LONGEST_LINE, LONGEST_VALUE, decode, load_yaml, one_line, read_text, shown

PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abcé", max_size=4), inner, max_size=3),
    max_leaves=10,
)


@given(PLAIN)
def test_plain_content_is_read_as_it_was_written(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("yaml") / "file.yaml"
    with path.open("w", encoding="utf-8") as file:
        YAML(typ="safe").dump(content, file)
    assert load_yaml(path, DataError) == content


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: " + "[" * 200_000, ", line 2: is nested more than 100 deep; is a bracket left open?"),
        ("a: {b: &x [1, *x]}", ": is nested more than 100 deep, aliases written out"),
        ("a: 1\nb: [2, " + "9" * 5_000 + "]", ", line 2: '9999"),
        ("a: !!int x", ", line 1: 'x' looks like a value of the kind int, and is none"),
        ("a: !!bool x", ", line 1: 'x' looks like a value of the kind bool, and is none"),
        ("a: 1\nb: [.nan, 1]", ", line 2: '.nan' is not allowed; write a finite number"),
        ("a: 1e999", ", line 1: '1e999' is not allowed; write a finite number"),
        ("a: 0xffffffffffffffff", ", line 1: '0xffffffffffffffff' has 64 bits, too many for a number"),
        ("a: 07", ", line 1: '07' could be read as two numbers; write 7,"),
        ("a: 0o17", ", line 1: '0o17' could be read as two numbers; write 15,"),
        ("a: {1_000: 1}", ", line 1: '1_000' could be read as two numbers; write 1000,"),
        ('a: "x\\0"', ", line 1: 'x\\x00' has a NUL"),
        ("a: !!binary aGk=", ", line 1: could not determine a constructor for the tag 'tag:yaml.org,2002:binary'"),
        ("a: 1\nb: \x07", ": unacceptable character #x0007: control characters are not allowed"),
        ("? [1]\n: 2", ", line 1: a key is no text"),
        ("a: 1\nb: [1", ", line 3: while parsing a flow sequence from line 2 on, did not find expected"),
        ("a: 1\n\na: 2", ', line 3: while constructing a mapping from line 1 on, found duplicate key "a"'),
    ],
)
def test_what_is_not_plain_is_refused_with_its_place(tmp_path, text, message):
    path = tmp_path / "file.yaml"
    path.write_text(text)
    with pytest.raises(DataError) as raised:
        load_yaml(path, DataError)
    lines = str(raised.value).splitlines()
    assert any(line.startswith(f"{path}{message}") for line in lines), lines
    assert max(map(len, lines)) < LONGEST_LINE


@pytest.mark.parametrize(
    "one",
    [
        "{before}: &{name} [{items}]",  # each level is ten of the one before
        "{before}: &{name} {{<<: [{items}], {name}: 1}}",  # and as merged mappings
    ],
)
def test_a_file_of_a_thousand_million_values_by_aliases_is_refused_at_once(tmp_path, one):
    lines = ["l0: &l0 {l0: 1}"]
    for level in range(1, 10):
        items = ", ".join([f"*l{level - 1}"] * 10)
        lines.append(one.format(before=f"l{level}", name=f"l{level}", items=items))
    (tmp_path / "file.yaml").write_text("\n".join(lines))
    with pytest.raises(DataError, match=r"file\.yaml.*: there are more than 1,000,000 values, aliases written out"):
        load_yaml(tmp_path / "file.yaml", DataError)


def test_an_alias_is_what_it_stands_for_and_cannot_nest_deeper_than_brackets(tmp_path):
    (tmp_path / "file.yaml").write_text("a: &x {b: [1, 2]}\nc: *x\nd: {<<: *x, e: 3}\n")
    inner = {"b": [1, 2]}
    assert load_yaml(tmp_path / "file.yaml", DataError) == {"a": inner, "c": inner, "d": inner | {"e": 3}}
    half = "[" * 60
    (tmp_path / "file.yaml").write_text(f"a: &x {half}1{']' * 60}\nb: {half}*x{' ]' * 60}\n")
    with pytest.raises(DataError, match="is nested more than 100 deep"):
        load_yaml(tmp_path / "file.yaml", DataError)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a\nb\xe9\n", "line 2: the byte 0xe9 is not UTF-8; save the file as UTF-8"),
        ("ab\n".encode("utf-16"), "line 1: the byte 0xff is not UTF-8"),
        ("ab\n".encode("utf-16-le"), "line 1: a NUL is not text"),
        (b"\xef\xbb\xbfa\nb\0", "line 2: a NUL is not text"),
    ],
)
def test_bytes_that_are_no_text_are_told_with_their_line(tmp_path, content, message):
    with pytest.raises(DataError) as raised:
        decode(content, tmp_path / "a.txt", DataError)
    assert str(raised.value).startswith(f"{tmp_path}/a.txt, {message}")


def test_what_a_message_shows_is_short_and_can_be_printed():
    assert shown("a") == "'a'"
    assert len(shown("x" * 200_000)) < LONGEST_VALUE + 50
    assert shown("x" * 200_000).endswith("(200,002 characters)")
    assert one_line("é\n\ud800\x1b[31m") == "é\\n\\ud800\\x1b[31m"
    assert len(one_line("x" * 200_000)) < LONGEST_LINE + 50


def test_a_small_file_that_unpacks_to_too_much_is_refused_before_it_fills_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "MOST_BYTES", 2**16)
    path = tmp_path / "bomb.tsv.gz"
    for size, is_too_large in ((2**16, False), (2**28, True)):
        with gzip.open(path, "wb") as file:
            for _ in range(size // 2**16):
                file.write(b"a" * 2**16)
        tracemalloc.start()
        if is_too_large:
            with pytest.raises(DataError, match="is larger than 65,536 bytes, unpacked; cut it into several files"):
                read_text(path, DataError)
        else:
            assert len(read_text(path, DataError)) == size
        assert tracemalloc.get_traced_memory()[1] < 2**22
        tracemalloc.stop()
