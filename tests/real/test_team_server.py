"""A team's MLflow server on PostgreSQL and S3, started as the documentation says."""

import os
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import run as run_program
from typing import NamedTuple

import pytest
from servers import Program, free_ports, is_healthy, running
from team_servers import CREDENTIALS, OWNER, Postgres, Store, installed, running_postgres, running_store
from written_pages import fences

from conftest import ROOT, project_environment, run

pytestmark = [pytest.mark.slow, pytest.mark.pipeline]

PAGE = ROOT / "docs" / "howto" / "mlflow.md"


class Team(NamedTuple):
    """The parts of a team's server.

    Attributes:
        mlflow: The server that clients know.
        postgres: Has the runs.
        store: Has the artifacts.
        client: What a client sets.
        folder: Where the server was started; its password is there.
    """

    mlflow: Program
    postgres: Postgres
    store: Store
    client: dict[str, str]
    folder: Path

    def named(self, text: str) -> str:
        """Return a command of the page, with the addresses of this team's servers in it."""
        return named(text, self.postgres, self.store, self.mlflow.port)


def named(text: str, postgres: Postgres, store: Store, port: int) -> str:
    addresses = {
        "db.example.org:5432": f"127.0.0.1:{postgres.port}",
        "https://s3.example.org": store.address,
        "mlflow.example.org:5000": f"127.0.0.1:{port}",
        "--host 0.0.0.0 --port 5000": f"--host 127.0.0.1 --port {port}",
    }
    for name, address in addresses.items():
        text = text.replace(name, address)
    assert "example.org" not in text
    return text


@pytest.fixture
def team(tmp_path) -> Iterator[Team]:
    """A server that the page's commands have started, on an empty database and an empty bucket."""
    pytest.importorskip("psycopg", reason="needs cxprobe's extra team")
    _, client, database, server = fences(PAGE, "bash")
    folder, (port,) = tmp_path / "server", free_ports(1)
    (folder / ".aws").mkdir(parents=True)
    (folder / ".aws" / "credentials").write_text(CREDENTIALS)
    with running_postgres() as postgres, running_store() as store:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        as_administrator(database, postgres, folder)
        mlflow = Program(
            ["bash", "-e", "-c", named(server, postgres, store, port)],
            port,
            tmp_path / "mlflow.log",
            lambda: is_healthy(port),
            cwd=folder,
            # Four workers, as by default, start slowly on two cores.
            env={"PATH": path, "HOME": str(folder), "MLFLOW_WORKERS": "1"},
        )
        with running(mlflow):
            assert client.startswith("export ")
            uri = shlex.split(named(client, postgres, store, port))[1]
            yield Team(mlflow, postgres, store, dict([uri.split("=", 1)]), folder)


def as_administrator(commands: str, postgres: Postgres, folder: Path) -> None:
    installed("openssl")
    done = run_program(
        ["bash", "-e", "-c", commands],
        cwd=folder,
        env=postgres.administrator,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def sync(folder: Path, team: Team) -> tuple[int, int]:
    """Return how many records `cxprobe sync` has found, and how many of them were new to the server."""
    said = run(folder, "cxprobe", "sync", **team.client, MLFLOW_HTTP_REQUEST_TIMEOUT="60").stdout  # on a busy machine
    found = re.search(r"(\d+) runs have a record under results/; (\d+) of them were new", said)
    return int(found[1]), int(found[2])


@pytest.fixture(autouse=True)
def quiet_downloads(monkeypatch):
    monkeypatch.setenv("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")


def test_the_commands_of_the_page_run_and_give_no_key_to_a_client(project, team):
    _, client, *_ = fences(PAGE, "bash")
    patient = {"MLFLOW_HTTP_REQUEST_TIMEOUT": "60"}  # on a busy machine
    own = project_environment(project) | {"HOME": str(project.parent)} | patient
    assert not {"AWS_ACCESS_KEY_ID", "PGPASSWORD"} & set(own)
    done = run_program(
        ["bash", "-e", "-c", team.named(client)], cwd=project, env=own, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert re.findall("Running stage '(.+?)'", done.stdout) == ["watch_corpora@toys"]
    number = re.search(r"(\d+) runs have a record under results/; \1 of them were new to MLflow", done.stdout)
    assert number, done.stdout
    assert sync(project, team) == (int(number[1]), 0)
    stored = team.store.contents()
    assert {key.split("/")[0] for key in stored} == {"mlflow"}
    keys = [*OWNER.values(), (team.folder / "mlflow.password").read_text().strip()]
    printed = team.mlflow.log.read_bytes() + done.stdout.encode() + done.stderr.encode()
    assert [key for key in keys if key.encode() in printed or any(key.encode() in one for one in stored.values())] == []
    assert (team.folder / "mlflow.password").stat().st_mode & 0o077 == 0
