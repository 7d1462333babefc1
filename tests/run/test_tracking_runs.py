import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from mlflow import MlflowClient
from mlflow.exceptions import MlflowException

import cxprobe
from conftest import run
from cxprobe.files.writing import read_json, this_machine
from cxprobe.run import tracking as tracked_runs
from cxprobe.run.record import Circumstances, Dataset, RunRecord, Trial
from cxprobe.run.tracking import (
    PROCESS_TAG,
    RECORD_TAG,
    OpenRun,
    TrackingError,
    add_runs,
    finish,
    keep_circumstances,
    record_digest,
    running,
    sync,
    tracking_uri,
)

pytestmark = pytest.mark.pipeline

pytest_plugins = ["tracked_workspace"]

ITEM = {"model": "tiny"}
CIRCUMSTANCES = Circumstances(
    started=1000,
    finished=1500,
    commit="c0ffee",
    dirty=False,
    environment={"torch": "2.13.0", "host": "here"},
    placement={"score_pairs.accelerator": "cpu"},
    dvc_experiment="",
)
MEASURED = RunRecord(
    experiment="stages",
    name="tune_probes · tiny",
    stage="tune_probes",
    item=ITEM,
    dvc_stage="tune_probes@tiny",
    params={"stage": "tune_probes", "model": "tiny", "seed": "1"},
    metrics={"probes": 12},
    series={"loss": [(0, 0.5), (1, 0.25)]},
    dataset=None,
    inputs={"data/build_recognition/toy": "d41d8c.dir"},
    facts={"weights": "sha256 abc"},
    folder=Path("results/tune_probes/tiny"),
    artifacts=[],
    trials=[
        Trial("trial 0", {"accuracy": 0.75}, {"C": "0.1"}, "FINISHED"),
        Trial("trial 1", {}, {"C": "9.0"}, "FAILED"),
    ],
)
JUDGED = replace(
    MEASURED,
    experiment="pairs",
    name="tiny · toy",
    stage="judge_pairs",
    dvc_stage="judge_pairs@tiny",
    params={"model": "tiny", "construction": "toy", "seed": "1"},
    metrics={"accuracy": 0.9, "low": 0.8, "high": 0.95, "n": 40},
    series={"by_shots.challenge": [(0, 0.5), (5, 0.9)]},
    dataset=Dataset("data/build_pairs/toy.parquet", "5d41402abc4b2a76b9719d911017c592", 40),
    folder=Path("results/judge_pairs/tiny/runs/toy/pairs"),
    artifacts=[Path("accuracy_by_order.csv"), Path("figures/accuracy.png")],
    trials=[],
)


@pytest.fixture
def project_folder(workspace):
    """The workspace with the artifacts of the judged record."""
    for artifact in JUDGED.artifacts:
        path = JUDGED.folder / artifact
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"content of {artifact}\n")
    return workspace


def runs(experiment, uri=None) -> list:
    client = MlflowClient(uri or tracking_uri())
    found = client.get_experiment_by_name(experiment)
    return client.search_runs([found.experiment_id], order_by=["attributes.run_name"]) if found else []


def files(client, run_id, folder=None) -> list[str]:
    found = client.list_artifacts(run_id, folder)
    nested = [files(client, run_id, one.path) for one in found if one.is_dir]
    return sorted([one.path for one in found if not one.is_dir] + [path for paths in nested for path in paths])


def test_a_judged_run_has_its_params_metrics_and_series(project_folder):
    add_runs([JUDGED], CIRCUMSTANCES)
    client, (found,) = MlflowClient(tracking_uri()), runs("pairs")
    assert (found.info.status, found.info.run_name) == ("FINISHED", "tiny · toy")
    assert (found.info.start_time, found.info.end_time) == (1000, 1500)
    assert found.data.params == JUDGED.params
    assert found.data.metrics == {**JUDGED.metrics, "by_shots.challenge": 0.9}
    history = client.get_metric_history(found.info.run_id, "by_shots.challenge")
    assert sorted((point.step, point.value) for point in history) == [(0, 0.5), (5, 0.9)]


