"""The command that opens MLflow."""

import os

from cxprobe.cli import runs

pytest_plugins = ["toy_stages"]


def test_the_server_listens_on_this_machine_alone_and_starts_no_jobs(workspace, monkeypatch, capsys):
    begun = []
    monkeypatch.setenv("MLFLOW_SERVER_ENABLE_JOB_EXECUTION", "true")
    monkeypatch.setattr(os, "execv", lambda _, command: begun.append((command, dict(os.environ))))
    runs.ui(port=5001)
    said = capsys.readouterr().out  # what it lacks is written first
    assert f"0 of them were new to MLflow at sqlite:///{workspace}" in said
    ((command, environment),) = begun
    assert {"--host=127.0.0.1", "--port=5001"} <= set(command)
    assert environment["MLFLOW_SERVER_ENABLE_JOB_EXECUTION"] == "false"


def test_a_server_of_the_team_is_named_and_none_is_started(workspace, monkeypatch, capsys):
    monkeypatch.setattr(runs, "_sync", list)  # there is no server
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://mlflow.example.org:5000")
    runs.ui(port=5000)
    assert "MLFLOW_TRACKING_URI names a server, so none is started here" in capsys.readouterr().out
