"""A chat server of the test's own, as OpenAI's: what it answers is the test's to say."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@contextmanager
def chat_server(answer: Callable[[str, dict[str, Any]], tuple[int, dict[str, Any]]]) -> Iterator[str]:
    """Yield the address of a server.

    Args:
        answer: Given a question and the whole request, returns status and body of the answer; by one thread a request.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            content = body["messages"][-1]["content"]
            status, said = answer(content if isinstance(content, str) else content[0]["text"], body)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(said).encode())

        def log_message(self, *_):
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=http.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{http.server_port}/v1"
    finally:
        http.shutdown()
        http.server_close()
