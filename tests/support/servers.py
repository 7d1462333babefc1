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
from contextlib import contextmanager
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


def free_port() -> int:
    """Return a port of this machine at which nobody listens."""
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return opened.getsockname()[1]


def is_healthy(port: int) -> bool:
    """Return whether an MLflow server works at a port."""
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    except OSError:
        return False


@contextmanager
def answering(answer: Callable[[Any, str | None], tuple[int, Any]]) -> Iterator[str]:
    """Let a function answer requests that bring JSON in threads of this process; gives the server's address.

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

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def running(
    command: list[str], log: Path, ready: Callable[[], bool], ends_by: signal.Signals = signal.SIGKILL, **more: Any
) -> Iterator[None]:
    """Run a program that serves while the block runs.

    Args:
        command: What starts it.
        log: Gets what it prints.
        ready: Whether it answers.
        ends_by: The signal that all its processes get at the end.
        more: For `subprocess.Popen`.
    """
    with log.open("ab") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file, start_new_session=True, **more)

    def answers() -> bool:
        assert process.poll() is None, log.read_text()
        return ready()

    try:
        wait_until(answers)
        yield
    finally:
        if process.poll() is None:
            os.killpg(process.pid, ends_by)
            process.wait(timeout=60)
