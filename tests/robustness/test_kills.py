"""Stages that are killed at any moment: no half output stands, and the next run leaves what an unbroken run leaves.

The moments follow from a seed; CXPROBE_KILL_SEED gives some that nobody has tried, CXPROBE_KILLS more of them.
"""

import json
import os
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import networkx
import pytest
from dvc.repo import Repo
from killing import SIGNALS, Attacked, attack, faults_after_sync
from stage_server import StageServer

from conftest import ROOT, change_params, make_project, project_environment

QUICK = {"extract_words": 2, "fit_probes": 1, "judge_pairs": 1, "report_pairs": 1}  # kills with each signal
MANY = int(os.environ.get("CXPROBE_KILLS", "6"))  # of each toy stage with each signal; a third for other stages
TOY = Path(__file__).with_name("toy_stage.py")
SCRIPTS = sorted((ROOT / "pipelines").glob("*/*.py"))
BENCHMARK = {"format": "blimp", "files": "*.jsonl", "by": ["phenomenon"], "score": "sum", "pairs_per_file": None}


@pytest.fixture(scope="module")
def server() -> Iterator[StageServer]:
    with StageServer([TOY], project_environment(ROOT)) as started:
        yield started


@pytest.fixture
def toy(server, tmp_path, empty_store) -> Iterator:
    """Makes a toy stage in a project of its own."""
    (tmp_path / "mlruns").mkdir()
    shutil.copy(empty_store, tmp_path / "mlruns" / "mlflow.db")
    (tmp_path / "input.txt").write_text("hello")

    def make(stage: str) -> Attacked:
        outputs = [Path(folder, stage, "tiny-1") for folder in ("data", "results")]
        return Attacked(server, tmp_path, TOY, ["--model", "tiny-1"], outputs, {"TOY_STAGE": stage})

    return make


def attack_toy(stage: Attacked, number: int) -> list[str]:
    """Kill a toy stage, with every signal, and return what was wrong."""
    (stage.folder / "input.txt").write_text("older")
    older = stage.run_whole().outputs
    (stage.folder / "input.txt").write_text("hello")
    whole = stage.run_whole()
    wrong = [fault for signum in SIGNALS for fault in attack(stage, whole, older, signum, number)]
    return [*wrong, *faults_after_sync(stage)]


@pytest.mark.parametrize("name", QUICK)
def test_a_killed_stage_leaves_nothing_half_done_and_the_next_run_makes_it_whole(toy, name):
    assert attack_toy(toy(name), QUICK[name]) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_many_kills_of_a_toy_stage_leave_nothing_half_done(toy, name):
    assert attack_toy(toy(name), MANY) == []


@pytest.fixture(scope="module")
def stages(tmp_path_factory) -> Iterator[dict[str, Attacked]]:
    """Name of each script of the pipeline -> a stage of it, in a project in which all stages have run."""
    folder = tmp_path_factory.mktemp("killed") / "project"
    make_project(folder)
    write_benchmark(folder / "data" / "raw" / "toy-blimp")
    change_params(folder, folder / "params.yaml", ask_for_everything)
    with StageServer(SCRIPTS, project_environment(folder)) as server:
        ready: dict[str, Attacked] = {}
        for stage in in_order(folder):
            _, script, *arguments = shlex.split(stage.cmd)
            outputs = [Path(out.fs_path).relative_to(folder) for out in stage.outs]
            one = Attacked(server, folder, folder / script, arguments, outputs, {})
            ended = one.run()
            assert ended.code == 0, f"{stage.cmd}: {ended.said}"
            ready.setdefault(one.script.stem, one)
        yield ready


def in_order(folder: Path) -> list:
    """Return all stages of a project as DVC finds them, each after those that it depends on."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        with Repo() as repo:
            stages = networkx.topological_sort(repo.index.graph.reverse())
            return [stage for stage in stages if stage.cmd and stage.path_in_repo == "dvc.yaml"]
    finally:
        os.chdir(before)


def write_benchmark(folder: Path) -> None:
    folder.mkdir(parents=True)
    pairs = [(f"the {noun} runs.", f"the {noun} run.") for noun in ("cat", "dog", "horse", "bird")]
    kept = {"field": "morphology", "linguistics_term": "agreement", "UID": "toy_agreement"}
    rows = [
        {"sentence_good": good, "sentence_bad": bad, "pairID": str(number), **kept}
        for number, (good, bad) in enumerate(pairs)
    ]
    (folder / "toy_agreement.jsonl").write_text("\n".join(json.dumps(row) for row in rows))


def ask_for_everything(params: dict) -> None:
    """Let every script of the pipeline have a stage, and search for the regularisation of probes."""
    params["benchmarks"] = {"toy-blimp": BENCHMARK}
    grid = params["grid"]
    grid["benchmarks"] = {"models": ["clm"], "llms": [], "benchmarks": ["toy-blimp"]}
    grid["frames"] = {"llms": ["mock"], "constructions": ["toy"]}
    grid["recognition"]["models"] = ["one", "by-form"]
    params["tune_probes"].update(enabled=True, trials=2, folds=2)


@pytest.mark.slow
@pytest.mark.parametrize("name", [script.stem for script in SCRIPTS])
def test_kills_of_every_stage_of_the_pipeline_leave_nothing_half_done(stages, name):
    stage = stages[name]
    whole = stage.run_whole()
    wrong = [fault for signum in SIGNALS for fault in attack(stage, whole, whole.outputs, signum, MANY // 3)]
    assert [*wrong, *faults_after_sync(stage)] == []
