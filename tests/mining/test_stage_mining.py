"""The stage as DVC runs it, in a project of its own."""

import pandas as pd
import pytest

from conftest import make_project, run
from cxprobe.storage import read_json

pytestmark = pytest.mark.pipeline


def test_the_stage_mines_what_params_name_and_runs_once(tmp_path):
    folder = tmp_path / "project"
    make_project(folder)
    run(folder, "dvc", "repro", "mine_sentences")
    sentences = pd.read_parquet(folder / "data" / "mine_sentences" / "toy.parquet")
    assert sentences.columns.tolist() == ["id", "text", "url", "start", "end", "tags", "length", "second_start"]
    results = folder / "results" / "mine_sentences" / "toy"
    metrics = read_json(results / "metrics.json")
    assert metrics["sentences"] == len(sentences) == 80
    assert metrics["faults"] == len(pd.read_csv(results / "faults.csv")) == 2
    assert pd.read_csv(results / "counts.csv").set_index("what")["number"]["shards"] == 2
    assert not list((folder / "data" / ".scratch" / "mine_sentences").iterdir())
    assert "didn't change, skipping" in run(folder, "dvc", "repro", "mine_sentences").stdout


def test_two_workers_mine_the_same_and_do_not_make_the_stage_run_again(tmp_path):
    folder = tmp_path / "project"
    make_project(folder)
    run(folder, "dvc", "repro", "mine_sentences")
    params = (folder / "params.yaml").read_text()
    assert "workers: 1" in params
    (folder / "params.yaml").write_text(params.replace("workers: 1", "workers: 2"))
    assert "didn't change, skipping" in run(folder, "dvc", "repro", "mine_sentences").stdout
    before = pd.read_parquet(folder / "data" / "mine_sentences" / "toy.parquet")
    run(folder, "dvc", "repro", "--force", "--no-run-cache", "mine_sentences")
    pd.testing.assert_frame_equal(before, pd.read_parquet(folder / "data" / "mine_sentences" / "toy.parquet"))
