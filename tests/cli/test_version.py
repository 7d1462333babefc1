"""A project knows which cxprobe it was made for, and says so when another one is installed."""

import shutil

from conftest import ROOT
from cxprobe.run import project as version
from cxprobe.run.project import VERSION_FILE, installed_version, version_fault


def test_a_project_of_the_installed_version_has_no_fault(tmp_path):
    (tmp_path / VERSION_FILE).write_text(f"{installed_version()}\n")
    assert version_fault(tmp_path) is None


def test_the_repository_itself_has_no_version_file_and_no_fault():
    assert version_fault(ROOT) is None


def test_another_version_is_told_with_what_to_do(tmp_path):
    (tmp_path / VERSION_FILE).write_text("cxprobe 0.0.1, code 000000000000\n")
    fault = version_fault(tmp_path)
    assert "made for 'cxprobe 0.0.1, code 000000000000'" in fault
    assert repr(installed_version()) in fault
    assert "cxprobe init --upgrade ." in fault
    assert fault.endswith("install cxprobe 0.0.1 again")


def test_other_code_of_the_same_version_is_another_one_and_what_is_compiled_or_carried_is_not(tmp_path, monkeypatch):
    package = tmp_path / "cxprobe"
    shutil.copytree(
        ROOT / "src/cxprobe/constructions", package / "constructions", ignore=shutil.ignore_patterns("__pycache__")
    )
    monkeypatch.setattr(version, "_PACKAGE", package)
    first = installed_version()
    for folder in ("project", "constructions/__pycache__"):
        (package / folder).mkdir()
        (package / folder / "more").write_text("more")
    assert installed_version() == first
    with (package / "constructions" / "people.py").open("a") as file:
        file.write("# another comment\n")
    assert installed_version() != first
