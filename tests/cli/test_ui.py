"""The command that opens MLflow."""

import os
import socket

import pytest

from cxprobe.cli import runs
from cxprobe.errors import DataError

pytest_plugins = ["toy_stages"]


def test_the_server_listens_on_this_machine_alone_and_starts_no_jobs(workspace, monkeypatch, capsys):
    begun = []
    monkeypatch.setenv("MLFLOW_SERVER_ENABLE_JOB_EXECUTION", "true")
    monkeypatch.setattr(os, "execv", lambda _, command: begun.append((command, dict(os.environ))))
    runs.ui(port=5001)
    assert "0 of them were new to MLflow" in capsys.readouterr().out  # what it lacks is written first
    ((command, environment),) = begun
    assert {"--host=127.0.0.1", "--port=5001"} <= set(command)
    assert environment["MLFLOW_SERVER_ENABLE_JOB_EXECUTION"] == "false"


def test_a_server_of_the_team_is_named_and_none_is_started(workspace, monkeypatch, capsys):
    monkeypatch.setattr(runs, "_sync", list)  # there is no server
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://mlflow.example.org:5000")
    runs.ui(port=5000)
    assert "MLFLOW_TRACKING_URI names a server, so none is started here" in capsys.readouterr().out


def test_a_port_that_is_taken_is_refused_before_anything_is_started(workspace, monkeypatch):
    monkeypatch.setattr(os, "execv", lambda *_: pytest.fail("it was started"))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(DataError, match=f"--port {port}: another program listens there"):
            runs.ui(port=port)
