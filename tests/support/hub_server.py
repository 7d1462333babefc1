"""A hub on this machine, which has one private model: it answers what `huggingface_hub` asks when a model is loaded."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import unquote, urlsplit

from servers import serving

NAME = "team/model"


@dataclass
class Hub:
    """The one repository of a hub.

    Attributes:
        token: Who may read it.
        commits: Commit -> file -> content.
        main: The commit of the branch main.
        moves: The commit to which main moves when config.json has been sent; "" for none.
    """

    token: str
    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    main: str = ""
    moves: str = ""

    def commit(self, folder: Path) -> str:
        """Add the files of a folder as a commit of the branch main, and return its id."""
        files = {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
        self.main = hashlib.sha1(repr(sorted(files.items())).encode()).hexdigest()
        self.commits[self.main] = files
        return self.main


@contextmanager
def running_hub(token: str) -> Iterator[tuple[Hub, str]]:
    """Run a hub while the block runs; gives the hub and its address."""
    hub = Hub(token)
    with serving(type("Handler", (_Handler,), {"hub": hub})) as address:
        yield hub, address


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        if self.headers.get("Authorization") != f"Bearer {self.hub.token}" or NAME not in path:
            self._send(401, b"", **{"X-Error-Code": "RepoNotFound", "X-Error-Message": "Repository not found"})
            return
        _, _, rest = path.partition(f"{NAME}/")
        what, _, rest = rest.partition("/")
        revision, _, file = rest.partition("/")
        commit = revision if revision in self.hub.commits else self.hub.main
        named = {"X-Repo-Commit": commit}
        if what == "resolve" and file in self.hub.commits[commit]:
            content = self.hub.commits[commit][file]
            self._send(200, content, ETag=f'"{hashlib.sha256(content).hexdigest()}"', **named)
            if file == "config.json" and self.command == "GET":
                self.hub.main = self.hub.moves or self.hub.main
        elif what in ("", "revision"):
            files = [{"rfilename": name} for name in self.hub.commits[commit]]
            self._send(200, json.dumps({"id": NAME, "sha": commit, "siblings": files}).encode())
        else:
            self._send(404, b"", **{"X-Error-Code": "EntryNotFound", "X-Error-Message": "Entry not found"}, **named)

    do_HEAD = do_GET  # noqa: N815

    def _send(self, status: int, content: bytes, **headers: str) -> None:
        self.send_response(status)
        for header, value in headers.items():
            self.send_header(header, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)
