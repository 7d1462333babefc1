"""A tracking server that dies while a stage works: the stage ends in time with its results, and a sync mends it."""

import http.client
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest
from killing import SEED, SYNC
from mlflow import MlflowClient
from servers import Program, free_ports, is_healthy, running, serving
from stage_process import StageProcess
from toy_stages import TOY, write_toy_project

from conftest import change_params

pytestmark = pytest.mark.slow

SHORT = {"MLFLOW_HTTP_REQUEST_TIMEOUT": "3", "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1"}
BOUND = 180  # seconds, on a busy machine; a call that hangs takes six, where one without a limit takes many minutes
FAILS, REFUSES, HANGS, DEAF = HOW = ["fails", "refuses", "hangs", "does what it is asked and never says so"]
NUMBERS = count(1)  # of runs, so that each is another one for the tracking server


@pytest.fixture(scope="module")
def mlflow_server(tmp_path_factory) -> Iterator[int]:
    """The port of a real server."""
    folder, (port,) = tmp_path_factory.mktemp("server"), free_ports(1)
    command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    store = ["--backend-store-uri", f"sqlite:///{folder / 'server.db'}", "--artifacts-destination", str(folder / "a")]
    with running(Program([*command, *store], port, folder / "log", lambda: is_healthy(port))):
        yield port


class DyingServer(BaseHTTPRequestHandler):
    """Passes a request on to a server, or, after some requests, does what a dead server does.

    Attributes:
        port: Of the server.
        lives_for: The number of requests; None if it does not die.
        how: One of `HOW`.
        seen: How many requests there were, and whether the stage has ended.
    """

    port: int
    lives_for: int | None
    how: str
    seen: SimpleNamespace
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.seen.requests += 1
        dead = self.lives_for is not None and self.seen.requests > self.lives_for
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not dead or self.how == DEAF:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            connection.request(self.command, self.path, body, dict(self.headers))
            answer = connection.getresponse()
            content = answer.read()
        if dead and self.how == FAILS:  # as where the database or the store of artifacts behind it is gone
            self.send_error(500)
            return
        if dead:
            if self.how != REFUSES:
                self.seen.ended.wait(600)
            self.close_connection = True
            return
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.getheader("Content-Type", "text/plain"))
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.mark.parametrize("how", HOW)
def test_a_server_that_dies_at_any_request_costs_seconds_and_no_result(mlflow_server, tmp_path, how):
    whole = work(mlflow_server, tmp_path / str(next(NUMBERS)), None, how)
    expected = finished(mlflow_server, whole.folder.name)
    assert expected
    for lives_for in random.Random(f"{SEED}-{how}").sample(range(whole.requests), 4):
        cut = work(mlflow_server, tmp_path / str(next(NUMBERS)), lives_for, how)
        assert results(cut.folder) == results(whole.folder)
        address = f"http://127.0.0.1:{mlflow_server}"
        synced = StageProcess(cut.folder, SYNC, "sync", MLFLOW_TRACKING_URI=address).wait()
        assert synced.code == 0, synced.said
        assert still_running(mlflow_server) == [], (how, lives_for)
        assert finished(mlflow_server, cut.folder.name) == expected, (how, lives_for)


class Worked(NamedTuple):
    """A stage that has run, and how many requests it put."""

    folder: Path
    requests: int


def work(port: int, folder: Path, lives_for: int | None, how: str) -> Worked:
    """Run a stage against a server that dies; its seed is the name of its folder."""
    folder.mkdir()
    write_toy_project(folder)
    change_params(folder, folder / "params.yaml", lambda params: params.update(seed=int(folder.name)))
    seen = SimpleNamespace(requests=0, ended=threading.Event())
    given = {"port": port, "lives_for": lives_for, "how": how, "seen": seen}
    with serving(type("Handler", (DyingServer,), given)) as address:
        more = {"TOY_STAGE": "judge_pairs", "MLFLOW_TRACKING_URI": address}
        began = time.monotonic()
        ended = StageProcess(folder, TOY, **more, **(SHORT if lives_for is not None else {})).wait()
        seconds = time.monotonic() - began
        seen.ended.set()
    assert ended.code == 0, ended.said
    assert seconds < BOUND
    assert ("`cxprobe sync` writes" in ended.said) == (lives_for is not None and seen.requests > lives_for), ended.said
    return Worked(folder, seen.requests)


def results(folder: Path) -> dict[Path, bytes]:
    """Return the content of all results, apart from the seed, in which two runs differ."""
    files = [path for path in (folder / "results").rglob("*") if path.is_file()]
    seed = f'"seed": "{folder.name}"'.encode()
    return {path.relative_to(folder): path.read_bytes().replace(seed, b"") for path in files}


def finished(port: int, seed: str) -> Counter[str]:
    """Return how many finished runs with a seed there are in each experiment."""
    client = MlflowClient(f"http://127.0.0.1:{port}")
    names = {one.experiment_id: one.name for one in client.search_experiments()}
    runs = client.search_runs(list(names), f"attributes.status = 'FINISHED' and params.seed = '{seed}'")
    return Counter(names[run.info.experiment_id] for run in runs)


def still_running(port: int) -> list[str]:
    client = MlflowClient(f"http://127.0.0.1:{port}")
    experiments = [one.experiment_id for one in client.search_experiments()]
    return [run.info.run_name for run in client.search_runs(experiments, "attributes.status = 'RUNNING'")]
