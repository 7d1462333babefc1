"""Servers that tests start on this machine, each at a free port of 127.0.0.1, and waiting until something holds."""

import http.client
import json
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


def wait_until(holds: Callable[[], T], as_long_as: Callable[[], object] = lambda: True, seconds: float = 600) -> T:
    """Wait until something holds, and return it.

    Args:
        holds: Whether it does.
        as_long_as: Without which it never will, such as that a process runs; the wait fails when it does not hold.
        seconds: After which the wait fails: many more than a busy machine needs, so that only what hangs reaches it.
    """
    deadline = time.monotonic() + seconds
    while not (held := holds()):
        goes_on = as_long_as()
        assert goes_on or holds(), "what would make it hold has ended"
        assert time.monotonic() < deadline, f"it does not hold after {seconds} seconds"
        time.sleep(0.005)
    return held


def free_ports(number: int) -> list[int]:
    """Return ports of this machine at which nobody listens."""
    with ExitStack() as opened:
        sockets = [opened.enter_context(socket.socket()) for _ in range(number)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def listens(port: int) -> bool:
    """Return whether anybody listens at a port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def is_healthy(port: int) -> bool:
    """Return whether an MLflow server works at a port."""
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    except OSError:
        return False


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Let a handler answer requests in threads of this process while the block runs; gives the server's address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def answering(answer: Callable[[Any, str | None], tuple[int, Any]]) -> AbstractContextManager[str]:
    """Let a function answer requests that bring JSON, as `serving` does.

    Args:
        answer: Given what was asked and the header Authorization, returns status and content of the answer.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, content = answer(asked, self.headers.get("Authorization"))
            sent = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    return serving(Handler)


class Program:
    """A program that serves at a port.

    Args:
        command: What starts it.
        port: Where it listens.
        log: What it prints is added to this file.
        ready: Whether it answers.
        dies_by: The signal of `kill`, which all its processes get.
        more: For `subprocess.Popen`.
    """

    def __init__(
        self,
        command: list[str],
        port: int,
        log: Path,
        ready: Callable[[], bool],
        dies_by: signal.Signals = signal.SIGKILL,
        **more,
    ) -> None:
        self.command, self.port, self.log, self.ready, self.dies_by = command, port, log, ready, dies_by
        self.more, self.process = more, None

    def start(self) -> None:
        """Start the program, and wait until it answers."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log, start_new_session=True, **self.more)
        wait_until(self._answers)

    def kill(self) -> None:
        """Kill all processes of the program, and wait until nobody listens at its port."""
        os.killpg(self.process.pid, self.dies_by)
        self.process.wait(timeout=60)
        wait_until(lambda: not listens(self.port))

    def _answers(self) -> bool:
        assert self.process.poll() is None, self.log.read_text()
        return self.ready()


@contextmanager
def running(program: Program) -> Iterator[Program]:
    """Run a program while the block runs."""
    try:
        program.start()
        yield program
    finally:
        if program.process is not None and program.process.poll() is None:
            program.kill()
