"""A browser for tests: Chromium without a window, told what to do through a pipe (the DevTools protocol)."""

import fcntl
import itertools
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from servers import wait_until

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Tab:
    """A page of the browser."""

    def __init__(self, write: int, read: int) -> None:
        self._out, self._in = os.fdopen(write, "wb", buffering=0), os.fdopen(read, "rb", buffering=0)
        self._numbers, self._rest, self.events = itertools.count(1), b"", []
        self._session = ""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params) -> dict:
        """Send a command and return its result; what else the browser says is kept in ``events``."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        self._out.write(json.dumps(message).encode() + b"\0")
        while (said := self._next()).get("id") != number:
            self.events.append(said)
        assert "error" not in said, (method, said["error"])
        return said["result"]

    def _next(self) -> dict:
        while b"\0" not in self._rest:
            piece = self._in.read(1 << 16)
            assert piece, "the browser has ended"
            self._rest += piece
        one, _, self._rest = self._rest.partition(b"\0")
        return json.loads(one)

    def open(self, address: str) -> None:
        self.call("Page.navigate", url=address)
        self.until("document.readyState === 'complete'")

    def run(self, script: str):
        """Return the value of an expression of JavaScript."""
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in result, (script, result["exceptionDetails"])
        return result["result"].get("value")

    def until(self, condition: str) -> None:
        wait_until(lambda: self.run(condition))

    def press(self, key: str) -> None:
        """Press a key as a person does."""
        text = {"text": key} if len(key) == 1 else {"Enter": {"text": "\r"}}.get(key, {})
        code = {"Enter": 13, "Escape": 27, "Tab": 9}.get(key, ord(key.upper()) if len(key) == 1 else 0)
        for kind in ("keyDown", "keyUp"):
            more = text if kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, **more)

    def faults(self) -> list[str]:
        """Return what the browser's console complains of."""
        self.run("1")
        return [
            json.dumps(one["params"])
            for one in self.events
            if one.get("method") == "Runtime.exceptionThrown"
            or (one.get("method") == "Log.entryAdded" and one["params"]["entry"]["level"] == "error")
        ]

    def resize(self, width: int, height: int) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)


@contextmanager
def browser(profile: Path) -> Iterator[Tab]:
    """Start Chromium with a profile of its own and give one page."""
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()

    def connect() -> None:  # the browser reads from 3 and writes to 4
        high_in, high_out = (fcntl.fcntl(one, fcntl.F_DUPFD, 5) for one in (theirs_in, theirs_out))  # neither 3 nor 4
        os.dup2(high_in, 3)
        os.dup2(high_out, 4)

    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
    process = subprocess.Popen(
        [CHROMIUM, *options, f"--user-data-dir={profile}", "--remote-debugging-pipe"],
        preexec_fn=connect,
        close_fds=False,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs_in)
    os.close(theirs_out)
    try:
        yield Tab(ours_out, ours_in)
    finally:
        process.terminate()
        process.wait(20)
