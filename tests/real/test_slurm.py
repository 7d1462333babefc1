"""What the documentation says of Slurm, by its own lines, on a cluster of two nodes that runs on this machine."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from mined_project import (
    LONG,
    SHARDS,
    copied,
    engine_of_page,
    finished_shards,
    mine,
    mined,
    use_engine,
)
from ruamel.yaml import YAML
from servers import wait_until
from slurm_cluster import MOST_TASKS, missing_programs, running_cluster

from conftest import ROOT, change_params, project_environment, run
from cxprobe.files.arrays import read_features

pytest_plugins = ["mined_project"]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.pipeline,
    pytest.mark.skipif(bool(missing_programs()), reason=f"not installed: {', '.join(missing_programs())}"),
]

STAGE = "measure_recognition@one"
FEATURES = Path("data/measure_recognition/one/toy/generated")
TWO_NODES = ("--gres=gpu:2 --ntasks-per-node=2", "--gres=gpu:1 --nodes=2 --ntasks-per-node=1")  # as the page says
CLUSTER_PAGE = (ROOT / "docs/tutorials/cluster.md").read_text()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with running_cluster(tmp_path_factory.mktemp("slurm") / "cluster") as cluster:
        yield cluster


@pytest.fixture
def project(begun, cluster, tmp_path):
    """A project that mines by the page's engine for Slurm."""
    folder = copied(begun, tmp_path / "project")
    ask_slurm(folder)
    yield folder
    cluster.cancel_all()


def ask_slurm(project: Path, before: str = "", **changed: str) -> None:
    """Put the page's engine into params.yaml, with the environment of this test in place of the page's.

    Each task writes down that it begins, and does what the test wants before it mines.
    """
    engine = engine_of_page("slurm") | changed
    assert "/shared/cxprobe/.venv" in engine["environment"]
    engine["environment"] = engine["environment"].replace("/shared/cxprobe/.venv", sys.prefix)
    began = '"$SLURM_ARRAY_JOB_ID $SLURM_ARRAY_TASK_ID ${SLURM_RESTART_COUNT:-0}"'
    engine["environment"] += f"; echo {began} >> {project.parent}/began; {before}"
    use_engine(project, engine)


def is_not(shard: int) -> str:
    """Return a shell's condition that a task mines another shard than one of the first array."""
    return f'[ "$RUN_OFFSET $SLURM_ARRAY_TASK_ID" != "0 {shard}" ]'


def begun_tasks(project: Path) -> list[str]:
    """Return the tasks that have begun: array, number in it, how often it was put back into the queue."""
    return sorted((project.parent / "began").read_text().splitlines())


def begin(project: Path, cluster) -> subprocess.Popen[str]:
    """Begin to mine, in a group of processes of its own."""
    return subprocess.Popen(
        ["dvc", "repro", "mine_sentences"],
        cwd=project,
        env=project_environment(project) | cluster.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


# Mining


def test_slurm_finds_what_this_machine_finds(project, cluster, mined_here):
    mine(project, **cluster.environment)
    assert mined(project) == mined_here
    arrays = [task.split()[0] for task in begun_tasks(project)]
    assert len(arrays) == SHARDS > MOST_TASKS
    assert [arrays.count(array) for array in set(arrays)] == [SHARDS / 2] * 2  # it needs two, of which each has half
    assert not cluster.jobs()


def test_a_task_that_fails_is_told_and_run_again(project, cluster, mined_here):
    ask_slurm(project, before=f"{is_not(2)} || exit 1")
    done = mine(project, check=False, **cluster.environment)
    assert done.returncode
    said = r"mine_sentences: 1 of 6 shards were not finished \(2\.jsonl\); Slurm ended tasks as 1 FAILED\. Logs are in "
    assert re.search(said, done.stderr), done.stderr
    assert finished_shards(project) == set(range(SHARDS)) - {2}
    assert not cluster.jobs()  # none that waits for the failed one to succeed
    ask_slurm(project)
    mine(project, **cluster.environment)
    assert mined(project) == mined_here
    assert len(begun_tasks(project)) == SHARDS + 1


def test_a_task_that_is_put_back_into_the_queue_begins_again(project, cluster, mined_here):
    with begin(project, cluster) as dvc:
        partial = f"data/.scratch/mine_sentences/*/{LONG:05d}.*.partial"
        wait_until(lambda: list(project.glob(partial)), as_long_as=lambda: dvc.poll() is None)
        [(job, task)] = [(job, task) for job, task, _ in cluster.jobs("R") if task == str(LONG)]
        cluster.ask("scontrol", "requeue", f"{job}_{task}")
        wait_until(lambda: (job, task) in [one[:2] for one in cluster.jobs("PD")])
        cluster.ask("scontrol", "update", f"JobId={job}_{task}", "StartTime=now")  # Slurm would wait for two minutes
        printed, _ = dvc.communicate(timeout=300)
    assert dvc.returncode == 0, printed
    assert mined(project) == mined_here
    again = [one for one in begun_tasks(project) if one.endswith(" 1")]
    assert again == [f"{job} {task} 1"]
    assert len(begun_tasks(project)) == SHARDS + 1


def test_a_task_that_takes_too_long_is_told_with_the_limit(project, cluster, mined_here):
    ask_slurm(project, before=f"{is_not(LONG)} || sleep 600", time="00:01:00")
    done = mine(project, check=False, **cluster.environment)
    late = set(range(SHARDS)) - finished_shards(project)  # others too, where the machine has much else to do
    assert LONG in late
    said = rf"jsonl\); Slurm ended tasks as {len(late)} TIMEOUT; engine\.time is 00:01:00, .*\. Logs are in "
    assert re.search(said, done.stderr), done.stderr
    ask_slurm(project)
    mine(project, **cluster.environment)
    assert mined(project) == mined_here
    assert len(begun_tasks(project)) == SHARDS + len(late)


def test_jobs_of_a_stage_that_was_killed_are_waited_for_and_not_submitted_twice(project, cluster, mined_here):
    ask_slurm(project, before=f"{is_not(LONG)} || sleep 25")
    with begin(project, cluster) as dvc:
        wait_until(lambda: 0 in finished_shards(project), as_long_as=lambda: dvc.poll() is None)
        os.killpg(dvc.pid, signal.SIGKILL)
        dvc.communicate()
    assert LONG not in finished_shards(project)
    assert cluster.jobs()
    mine(project, **cluster.environment)
    assert mined(project) == mined_here
    assert len(begun_tasks(project)) == SHARDS


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"partition": "gpu"}, "sbatch does not take the jobs .*partition 'gpu'"),
        ({"partition": "short"}, "will never begin: PartitionTimeLimit .*`scancel "),
    ],
    ids=["no such partition", "a limit that the partition does not allow"],
)
def test_jobs_that_cannot_run_are_told(project, cluster, changed, said):
    ask_slurm(project, **changed)
    done = mine(project, check=False, **cluster.environment)
    assert done.returncode
    assert re.search(f"mine_sentences: .*{said}", done.stderr), done.stderr


