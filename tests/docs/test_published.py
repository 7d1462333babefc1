"""Published numbers agree with one another where a paper gives them twice, and with what it counts."""

import re

import pandas as pd
import pytest

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


def test_table_2_of_weissweiler_cuts_off_what_tables_4_and_5_round_except_for_one_cell():
    selected = table("weissweiler2022_table2_selected").set_index("model")
    differences = {}
    for kind, name in (("accuracy", "table4_accuracy"), ("flips", "table5_decision_flip")):
        full = table(f"weissweiler2022_{name}").set_index(["model", "scenario"])["none"]
        for column in (one for one in selected if one.startswith(kind)):
            for model, value in selected[column].items():
                differences[model, column] = round(full[model, column.split("_")[1]] - value, 2)
    assert differences.pop(("BERT-large", "accuracy_S2")) == pytest.approx(-0.08)
    assert set(differences.values()) == {0.0, 0.01}
    assert len(differences) == 8 * 5 - 1


def test_the_first_rephrasing_of_scivetti_has_the_numbers_of_each_models_best_content():
    prompts = table("scivetti2025_prompt_variation")
    contents = prompts[prompts["prompt"].str.startswith("variation")]
    first = prompts[prompts["prompt"] == "best-rephrase-1"]
    by = ["table", "model"]
    assert contents.groupby(by)["accuracy"].max().to_dict() == first.set_index(by)["accuracy"].to_dict()
