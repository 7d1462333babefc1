"""What the documentation says of Ray, by its own lines, on a cluster of two machines that are processes of this one."""

import importlib.util
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from mined_project import (
    LONG,
    copied,
    engine_of_page,
    finished_shards,
    mine,
    mined,
    use_engine,
)
from servers import wait_until

from conftest import project_environment

pytest_plugins = ["mined_project"]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.pipeline,
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="not installed: `pip install -e '.[ray]'`"),
]


class RayCluster:
    """A running cluster: where it is, and its two machines."""

    def __init__(self, address: str, environment: dict[str, str], machines: list[psutil.Process]) -> None:
        self.address, self.environment, self.machines = address, environment, machines

    def workers(self, machine: int | None = None) -> list[psutil.Process]:
        """Return the processes that mine a shard, of one machine or of both."""
        of = self.machines if machine is None else [self.machines[machine]]
        return [one for each in of if each.is_running() for one in _below(each) if "ray::_mine_rank" in _name(one)]


@contextmanager
def running_ray(folder: Path) -> Iterator[RayCluster]:
    """Start two machines of a cluster, of one core each, and stop them when the block ends."""
    from ray.cluster_utils import Cluster

    own = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_memory_monitor_refresh_ms": "0", "OMP_NUM_THREADS": "1"}
    before = {name: os.environ.get(name) for name in own}
    os.environ.update(own)
    size = {"num_cpus": 1, "memory": 8 << 30, "object_store_memory": 100 << 20}
    cluster = Cluster(initialize_head=True, head_node_args=size | {"include_dashboard": False})
    try:
        second = cluster.add_node(**size)
        machines = [_machine(node) for node in (cluster.head_node, second)]
        yield RayCluster(cluster.address, own | {"RAY_ADDRESS": cluster.address}, machines)
    finally:
        cluster.shutdown()
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def _machine(node) -> psutil.Process:
    (raylet,) = node.all_processes["raylet"]
    return psutil.Process(raylet.process.pid)


def _below(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []


def _name(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


@pytest.fixture
def cluster(tmp_path):
    with running_ray(tmp_path) as cluster:
        yield cluster


@pytest.fixture
def project(begun, tmp_path):
    """A project that mines by the page's engine for Ray."""
    folder = copied(begun, tmp_path / "project")
    use_engine(folder, engine_of_page("ray"))
    return folder


@contextmanager
def mining(project: Path, cluster: RayCluster) -> Iterator[subprocess.Popen[str]]:
    """Begin to mine, and go on when the shard that takes seconds is being mined."""
    with subprocess.Popen(
        ["dvc", "repro", "mine_sentences"],
        cwd=project,
        env=project_environment(project) | cluster.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as dvc:
        partial = f"data/.scratch/mine_sentences/*/{LONG:05d}.*.partial"
        wait_until(lambda: list(project.glob(partial)), as_long_as=lambda: dvc.poll() is None)
        yield dvc


def test_ray_finds_what_this_machine_finds(project, cluster, mined_here):
    mine(project, **cluster.environment)
    assert mined(project) == mined_here


@pytest.mark.parametrize("what", ["the workers", "a whole machine"])
def test_what_is_killed_loses_nothing(project, cluster, mined_here, what):
    with mining(project, cluster) as dvc:
        machine = cluster.machines[1]
        killed = cluster.workers() if what == "the workers" else [machine, *_below(machine)]
        assert killed
        for process in killed:
            process.kill()
        printed, _ = dvc.communicate(timeout=300)
    assert dvc.returncode == 0, printed
    assert mined(project) == mined_here


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGKILL])
def test_a_stage_that_is_ended_takes_its_workers_with_it_and_goes_on(project, cluster, mined_here, signum):
    with mining(project, cluster) as dvc:
        os.killpg(dvc.pid, signum)
        dvc.communicate(timeout=120)
    finished = finished_shards(project)
    wait_until(lambda: not cluster.workers())
    assert finished_shards(project) == finished != set()
    mine(project, **cluster.environment)
    assert mined(project) == mined_here


def test_without_a_cluster_there_is_none_begun(project):
    done = mine(project, check=False, RAY_ADDRESS="127.0.0.1:1", RAY_USAGE_STATS_ENABLED="0")
    assert done.returncode
    assert re.search(
        r"mine_sentences: .*no Ray cluster is found from here; begin one by `ray start --head`", done.stderr
    )
