import json
from typing import Annotated, Literal

import pytest
from pydantic import AfterValidator, Field, model_validator

from cxprobe.errors import DataError
from cxprobe.files.schema import Closed, faults_of, near_to, read_checked, read_yaml


def short(name: str) -> str:
    if len(name) > 3:
        raise ValueError(f"{name} has more than three letters")
    return name


class Inner(Closed):
    numbers: dict[Annotated[str, AfterValidator(short)], int] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _even(self):
        if odd := [f"numbers.{name}: {number} is odd" for name, number in self.numbers.items() if number % 2]:
            raise ValueError("\n".join(odd))
        return self


class Outer(Closed):
    first: int
    inner: list[Inner]


@pytest.mark.parametrize(
    ("content", "faults"),
    [
        ({"first": 1, "inner": [{}]}, []),
        (
            {"first": "x", "inner": [{}, {"numbers": {"four": 4}}], "frist": 2},
            [
                "first: 'x' is not allowed: input should be a valid integer",
                "inner[1].numbers.four: four has more than three letters",
                "frist: unknown key; did you mean 'first'? (allowed: first, inner)",
            ],
        ),
        ({"first": 1}, ["inner: missing; nothing is assumed in its place, so give it a value"]),
        (
            {"first": 1, "inner": [{"numbers": {"a": 1, "b": 2, "c": 3}}]},
            ["inner[0]: numbers.a: 1 is odd", "inner[0]: numbers.c: 3 is odd"],
        ),
    ],
)
def test_all_faults_are_told_each_with_its_place(tmp_path, content, faults):
    assert faults_of(Outer, content) == faults
    if faults:
        (tmp_path / "file.yaml").write_text(json.dumps(content))  # which is YAML too
        with pytest.raises(DataError) as raised:
            read_checked(Outer, tmp_path / "file.yaml", DataError)
        assert str(raised.value).splitlines() == [f"{tmp_path}/file.yaml: {fault}" for fault in faults]


class Dated(Closed):
    day: str


def test_a_day_or_a_number_in_the_place_of_a_text_is_to_be_put_in_quotes(tmp_path):
    for text, has_remedy in {"2026-01-31": True, "7": True, "[a]": False}.items():
        (tmp_path / "file.yaml").write_text(f"day: {text}\n")
        with pytest.raises(DataError, match=r"day: .* is not allowed: input should be a valid string") as raised:
            read_checked(Dated, tmp_path / "file.yaml", DataError)
        assert str(raised.value).endswith("; put it in quotes") == has_remedy


def test_a_name_that_is_begun_is_suggested_before_one_that_is_like_it():
    names = ["conative", "comparative-correlative", "comparative-idiom"]
    assert near_to("comparative", names) == "comparative-idiom"
    assert (near_to("conativ", names), near_to("cnative", names), near_to("x", names)) == ("conative", "conative", "")
    assert near_to("mini-cml", ["mini-mlm", "mini-clm"]) == "mini-clm"  # both are as like it


def test_what_is_not_a_mapping_is_refused(tmp_path):
    (tmp_path / "file.yaml").write_text("- 1\n")
    with pytest.raises(DataError, match=r"file\.yaml: expected a mapping of keys to values, found list"):
        read_yaml(tmp_path / "file.yaml", DataError)


class Number(Closed):
    rate: float


@pytest.mark.parametrize("written", ["yes", ".inf", ".nan", "'1'", "true"])
def test_what_only_looks_like_a_number_is_refused(tmp_path, written):
    (tmp_path / "file.yaml").write_text(f"rate: {written}\n")
    (fault,) = faults_of(Number, read_yaml(tmp_path / "file.yaml", DataError))
    assert fault.startswith("rate: ")
    assert "is not allowed: input should be" in fault


class Alpha(Closed):
    kind: Literal["alpha"]
    one: int = 1


class Beta(Closed):
    kind: Literal["beta"]
    two: int


class Tagged(Closed):
    entry: Annotated[Alpha | Beta, Field(discriminator="kind")]


def test_the_name_of_a_kind_is_no_part_of_a_key():
    assert faults_of(Tagged, {"entry": {"kind": "alpha", "onee": 2}}) == [
        "entry.onee: unknown key; did you mean 'one'? (allowed: kind, one)"
    ]
    assert faults_of(Tagged, {"entry": {"kind": "beta"}}) == [
        "entry.two: missing; nothing is assumed in its place, so give it a value"
    ]
