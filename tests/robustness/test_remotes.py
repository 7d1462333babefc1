"""A damaged object in a team's remote is noticed when it is pulled, with the documentation's recipe."""

import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from dvc.cli import main as dvc

from conftest import ROOT

PAGE = ROOT / "docs" / "howto" / "team.md"
BUCKET = "s3://bucket/cxprobe"  # as in docs/howto/team.md


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    """A project under DVC with two files of data."""
    folder = tmp_path / "project"
    (folder / "data").mkdir(parents=True)
    for name in ("one", "two"):
        (folder / "data" / f"{name}.txt").write_text(f"{name} " * 100)
    monkeypatch.chdir(folder)
    subprocess.run(["git", "init", "--quiet"], check=True)
    for command in ("init --quiet", "config core.analytics false", "add --quiet data"):
        assert dvc(command.split()) == 0
    return folder


@pytest.fixture
def s3(monkeypatch) -> Iterator:
    """A client of a local S3 server with the documentation's bucket, and the server's address."""
    server = pytest.importorskip("moto.server", reason="needs moto[s3] and flask, for a local S3 server")
    pytest.importorskip("dvc_s3", reason="needs dvc-s3")
    import boto3

    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    running = server.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    running.start()
    address = "http://{}:{}".format(*running.get_host_and_port())
    client = boto3.client("s3", endpoint_url=address)
    client.create_bucket(Bucket="bucket")
    yield client, address
    running.stop()


def recipe(place: str) -> list[list[str]]:
    """Return the documentation's commands that make a remote at some place."""
    lines = re.findall(r"^    dvc (remote (?:add|modify) .*?)(?:  +#.*)?$", PAGE.read_text(), re.M)
    commands = [shlex.split(line) for line in lines]
    return [command for command in commands if command[1] == "modify" or command[-1] == place]


def pull_after(damage: Callable[[], None], project: Path) -> int:
    """Push, let the remote be damaged, and return the exit code of a pull into an empty cache."""
    assert dvc(["push", "--quiet"]) == 0
    damage()
    shutil.rmtree(project / ".dvc" / "cache")
    shutil.rmtree(project / "data")
    return dvc(["pull", "--quiet"])


def flipped(content: bytes) -> bytes:
    return content[:3] + bytes([content[3] ^ 1]) + content[4:]


@pytest.mark.parametrize("damaged", [False, True])
def test_a_folder_with_a_flipped_byte_is_not_pulled(project, tmp_path, damaged):
    remote = tmp_path / "remote"
    for command in recipe("/shared/disk/cxprobe"):
        assert dvc([str(remote) if word == "/shared/disk/cxprobe" else word for word in command]) == 0

    def damage() -> None:
        (stored,) = [path for path in remote.rglob("*") if path.is_file() and path.read_bytes().startswith(b"one ")]
        stored.chmod(0o644)
        if damaged:
            stored.write_bytes(flipped(stored.read_bytes()))

    code = pull_after(damage, project)
    assert (code != 0) == damaged
    assert not damaged or not Path("data/one.txt").exists()


@pytest.mark.parametrize("damaged", [False, True])
def test_an_object_store_with_a_flipped_byte_is_not_pulled(project, s3, damaged):
    client, address = s3
    for command in [*recipe(BUCKET), ["remote", "modify", "team", "endpointurl", address]]:
        assert dvc(command) == 0

    def damage() -> None:
        for stored in client.list_objects_v2(Bucket="bucket")["Contents"]:
            content = client.get_object(Bucket="bucket", Key=stored["Key"])["Body"].read()
            if damaged and content.startswith(b"one "):
                client.put_object(Bucket="bucket", Key=stored["Key"], Body=flipped(content))

    code = pull_after(damage, project)
    assert (code != 0) == damaged
    assert not damaged or not Path("data/one.txt").exists()


def test_the_recipe_lets_dvc_verify_what_it_pulls():
    assert ["remote", "modify", "team", "verify", "true"] in recipe(BUCKET)
    assert ["remote", "add", "--default", "team", BUCKET] in recipe(BUCKET)
