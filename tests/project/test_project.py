"""Commands know where a project is, which names it has, and which cxprobe it was made for."""

import shutil

import pytest

from conftest import ROOT
from cxprobe.errors import ProjectError
from cxprobe.project import folder as version
from cxprobe.project.folder import (
    VERSION_FILE,
    installed_version,
    is_project,
    require_project,
    version_fault,
)


def test_a_folder_with_any_part_of_a_project_is_one_and_below_it_the_nearest_is_named(tmp_path):
    with pytest.raises(ProjectError, match="go to the folder of a project, or make a project with `cxprobe init"):
        require_project(tmp_path)
    (tmp_path / "constructions").mkdir()
    assert is_project(tmp_path)
    require_project(tmp_path)
    (tmp_path / "a" / "b").mkdir(parents=True)
    with pytest.raises(ProjectError, match=rf"\(cd {tmp_path}\)"):
        require_project(tmp_path / "a" / "b")


def test_another_version_than_the_projects_is_told_with_what_to_do(tmp_path):
    assert version_fault(ROOT) is None  # the repository has no version file
    (tmp_path / VERSION_FILE).write_text(f"{installed_version()}\n")
    assert version_fault(tmp_path) is None
    (tmp_path / VERSION_FILE).write_text("cxprobe 0.0.1, code 000000000000\n")
    fault = version_fault(tmp_path)
    assert "made for 'cxprobe 0.0.1, code 000000000000'" in fault
    assert repr(installed_version()) in fault
    assert "cxprobe init --upgrade ." in fault
    assert fault.endswith("install cxprobe 0.0.1 again")


def test_other_code_of_the_same_version_is_another_one_and_what_is_compiled_or_carried_is_not(tmp_path, monkeypatch):
    package = tmp_path / "cxprobe"
    source = ROOT / "src/cxprobe/constructions"
    shutil.copytree(source, package / "constructions", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(version, "_PACKAGE", package)
    first = installed_version()
    for folder in ("bundled", "constructions/__pycache__"):
        (package / folder).mkdir()
        (package / folder / "more").write_text("more")
    assert installed_version() == first
    with (package / "constructions" / "people.py").open("a") as file:
        file.write("# another comment\n")
    assert installed_version() != first
