"""What the page shows, as JSON has it."""

import base64
import hashlib
import json
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from threading import Lock
from typing import Annotated, Any

from pydantic import Field, ValidationError

from cxprobe.errors import CxprobeError
from cxprobe.files.schema import Closed
from cxprobe.people.cards import Card, Desk, Line, card_of, progress_of
from cxprobe.people.labels import read_labels, write_labels
from cxprobe.people.sessions import Reply, Session, answer


class SavedSession:
    """A session and its file. Several threads may use it.

    The file is read again before each answer, so that what another person or `git pull` has written meanwhile stays.

    Args:
        session: Where to begin.
        path: The labels.tsv.
        clock: Seconds that only grow.
    """

    def __init__(self, session: Session, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._session, self._path, self._clock = session, path, clock
        self._lock, self._since = Lock(), clock()

    @property
    def session(self) -> Session:
        """The session as it is now."""
        return self._session

    def say(self, text: str, shown: int | None = None) -> Reply:
        """Do what a person asks for, and write the labels if they have changed.

        Args:
            text: What was typed.
            shown: The number of the group that the person sees, if it could be another than the session's: then nothing
                is done. 0 where all is labelled and none is shown.

        Raises:
            ConstructionError: labels.tsv has a fault that somebody else has made meanwhile; nothing is done.
            DiskFullError: The labels cannot be written; nothing is done.
        """
        with self._lock:
            before = replace(self._session, labels=tuple(read_labels(self._path)))
            number = 0 if before.place is None else before.place + 1
            if shown is not None and shown != number:
                said = "nothing was done: the session has moved on, perhaps in another window; look again"
                return Reply(self._session, said, refused=True)
            reply = answer(before, text, self._clock() - self._since)
            if set(reply.session.labels) != set(before.labels):
                write_labels(reply.session.labels, self._path)
            if reply.session.place != before.place:
                self._since = self._clock()
            self._session = reply.session
            return reply


def state_of(reply: Reply, desk: Desk) -> dict[str, Any]:
    """Return all that the page shows after an answer.

    Sentences are cut into pieces where a hit begins and ends: a browser counts some characters twice, so places in the
    text would not be the same there.
    """
    session = reply.session
    card = card_of(session, desk)
    return {
        "construction": desk.construction.name,
        "gloss": desk.construction.gloss,
        "positive": desk.construction.positive,
        "who": session.who,
        "total": len(session.groups),
        "left": session.left,
        "progress": progress_of(session),
        "said": reply.said,
        "refused": reply.refused,
        "undo": bool(session.history),
        "shown": card.number if card else 0,
        "card": _card(card) if card else None,
    }


def _card(card: Card) -> dict[str, Any]:
    return {
        "kind": card.kind,
        "tags": card.tags,
        "size": card.size,
        "label": card.label,
        "said": [{"who": who, "label": label} for who, label in card.said],
        "sentences": [_sentence(line) for line in card.lines],
    }


def _sentence(line: Line) -> dict[str, Any]:
    return {
        "number": line.number,
        "pieces": _pieces(line),
        "before": line.around.before if line.around else "",
        "after": line.around.after if line.around else "",
        "source": line.source,
        "label": line.label,
    }


def _pieces(line: Line) -> list[dict[str, str]]:
    """Return the text in pieces; those of a hit have the name of its form, and the others none."""
    pieces, done = [], 0
    for hit in line.hits:
        pieces.append({"text": line.text[done : hit.start], "form": ""})
        pieces.append({"text": line.text[hit.start : hit.end], "form": hit.form})
        done = hit.end
    pieces.append({"text": line.text[done:], "form": ""})
    return [piece for piece in pieces if piece["text"]]


_LONGEST_BODY = 10_000  # bytes
_SECRET_BYTES = 24


class Answer(Closed):
    """What the page sends: what was answered, and the number of the group that it showed."""

    text: Annotated[str, Field(max_length=300)]
    """An answer as in the terminal."""
    shown: Annotated[int, Field(ge=0)]
    """The number of the group that was on the page, so that no answer reaches another; 0 for none."""


class LabelServer(ThreadingHTTPServer):
    """Serves the page on 127.0.0.1, at a port that the system chooses.

    A thread for each connection, since browsers open some that they do not use at once.

    Args:
        saved: The session, whose answers are written as they come.
        desk: What is shown beside the sentences.
    """

    daemon_threads = True

    def __init__(self, saved: SavedSession, desk: Desk) -> None:
        self.saved, self.desk = saved, desk
        self.secret = secrets.token_urlsafe(_SECRET_BYTES)
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def address(self) -> str:
        """The address to open in a browser; whoever has it can label."""
        return f"http://127.0.0.1:{self.server_port}/{self.secret}/"

    @cached_property
    def page(self) -> str:
        """The page, which is the same for everything that is labelled."""
        return files("cxprobe.people").joinpath("label.html").read_text(encoding="utf-8")

    @cached_property
    def policy(self) -> str:
        """What the page may do: run its own script, use its own style, and ask this server."""
        script, style = (_hash_of(tag, self.page) for tag in ("script", "style"))
        return (
            f"default-src 'none'; script-src '{script}'; style-src '{style}'; connect-src 'self'; img-src data:; "
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )


def _hash_of(tag: str, page: str) -> str:
    match = re.search(rf"<{tag}>(.*?)</{tag}>", page, re.S)
    content = match[1] if match else ""
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"


class _RefusedError(Exception):
    """A request that is not answered.

    Args:
        status: The status to send.
        why: What to say.
    """

    def __init__(self, status: HTTPStatus, why: str) -> None:
        self.status, self.why = status, why
        super().__init__(why)


class _Handler(BaseHTTPRequestHandler):
    server: LabelServer
    timeout = 30.0  # seconds for a request to arrive
    server_version, sys_version = "cxprobe", ""

    def do_GET(self) -> None:
        self._answered(self._get)

    def do_POST(self) -> None:
        self._answered(self._post)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the address is secret, and the terminal is for the person."""

    def _answered(self, answer: Any) -> None:
        try:
            self._check_host()
            answer(self._place())
        except _RefusedError as refused:
            self._send(refused.status, "text/plain", refused.why)
        except (CxprobeError, OSError) as fault:
            self._send(HTTPStatus.INTERNAL_SERVER_ERROR, "text/plain", f"not saved: {fault}")

    def _get(self, place: str) -> None:
        if place == "":
            self._send(HTTPStatus.OK, "text/html", self.server.page, {"Content-Security-Policy": self.server.policy})
        elif place == "state":
            self._send_state(Reply(self.server.saved.session, ""))
        else:
            raise _RefusedError(HTTPStatus.NOT_FOUND, "there is nothing here")

    def _post(self, place: str) -> None:
        if place != "answer":
            raise _RefusedError(HTTPStatus.NOT_FOUND, "there is nothing here")
        if self.headers.get_content_type() != "application/json":
            raise _RefusedError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "an answer must be JSON")
        if self.headers.get("Origin", self._origin()) not in self._origins():
            raise _RefusedError(HTTPStatus.FORBIDDEN, "the answer comes from another page")
        answer = self._body()
        self._send_state(self.server.saved.say(answer.text, answer.shown))

    def _body(self) -> Answer:
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit() and int(length) <= _LONGEST_BODY):
            raise _RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"at most {_LONGEST_BODY} bytes are read")
        try:
            return Answer.model_validate_json(self.rfile.read(int(length)), strict=True)
        except ValidationError as fault:
            raise _RefusedError(HTTPStatus.BAD_REQUEST, f"it is no answer: {fault.errors()[0]['msg']}") from None

    def _check_host(self) -> None:
        if self.headers.get("Host", "") not in self._hosts():
            raise _RefusedError(HTTPStatus.FORBIDDEN, "the request is for another host")

    def _place(self) -> str:
        """Return what follows the secret in the path."""
        _, _, path = self.path.partition("/")
        secret, slash, place = path.partition("/")
        if not (slash and secrets.compare_digest(secret.encode(), self.server.secret.encode())):
            raise _RefusedError(HTTPStatus.NOT_FOUND, "there is nothing here; open the address that the command shows")
        return place

    def _hosts(self) -> tuple[str, str]:
        return f"127.0.0.1:{self.server.server_port}", f"localhost:{self.server.server_port}"

    def _origin(self) -> str:
        return f"http://{self._hosts()[0]}"

    def _origins(self) -> list[str]:
        return [f"http://{host}" for host in self._hosts()]

    def _send_state(self, reply: Reply) -> None:
        state = state_of(reply, self.server.desk)
        self._send(HTTPStatus.OK, "application/json", json.dumps(state, ensure_ascii=False))

    def _send(self, status: HTTPStatus, kind: str, content: str, more: dict[str, str] | None = None) -> None:
        body = content.encode("utf-8", "replace")
        self.send_response(status)
        headers = {
            "Content-Type": f"{kind}; charset=utf-8",
            "Content-Length": str(len(body)),
            "Cache-Control": "no-store",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
        }
        for name, value in (headers | (more or {})).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
