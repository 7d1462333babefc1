import os
import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from mlflow import MlflowClient

from cxprobe.files.writing import read_json, this_machine, this_process, write_json
from cxprobe.run import tracking
from cxprobe.run.record import Dataset, ModelFacts, Run, RunContext, Trial, keep_context
from cxprobe.run.tracking import PROCESS_TAG, TrackingError, experiment_id, sync, tracking_uri
from cxprobe.tasks.registry import all_experiments

pytestmark = pytest.mark.pipeline

pytest_plugins = ["toy_stages"]

CONTEXT = RunContext(5000, 5500, "c0ffee", False, {"torch": "2.13.0"}, dvc_experiment="", user="Ann")
JUDGED = Run(
    stage="evaluate_pairs",
    model="tiny",
    facts=ModelFacts("models/tiny", "masked", 1234, "sha256 abc"),
    settings={"seed": "1"},
    metrics={"form/mean": 90.0, "form/toy": 90.0},
    about="It knows the form of toy.",
    series={"by_shots.challenge": [(0, 0.5), (5, 0.9)]},
    dataset=Dataset("data/make_pairs/toy.parquet", "5d41402abc4b2a76b9719d911017c592", 40),
    tags={"model.about": "a tiny model"},
    artifacts=["accuracy_by_order.csv", "figures/accuracy.png"],
)
TRIALS = [
    Trial("C=0.1 · length", {"accuracy": 0.75}, {"C": "0.1"}),
    Trial("C=9 · length", {"accuracy": 0.5}, {"C": "9.0"}),
]


def judged(**changes) -> Run:
    return JUDGED.model_copy(update=changes)


def add_runs(written: list[Run]) -> None:
    keep_context(written, CONTEXT)
    tracking.add_runs(written, EXPERIMENTS)


PROBES = judged(
    stage="evaluate_recognition",
    part={"construction": "toy", "source": "mined"},
    metrics={"accuracy": 0.9},
    dataset=None,
    about="",
    artifacts=[],
    trials=TRIALS,
)
SEARCHED = judged(stage="evaluate_recognition", children=[PROBES])
DEAD = f"{this_machine()}-{2**22 + 1}"  # no process has this number
EXPERIMENTS = all_experiments()
PAIRS = ("pairs", EXPERIMENTS["pairs"])  # name and description


@pytest.fixture
def project_folder(workspace):
    """The workspace with the inputs of the judged run and its artifacts."""
    write_json({"data/make_pairs": "d41d8c.dir"}, Path("results/evaluate_pairs/runs/inputs.json"))
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


def test_a_judged_run_has_all_that_its_record_and_its_context_have(project_folder):
    add_runs([JUDGED])
    client, (found,) = MlflowClient(tracking_uri()), runs("pairs")
    assert (found.info.status, found.info.run_name) == ("FINISHED", "tiny")
    assert (found.info.start_time, found.info.end_time) == (5000, 5500)
    known = {"model": "tiny", "model_kind": "masked", "model_weights": "trained"}
    assert found.data.params == {**known, "seed": "1"}
    assert found.data.metrics == {**JUDGED.metrics, "by_shots.challenge": 0.9}
    history = client.get_metric_history(found.info.run_id, "by_shots.challenge")
    assert sorted((point.step, point.value) for point in history) == [(0, 0.5), (5, 0.9)]
    (used,) = found.inputs.dataset_inputs
    assert (used.dataset.name, used.dataset.digest) == ("toy.parquet", JUDGED.dataset.digest)
    tags = {
        "mlflow.source.git.commit": "c0ffee",
        "git.dirty": "false",
        "mlflow.user": "Ann",
        "dvc.stage": "evaluate_pairs",
        "weights": "sha256 abc",
        "model.parameters": "1234",
        "model.about": "a tiny model",
        "role": "model",
        "mlflow.note.content": "It knows the form of toy.",
    }
    assert {name: found.data.tags[name] for name in tags} == tags
    assert files(client, found.info.run_id) == ["accuracy_by_order.csv", "figures/accuracy.png", "provenance.json"]
    copied = client.download_artifacts(found.info.run_id, "figures/accuracy.png")
    assert Path(copied).read_text() == "content of figures/accuracy.png\n"
    provenance = read_json(Path(client.download_artifacts(found.info.run_id, "provenance.json")))
    assert provenance["inputs"]["data/make_pairs"] == "d41d8c.dir"
    assert provenance["environment"]["torch"] == "2.13.0"