def test_a_judged_run_names_its_data_set_with_its_md5_and_size(project_folder):
    add_runs([JUDGED], CIRCUMSTANCES)
    (found,) = runs("pairs")
    (used,) = found.inputs.dataset_inputs
    assert (used.dataset.name, used.dataset.digest) == (JUDGED.dataset.name, JUDGED.dataset.digest)
    assert used.dataset.profile == '{"num_rows": 40}'
    assert {tag.key: tag.value for tag in used.tags} == {"mlflow.data.context": "evaluation"}


def test_the_artifacts_of_a_run_have_the_paths_that_they_have_in_its_folder(project_folder):
    add_runs([JUDGED], CIRCUMSTANCES)
    client, (found,) = MlflowClient(tracking_uri()), runs("pairs")
    assert files(client, found.info.run_id) == ["accuracy_by_order.csv", "figures/accuracy.png", "provenance.json"]
    copied = client.download_artifacts(found.info.run_id, "figures/accuracy.png")
    assert Path(copied).read_text() == "content of figures/accuracy.png\n"


def test_artifacts_that_dvc_has_not_fetched_are_left_out(project_folder):
    (JUDGED.folder / "figures" / "accuracy.png").unlink()
    add_runs([JUDGED], CIRCUMSTANCES)
    client, (found,) = MlflowClient(tracking_uri()), runs("pairs")
    assert files(client, found.info.run_id) == ["accuracy_by_order.csv", "provenance.json"]


def test_a_run_is_tagged_with_code_and_facts_and_has_its_provenance_as_an_artifact(project_folder):
    add_runs([JUDGED], CIRCUMSTANCES)
    client, (found,) = MlflowClient(tracking_uri()), runs("pairs")
    expected = {
        "mlflow.source.git.commit": "c0ffee",
        "git.dirty": "false",
        "dvc.stage": "judge_pairs@tiny",
        "weights": "sha256 abc",
    }
    assert {name: found.data.tags[name] for name in expected} == expected
    provenance = read_json(Path(client.download_artifacts(found.info.run_id, "provenance.json")))
    assert provenance["inputs"]["data/build_recognition/toy"] == "d41d8c.dir"
    assert provenance["environment"]["torch"] == "2.13.0"
    assert provenance["placement"] == {"score_pairs.accelerator": "cpu"}


def test_more_tags_and_metrics_than_mlflow_takes_at_once_are_all_written(project_folder):
    facts = {f"fact {number}": "known" for number in range(250)}
    add_runs([replace(JUDGED, facts=facts, series={"loss": [(step, 0.5) for step in range(1500)]})], CIRCUMSTANCES)
    client, (found,) = MlflowClient(tracking_uri()), runs("pairs")
    assert sum(name.startswith("fact ") for name in found.data.tags) == 250
    assert len(client.get_metric_history(found.info.run_id, "loss")) == 1500


def test_the_trials_of_a_search_are_child_runs(workspace):
    with running("tune_probes", ITEM, "") as opened:
        finish(opened, MEASURED, CIRCUMSTANCES)
    first, second, parent = runs("stages")
    assert parent.info.run_name == "tune_probes · tiny"
    assert {one.data.tags["mlflow.parentRunId"] for one in (first, second)} == {parent.info.run_id}
    assert (first.info.status, first.data.params, first.data.metrics) == ("FINISHED", {"C": "0.1"}, {"accuracy": 0.75})
    assert (second.info.status, second.data.params, second.data.metrics) == ("FAILED", {"C": "9.0"}, {})


def test_a_stage_has_a_running_run_while_it_works(workspace):
    with running("tune_probes", ITEM, "tune_probes@tiny") as opened:
        (found,) = runs("stages")
        assert (found.info.status, found.info.run_name) == ("RUNNING", "tune_probes · tiny")
        assert found.data.tags["dvc.stage"] == "tune_probes@tiny"
        finish(opened, MEASURED, CIRCUMSTANCES)
    assert runs("stages")[-1].info.status == "FINISHED"


