"""The stage as DVC runs it, in a project of its own."""

import pandas as pd
import pytest

from conftest import make_project, run
from cxprobe.files.tables import read_table
from cxprobe.pairs.make import pairs_of

pytestmark = pytest.mark.pipeline


def test_the_stage_makes_pairs_with_words_and_pseudowords_and_runs_once(tmp_path):
    folder = tmp_path / "project"
    make_project(folder)
    run(folder, "dvc", "repro", "build_pairs")
    table = read_table(folder / "data" / "build_pairs" / "toy.parquet")
    # Two of words, two variants, two orders, two noun types, four pairs a cell.
    assert len(table) == len(pairs_of(table)) == table["id"].nunique() == 2 * 2 * 2 * 2 * 4
    results = folder / "results" / "build_pairs"
    assert read_table(results / "counts.csv").set_index("count")["value"].to_dict() == {
        "constructions": 1,
        "pairs": 64,
        "items": 16,
        "cells": 16,
        "cells_not_filled": 0,
        "pseudowords": 3,
        "pseudowords_random": 3,
    }
    cells = pd.read_csv(results / "cells.csv")
    assert (cells["pairs"] == 4).all()
    assert (cells["shortfall"] == 0).all()
    assert pd.read_csv(results / "pseudowords.csv")["word"].tolist() == ["baked", "poured", "sang"]
    assert "didn't change, skipping" in run(folder, "dvc", "repro", "build_pairs").stdout


def test_a_cell_that_cannot_be_filled_is_told(tmp_path):
    folder = tmp_path / "project"
    make_project(folder)
    params = (folder / "params.yaml").read_text()
    assert "meaning: 4" in params
    (folder / "params.yaml").write_text(params.replace("meaning: 4", "meaning: 10"))
    run(folder, "python", "pipelines/make/build_pairs.py")
    cells = pd.read_csv(folder / "results" / "build_pairs" / "cells.csv").set_index("noun_type")
    assert (cells["shortfall"]["job"] == 1).all()  # three frames and three nouns make nine items
    assert (cells["shortfall"]["name"] == 0).all()
