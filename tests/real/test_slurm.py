"""What the documentation says of Slurm, by its own lines, on a cluster of two nodes that runs on this machine."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from ruamel.yaml import YAML
from slurm_cluster import missing_programs, running_cluster

from conftest import ROOT, change_params, make_project, run
from cxprobe.files.arrays import read_features

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
def measured_here(tmp_path_factory):
    """A project in which one process has measured."""
    folder = tmp_path_factory.mktemp("measured") / "project"
    make_project(folder)
    change_params(folder, folder / "params.yaml", probe_one_model)
    run(folder, "dvc", "repro", STAGE)
    return folder


def probe_one_model(params: dict) -> None:
    params["recognition"]["models"] = {"one": {}}
    params["recognition"]["embed"]["token_budget"] = 32


@pytest.fixture
def to_measure(measured_here, tmp_path):
    """The project as it was before, with the page's parameters; the accelerator is this machine's."""
    folder = shutil.copytree(measured_here, tmp_path / "project", symlinks=True)
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
    assert written(to_measure) == written(measured_here)
    assert "Running stage" not in run(to_measure, "dvc", "repro", STAGE).stdout


def test_measuring_on_two_nodes_gives_what_one_process_gives(to_measure, cluster, measured_here):
    params = to_measure / "params.yaml"
    change_params(to_measure, params, lambda params: params["compute"].update(devices=1, num_nodes=2))
    line = of_this_project(lines_of("Several GPUs")[0])
    assert TWO_NODES[1] in CLUSTER_PAGE
    done = shell(to_measure, line.replace(*TWO_NODES), cluster)
    assert done.returncode == 0, printed_by_jobs(to_measure)
    assert_same_features(to_measure, measured_here)


def written(project: Path) -> dict[str, str]:
    """Return DVC's digests of what the stage has written."""
    outs = YAML(typ="safe").load(project / "dvc.lock")["stages"][STAGE]["outs"]
    return {out["path"]: out["md5"] for out in outs}


def printed_by_jobs(project: Path) -> str:
    return "".join(path.read_text() for path in project.glob("slurm-*.out"))


def assert_same_features(one: Path, other: Path) -> None:
    ours, theirs = read_features(one / FEATURES), read_features(other / FEATURES)
    assert list(ours.ids) == list(theirs.ids)
    np.testing.assert_array_equal(ours.vectors, theirs.vectors)


# The whole pipeline


def test_the_whole_pipeline_is_one_job(cluster, tmp_path):
    project = tmp_path / "project"
    make_project(project)
    change_params(project, project / "params.yaml", probe_one_model)
    (project / ".venv").symlink_to(sys.prefix)
    (submit,) = lines_of("One GPU")
    done = shell(project, submit.replace("sbatch", "sbatch --wait --mem=4000 --ntasks=1"), cluster)
    printed = printed_by_jobs(project)
    assert done.returncode == 0, printed
    assert (project / "results/report/index.html").exists(), printed