@pytest.mark.parametrize(
    ("ending", "status"), [(ValueError, "FAILED"), (SystemExit, "KILLED"), (KeyboardInterrupt, "KILLED")]
)
def test_a_run_that_dies_says_so(workspace, ending, status):
    with pytest.raises(ending), running("tune_probes", ITEM, ""):
        raise ending
    (found,) = runs("stages")
    assert found.info.status == status


def test_a_run_whose_process_has_died_ends_as_killed_when_its_stage_runs_again(workspace):
    script = (
        "import os, signal; from cxprobe.tracking import running\n"
        f"with running('tune_probes', {ITEM}, ''): os.kill(os.getpid(), signal.SIGKILL)"
    )
    source = str(Path(cxprobe.__file__).parents[1])
    run(workspace, sys.executable, "-c", script, check=False, PYTHONPATH=source)
    assert [one.info.status for one in runs("stages")] == ["RUNNING"]
    with running("fit_probes", ITEM, ""), running("tune_probes", {"model": "other"}, ""):
        assert [one.info.status for one in runs("stages")] == ["RUNNING"] * 3
    with running("tune_probes", ITEM, "") as opened:
        finish(opened, replace(MEASURED, trials=[]), CIRCUMSTANCES)
    statuses = sorted(one.info.status for one in runs("stages") if one.data.tags["cxprobe.stage"] == "tune_probes")
    assert statuses == ["FINISHED", "KILLED", "RUNNING"]


def left_open(process: str, **tags: str) -> str:
    """Begin a run that stays RUNNING and says that it is of some process, and return its id."""
    client = MlflowClient(tracking_uri())
    with running("tune_probes", {"model": process, **tags}, "") as opened:
        client.set_tag(opened.id, PROCESS_TAG, process)
    for name, value in tags.items():
        client.set_tag(opened.id, name, value)
    return opened.id


def statuses() -> dict[str, str]:
    return {one.info.run_id: one.info.status for one in runs("stages")}


DEAD = f"{2**22 + 1}:1700000000"  # no process has this number


def test_runs_of_other_machines_and_of_processes_that_live_are_left_alone(workspace):
    others = [left_open(f"elsewhere.1:{DEAD}"), left_open(""), left_open("made by hand")]
    with running("tune_probes", ITEM, "") as opened:
        assert sync([]) == 0
        assert statuses() == dict.fromkeys([*others, opened.id], "RUNNING")


def test_a_sync_ends_what_dead_processes_have_left_open(workspace, capsys):
    killed = left_open(f"{this_machine()}:{DEAD}")
    same_number = left_open(f"{this_machine()}:{os.getpid()}:1700000000")  # the process has another's number
    half_written = left_open(f"{this_machine()}:{DEAD}", **{RECORD_TAG: "abc"})
    assert sync([]) == 0
    assert statuses() == {killed: "KILLED", same_number: "KILLED", half_written: "FAILED"}
    assert "still RUNNING though their processes have ended, and are now KILLED or FAILED: 3" in capsys.readouterr().out


def test_judged_runs_and_trials_say_too_which_process_writes_them(project_folder):
    sync([JUDGED, MEASURED])
    found = [*runs("pairs"), *runs("stages")]
    assert len(found) == 4
    assert all(one.data.tags[PROCESS_TAG].startswith(f"{this_machine()}:{os.getpid()}:") for one in found)


def test_judged_runs_are_written_once(project_folder):
    add_runs([JUDGED, replace(JUDGED, name="tiny · all")], CIRCUMSTANCES)
    add_runs([JUDGED], replace(CIRCUMSTANCES, started=9000, finished=9500))
    assert [one.info.run_name for one in runs("pairs")] == ["tiny · all", "tiny · toy"]


