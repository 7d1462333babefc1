"""A tracking server that dies while a stage works: the stage ends in time with its results, and a sync mends it."""

import http.client
import random
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import NamedTuple

import pytest
from killing import SEED, SYNC
from mlflow import MlflowClient
from mlflow_health import is_healthy
from stage_server import StageServer
from toy_stages import write_toy_project

from conftest import ROOT, change_params, project_environment

pytestmark = pytest.mark.slow

TOY = ROOT / "tests" / "support" / "toy_stage.py"
SHORT = {"MLFLOW_HTTP_REQUEST_TIMEOUT": "3", "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1"}
BOUND = 40  # seconds, on a busy machine; a call that fails takes six, and there are at most three
STAGES = ["judge_pairs"]
REFUSES, HANGS, DEAF = HOW = ["refuses", "hangs", "does what it is asked and never says so"]
NUMBERS = count(1)  # of runs, so that each is another one for the tracking server


@pytest.fixture(scope="module")
def mlflow_server(tmp_path_factory) -> Iterator[int]:
    """The port of a real server."""
    folder = tmp_path_factory.mktemp("server")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    store = ["--backend-store-uri", f"sqlite:///{folder / 'server.db'}", "--artifacts-destination", str(folder / "a")]
    command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    with subprocess.Popen([*command, *store], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        deadline = time.monotonic() + 120
        while not is_healthy(port):
            assert time.monotonic() < deadline, "the server did not start"
            time.sleep(0.2)
        yield port
        server.terminate()


class Dying(ThreadingHTTPServer):
    """What stands before a server and dies after some requests.

    Args:
        port: Of the server.
        lives_for: The number of requests; None if it does not die.
        how: One of `HOW`.
    """

    def __init__(self, port: int, lives_for: int | None, how: str) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.port, self.lives_for, self.how = port, lives_for, how
        self.requests = 0
        self.closed = threading.Event()
        self.address = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing where a client did not wait for the answer."""

    def close(self) -> None:
        self.closed.set()
        self.shutdown()
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    """Passes a request on, or does what a dead server does."""

    server: Dying
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        dying = self.server
        dying.requests += 1
        dead = dying.lives_for is not None and dying.requests > dying.lives_for
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not dead:
            self._answer(*self._ask(body))
            return
        if dying.how == DEAF:
            self._ask(body)
        if dying.how != REFUSES:
            dying.closed.wait(60)
        self.close_connection = True

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815

    def _ask(self, body: bytes) -> tuple[http.client.HTTPResponse, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        connection.request(self.command, self.path, body, dict(self.headers))
        answer = connection.getresponse()
        return answer, answer.read()

    def _answer(self, answer: http.client.HTTPResponse, content: bytes) -> None:
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.getheader("Content-Type", "text/plain"))
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def server() -> Iterator[StageServer]:
    with StageServer([TOY], project_environment(ROOT)) as started:
        yield started


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("name", STAGES)
def test_a_server_that_dies_at_any_request_costs_seconds_and_no_result(server, mlflow_server, tmp_path, name, how):
    whole = work(server, mlflow_server, tmp_path / str(next(NUMBERS)), name, None, how)
    expected = finished(mlflow_server, whole.folder.name)
    assert expected
    for lives_for in random.Random(f"{SEED}-{name}-{how}").sample(range(whole.requests), 4):
        cut = work(server, mlflow_server, tmp_path / str(next(NUMBERS)), name, lives_for, how)
        assert results(cut.folder) == results(whole.folder)
        synced = server.run(cut.folder, SYNC, "sync", MLFLOW_TRACKING_URI=f"http://127.0.0.1:{mlflow_server}")
        assert synced.code == 0, synced.said
        assert still_running(mlflow_server) == [], (name, how, lives_for)
        assert finished(mlflow_server, cut.folder.name) == expected, (name, how, lives_for)


class Worked(NamedTuple):
    """A stage that has run, and how many requests it put."""

    folder: Path
    requests: int


def work(server: StageServer, port: int, folder: Path, name: str, lives_for: int | None, how: str) -> Worked:
    """Run a stage against a server that dies; its seed is the name of its folder."""
    folder.mkdir()
    write_toy_project(folder)
    change_params(folder, folder / "params.yaml", lambda params: params.update(seed=int(folder.name)))
    dying = Dying(port, lives_for, how)
    more = {"TOY_STAGE": name, "MLFLOW_TRACKING_URI": dying.address}
    began = time.monotonic()
    ended = server.run(folder, TOY, **more, **(SHORT if lives_for is not None else {}))
    seconds = time.monotonic() - began
    dying.close()
    assert ended.code == 0, ended.said
    assert seconds < BOUND
    assert ("`cxprobe sync` writes" in ended.said) == (lives_for is not None and dying.requests > lives_for), ended.said
    return Worked(folder, dying.requests)


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
