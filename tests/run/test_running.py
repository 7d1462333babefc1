import logging
import multiprocessing
import os
import signal
import sys
import traceback
from pathlib import Path

import pytest
from mlflow import MlflowClient
from servers import wait_until
from toy_stages import evaluate_pairs, measure_pairs, report

from cxprobe.files.writing import write_json
from cxprobe.run.results import read_runs
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage
from cxprobe.run.tracking import sync, tracking_uri
from cxprobe.tasks.pairs.params import PairsStage
from cxprobe.tasks.registry import all_experiments

pytestmark = pytest.mark.pipeline

pytest_plugins = ["small_disks", "toy_stages"]


def runs(experiment: str = "pairs") -> list:
    client = MlflowClient(tracking_uri())
    found = client.get_experiment_by_name(experiment)
    return client.search_runs([found.experiment_id]) if found else []


def run_judging() -> None:
    sys.argv = sys.argv[:1]
    run_stage(evaluate_pairs, PairsStage)


def ended(work, items: str | None = "models") -> int:
    """Run a stage that ends with an error, and return its exit code."""
    with pytest.raises(SystemExit) as end:
        run_stage(work, PairsStage, items)
    return end.value.code


def test_a_judging_stage_ends_in_its_runs_once(workspace):
    for _ in range(2):
        run_judging()
        outer = [run for run in runs() if "mlflow.parentRunId" not in run.data.tags]
        assert len(outer) == 2
    assert sync(read_runs()[0], all_experiments()) == 0


def test_a_judging_stage_leaves_its_runs_to_a_sync_that_follows(workspace, monkeypatch):
    monkeypatch.setenv("CXPROBE_TRACKING", "later")
    run_judging()
    assert runs() == []
    assert sync(read_runs()[0], all_experiments()) == 2
    assert all("mlflow.source.git.commit" in run.data.tags for run in runs() if run.data.tags["role"] != "trial")


def test_the_item_is_what_dvc_says_and_else_the_argument(workspace, monkeypatch):
    items = []

    def measure_pairs(stage: Stage) -> Outcome:
        items.append(stage.item)
        return Outcome()

    for dvc_stage in ("", "measure_pairs@clm", "another_stage@clm"):
        monkeypatch.setenv("DVC_STAGE", dvc_stage)
        run_stage(measure_pairs, PairsStage, "models")
    assert items == ["mlm", "clm", "mlm"]


@pytest.mark.parametrize(
    ("argument", "work", "items", "message"),
    [
        ("mlmm", measure_pairs, "models", "measure_pairs: 'mlmm' is not in models of params.yaml; did you mean 'mlm'?"),
        ("mlm", report, None, "mlm: this stage runs once, so leave the argument out"),
    ],
)
def test_an_item_that_a_stage_does_not_have_is_refused_before_work(
    workspace, monkeypatch, capsys, argument, work, items, message
):
    monkeypatch.setattr(sys, "argv", ["stage.py", argument])
    assert ended(work, items) == 2
    printed = capsys.readouterr().err
    assert message in printed
    assert "Traceback" not in printed
    assert not (workspace / "data").exists()


def test_models_that_could_not_be_judged_are_named_at_the_end_and_the_others_are_written(
    workspace, monkeypatch, capsys
):
    def judge_half(stage: Stage) -> Outcome:
        whole = evaluate_pairs(stage)
        return Outcome(headline=whole.headline, runs=whole.runs, faults={"clm": "data/measure_pairs/clm is damaged"})

    judge_half.__name__ = "evaluate_pairs"
    monkeypatch.setattr(sys, "argv", ["stage.py"])
    assert ended(judge_half, None) == 2
    assert "these could not be:\nclm: data/measure_pairs/clm is damaged" in capsys.readouterr().err
    assert len(read_runs()[0]) == 2
    assert {run.data.params["model"] for run in runs() if "model" in run.data.params} == {"mlm", "shorter"}


def test_keys_of_the_environment_are_in_nothing_that_a_stage_prints(workspace, monkeypatch, capsys):
    handler = logging.StreamHandler()  # as of a library that was imported before the stage began
    monkeypatch.setenv("SOME_API_KEY", "sk-a-key-that-is-secret")

    def measure_pairs(stage: Stage) -> Outcome:
        print("asking with sk-a-key-that-is-secret")  # noqa: T201
        print("asking with sk-a-key-that-is-secret", file=sys.stderr)  # noqa: T201
        logging.getLogger("of a library").addHandler(handler)
        logging.getLogger("of a library").error("refused: %s", "sk-a-key-that-is-secret")
        raise KeyError("sk-a-key-that-is-secret")

    with pytest.raises(KeyError) as raised:
        run_stage(measure_pairs, PairsStage, "models")
    traceback.print_exception(raised.value)
    printed = capsys.readouterr()
    assert printed.out == "asking with [key]\n"
    assert printed.err.count("[key]") >= 4
    assert "secret" not in printed.out + printed.err.replace('"sk-a-key-that-is-secret"', "")  # the line of source


def test_helper_processes_work_and_leave_no_trace(workspace, monkeypatch):
    monkeypatch.setenv("LOCAL_RANK", "1")
    worked = []
    run_stage(lambda stage: worked.append(stage.item), PairsStage, "models")
    assert worked == ["mlm"]
    assert not (workspace / "results").exists()


def test_a_full_disk_is_a_fault_that_names_the_file_and_leaves_no_results(workspace, file_limit, capsys):
    def measure_pairs(stage: Stage) -> Outcome:
        file_limit(20_000)
        write_json({"text": "x" * 30_000}, stage.data / "scores.json")
        return Outcome()

    assert ended(measure_pairs) == 2
    printed = capsys.readouterr().err
    assert "data/measure_pairs/mlm/scores.json: the disk is full" in printed
    assert "Traceback" not in printed
    assert not list((workspace / "results").rglob("*"))


def hold() -> None:
    """Work on an item until killed, with a process of its own that lives on."""

    def measure_pairs(stage: Stage) -> Outcome:
        Path("held" if os.fork() else "child").write_text(f"{os.getpid()}\n")
        signal.pause()
        return Outcome()

    run_stage(measure_pairs, PairsStage, "models")


def test_a_second_process_is_told_that_another_works_on_the_item_until_that_is_killed(workspace, capsys):
    holder, files = multiprocessing.get_context("fork").Process(target=hold), [Path("held"), Path("child")]
    holder.start()
    wait_until(lambda: all(file.is_file() and file.read_text() for file in files), as_long_as=holder.is_alive)
    assert ended(measure_pairs) == 2
    lock = "data/.scratch/locks/measure_pairs/mlm.lock"
    assert f"another process works on mlm: it has locked {lock}; wait until" in capsys.readouterr().err
    holder.kill()
    holder.join()
    run_stage(measure_pairs, PairsStage, "models")
    os.kill(int(Path("child").read_text()), signal.SIGKILL)  # it lives on
