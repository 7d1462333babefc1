"""`cxprobe export`: each command writes what it says, refuses what would mix or guess, and gives recorded numbers."""

import shutil
from pathlib import Path

import datasets
import pandas as pd
import pytest
from exported_project import MEANING, PAIRS
from typer.testing import CliRunner

from cxprobe.cli import app
from cxprobe.files.writing import read_json

pytest_plugins = ["exported_project"]


@pytest.fixture
def folder(made_project, tmp_path, monkeypatch):
    """A copy of the small project, which is the working directory."""
    monkeypatch.setattr(datasets.config, "HF_DATASETS_OFFLINE", True)
    copy = tmp_path / "project"
    shutil.copytree(made_project[0], copy)
    monkeypatch.chdir(copy)
    return copy


def export(*words):
    done = CliRunner().invoke(app, ["export", *map(str, words)])
    return done.exit_code, done.output


def test_hf_writes_a_data_set_that_loads_and_says_what_is_left_out(folder, tmp_path):
    code, output = export("hf", "out/hf")
    assert code == 0, output
    loaded = datasets.load_dataset("out/hf", "pairs", split="test", cache_dir=str(tmp_path / "cache"))
    rows = [len(pd.read_parquet(f"data/make_pairs/{name}.parquet")) for name in PAIRS]
    assert len(loaded) == sum(rows)
    assert f"pairs: {sum(rows):,} test" in output
    assert "left out: Mined sentences" in output
    assert "| let-alone |" in Path("out/hf/README.md").read_text()


def test_lm_eval_and_inspect_write_folders_with_what_to_run(folder):
    code, output = export("lm-eval", "lm")
    assert code == 0, output
    assert "--include_path lm" in output
    assert (folder / "lm" / "cxprobe_let_alone_pairs.yaml").is_file()
    code, output = export("inspect", "asked")
    assert code == 0, output
    assert "inspect eval task.py" in output
    assert (folder / "asked" / "task.py").is_file()


@pytest.mark.parametrize("command", ["hf", "lm-eval", "inspect"])
def test_a_folder_that_has_something_in_it_is_refused_and_left_as_it_is(folder, command):
    (folder / "full").mkdir()
    (folder / "full" / "mine.txt").write_text("mine")
    code, output = export(command, "full")
    assert code == 2
    assert "full: is there already" in output
    assert [path.name for path in (folder / "full").iterdir()] == ["mine.txt"]


def test_results_want_the_name_of_a_parquet_or_csv_file(folder):
    code, output = export("results", "results.txt")
    assert code == 2
    assert "results.txt" in output
    assert ".parquet" in output


def test_what_has_not_been_made_is_left_out_and_named(folder):
    shutil.rmtree("data/make_prompts")
    code, output = export("hf", "hf")
    assert code == 0, output
    assert "left out: prompts: data/make_prompts is missing" in output
    assert "data/make_prompts is missing" in Path("hf/README.md").read_text()
    code, output = export("lm-eval", "lm")
    assert code == 0, output
    assert "left out: prompts" in output
    code, output = export("inspect", "asked")
    assert code == 2
    assert "dvc repro make_prompts" in output


def test_a_file_that_is_missing_among_others_is_no_silent_gap(folder):
    Path(f"data/make_pairs/{MEANING}.parquet").unlink()
    for command in ("hf", "lm-eval"):
        code, output = export(command, "out")
        assert code == 2
        assert f"data/make_pairs/{MEANING}.parquet is missing" in output
        assert not Path("out").exists()


def test_a_project_without_data_is_told_to_run(folder):
    shutil.rmtree("data")
    for command in (["hf", "out"], ["lm-eval", "out"], ["results", "out.parquet"]):
        code, output = export(*command)
        assert code == 2
        assert "dvc repro" in output


@pytest.mark.pipeline
def test_the_rows_that_decide_give_the_accuracies_of_every_recorded_run(project, monkeypatch):
    monkeypatch.chdir(project)
    code, output = export("results", "all.parquet")
    assert code == 0, output
    results = pd.read_parquet("all.parquet")
    deciding = results[results["decides"]]
    compared = 0
    for line in ("recognition", "scenarios", "pairs", "prompts"):
        own = deciding[deciding["line"] == line]
        for path in Path("results", f"judge_{line}", "runs").rglob("record.json"):
            if "ways" in path.parts:  # of a probe on the vectors of pairs, whose answers are not among these rows
                continue
            record = read_json(path)
            run = own[own["model"] == record["params"].get("model")]
            of_toy = record["params"].get("construction") in ("toy", "all")  # toy is the only construction
            if not of_toy or "accuracy" not in record["metrics"] or run.empty:
                continue
            if line == "pairs":
                run = run[run["source"] == "real"]  # pairs with pseudowords have a rate of their own
            assert run["correct"].mean() == pytest.approx(record["metrics"]["accuracy"], abs=1e-5), path
            assert run["correct"].notna().sum() == record["metrics"]["n"], path
            compared += 1
    assert compared >= results.groupby(["line", "model"]).ngroups
