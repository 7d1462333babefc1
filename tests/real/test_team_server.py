"""A team's MLflow server on PostgreSQL and S3, started as the documentation says."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from servers import free_port, is_healthy, running
from team_servers import CREDENTIALS, OWNER, running_postgres, running_store
from written_pages import fences

from conftest import ROOT, project_environment


def bash(commands, folder, environment):
    command = ["bash", "-e", "-c", commands]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.pipeline
def test_the_commands_of_the_page_run_write_each_run_once_and_give_no_key_to_a_client(project, tmp_path):
    pytest.importorskip("psycopg", reason="needs cxprobe's extra develop")
    _, client, database, server = fences(ROOT / "docs" / "howto" / "mlflow.md", "bash")
    folder, log, port = tmp_path / "server", tmp_path / "mlflow.log", free_port()
    (folder / ".aws").mkdir(parents=True)
    (folder / ".aws" / "credentials").write_text(CREDENTIALS)
    with running_postgres() as administrator, running_store() as store:

        def named(text):
            """Return commands with the addresses of these servers in them."""
            addresses = {
                "db.example.org:5432": f"127.0.0.1:{administrator['PGPORT']}",
                "https://s3.example.org": store.address,
                "mlflow.example.org:5000": f"127.0.0.1:{port}",
                "--host 0.0.0.0 --port 5000": f"--host 127.0.0.1 --port {port}",
            }
            for name, address in addresses.items():
                text = text.replace(name, address)
            assert "example.org" not in text
            return text

        bash(database, folder, administrator)
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        # Four workers, as by default, start slowly on two cores.
        own = {"PATH": path, "HOME": str(folder), "MLFLOW_WORKERS": "1"}
        start = ["bash", "-e", "-c", named(server)]
        with running(start, log, lambda: is_healthy(port), cwd=folder, env=own):
            patient = {"HOME": str(tmp_path), "MLFLOW_HTTP_REQUEST_TIMEOUT": "60"}  # on a busy machine
            theirs = project_environment(project) | patient
            assert not {"AWS_ACCESS_KEY_ID", "PGPASSWORD"} & set(theirs)
            said = bash(named(client), project, theirs)
            assert re.findall("Running stage '(.+?)'", said) == ["watch_corpora@toys"]
            number = re.search(r"(\d+) runs have a record under results/; \1 of them were new to MLflow", said)
            assert number, said
            variable, _, address = shlex.split(named(client))[1].partition("=")
            again = bash("cxprobe sync", project, theirs | {variable: address})
            assert f"{number[1]} runs have a record under results/; 0 of them were new" in again
        stored = store.contents()
    assert {key.split("/")[0] for key in stored} == {"mlflow"}
    keys = [*OWNER.values(), (folder / "mlflow.password").read_text().strip()]
    written = [log.read_bytes(), said.encode(), *stored.values()]
    assert [key for key in keys if any(key.encode() in text for text in written)] == []
    assert (folder / "mlflow.password").stat().st_mode & 0o077 == 0
