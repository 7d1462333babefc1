"""`cxprobe measure`: parts fill the stores, and the stages find everything there."""

import os
import runpy
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from hub_server import running_hub
from typer.testing import CliRunner
from whole_project import change

from cxprobe.cli import app
from cxprobe.errors import CxprobeError
from cxprobe.files.tables import read_table
from cxprobe.project.params import load_params
from cxprobe.run.stage import Stage

pytestmark = pytest.mark.pipeline

MEASURED = [
    ("measure_recognition", "one"),
    ("score_scenarios", "mlm"),
    ("score_pairs", "mlm"),
    ("score_pairs", "clm"),
    ("score_prompts", "clm"),
]


@pytest.fixture
def folder(project, monkeypatch):
    """A finished project without any stored answer, in the store or in outputs that DVC knows."""
    shutil.rmtree(project / "data" / ".scratch")
    (project / "dvc.lock").unlink()
    monkeypatch.chdir(project)
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")  # the command would set it in this process
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}
    yield project
    for number, handler in handlers.items():  # the command has its own
        signal.signal(number, handler)


def typed(*words: str):
    return CliRunner().invoke(app, ["measure", *words])


def run_stages() -> int:
    """Run the measuring stages' work as `dvc repro` does; return how often a model was called for it."""
    calls = []
    hook = torch.nn.modules.module.register_module_forward_pre_hook(
        lambda module, _: calls.append(1) if hasattr(module, "base_model") else None
    )
    params = load_params()
    try:
        for name, item in MEASURED:
            step, _, line = name.partition("_")
            work = runpy.run_path(str(Path("pipelines", line, f"{step}.py")))[name]
            assert work(Stage(name, item, params)) is not None
    finally:
        hook.remove()
    return len(calls)


def outputs(folder: Path) -> dict[str, pd.DataFrame | np.ndarray]:
    """Return all numbers that the stages have written."""
    found: dict[str, pd.DataFrame | np.ndarray] = {}
    for name, item in MEASURED:
        for path in sorted((folder / "data" / name / item).rglob("*")):
            if path.suffix == ".parquet":
                found[str(path.relative_to(folder))] = read_table(path)
            elif path.suffix == ".npy":
                found[str(path.relative_to(folder))] = np.load(path)
    return found


def assert_same(found, expected) -> None:
    assert found.keys() == expected.keys()
    assert len(found) > 6
    for name, numbers in expected.items():
        if isinstance(numbers, pd.DataFrame):
            pd.testing.assert_frame_equal(found[name], numbers, check_exact=False, rtol=1e-5, atol=1e-5)
        else:
            np.testing.assert_allclose(found[name], numbers, atol=1e-5)


@pytest.mark.parametrize("number", [1, 3])
def test_after_all_parts_the_stages_compute_nothing_and_give_what_one_process_gives(folder, finished_project, number):
    for part in range(number, 0, -1):
        done = typed("--part", f"{part}/{number}")
        assert done.exit_code == 0, done.output
        assert f"score_pairs clm: part {part}/{number} is there" in done.stdout
    assert run_stages() == 0
    assert_same(outputs(folder), outputs(finished_project))


def test_a_missing_part_is_shown_by_the_status_and_computed_by_the_stages(folder, finished_project):
    assert typed("--part", "1/2").exit_code == 0
    lines = typed("--status", "--stage", "score_pairs", "--model", "clm").stdout.splitlines()
    assert lines[0].startswith("score_pairs clm: ")
    assert " missing" in lines[0]
    assert lines[-1] == "0 of 1 are complete"
    assert run_stages() > 0
    assert_same(outputs(folder), outputs(finished_project))


def test_nothing_is_missing_of_a_stage_that_is_up_to_date_whether_its_answers_are_kept_or_not(project, monkeypatch):
    monkeypatch.chdir(project)
    asked = ("--status", "--stage", "score_pairs", "--model", "clm")
    shutil.rmtree(project / "data" / ".scratch")
    up_to_date = ["score_pairs clm: its results are up to date", "1 of 1 are complete"]
    assert typed(*asked).stdout.splitlines() == up_to_date
    change(project, lambda params: params["pairs"]["score"].update(token_budget=64))
    assert " answers\n" in typed(*asked).stdout  # which are kept in the outputs


def test_the_status_asks_no_hub(folder):
    change(folder, lambda params: params["models"]["clm"].update(name="team/absent", sha256=None))
    command = [sys.executable, "-c", "from cxprobe.cli import app; app()", "measure", "--status", "--model", "clm"]
    with running_hub() as hub:
        environment = {name: value for name, value in os.environ.items() if name != "HF_HUB_OFFLINE"}
        environment |= {"HF_ENDPOINT": hub.address, "HF_HOME": str(folder / "hub")}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert "score_pairs clm: models.clm: 'team/absent'" in done.stdout
    assert hub.asked == []


def test_a_stage_whose_items_are_not_made_names_the_command_that_makes_them(folder):
    shutil.rmtree("data/make_prompts")
    message = "score_prompts clm: data/make_prompts is missing; `dvc repro make_prompts` makes it"
    assert message in typed("--status", "--stage", "score_prompts").stdout
    done = typed("--part", "1/2", "--stage", "score_prompts")
    assert (done.exit_code, message in done.stderr) == (2, True)


def test_a_model_that_cannot_be_loaded_does_not_stop_the_others(folder):
    def add(params):
        params["models"]["big"] = {"name": "models/nowhere", "revision": None, "sha256": None, "dtype": "float32"}
        params["pairs"]["models"] = {"big": {}, "mlm": {}}

    change(folder, add)
    done = typed("--part", "1/1", "--stage", "score_pairs")
    assert done.exit_code == 2
    assert "score_pairs mlm: part 1/1 is there" in done.stdout
    assert "score_pairs big: " in done.stderr
    assert "part 1/1: 1 of 2 were not computed; they are named above" in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "give either --part, such as --part 3/16, or --status"),
        (["--part", "1/2", "--status"], "give either --part, such as --part 3/16, or --status"),
        (["--part", "0/2"], "--part 0/2: give which part of how many, from 1/1 to n/n"),
        (["--part", "3/2"], "--part 3/2: give which part of how many"),
        (
            ["--status", "--stage", "score_pair"],
            "--stage score_pair: no stage that has parts; did you mean 'score_pairs'",
        ),
        (["--status", "--model", "mlmm"], "--model mlmm: models has no 'mlmm'; did you mean 'mlm'?"),
        (["--status", "--model", "by-rule"], "params.yaml has no checkpoint for these stages and models"),
    ],
)
def test_what_cannot_be_done_is_refused_at_once(folder, words, message):
    done = typed(*words)
    assert (done.exit_code, message in done.stderr) == (2, True), done.stderr


def test_a_part_refuses_what_the_stage_refuses(folder):
    change(folder, lambda params: params["models"]["mlm"].update(sha256="0" * 64))
    with pytest.raises(CxprobeError, match=r"models\.mlm"):
        work = runpy.run_path("pipelines/pairs/score.py")["score_pairs"]
        work(Stage("score_pairs", "mlm", load_params()))
    assert typed("--part", "1/1", "--stage", "score_pairs", "--model", "mlm").exit_code == 2
