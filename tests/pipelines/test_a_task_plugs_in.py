"""One more task: a folder, an entry in the list of tasks, and its stages; nothing else changes."""

import shutil
import sys
from pathlib import Path

import pandas as pd
import pytest
from ruamel.yaml import YAML
from whole_project import runs

from conftest import ROOT, commit, copy_project, run

pytestmark = pytest.mark.pipeline

TOY = ROOT / "tests" / "support" / "toy_task"
# Change of params.yaml -> what `cxprobe check` says of it.
FAULTS = [
    (("names: 8", "names: 0"), "greetings.make.names: greet one person or more"),
    (("names: 8", "people: 8"), "greetings.make.people: unknown key"),
]


@pytest.fixture(scope="module")
def plugged(finished_project: Path, tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Path:
    """A project with the task, whose items have been made."""
    folder = copy_project(finished_project, tmp_path_factory.mktemp("plugged") / "project", empty_store)
    shutil.copytree(TOY / "package", folder / "src" / "cxprobe" / "tasks" / "greetings")
    registry = folder / "src" / "cxprobe" / "tasks" / "registry.py"
    text = registry.read_text().replace(
        "from cxprobe.tasks.pairs.task",
        "from cxprobe.tasks.greetings.task import GreetingsTask\nfrom cxprobe.tasks.pairs.task",
    )
    registry.write_text(text.replace("InterventionsTask(),", "InterventionsTask(), GreetingsTask(),"))
    yaml = YAML()
    for name, change in (("dvc.yaml", add_stages), ("params.yaml", add_section)):
        content = yaml.load(folder / name)
        change(content)
        yaml.dump(content, folder / name)
    (folder / "data" / "measure_greetings").mkdir()
    (folder / "data" / ".gitignore").open("a").write("!/measure_greetings/\n")
    commit(folder)
    run(folder, "dvc", "repro", "list_code", "make_greetings")
    return folder


def add_stages(pipeline: dict) -> None:
    stages = YAML().load(TOY / "stages.yaml")
    report = pipeline["stages"].pop("report")
    report["params"].append("greetings")
    report["deps"] += ["data/evaluate_greetings", "results/evaluate_greetings/rates.csv"]
    pipeline["stages"] |= stages | {"report": report}


def add_section(params: dict) -> None:
    params["greetings"] = {"models": {"mlm": {}, "clm": {}}, "constructions": ["toy"], "make": {"names": 8}}


# Whether texts are counted can be asked in a project without a fault alone.
CHECK = """
from contextlib import suppress
from cxprobe.cli.check import check, print_what_is_left
from cxprobe.project.params import load_params
print_what_is_left(load_params())
with suppress(SystemExit):
    check()
"""


def test_check_knows_its_section_asks_the_task_about_it_and_counts_its_texts(plugged):
    done = run(plugged, sys.executable, "-c", CHECK)
    assert "measure_greetings  mlm" in done.stdout
    assert "greetings" not in done.stderr
    path = plugged / "params.yaml"
    text = path.read_text()
    try:
        for edit, fault in FAULTS:
            path.write_text(text.replace(*edit))
            assert fault in run(plugged, "cxprobe", "check", check=False).stderr
    finally:
        path.write_text(text)


def test_its_stages_run_and_it_stands_in_mlflow_the_report_and_the_exports(plugged):
    stages = [f"{step}_greetings" for step in ("measure", "evaluate")]
    run(plugged, "dvc", "repro", "--single-item", *stages, "report")
    assert {one.data.params["model"] for one in runs(plugged, "greetings")} == {"mlm", "clm"}
    assert {path.stem for path in (plugged / "results" / "metrics" / "greetings").iterdir()} == {"mlm", "clm"}
    assert "greetings</a>" in (plugged / "results" / "report" / "index.html").read_text()
    run(plugged, "cxprobe", "export", "csv", "all.csv")
    answers = pd.read_csv(plugged / "all.csv")
    assert len(answers[answers["task"] == "greetings"]) == 16
