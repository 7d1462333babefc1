"""What is read of files that people write, and what is refused, with its place."""

import gzip
import os
import tracemalloc
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from cxprobe.errors import DataError
from cxprobe.files import reading
from cxprobe.files.reading import LONGEST_LINE, LONGEST_VALUE, line_of, load_yaml, one_line, read_text, shown

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


def test_a_value_is_what_yaml_1_2_says(tmp_path):
    text = "a: yes\nb: +10\nc: 12:30\nd: 1.0e-4\nh: 0o17\n"
    (tmp_path / "file.yaml").write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    expected = {"a": "yes", "b": 10, "c": "12:30", "d": 1e-4, "h": 15}
    assert load_yaml(tmp_path / "file.yaml", DataError) == expected


FAULTS = [  # content of a file -> its place, and a part of what is said of it
    ("a: 1\nb: " + "[" * 200_000, ", line 2: ", "more than 100 deep"),
    ("a: {b: &x [1, *x]}", ": ", "recursion"),
    ("a: 1\nb: [2, " + "9" * 5_000 + "]", ": ", "limit"),
    ("a: !!python/object/apply:os.getcwd []", ", line 1: ", "constructor"),
    ("a: 1\nb: \x07", ": ", "#x0007"),
    ("a: 1\nb: [1", ", line 3: ", "flow sequence"),
    ("a: 1\n\na: 2", ", line 3: ", '"a"'),
    (b"a\nb\xe9\n", ", line 2: ", "0xe9"),
    ("ab\n".encode("utf-16"), ": ", "UTF-16"),
]


@pytest.mark.parametrize(("content", "place", "said"), FAULTS)
def test_what_is_no_yaml_is_refused_with_its_place(tmp_path, content, place, said):
    (tmp_path / "file.yaml").write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError) as raised:
        load_yaml(tmp_path / "file.yaml", DataError)
    assert str(raised.value).startswith(f"{tmp_path}/file.yaml{place}")
    assert said in str(raised.value)
    assert len(str(raised.value)) < LONGEST_LINE


@pytest.mark.parametrize("one", ["{name}: &{name} [{items}]", "{name}: &{name} {{<<: [{items}], {name}: 1}}"])
def test_a_file_of_a_thousand_million_values_by_aliases_is_refused_at_once(tmp_path, one):
    lines = ["l0: &l0 {l0: 1}"]
    for level in range(1, 10):
        lines.append(one.format(name=f"l{level}", items=", ".join([f"*l{level - 1}"] * 10)))
    (tmp_path / "file.yaml").write_text("\n".join(lines))
    tracemalloc.start()
    with pytest.raises(DataError, match=r"file\.yaml.*: there are more than 1,000,000 values, aliases written out"):
        load_yaml(tmp_path / "file.yaml", DataError)
    assert tracemalloc.get_traced_memory()[1] < 2**22
    tracemalloc.stop()


def test_an_alias_is_a_copy_of_what_it_stands_for(tmp_path):
    (tmp_path / "file.yaml").write_text("a: &x {b: [1, 2]}\nc: *x\nd: {<<: *x, e: 3}\n")
    inner = {"b": [1, 2]}
    content = load_yaml(tmp_path / "file.yaml", DataError)
    assert content == {"a": inner, "c": inner, "d": inner | {"e": 3}}
    assert content["a"] is not content["c"]


@given(st.binary(max_size=60) | st.text("ab:-[]{}&*!?|>'\"\n \t,#<", max_size=40).map(str.encode))
def test_whatever_bytes_a_file_has_it_is_read_or_refused_by_its_name(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("bytes") / "file.yaml"
    path.write_bytes(content)
    try:
        load_yaml(path, DataError)
    except DataError as fault:
        if not str(fault).startswith(str(path)):
            pytest.fail(f"does not name its file: {fault}")


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ((), 2),
        (("second", "inner", "b"), 4),
        (("second", "rows", 1, "y"), 9),
        (("second", "rows", 2), 5),  # what is not there: the last step that is
    ],
)
def test_a_key_is_found_on_its_line(tmp_path, keys, line):
    text = "# A comment.\nfirst: 1\nsecond:\n  inner: {a: 1, b: 2}\n  rows:\n    - {x: 1}\n\n    - x: 2\n      y: 3\n"
    (tmp_path / "file.yaml").write_text(text)
    assert line_of(tmp_path / "file.yaml", *keys) == line


LINKS = [partial(os.symlink, target) for target in ("nowhere", "/dev/zero")]


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, *LINKS])
def test_what_is_no_file_is_refused_by_name_at_once(tmp_path, make):
    path = tmp_path / "a.yaml"
    with pytest.raises(DataError, match=f"^{path}: there is no such file"):
        load_yaml(path, DataError)
    make(path)
    with pytest.raises(DataError, match=f"^{path}: is not a file, and a file is needed here"):
        load_yaml(path, DataError)


def test_what_a_message_shows_is_short_and_can_be_printed():
    assert shown("a") == "'a'"
    assert len(shown("x" * 200_000)) < LONGEST_VALUE + 50
    assert one_line("é\n\ud800\x1b[31m") == "é\\n\\ud800\\x1b[31m"
    assert len(one_line("x" * 200_000)) < LONGEST_LINE + 50


def test_a_small_file_that_unpacks_to_too_much_is_refused_before_it_fills_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "MOST_BYTES", 2**16)
    (tmp_path / "bomb.tsv.gz").write_bytes(gzip.compress(b"a" * 2**28))
    tracemalloc.start()
    with pytest.raises(DataError, match="is larger than 65,536 bytes, unpacked; cut it into several files"):
        read_text(tmp_path / "bomb.tsv.gz", DataError)
    assert tracemalloc.get_traced_memory()[1] < 2**22
    tracemalloc.stop()
