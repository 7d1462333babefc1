"""A project has the stages of the repository, which depend on the version in place of the source."""

from ruamel.yaml import YAML

from conftest import ROOT
from cxprobe.cli.project import without_source

OWN = YAML(typ="safe").load((ROOT / "dvc.yaml").read_text())
PROJECT = YAML(typ="safe").load(without_source((ROOT / "dvc.yaml").read_text()))


def body(stage: dict) -> dict:
    return stage.get("do", stage)


def test_a_project_has_the_same_stages_but_for_their_source():
    def without(deps):
        return [dep for dep in deps if not dep.startswith("src/") and dep != "cxprobe.version"]

    assert OWN.keys() == PROJECT.keys()
    for name, stage in OWN["stages"].items():
        other = PROJECT["stages"][name]
        assert body(stage) | {"deps": []} == body(other) | {"deps": []}
        assert without(body(stage)["deps"]) == without(body(other)["deps"])


def test_every_stage_depends_on_the_version_once_and_on_no_source():
    for stage in PROJECT["stages"].values():
        deps = body(stage)["deps"]
        assert deps.count("cxprobe.version") == 1
        assert not [dep for dep in deps if dep.startswith("src/")]


def test_comments_stay_and_the_head_says_who_wrote_it():
    text = without_source((ROOT / "dvc.yaml").read_text())
    assert text.startswith("# Written by `cxprobe init`")
    assert "# Labelled sentences from a construction's grammars." in text
