"""A hub on this machine: it answers what `huggingface_hub` asks, for small repositories that tests make.

As on the real hub, a small file is served by the hub itself and known by git's SHA-1, a large one (here: weights and
Parquet) by its SHA-256 and served by a storage of another address, to which a token must not be sent. Errors have the
codes by which the client tells a missing file from a missing revision and from a missing repository.
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from servers import serving

_LARGE = (".safetensors", ".bin", ".parquet")
_KINDS = ("models", "datasets")


class Asked(NamedTuple):
    """A request that came."""

    place: str
    """hub or storage."""
    method: str
    path: str
    token: str
    """What came as Authorization, without Bearer; "" for nothing."""


@dataclass
class Repository:
    """A repository: its commits, each with all its files, and the branches and tags that name them."""

    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    token: str | None = None
    """Who may read it; None for everybody."""

    def commit_of(self, revision: str) -> str | None:
        """Return the commit that a branch, a tag or a whole commit id names."""
        whole = revision if revision in self.commits else None
        return self.branches.get(revision.removeprefix("refs/heads/")) or self.tags.get(revision) or whole


class Hub:
    """The repositories of a hub, and what was asked.

    Attributes:
        repositories: ("models" or "datasets", "owner/name") -> repository.
        moves: File -> which branch of which repository moves to which commit when the file has first been sent.
        asked: All requests.
    """

    def __init__(self, address: str = "", storage: str = "") -> None:
        self.address, self.storage = address, storage
        self.repositories: dict[tuple[str, str], Repository] = {}
        self.moves: dict[str, tuple[Repository, str, str]] = {}
        self.asked: list[Asked] = []

    def commit(
        self, name: str, files: dict[str, bytes], kind: str = "models", branch: str = "main", token: str | None = None
    ) -> str:
        """Put files into a repository as a new commit of a branch, and return the commit's id."""
        repository = self.repositories.setdefault((kind, name), Repository(token=token))
        contents = sorted((path, _sha256(content)) for path, content in files.items())
        commit = hashlib.sha1(repr((name, len(repository.commits), contents)).encode()).hexdigest()
        repository.commits[commit] = dict(files)
        repository.branches[branch] = commit
        return commit

    def sent(self, name: str) -> list[Asked]:
        """Return the downloads of a file, by its last name."""
        return [one for one in self.asked if one.method == "GET" and one.path.endswith(f"/{name}")]


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder, for `Hub.commit`."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


@contextmanager
def running_hub() -> Iterator[Hub]:
    """Run a hub and its storage, each at a free port of 127.0.0.1, while the block runs."""
    hub = Hub()
    handlers = [type("Handler", (_Handler,), {"hub": hub, "place": place}) for place in ("hub", "storage")]
    with serving(handlers[0]) as hub.address, serving(handlers[1]) as hub.storage:
        yield hub