@pytest.mark.parametrize("record", [JUDGED, MEASURED], ids=["judged", "with trials"])
def test_of_two_who_write_a_run_at_the_same_moment_one_copy_stays(project_folder, monkeypatch, record):
    class Early(MlflowClient):
        """A client that looked for the run before the other one had finished it."""

        looked = False

        def search_runs(self, *arguments, **more):
            found = super().search_runs(*arguments, **more) if self.looked else []
            self.looked = True
            return found

    add_runs([record], CIRCUMSTANCES)
    with monkeypatch.context() as early:
        early.setattr("cxprobe.run.tracking.open_store", lambda: Early(tracking_uri()))
        add_runs([record], CIRCUMSTANCES)
    assert len(runs(record.experiment)) == 1 + len(record.trials)
    assert sync([record]) == 0


def test_another_setting_is_another_run(project_folder):
    add_runs([JUDGED, replace(JUDGED, params={**JUDGED.params, "seed": "2"})], CIRCUMSTANCES)
    assert sorted(one.data.params["seed"] for one in runs("pairs")) == ["1", "2"]


def test_syncing_writes_what_the_store_lacks_and_nothing_twice(project_folder):
    add_runs([JUDGED], CIRCUMSTANCES)
    assert sync([JUDGED, MEASURED]) == 1
    assert sync([JUDGED, MEASURED]) == 0
    assert len(runs("pairs")) == 1
    assert len(runs("stages")) == 3  # with the two trials


def test_syncing_asks_for_the_runs_of_an_experiment_at_once_and_not_one_by_one(project_folder, monkeypatch):
    records = [replace(JUDGED, params={**JUDGED.params, "seed": str(seed)}) for seed in range(5)]
    sync(records)
    asked, ask = [], MlflowClient.search_runs
    monkeypatch.setattr(MlflowClient, "search_runs", lambda *told, **more: asked.append(told) or ask(*told, **more))
    assert sync(records) == 0
    assert [query for *_, query in asked].count("attributes.status = 'FINISHED'") == 1
    assert not [query for *_, query in asked if RECORD_TAG in query]


def test_syncing_finds_runs_on_whatever_page_the_store_lists_them(project_folder, monkeypatch):
    monkeypatch.setattr(tracked_runs, "_PAGE", 2)
    records = [replace(JUDGED, params={**JUDGED.params, "seed": str(seed)}) for seed in range(5)]
    assert sync(records[:4]) == 4
    assert sync(records) == 1
    assert sync(records) == 0
    assert len(runs("pairs")) == 5


def test_a_deleted_store_is_written_again_as_it_was(project_folder):
    keep_circumstances([JUDGED, MEASURED], CIRCUMSTANCES)
    add_runs([JUDGED], CIRCUMSTANCES)
    with running("tune_probes", ITEM, "tune_probes@tiny") as opened:
        finish(opened, MEASURED, CIRCUMSTANCES)
    before = runs("pairs") + runs("stages")
    os.environ["MLFLOW_TRACKING_URI"] = f"sqlite:///{project_folder / 'again.db'}"
    try:
        assert sync([JUDGED, MEASURED]) == 2
        after = runs("pairs") + runs("stages")
    finally:
        del os.environ["MLFLOW_TRACKING_URI"]
    for old, new in zip(before, after, strict=True):
        assert new.info.run_name == old.info.run_name
        assert (new.info.status, new.info.end_time) == (old.info.status, old.info.end_time)
        assert (new.data.metrics, new.data.params) == (old.data.metrics, old.data.params)
        left_out = ("mlflow.user", "mlflow.parentRunId", "cxprobe.process")
        expected = {name: value for name, value in old.data.tags.items() if name not in left_out}
        assert {name: value for name, value in new.data.tags.items() if name not in left_out} == expected


def test_records_of_another_machine_are_written_without_their_circumstances(project_folder):
    assert sync([JUDGED]) == 1
    (found,) = runs("pairs")
    assert found.data.metrics["accuracy"] == 0.9
    assert found.data.tags["dvc.stage"] == "judge_pairs@tiny"
    assert "mlflow.source.git.commit" not in found.data.tags


def test_circumstances_that_cannot_be_kept_cost_a_warning(workspace, capsys):
    (workspace / "mlruns" / "context").write_text("a file where a folder should be")
    keep_circumstances([JUDGED], CIRCUMSTANCES)
    assert "time, commit and machine of the runs could not be kept" in capsys.readouterr().err