# Measuring


def of_this_project(command: str) -> str:
    """Return a line of the page for the model of the test; nothing else is replaced."""
    return command.replace("roberta", "one")


def lines_of(heading: str) -> list[str]:
    """Return the page's commands below a heading, each as one line."""
    section = CLUSTER_PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return [block.strip() for block in re.findall(r"^    (\S(?:.*\\\n)*.*)", section, re.MULTILINE)]


def params_of(heading: str) -> dict:
    section = CLUSTER_PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return YAML(typ="safe").load(re.findall(r"```yaml\n(.*?)```", section, re.DOTALL)[0])


@pytest.fixture(scope="module")
def measured_here(begun, tmp_path_factory):
    """A project in which one process has measured."""
    folder = copied(begun, tmp_path_factory.mktemp("measured") / "project")
    change_params(folder, folder / "params.yaml", probe_one_model)
    run(folder, "dvc", "repro", STAGE)
    return folder


def probe_one_model(params: dict) -> None:
    params["recognition"]["models"] = {"one": {}}
    params["recognition"]["embed"]["token_budget"] = 32


@pytest.fixture
def to_measure(measured_here, tmp_path):
    """The project as it was before, with the page's parameters; the accelerator is this machine's."""
    folder = copied(measured_here, tmp_path / "project")
    for path in ("data/measure_recognition", "results/measure_recognition", "data/.scratch"):
        shutil.rmtree(folder / path)
    lock = YAML(typ="safe").load(folder / "dvc.lock")
    del lock["stages"][STAGE]
    with (folder / "dvc.lock").open("w") as file:
        YAML(typ="safe").dump(lock, file)
    (folder / ".venv").symlink_to(sys.prefix)
    asked = params_of("Several GPUs")["compute"] | {"accelerator": "cpu"}
    change_params(folder, folder / "params.yaml", lambda params: params["compute"].update(asked))
    return folder


def shell(project: Path, command: str, cluster) -> subprocess.CompletedProcess[str]:
    # A node's name is its address on a cluster; here it is in no register of names.
    return run(project, "bash", "-c", command, check=False, **cluster.environment, MASTER_ADDR="127.0.0.1")


def test_measuring_on_two_tasks_gives_what_one_process_gives(to_measure, cluster, measured_here):
    submit, take_over = map(of_this_project, lines_of("Several GPUs"))
    done = shell(to_measure, submit, cluster)
    printed = printed_by_jobs(to_measure)
    assert done.returncode == 0, printed
    assert "MEMBER: 2/2" in printed
    assert_same_features(to_measure, measured_here)
    assert shell(to_measure, take_over, cluster).returncode == 0
    assert mined(to_measure, STAGE) == mined(measured_here, STAGE)
    assert "Running stage" not in run(to_measure, "dvc", "repro", STAGE).stdout


def test_measuring_on_two_nodes_gives_what_one_process_gives(to_measure, cluster, measured_here):
    params = to_measure / "params.yaml"
    change_params(to_measure, params, lambda params: params["compute"].update(devices=1, num_nodes=2))
    line = of_this_project(lines_of("Several GPUs")[0])
    assert TWO_NODES[1] in CLUSTER_PAGE
    done = shell(to_measure, line.replace(*TWO_NODES), cluster)
    assert done.returncode == 0, printed_by_jobs(to_measure)
    assert_same_features(to_measure, measured_here)


def printed_by_jobs(project: Path) -> str:
    return "".join(path.read_text() for path in project.glob("slurm-*.out"))


def assert_same_features(one: Path, other: Path) -> None:
    ours, theirs = read_features(one / FEATURES), read_features(other / FEATURES)
    assert list(ours.ids) == list(theirs.ids)
    np.testing.assert_array_equal(ours.vectors, theirs.vectors)


# The whole pipeline


def test_the_whole_pipeline_is_one_job_that_submits_those_of_its_mining(project, cluster, mined_here):
    change_params(project, project / "params.yaml", probe_one_model)
    (project / ".venv").symlink_to(sys.prefix)
    (submit,) = lines_of("One GPU")
    # With limits of its own, which must not reach the jobs that it submits.
    done = shell(project, submit.replace("sbatch", "sbatch --wait --mem=4000 --ntasks=1"), cluster)
    printed = printed_by_jobs(project)
    assert done.returncode == 0, printed
    assert mined(project) == mined_here
    assert (project / "results/report/index.html").exists(), printed
    assert len(begun_tasks(project)) == SHARDS
