import pytest

from cxprobe.schema import line_of

TEXT = """\
# A comment counts as a line.
first: 1
second:
  inner: {a: 1, b: 2}
  rows:
    - {x: 1}

    - x: 2
      y: 3
"""


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ((), 2),
        (("first",), 2),
        (("second",), 3),
        (("second", "inner", "b"), 4),
        (("second", "rows", 0), 6),
        (("second", "rows", 1, "y"), 9),
        (("second", "rows", 2), 5),  # what is not there: the last step that is
        (("second", "outer", "b"), 3),
        (("first", "deeper"), 2),
    ],
)
def test_a_key_is_found_on_its_line(tmp_path, keys, line):
    (tmp_path / "file.yaml").write_text(TEXT)
    assert line_of(tmp_path / "file.yaml", *keys) == line