def test_syncing_begins_with_the_oldest_run(project_folder):
    old = replace(JUDGED, name="old")
    keep_circumstances([JUDGED], replace(CIRCUMSTANCES, started=9000, finished=9500))
    keep_circumstances([old], CIRCUMSTANCES)
    sync([JUDGED, old])
    assert [one.info.run_name for one in sorted(runs("pairs"), key=lambda one: one.info.start_time)] == [
        "old",
        "tiny · toy",
    ]


def test_a_run_that_was_only_half_written_is_written_again(project_folder, monkeypatch, capsys):
    with monkeypatch.context() as broken:
        broken.setattr(MlflowClient, "log_artifact", lambda *_: (_ for _ in ()).throw(MlflowException("full disk")))
        add_runs([JUDGED], CIRCUMSTANCES)
    assert "full disk" in capsys.readouterr().err
    assert [one.info.status for one in runs("pairs")] == ["FAILED"]
    assert sync([JUDGED]) == 1


def test_a_server_that_goes_away_costs_a_warning_and_not_the_work(workspace, monkeypatch, capsys):
    with running("tune_probes", ITEM, "") as opened:
        monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
        finish(OpenRun(MlflowClient("http://127.0.0.1:9"), opened.id), MEASURED, CIRCUMSTANCES)
    assert "`cxprobe sync` writes the run later" in capsys.readouterr().err


def test_a_server_that_does_not_answer_at_the_start_costs_a_warning_too(workspace, monkeypatch, capsys):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:9")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with running("tune_probes", ITEM, "") as opened:
        assert opened is None
    warning = capsys.readouterr().err
    assert "MLflow at http://127.0.0.1:9 does not work" in warning
    assert "the stage works on without an MLflow run; `cxprobe sync` writes it later" in warning
    with pytest.raises(TrackingError, match=r"the tracking store at http://127\.0\.0\.1:9 cannot be written"):
        sync([JUDGED])


def test_a_damaged_database_does_not_stop_the_work(workspace, capsys):
    (workspace / "mlruns" / "mlflow.db").write_bytes(b"no database")
    with running("tune_probes", ITEM, "") as opened:
        assert opened is None
    add_runs([JUDGED], CIRCUMSTANCES)
    assert capsys.readouterr().err.count("does not work") == 2


def test_many_judged_runs_are_written_at_once(project_folder):
    metrics = {f"metric {number}": 0.5 for number in range(40)}
    records = [replace(JUDGED, name=f"tiny · {number}", metrics=metrics, series={}) for number in range(25)]
    add_runs(records, CIRCUMSTANCES)
    assert len(runs("pairs")) == 25


@pytest.mark.parametrize(
    "change",
    [
        {"metrics": {"accuracy": 0.8}},
        {"params": {"model": "other"}},
        {"dataset": Dataset("data/build_pairs/toy.parquet", "c0ffee", 40)},
        {"facts": {"weights": "others"}},
    ],
)
def test_another_result_setting_data_set_or_model_is_another_run(project_folder, change):
    assert record_digest(JUDGED) == record_digest(replace(JUDGED))
    assert record_digest(JUDGED) != record_digest(replace(JUDGED, **change))


def test_the_same_results_from_inputs_that_have_changed_are_no_second_run(project_folder):
    add_runs([JUDGED, replace(JUDGED, inputs={"data/build_recognition/toy": "c0ffee.dir"})], CIRCUMSTANCES)
    assert len(runs("pairs")) == 1


def test_nothing_is_sent_to_anyone(workspace):
    assert os.environ["MLFLOW_DISABLE_TELEMETRY"] == "true"


def test_another_server_can_be_named(project_folder, monkeypatch):
    shutil.copy("mlruns/mlflow.db", "elsewhere.db")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{project_folder / 'elsewhere.db'}")
    add_runs([JUDGED], CIRCUMSTANCES)
    assert len(runs("pairs")) == 1
    assert runs("pairs", f"sqlite:///{project_folder / 'mlruns' / 'mlflow.db'}") == []
