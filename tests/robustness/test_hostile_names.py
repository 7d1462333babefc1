"""`dvc repro` on a params.yaml whose names a shell would take for commands: none of them is run."""

import shutil

import pytest
from ruamel.yaml import YAML

from conftest import ROOT, run
from cxprobe.tasks.registry import TASKS

pytestmark = pytest.mark.pipeline

HOSTILE = ["x'\"; touch stolen #", "$(touch stolen)`touch stolen`"]


def test_dvc_repro_runs_no_name_as_a_command(tmp_path):
    """The commands of the real dvc.yaml and pipelines/run; a stub of Python writes down which stages came to it."""
    yaml = YAML(typ="safe")
    stages = yaml.load(ROOT / "dvc.yaml")["stages"]
    for stage in stages.values():
        for part in ("deps", "params", "outs", "metrics", "plots", "always_changed"):
            stage.get("do", stage).pop(part, None)
    params = yaml.load(ROOT / "params.yaml")
    for line in TASKS:
        params[line] |= {name: HOSTILE for name in ("models", "llms") if name in params[line]}
    params["corpora"] = dict.fromkeys(HOSTILE, next(iter(params["corpora"].values())))
    params["mining"] |= {"constructions": dict.fromkeys(HOSTILE, HOSTILE[0]), "watched": HOSTILE}
    for name, content in {"dvc.yaml": {"stages": stages}, "params.yaml": params}.items():
        with (tmp_path / name).open("w") as file:
            yaml.dump(content, file)
    (tmp_path / "pipelines").mkdir()
    shutil.copy(ROOT / "pipelines" / "run", tmp_path / "pipelines")
    stub = tmp_path / ".venv" / "bin" / "python"
    stub.parent.mkdir(parents=True)
    stub.write_text('#!/bin/sh\nprintf "%s\\n" "$DVC_STAGE" >> ran\n')
    stub.chmod(0o755)
    run(tmp_path, "dvc", "init", "--no-scm", "--quiet")
    run(tmp_path, "dvc", "repro", "--quiet", VIRTUAL_ENV="", CONDA_PREFIX="")
    ran = (tmp_path / "ran").read_text().splitlines()
    assert not (tmp_path / "stolen").exists()
    items = {name: [stage.partition("@")[2] for stage in ran if stage.startswith(f"{name}@")] for name in stages}
    assert {name for name, found in items.items() if found} == {
        name for name, stage in stages.items() if {"matrix", "foreach"} & set(stage)
    }
    assert all(sorted(found) == sorted(HOSTILE) for found in items.values() if found)
