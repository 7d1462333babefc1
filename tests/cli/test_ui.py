"""The command that opens MLflow."""

import os
import signal
import socket
import subprocess
import sys
import time

import psutil
import pytest
from servers import is_healthy
from toy_stages import evaluate_pairs

from conftest import ROOT, project_environment
from cxprobe.cli import tracking
from cxprobe.errors import DataError
from cxprobe.run.running import run_stage
from cxprobe.tasks.pairs.params import PairsStage

pytest_plugins = ["toy_stages"]


@pytest.mark.slow
@pytest.mark.pipeline
def test_the_command_writes_what_mlflow_lacks_and_serves_this_machine_alone(workspace, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["judge.py"])
    run_stage(evaluate_pairs, PairsStage)
    (workspace / "mlruns" / "mlflow.db").unlink()  # as in a copy of the project
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-c", "from cxprobe.cli import app; app()", "ui", "--port", str(port)]
    process = subprocess.Popen(
        command, env=project_environment(ROOT), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        said = [process.stdout.readline()]
        while "Ctrl-C ends it" not in said[-1]:
            assert said[-1], "the command has ended"
            said.append(process.stdout.readline())
        assert "3 of them were new to MLflow" in said[0]
        while not is_healthy(port):
            assert process.poll() is None
            time.sleep(0.1)
        started = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
        commands = [" ".join(one.cmdline()) for one in started]
        assert not [one for one in commands if "job" in one or "huey" in one], commands
        listening = {link.laddr for one in started for link in one.net_connections("tcp") if link.status == "LISTEN"}
        assert listening == {("127.0.0.1", port)}
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


def test_the_server_listens_on_this_machine_alone_and_starts_no_jobs(workspace, monkeypatch):
    begun = []
    monkeypatch.setenv("MLFLOW_SERVER_ENABLE_JOB_EXECUTION", "true")
    monkeypatch.setattr(os, "execv", lambda _, command: begun.append((command, dict(os.environ))))
    tracking.ui(port=5001)
    ((command, environment),) = begun
    assert {"--host=127.0.0.1", "--port=5001"} <= set(command)
    assert environment["MLFLOW_SERVER_ENABLE_JOB_EXECUTION"] == "false"


def test_a_server_of_the_team_is_named_and_none_is_started(workspace, monkeypatch, capsys):
    monkeypatch.setattr(tracking, "_sync", list)  # there is no server
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://mlflow.example.org:5000")
    tracking.ui(port=5000)
    assert "MLFLOW_TRACKING_URI names a server, so none is started here" in capsys.readouterr().out


def test_a_port_that_is_taken_is_refused_before_anything_is_started(workspace, monkeypatch):
    monkeypatch.setattr(os, "execv", lambda *_: pytest.fail("it was started"))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(DataError, match=f"--port {port}: another program listens there"):
            tracking.ui(port=port)
