from typing import Annotated, Literal

import pytest
from pydantic import AfterValidator, Field, model_validator

from cxprobe.errors import DataError
from cxprobe.files.reading import line_of
from cxprobe.files.schema import Closed, FaultsError, faults_of, read_yaml, validate


def short(name: str) -> str:
    if len(name) > 3:
        raise ValueError(f"{name} has more than three letters")
    return name


class Inner(Closed):
    numbers: dict[Annotated[str, AfterValidator(short)], int] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _even(self):
        if odd := [f"numbers.{name}: {number} is odd" for name, number in self.numbers.items() if number % 2]:
            raise FaultsError(odd)
        return self


class Outer(Closed):
    first: int
    inner: list[Inner]


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


@pytest.mark.parametrize(
    ("content", "faults"),
    [
        ({"first": 1, "inner": [{}]}, []),
        (
            {"first": "x", "inner": [], "frist": 2},
            [
                "first: 'x' is not allowed: input should be a valid integer",
                "frist: unknown key; did you mean 'first'? (allowed: first, inner)",
            ],
        ),
        ({"first": 1}, ["inner: missing; nothing is assumed in its place, so give it a value"]),
        (
            {"first": 1, "inner": [{}, {"numbers": {"four": 4}}]},
            ["inner[1].numbers.four: four has more than three letters"],
        ),
        (
            {"first": 1, "inner": [{"numbers": {"a": 1, "b": 2, "c": 3}}]},
            ["inner[0]: numbers.a: 1 is odd", "inner[0]: numbers.c: 3 is odd"],
        ),
    ],
)
def test_all_faults_are_told_each_with_its_place(tmp_path, content, faults):
    assert faults_of(Outer, content) == faults
    if faults:
        with pytest.raises(DataError) as raised:
            validate(Outer, content, tmp_path / "file.yaml", DataError)
        assert str(raised.value).splitlines() == [f"{tmp_path}/file.yaml: {fault}" for fault in faults]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: !!python/object/apply:os.getcwd []\n", ", line 1: could not determine a constructor for the tag"),
        ("- 1\n", ": expected a mapping of keys to values, found list"),
    ],
)
def test_what_is_not_a_mapping_in_safe_yaml_is_refused(tmp_path, text, message):
    (tmp_path / "file.yaml").write_text(text)
    with pytest.raises(DataError, match=rf"^\S+file\.yaml{message}"):
        read_yaml(tmp_path / "file.yaml", DataError)


def test_yaml_is_read_as_version_1_2(tmp_path):
    (tmp_path / "file.yaml").write_text("a: no\nb: +10\nc: 12:30\nd: 1.0e-4\ne: 2026-01-31\n")
    expected = {"a": "no", "b": 10, "c": "12:30", "d": 1e-4, "e": "2026-01-31"}
    assert read_yaml(tmp_path / "file.yaml", DataError) == expected


class Alpha(Closed):
    kind: Literal["alpha"]
    one: int = 1


class Beta(Closed):
    kind: Literal["beta"]
    two: int


class Tagged(Closed):
    entry: Annotated[Alpha | Beta, Field(discriminator="kind")]
    other: Beta | None = None


@pytest.mark.parametrize(
    ("entry", "faults"),
    [
        ({"kind": "alpha", "alpha": {"alpha": 1}}, ["entry.alpha: unknown key (allowed: kind, one)"]),
        (
            {"kind": "alpha", "alpha": 1, "onee": 2},
            [
                "entry.alpha: unknown key (allowed: kind, one)",
                "entry.onee: unknown key; did you mean 'one'? (allowed: kind, one)",
            ],
        ),
        (
            {"kind": "beta", "beta": {"two": 1}},
            [
                "entry.two: missing; nothing is assumed in its place, so give it a value",
                "entry.beta: unknown key (allowed: kind, two)",
            ],
        ),
    ],
)
def test_a_key_that_is_called_as_a_kind_is_a_key(entry, faults):
    assert faults_of(Tagged, {"entry": entry}) == faults


class Other(Closed):
    other: int = 0


class Twice(Closed):
    inner: Inner
    first: Other


def test_a_mapping_that_stands_in_two_places_is_told_by_the_keys_of_each_place():
    shared = {"numbers": {}, "numbrs": 1}
    assert faults_of(Twice, {"inner": shared, "first": shared}) == [
        "inner.numbrs: unknown key; did you mean 'numbers'? (allowed: numbers)",
        "first.numbers: unknown key (allowed: other)",
        "first.numbrs: unknown key (allowed: other)",
    ]
