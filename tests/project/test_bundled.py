"""What a wheel carries is what git has and a project needs, and an editable installation carries nothing twice."""

import re
import subprocess
from pathlib import Path

import pytest

from conftest import ROOT
from cxprobe.project.bundled import BUNDLED, bundled_paths

# In the folders that are bundled, what is of the repository alone: pages, results, and what trained the bundled models.
STAYS = (
    ".dvc/.gitignore",  # DVC writes it
    "constructions/README.md",
    "docs/",
    *(f"models/{name}" for name in (".gitignore", "README.md", "pretraining/")),
    *(f"models/{name}.yaml" for name in ("lessons", "params", "sources", "words")),
    *(f"models/parser/{name}" for name in (".gitignore", "config.cfg", "train.sh")),
    *(f"models/tagger/{name}" for name in (".gitignore", "config.cfg", "orth_variants.json")),
    "results/",
)


def of_git() -> set[str]:
    """Return all files that git has or would add; what is ignored, such as data, belongs into no wheel."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return {path for path in done.stdout.splitlines() if (ROOT / path).is_file()}


def stays(path: str) -> bool:
    trains = path.startswith("models/") and path.endswith(".py")
    needed = path.startswith("results/") and path.endswith(".gitignore")
    return not needed and (path.startswith(STAYS) or trains)


def test_of_the_folders_of_a_project_everything_that_git_has_is_carried_and_nothing_else():
    bundled = {path.as_posix() for path in bundled_paths(ROOT)}
    folders = {Path(entry).parts[0] for entry in BUNDLED}
    assert bundled == {path for path in of_git() if Path(path).parts[0] in folders and not stays(path)}


def test_what_is_missing_is_no_wheel(tmp_path):
    with pytest.raises(FileNotFoundError, match="a wheel must carry it"):
        list(bundled_paths(tmp_path))


def test_the_models_that_the_presets_name_are_carried():
    bundled = {path.parent for path in bundled_paths(ROOT)}
    for preset in (ROOT / "presets").glob("*.yaml"):
        for name in re.findall(r"\bname: (models/[\w./-]+)", preset.read_text()):
            assert Path(name) in bundled, (preset.name, name)
