"""Every stage of the pipeline, killed: no half output stands, and the next run makes it whole.

The moments follow from a seed; CXPROBE_KILL_SEED gives some that nobody has tried, CXPROBE_KILLS more of them.
"""

import os
from contextlib import chdir
from pathlib import Path

import pytest
from dvc.repo import Repo
from killing import SIGNALS, Attacked, attack
from networkx import topological_sort
from whole_project import BENCHMARK, change, write_benchmark

from conftest import ROOT, make_project
from cxprobe.files.code import reached_code

pytestmark = pytest.mark.slow

MANY = int(os.environ.get("CXPROBE_KILLS", "6")) // 3  # with each signal


@pytest.fixture(scope="module")
def stages(tmp_path_factory) -> dict[str, Attacked]:
    """Script of the pipeline, and the task of a step -> a stage of it, in a project in which all stages have run."""
    folder = tmp_path_factory.mktemp("attacked") / "project"
    make_project(folder)
    write_benchmark(folder)
    change(folder, ask_for_everything)
    with chdir(folder), Repo() as repo:
        found = [stage for stage in topological_sort(repo.index.graph.reverse()) if stage.cmd]
    ready: dict[str, Attacked] = {}
    for stage in found:
        script, *task = stage.cmd.removeprefix("sh pipelines/run ").split()
        outputs = [Path(out.fs_path).relative_to(folder) for out in stage.outs]
        item = stage.addressing.partition("@")[2]
        attacked = Attacked(folder, folder / "pipelines" / f"{script}.py", [*task, *filter(None, [item])], outputs, {})
        ended = attacked.run()
        assert ended.code == 0, f"{stage.cmd}: {ended.said}"
        ready.setdefault(" ".join([script, *task]), attacked)
    return ready


def ask_for_everything(params: dict) -> None:
    """Let every script of the pipeline have a stage, and search for the regularisation of probes."""
    params["pairs"] |= {"benchmarks": {"toy-blimp": BENCHMARK}, "llms": {"mock": {}}}
    params["recognition"]["models"] = {"one": {}, "by-form": {}}
    search = {"trials": 2, "folds": 2, "C": {"low": 1e-4, "high": 100.0}, "standardise": [False]}
    params["recognition"]["tune"] = search


NAMES = sorted(name.replace("/", " ") for name in reached_code(ROOT / "pipelines"))


@pytest.mark.parametrize("name", NAMES)
def test_kills_of_every_stage_leave_nothing_half_done(stages, name):
    stage = stages[name]
    whole = stage.run_whole()
    wrong, hits = attack(stage, whole, whole.outputs, MANY)
    print(f"{name}: {hits} of {MANY * len(SIGNALS)} kills came before its end")  # noqa: T201
    assert wrong == []
