"""DVC's remotes, made and used as the documentation says: a folder and an object store."""

import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import NamedTuple

import pytest
from team_servers import BUCKET, CREDENTIALS, running_store
from whole_project import stages_that_ran

from conftest import ROOT, commit, init_dvc, run

PAGE = ROOT / "docs" / "howto" / "team.md"
HOST = "server.example.org"  # as in the documentation, like the places
PLACES = {"folder": "/shared/disk/cxprobe", "SSH": f"ssh://{HOST}/srv/cxprobe", "S3": f"s3://{BUCKET}/cxprobe"}
GIT = {f"GIT_{who}_{what}": "t@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


class Remote(NamedTuple):
    """A remote.

    Attributes:
        make: The documentation's commands that make it.
        environment: Of its user.
        contents: Returns name -> content of its objects.
        put: Puts a content in the place of an object's.
    """

    make: list[list[str]]
    environment: dict[str, str]
    contents: Callable[[], dict[str, bytes]]
    put: Callable[[str, bytes], object]


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


@pytest.fixture(params=["folder", pytest.param("S3", marks=pytest.mark.slow)])
def remote(request, tmp_path) -> Iterator[Remote]:
    """Each kind of remote, empty, with its server."""
    folder, home = tmp_path / "remote", tmp_path / "home"
    home.mkdir()
    if request.param == "folder":

        def put(name: str, content: bytes) -> None:
            (folder / name).chmod(0o644)
            (folder / name).write_bytes(content)

        def contents() -> dict[str, bytes]:
            return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

        made = recipe("folder", **{PLACES["folder"]: str(folder)})
        yield Remote(made, {"HOME": str(home)}, contents, put)
    else:
        pytest.importorskip("dvc_s3", reason="needs cxprobe's extra team")
        (home / ".aws").mkdir()
        (home / ".aws" / "credentials").write_text(CREDENTIALS)
        with running_store() as store:
            yield Remote(
                recipe("S3", **{"https://s3.example.org": store.address}),
                {"HOME": str(home)},
                store.contents,
                lambda key, content: store.client.put_object(Bucket=BUCKET, Key=key, Body=content),
            )


class Clone(NamedTuple):
    """A clone of a project, and the environment of who works in it."""

    folder: Path
    environment: dict[str, str]

    def run(self, *command: str, check: bool = True) -> CompletedProcess[str]:
        return run(self.folder, *command, check=check, **self.environment, **GIT)

    def outputs(self) -> dict[Path, bytes]:
        files = [path for name in ("data", "results") for path in (self.folder / name).rglob("*") if path.is_file()]
        return {path.relative_to(self.folder): path.read_bytes() for path in files if ".scratch" not in path.parts}


@pytest.fixture
def mine(project, remote, tmp_path) -> Clone:
    """A clone in which the pipeline has run, whose remote was made with the page's commands."""
    run(tmp_path, "git", "init", "--quiet", "--bare", "origin.git")
    clone = Clone(project, remote.environment)
    clone.run("git", "remote", "add", "origin", str(tmp_path / "origin.git"))
    commit(project)
    clone.run("git", "push", "--quiet", "--set-upstream", "origin", "HEAD")
    for command in remote.make:
        clone.run(*command)
    return clone


def clone_of(mine: Clone, folder: Path) -> Clone:
    """Clone a project anew, for somebody with the same rights, whose corpus has the same times, as the page asks."""
    run(folder.parent, "git", "clone", "--quiet", str(folder.parent / "origin.git"), folder.name)
    for file in (mine.folder / "corpus").iterdir():
        shutil.copystat(file, folder / "corpus" / file.name)
    return Clone(folder, mine.environment)


@pytest.mark.pipeline
def test_what_one_pushes_another_pulls_and_has_nothing_to_do(mine, remote, tmp_path):
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


# Damage


@pytest.fixture
def two_files(remote, tmp_path) -> Clone:
    """A project under DVC with two files of data, which are in its remote too."""
    clone = Clone(tmp_path / "project", remote.environment)
    (clone.folder / "data").mkdir(parents=True)
    for name in ("one", "two"):
        (clone.folder / "data" / f"{name}.txt").write_bytes(text_of(name))
    init_dvc(clone.folder)
    clone.run("dvc", "add", "--quiet", "data")
    for command in remote.make:
        clone.run(*command)
    clone.run("dvc", "push")
    return clone


def text_of(name: str) -> bytes:
    return f"{name} ".encode() * 100


def pull_anew(clone: Clone) -> CompletedProcess[str]:
    """Pull into an empty cache."""
    shutil.rmtree(clone.folder / ".dvc" / "cache", ignore_errors=True)
    shutil.rmtree(clone.folder / "data", ignore_errors=True)
    return clone.run("dvc", "pull", "--verbose", check=False)


def test_a_damaged_object_is_noticed_and_mended_from_a_clone_that_has_it_whole(two_files, remote, tmp_path):
    whole = two_files._replace(folder=tmp_path / "whole")
    shutil.copytree(two_files.folder, whole.folder)
    assert pull_anew(two_files).returncode == 0
    assert two_files.outputs() == whole.outputs()
    [name] = [name for name, content in remote.contents().items() if content == text_of("one")]
    remote.put(name, text_of("one").replace(b"o", b"p", 1))
    pulled = pull_anew(two_files)
    assert pulled.returncode != 0
    assert "Checkout failed" in pulled.stderr
    object_ = name[name.index("files/md5/") :]
    assert re.search(f"corrupted cache file '[^']*/{object_}'", pulled.stdout + pulled.stderr)
    assert not (two_files.folder / "data" / "one.txt").exists()
    # What the page warns of: DVC does not look for every file of a folder.
    assert "in sync" in whole.run("dvc", "status", "--cloud").stdout
    remote.put(name, (whole.folder / ".dvc" / "cache" / object_).read_bytes())
    assert pull_anew(two_files).returncode == 0
    assert two_files.outputs() == whole.outputs()


def test_the_page_names_the_damaged_objects_of_the_cache_which_dvc_does_not_notice(two_files):
    [find] = re.findall(r"^    (\(cd .*\))$", PAGE.read_text(), re.M)
    assert two_files.run("sh", "-c", find).stdout == ""
    [path] = [
        one for one in (two_files.folder / ".dvc/cache").rglob("*") if one.is_file() and b"one one" in one.read_bytes()
    ]
    path.chmod(0o644)
    path.write_bytes(path.read_bytes().replace(b"o", b"p", 1))
    path.chmod(0o444)  # as DVC leaves it
    shutil.rmtree(two_files.folder / "data")
    assert two_files.run("dvc", "checkout").returncode == 0
    assert "up to date" in two_files.run("dvc", "status").stdout
    named = two_files.run("sh", "-c", find, check=False).stdout
    assert named == f"{path.parent.name}/{path.name}: FAILED\n"
    path.unlink()
    shutil.rmtree(two_files.folder / "data")
    two_files.run("dvc", "pull")
    assert (two_files.folder / "data" / "one.txt").read_bytes() == text_of("one")


def test_the_page_lets_dvc_verify_what_it_pulls_from_every_kind_of_remote():
    for kind, place in PLACES.items():
        assert ["dvc", "remote", "add", "--default", "team", place] in recipe(kind)
        assert ["dvc", "remote", "modify", "team", "verify", "true"] in recipe(kind)
