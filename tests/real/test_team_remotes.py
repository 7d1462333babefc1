"""A remote of DVC, made and used as the documentation says."""

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import NamedTuple

import pytest
from whole_project import stages_that_ran

from conftest import ROOT, commit, run

PAGE = ROOT / "docs" / "howto" / "team.md"
PLACES = {"folder": "/shared/disk/cxprobe", "SSH": "ssh://server.example.org/srv/cxprobe", "S3": "s3://bucket/cxprobe"}
GIT = {f"GIT_{who}_{what}": "t@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


def commands(section: str) -> list[list[str]]:
    """Return the commands of a section of the page, without comments."""
    text = PAGE.read_text().split(f"## {section}")[1].split("\n## ")[0]
    return [shlex.split(line, comments=True) for line in re.findall(r"^    (\w.*)$", text, re.M)]


def recipe(kind: str, **places: str) -> list[list[str]]:
    """Return the commands of the page that make a remote of a kind, with other places in them."""
    chosen = [
        command
        for command in commands("Make the remote, once")
        if command[-1] == PLACES[kind] or "verify" in command or ("endpointurl" in command and kind == "S3")
    ]
    return [[places.get(word, word) for word in command] for command in chosen]


class Clone(NamedTuple):
    """A clone of a project, and the home of who works in it."""

    folder: Path
    home: Path

    def run(self, *command: str) -> CompletedProcess[str]:
        return run(self.folder, *command, HOME=str(self.home), **GIT)

    def outputs(self) -> dict[Path, bytes]:
        files = [path for name in ("data", "results") for path in (self.folder / name).rglob("*") if path.is_file()]
        return {path.relative_to(self.folder): path.read_bytes() for path in files if ".scratch" not in path.parts}


@pytest.fixture
def mine(project, tmp_path) -> Clone:
    """A clone in which the pipeline has run, whose remote was made with the page's commands."""
    run(tmp_path, "git", "init", "--quiet", "--bare", "origin.git")
    (tmp_path / "home").mkdir()
    clone = Clone(project, tmp_path / "home")
    clone.run("git", "remote", "add", "origin", str(tmp_path / "origin.git"))
    commit(project)
    clone.run("git", "push", "--quiet", "--set-upstream", "origin", "HEAD")
    for command in recipe("folder", **{PLACES["folder"]: str(tmp_path / "remote")}):
        clone.run(*command)
    return clone


def clone_of(mine: Clone, folder: Path) -> Clone:
    """Clone a project anew, for somebody with the same rights, whose corpus has the same times, as the page asks."""
    run(folder.parent, "git", "clone", "--quiet", str(folder.parent / "origin.git"), folder.name)
    for file in (mine.folder / "corpus").iterdir():
        shutil.copystat(file, folder / "corpus" / file.name)
    return Clone(folder, mine.home)


@pytest.mark.pipeline
def test_what_one_pushes_another_pulls_and_has_nothing_to_do(mine, tmp_path):
    daily = commands("Every day")[:5]
    push, save, pull, repro, sync = daily
    assert [command[0] for command in daily] == ["dvc", "git", "git", "dvc", "cxprobe"]
    mine.run(*push)
    git = [list(one) for one in _split(save)]
    git[1] += ["--quiet", "--message", "a run"]
    for command in git:
        mine.run(*command)
    theirs = clone_of(mine, tmp_path / "theirs")
    for command in _split(pull):
        theirs.run(*command)
    assert theirs.outputs() == mine.outputs()
    assert stages_that_ran(theirs.run(*repro).stdout) == []
    assert "are in sync" in theirs.run("dvc", "status", "--cloud").stdout
    assert re.search(r"^(\d+) runs have a record under results/; \1 of them", theirs.run(*sync).stdout, re.M)
    assert theirs.run("git", "status", "--porcelain").stdout == ""


def _split(command: list[str]) -> Iterator[list[str]]:
    """Yield the commands between `&&`."""
    while "&&" in command:
        yield command[: command.index("&&")]
        command = command[command.index("&&") + 1 :]
    yield command


def test_the_page_lets_dvc_verify_what_it_pulls_from_every_kind_of_remote():
    for kind, place in PLACES.items():
        assert ["dvc", "remote", "add", "--default", "team", place] in recipe(kind)
        assert ["dvc", "remote", "modify", "team", "verify", "true"] in recipe(kind)