class _RefusedError(Exception):
    """An answer other than success: its status, its code for the client, and further headers."""

    def __init__(self, status: int, code: str, message: str, **headers: str) -> None:
        super().__init__(status, code, message)
        self.status, self.code, self.message, self.headers = status, code, message, headers


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub
    place: str

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        path, query = unquote(parts.path), {name: values[0] for name, values in parse_qs(parts.query).items()}
        form = parse_qs(self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode())
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        self.hub.asked.append(Asked(self.place, self.command, path, token))
        try:
            if self.place == "storage":
                self._stored(path)
            elif path.startswith("/api/"):
                self._send(json.dumps(self._api(parts.path.split("/")[2:], query, form, token)).encode())
            else:
                self._resolve(parts.path.split("/")[1:], token)
        except _RefusedError as refused:
            self._refuse(refused)

    do_HEAD = do_POST = do_GET  # noqa: N815

    # What the hub says of a repository

    def _api(self, parts: list[str], query: dict[str, str], form: dict[str, list[str]], token: str) -> object:
        parts = [unquote(part) for part in parts]
        kind, name, (what, *more) = parts[0], "/".join(parts[1:3]), (parts[3:] or ["revision"])
        repository = self._repository(kind, name, token)
        if what == "refs":
            named = {"branches": (repository.branches, "heads"), "tags": (repository.tags, "tags")}
            return {"converts": []} | {
                sort: [{"name": own, "ref": f"refs/{inside}/{own}", "targetCommit": at} for own, at in refs.items()]
                for sort, (refs, inside) in named.items()
            }
        if what not in ("revision", "tree", "paths-info"):
            raise _RefusedError(404, "", "Not Found")
        commit, files = self._files(repository, more[0] if more else "main")
        if what == "revision":
            siblings = [{"rfilename": path} for path in files]
            return {"id": name, "sha": commit, "private": repository.token is not None, "siblings": siblings}
        if what == "tree":
            return _tree(files, commit, "/".join(more[1:]), query.get("recursive") in ("true", "True", "1"))
        return [_entry(path, files[path], commit) for path in form.get("paths", []) if path in files]

    def _repository(self, kind: str, name: str, token: str) -> Repository:
        repository = self.hub.repositories.get((kind, name))
        tokens = {one.token for one in self.hub.repositories.values()} - {None}
        if token and token not in tokens:
            raise _RefusedError(401, "", "Invalid credentials in Authorization header")
        if repository is None or repository.token not in (None, token):
            # A hub does not tell strangers whether a private repository exists.
            raise _RefusedError(404 if token else 401, "RepoNotFound", "Repository not found")
        return repository

    def _files(self, repository: Repository, revision: str) -> tuple[str, dict[str, bytes]]:
        commit = repository.commit_of(revision)
        if commit is None:
            raise _RefusedError(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        return commit, repository.commits[commit]

    # Files

    def _resolve(self, parts: list[str], token: str) -> None:
        parts = [unquote(part) for part in parts]
        kind = parts.pop(0) if parts[0] in _KINDS else "models"
        if len(parts) < 5 or parts[2] != "resolve":
            raise _RefusedError(404, "", "Not Found")
        name, path = "/".join(parts[:2]), "/".join(parts[4:])
        repository = self._repository(kind, name, token)
        commit, files = self._files(repository, parts[3])
        if path not in files:
            raise _RefusedError(404, "EntryNotFound", "Entry not found", **{"X-Repo-Commit": commit})
        content = files[path]
        headers = {"X-Repo-Commit": commit, "Accept-Ranges": "bytes"}
        if path.endswith(_LARGE):
            linked = {"X-Linked-Etag": f'"{_sha256(content)}"', "X-Linked-Size": str(len(content))}
            location = f"{self.hub.storage}/{kind}/{name}/{commit}/{path}"
            self._send(b"", 302, Location=location, **headers, **linked)
        else:
            self._send_file(path, content, ETag=f'"{_git_sha1(content)}"', **headers)

    def _stored(self, path: str) -> None:
        kind, owner, name, commit, file = path[1:].split("/", 4)
        self._send_file(file, self.hub.repositories[kind, f"{owner}/{name}"].commits[commit][file])

    def _send_file(self, path: str, content: bytes, **headers: str) -> None:
        """Send a file, or the part of it that was asked for."""
        status = 200
        if asked := self.headers.get("Range"):
            whole = len(content)
            first, last = (int(end) if end else whole - 1 for end in asked.removeprefix("bytes=").split("-"))
            content, status = content[first : last + 1], 206
            headers["Content-Range"] = f"bytes {first}-{min(last, whole - 1)}/{whole}"
        self._send(content, status, **headers)
        if self.command == "GET" and path in self.hub.moves:
            moved, branch, to = self.hub.moves.pop(path)
            moved.branches[branch] = to

    def _send(self, content: bytes, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for header, value in headers.items():
            self.send_header(header, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def _refuse(self, refused: _RefusedError) -> None:
        codes = {"X-Error-Code": refused.code} if refused.code else {}
        content = json.dumps({"error": refused.message}).encode()
        self._send(content, refused.status, **codes, **{"X-Error-Message": refused.message}, **refused.headers)


def _tree(files: dict[str, bytes], commit: str, folder: str, recursive: bool) -> list[dict[str, object]]:
    """Return the files and folders below a folder, or those directly in it."""
    base = f"{folder}/" if folder else ""
    inside = {path.removeprefix(base): content for path, content in files.items() if path.startswith(base)}
    if folder and not inside:
        raise _RefusedError(404, "EntryNotFound", f"{folder} does not exist on {commit}", **{"X-Repo-Commit": commit})
    parents = {"/".join(path.split("/")[:depth]) for path in inside for depth in range(1, path.count("/") + 1)}
    found = [_entry(base + path, content, commit) for path, content in inside.items() if recursive or "/" not in path]
    found += [
        {"type": "directory", "oid": _git_sha1(path.encode()), "size": 0, "path": base + path}
        for path in parents
        if recursive or "/" not in path
    ]
    return sorted(found, key=lambda entry: str(entry["path"]))


def _entry(path: str, content: bytes, commit: str) -> dict[str, object]:
    last = {"id": commit, "title": "a commit", "date": "2026-01-31T12:00:00.000Z"}
    entry = {"type": "file", "path": path, "size": len(content), "oid": _git_sha1(content), "lastCommit": last}
    if path.endswith(_LARGE):
        entry["lfs"] = {"oid": _sha256(content), "size": len(content), "pointerSize": 134}
    return entry


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _git_sha1(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