def test_a_run_is_written_once_and_again_with_another_setting_by_which_it_is_then_called(project_folder):
    first = judged(settings={"pairs.make.format": "paper", "seed": "1"})
    later = judged(settings={"pairs.make.format": "statement", "seed": "2"})
    baseline = judged(model="shorter", facts=replace(JUDGED.facts, state="none"))
    for run in (first, first, later, baseline):
        add_runs([run])
    assert [one.info.run_name for one in runs("pairs")] == [
        "shorter (baseline)",
        "tiny",
        "tiny · format=statement, seed=2",
    ]


def test_records_of_another_machine_are_written_without_their_context(project_folder):
    assert sync([JUDGED], EXPERIMENTS) == 1
    (found,) = runs("pairs")
    assert found.data.metrics["form/toy"] == 90
    assert found.data.tags["dvc.stage"] == "evaluate_pairs"
    assert "mlflow.source.git.commit" not in found.data.tags


def test_runs_of_one_data_set_are_written_to_a_shared_store_at_the_same_time(project_folder, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{project_folder}/shared.db")
    of_data_sets = [
        judged(model=f"tiny-{run}", dataset=Dataset(f"data/{data}", "5d4", 40), artifacts=[])
        for data in range(12)
        for run in range(8)
    ]
    assert sync(of_data_sets, EXPERIMENTS) == len(of_data_sets)
    assert len(runs("pairs")) == len(of_data_sets)


def test_nothing_is_sent_to_anyone(workspace):
    assert os.environ["MLFLOW_DISABLE_TELEMETRY"] == "true"


def test_probes_are_child_runs_with_the_trials_of_their_search_and_all_say_which_process_writes_them(project_folder):
    add_runs([SEARCHED])
    roles = ["model", "part", "trial"]
    parent, probes, first, second = sorted(runs("recognition"), key=lambda run: roles.index(run.data.tags["role"]))
    assert probes.info.run_name == "toy · mined · tiny"
    assert {**parent.data.params, "construction": "toy", "source": "mined"} == probes.data.params
    assert probes.data.tags["mlflow.parentRunId"] == parent.info.run_id
    assert {trial.data.tags["mlflow.parentRunId"] for trial in (first, second)} == {probes.info.run_id}
    assert probes.info.start_time < parent.info.start_time  # the charts show the newest
    assert (first.info.status, first.data.params, first.data.metrics) == ("FINISHED", {"C": "0.1"}, {"accuracy": 0.75})
    assert (second.info.run_name, second.data.params) == ("C=9 · length", {"C": "9.0"})
    assert {one.data.tags[PROCESS_TAG] for one in (parent, probes, first, second)} == {this_process()}


def left_open(process: str) -> str:
    """Begin a run that stays RUNNING and says that it is of some process, and return its id."""
    client = tracking.open_store()
    run = client.create_run(experiment_id(client, *PAIRS), tags={PROCESS_TAG: process} if process else {})
    return run.info.run_id


def test_a_sync_ends_what_dead_processes_of_this_machine_have_left_open_and_nothing_else(workspace, capsys):
    dead, others = left_open(DEAD), [left_open(name) for name in (this_process(), f"elsewhere_{DEAD}", "", "by hand")]
    assert sync([], EXPERIMENTS) == 0
    expected = {dead: "KILLED"} | dict.fromkeys(others, "RUNNING")
    assert {run.info.run_id: run.info.status for run in runs("pairs")} == expected
    assert "still RUNNING though their processes have ended, and are now KILLED: 1" in capsys.readouterr().out


def test_a_deleted_store_is_written_again_as_it_was(project_folder, monkeypatch):
    add_runs([JUDGED, SEARCHED])
    before = runs("pairs") + runs("recognition")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{project_folder / 'again.db'}")
    assert sync([JUDGED, SEARCHED], EXPERIMENTS) == 2
    after = runs("pairs") + runs("recognition")
    for old, new in zip(before, after, strict=True):
        for name in ("run_name", "status", "end_time"):
            assert getattr(new.info, name) == getattr(old.info, name)
        changed = {name for name, value in old.data.tags.items() if new.data.tags[name] != value}
        assert changed <= {"mlflow.user", "mlflow.parentRunId", PROCESS_TAG}
        assert (new.data.metrics, new.data.params) == (old.data.metrics, old.data.params)


def test_a_server_that_does_not_answer_costs_a_warning_without_its_password_and_not_the_work(
    project_folder, monkeypatch, capsys
):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://me:a-secret-word@127.0.0.1:9")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    add_runs([JUDGED])
    assert "at http://me:[key]@127.0.0.1:9 cannot be written" in capsys.readouterr().err
    with pytest.raises(TrackingError, match=r"at http://me:.key.@127\.0\.0\.1:9 .*; see that the server runs"):
        sync([JUDGED], EXPERIMENTS)
    monkeypatch.delenv("MLFLOW_TRACKING_URI")
    assert sync([JUDGED], EXPERIMENTS) == 1


def test_an_experiment_is_made_with_its_description_and_that_of_an_older_version_is_brought_up_to_date(workspace):
    client = tracking.open_store()
    made = client.get_experiment(experiment_id(client, *PAIRS))
    described = made.tags["mlflow.note.content"]
    assert described.endswith(f"\n\n{PAIRS[1]}")
    assert f"[their table](#/experiments/{made.experiment_id}/runs?workflowType=machine_learning&" in described
    assert made.artifact_location == (workspace / "mlruns" / "artifacts" / "pairs").as_uri()
    client.set_experiment_tag(made.experiment_id, "mlflow.note.content", "as it was")
    assert experiment_id(client, *PAIRS) == made.experiment_id
    assert client.get_experiment(made.experiment_id).tags["mlflow.note.content"] == described


def damage() -> None:
    Path("mlruns/mlflow.db").write_bytes(b"no database" * 1000)


def lock() -> sqlite3.Cursor:
    """Return what keeps the database locked as long as it is there."""
    return sqlite3.connect("mlruns/mlflow.db").execute("begin exclusive")


def delete_experiment() -> None:
    client = tracking.open_store()
    client.delete_experiment(experiment_id(client, *PAIRS))


@pytest.mark.parametrize(
    ("harm", "advice"),
    [
        (damage, "damaged or was begun in another folder, delete it and run `cxprobe sync`"),
        (delete_experiment, r"deleted in MLflow: .* mlflow experiments restore .* run `cxprobe sync` again"),
        pytest.param(lock, "another process writes into it", marks=pytest.mark.slow),  # MLflow tries for 20 s
    ],
)
def test_a_store_that_cannot_be_written_says_what_to_do(workspace, monkeypatch, harm, advice):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{workspace}/mlruns/mlflow.db?timeout=0.1")
    left_open(DEAD)
    kept = harm()
    with pytest.raises(TrackingError, match=advice):
        sync([JUDGED], EXPERIMENTS)
    del kept


def test_a_store_that_was_copied_with_its_folder_says_what_to_do(project_folder, tmp_path_factory, monkeypatch):
    add_runs([JUDGED])
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "project"
    shutil.copytree(project_folder, elsewhere)
    monkeypatch.chdir(elsewhere)
    with pytest.raises(TrackingError, match=r"begun in another folder: .* delete it and run `cxprobe sync` again"):
        sync([JUDGED], EXPERIMENTS)
