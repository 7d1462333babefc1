"""The page in the browser, served to this machine alone.

Everybody who has the address can label, so the address has a secret that no other page and no other program can know.
Beside it, a request must name this host (no other name of this machine, which a page from elsewhere could have chosen),
and an answer must come from the page itself.
"""

import base64
import hashlib
import re
import secrets
import socket
from collections.abc import Awaitable, Callable
from dataclasses import replace
from importlib.resources import files
from typing import Annotated, Any

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, PlainTextResponse
from pydantic import ConfigDict, Field

from cxprobe.errors import CxprobeError
from cxprobe.files.schema import Closed
from cxprobe.people.sessions import Desk, SavedSession, Session, progress_of, shown_sentences

_LONGEST_BODY = 10_000  # bytes
_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class PageAnswer(Closed):
    """What the page sends: what was answered, and the number of the group that it showed."""

    model_config = ConfigDict(strict=True)

    text: Annotated[str, Field(max_length=300)]
    """An answer as in the terminal."""
    shown: Annotated[int, Field(ge=0)]
    """The number of the group that was on the page, so that no answer reaches another; 0 for none."""


class LabelServer(uvicorn.Server):
    """Serves the page on 127.0.0.1, at a port that the system chooses, until Ctrl-C.

    Args:
        saved: The session, whose answers are written as they come.
        desk: What is shown beside the sentences.
    """

    def __init__(self, saved: SavedSession, desk: Desk) -> None:
        self.secret = secrets.token_urlsafe(24)
        self._socket = socket.create_server(("127.0.0.1", 0))  # listens, so that a browser can be opened at once
        self.port: int = self._socket.getsockname()[1]
        app = make_app(saved, desk, self.secret, self.port)
        # It logs nothing: the address is secret, and the terminal is for the person.
        silent: dict[str, Any] = {"log_config": None, "log_level": "critical", "access_log": False}
        config = uvicorn.Config(app, lifespan="off", timeout_graceful_shutdown=1, server_header=False, **silent)
        super().__init__(config)

    @property
    def address(self) -> str:
        """The address to open in a browser; everybody who has it can label."""
        return f"http://127.0.0.1:{self.port}/{self.secret}/"

    def serve_until_stopped(self) -> None:
        """Answer requests until Ctrl-C, or until ``should_exit`` is set."""
        try:
            self.run(sockets=[self._socket])
        except KeyboardInterrupt:
            return


def make_app(saved: SavedSession, desk: Desk, secret: str, port: int) -> FastAPI:
    """Return the application: the page, what it shows, and what it answers.

    Its functions are coroutines that never wait, so that answers are taken one after the other.
    """
    app = FastAPI(openapi_url=None, redirect_slashes=False)
    hosts = (f"127.0.0.1:{port}", f"localhost:{port}")
    page = files("cxprobe.people").joinpath("label.html").read_text(encoding="utf-8")
    policy = (
        f"default-src 'none'; script-src '{_hash_of('script', page)}'; style-src '{_hash_of('style', page)}'; "
        "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )

    def fault_of(request: Request) -> tuple[int, str] | None:
        """Return why a request is not answered, before anything of its content is looked at."""
        headers = request.headers
        if headers.get("Host") not in hosts:
            return 403, "the request is for another host"
        given, slash, _ = request.url.path.removeprefix("/").partition("/")
        if not (slash and secrets.compare_digest(given.encode(), secret.encode())):
            return 404, "there is nothing here; open the address that the command shows"
        if request.method != "POST":
            return None
        if headers.get("Origin", f"http://{hosts[0]}") not in [f"http://{host}" for host in hosts]:
            return 403, "the answer comes from another page"
        if headers.get("Content-Type", "").partition(";")[0].strip().lower() != "application/json":
            return 415, "an answer must be JSON"
        length = headers.get("Content-Length", "")
        if not (re.fullmatch("[0-9]{1,9}", length) and int(length) <= _LONGEST_BODY):  # int() refuses 5,000 digits
            return 413, f"at most {_LONGEST_BODY} bytes are read"
        return None

    @app.middleware("http")
    async def guard(request: Request, respond: Callable[[Request], Awaitable[Response]]) -> Response:
        fault = fault_of(request)
        response = PlainTextResponse(fault[1], fault[0]) if fault else await respond(request)
        response.headers.update(_HEADERS)
        return response

    @app.get(f"/{secret}/")
    async def show_page() -> HTMLResponse:
        return HTMLResponse(page, headers={"Content-Security-Policy": policy})

    @app.get(f"/{secret}/state")
    async def show_state() -> dict[str, Any]:
        return _state(replace(saved.session, said="", refused=False), desk)

    @app.post(f"/{secret}/answer")
    async def take_answer(answer: PageAnswer) -> dict[str, Any]:
        return _state(saved.say(answer.text, answer.shown), desk)

    @app.exception_handler(RequestValidationError)
    async def say_no_answer(_: Request, fault: RequestValidationError) -> Response:
        return PlainTextResponse(f"it is no answer: {fault.errors()[0]['msg']}", 400)

    @app.exception_handler(CxprobeError)
    @app.exception_handler(OSError)
    async def say_not_saved(_: Request, fault: Exception) -> Response:
        return PlainTextResponse(f"not saved: {fault}", 500)

    return app


def _state(session: Session, desk: Desk) -> dict[str, Any]:
    """Return what the page shows, for its script: ``card`` is the group, or None when all are labelled."""
    group, card = session.current, None
    if group is not None:
        target = (group.kind, group.target)
        card = {
            "kind": group.kind,
            "tags": group.tags,
            "size": len(group.sentences),
            "label": session.given.get(target),
            "said": desk.disputes.get(target, {}),
            "sentences": shown_sentences(session, desk),
        }
    return {
        "construction": desk.construction.name,
        "gloss": desk.construction.gloss,
        "positive": desk.construction.positive,
        "who": session.who,
        "total": len(session.groups),
        "left": len(session.unlabelled),
        "progress": progress_of(session, desk),
        "said": session.said,
        "refused": session.refused,
        "undo": bool(session.history),
        "shown": 0 if session.position is None else session.position + 1,
        "card": card,
    }


def _hash_of(tag: str, page: str) -> str:
    """Return the hash by which a Content-Security-Policy names the script or the style of the page."""
    content = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.S)[0]
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"
