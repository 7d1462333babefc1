"""The wheel is complete: installed elsewhere, it has the functions, the commands, and projects in which DVC works."""

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from conftest import ROOT, commit, run
from cxprobe.project.bundled import bundled_paths

pytestmark = [pytest.mark.slow, pytest.mark.pipeline]

LARGEST = 100_000_000  # bytes; what PyPI takes


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of the working tree, built without a network."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    """The Python of an environment that has the wheel alone; what it depends on comes from the one that runs tests.

    A line in a .pth file lends its packages, but not its .pth files, by one of which it has the source itself.
    """
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    own = folder / "bin" / "python"
    install = ["--python", str(own), "install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", *install], check=True)
    where = [str(own), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = Path(subprocess.run(where, capture_output=True, text=True, check=True).stdout.strip())
    (packages / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return own


def call(python: Path, folder: Path, *command: str) -> str:
    """Run a program of the environment, and return what it prints."""
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    return run(folder, *command, PATH=path, PYTHONPATH="").stdout


def test_the_wheel_has_every_file_of_a_project_and_is_not_too_large(wheel, python, tmp_path):
    assert wheel.stat().st_size < LARGEST
    root = call(
        python, tmp_path, "python", "-c", "from cxprobe.project.bundled import bundled_files; print(bundled_files())"
    )
    bundled = Path(root.strip())
    assert (bundled.parent / "py.typed").is_file()
    assert bundled.is_relative_to(python.parents[1])
    paths = list(bundled_paths(ROOT))
    assert list(bundled_paths(bundled)) == paths
    assert [path for path in paths if (bundled / path).read_bytes() != (ROOT / path).read_bytes()] == []


def test_the_functions_work_from_any_folder(python, tmp_path):
    code = (
        "import cxprobe\n"
        "lm = cxprobe.load('mini-clm', device='cpu')\n"
        "print(len(lm.score(['Anna sleeps.', 'Paul reads a book.'])))\n"
        "print(len(cxprobe.minimal_pairs('let-alone', pairs_per_condition=2)) > 0)\n"
    )
    assert call(python, tmp_path, "python", "-c", code).split() == ["2", "True"]
    assert list(tmp_path.iterdir()) == []


def test_the_commands_work_and_a_project_that_is_made_runs_its_stages_and_a_second_time_none(python, tmp_path):
    assert call(python, tmp_path, "cxprobe", "--version").startswith("cxprobe ")
    call(python, tmp_path, "cxprobe", "init", "study", "--preset", "pairs")
    study = tmp_path / "study"
    call(python, study, "cxprobe", "add", "construction", "my-own")
    (study / "constructions" / "my-own" / "pattern.yaml").unlink()  # which finds the example's comparatives still
    assert "have no fault" in call(python, study, "cxprobe", "check")
    params = (study / "params.yaml").read_text()
    names = "constructions: [comparative-correlative, let-alone, subject-verb-agreement]"
    assert names in params
    (study / "params.yaml").write_text(params.replace(names, "constructions: [my-own]").replace("mini-mlm: {}, ", ""))
    commit(study)
    call(python, study, "python", "-m", "dvc", "repro")
    assert "1 of 1 stages that ask a model are up to date" in call(python, study, "cxprobe", "check")
    assert (study / "results" / "evaluate_pairs" / "rates.csv").read_text().count("my-own") > 0
    again = call(python, study, "python", "-m", "dvc", "repro")
    assert re.findall("Running stage '(.+?)'", again) == ["list_code"]
    call(python, study, "cxprobe", "sync")
