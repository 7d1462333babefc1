"""Published numbers agree with one another where a paper gives them twice, and with what it counts."""

import re

import pandas as pd

from conftest import ROOT

FOLDER = ROOT / "published"


def table(name: str) -> pd.DataFrame:
    return pd.read_csv(FOLDER / f"{name}.tsv", sep="\t")


def test_every_file_is_in_the_readme_and_has_a_value_in_every_needed_cell():
    named = set(re.findall(r"`(\w+\.tsv)`", (FOLDER / "README.md").read_text()))
    assert named == {path.name for path in FOLDER.glob("*.tsv")}
    for name in ("facts", "weissweiler2022_table2_selected", "oba2026_licences"):
        assert table(name).notna().all(axis=None), name
    assert not table("facts").duplicated(["paper", "quantity"]).any()
