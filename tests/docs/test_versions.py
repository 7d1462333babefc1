"""The same versions and commands everywhere: pre-commit, continuous integration, containers."""

import json
import re
import tomllib

from ruamel.yaml import YAML

from conftest import ROOT

PINNED = dict(re.findall(r"^([\w.-]+)==(\S+)$", (ROOT / "constraints.txt").read_text(), re.M))


def yaml(name: str):
    return YAML(typ="safe").load(ROOT / name)


def test_before_a_commit_the_ruff_and_mypy_of_the_constraints_run():
    repos = yaml(".pre-commit-config.yaml")["repos"]
    (ruff,) = [repo for repo in repos if repo["repo"].endswith("/ruff-pre-commit")]
    assert ruff["rev"] == f"v{PINNED['ruff']}"
    hooks = {hook["id"]: hook for repo in repos for hook in repo["hooks"]}
    assert {"ruff-format", "ruff-check", "mypy"} <= set(hooks)
    assert hooks["mypy"]["name"] == f"mypy {PINNED['mypy']}"


def test_python_is_new_enough_in_containers_and_continuous_integration():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    least = project["requires-python"].removeprefix(">=")
    tested = yaml(".github/workflows/ci.yml")["jobs"]["test"]["strategy"]["matrix"]["python"]
    classified = {line.rpartition(" ")[2] for line in project["classifiers"] if "Python :: 3." in line}
    assert least == tested[0]
    assert set(tested) <= classified
    assert f"FROM python:{least}-" in (ROOT / "Dockerfile").read_text()
    assert f":{least}-" in json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())["image"]
