"""Stages in processes of their own that begin at once, and end where a test wants.

A stage takes seconds to import what it needs, and none if it is forked from a server that has done so. A kill comes
some calls of functions after the n-th time that the process changes a file of its project, so it can be repeated.
"""

import atexit
import json
import os
import random
import runpy
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, NoReturn

from forked_python import be_python

_CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.link", "os.symlink")


class Ended(NamedTuple):
    """How a process ended.

    Attributes:
        code: Its exit code, or minus the number of the signal that ended it.
        changes: How often it changed a file; 0 if it did not come to its end.
        said: What it printed.
    """

    code: int
    changes: int
    said: str


class Kill(NamedTuple):
    """A signal that a process sends to itself.

    Attributes:
        signum: The signal.
        change: How many changes of files have begun, this one included.
        calls: How many functions have returned since this one began.
    """

    signum: int
    change: int
    calls: int


class StageServer:
    """Starts stages. It is a context manager; the processes that it started must have ended before it does.

    Args:
        preload: Scripts whose imports are made once.
        environment: Of the stages; it has a PYTHONPATH.
    """

    def __init__(self, preload: Sequence[Path], environment: dict[str, str]) -> None:
        command = [sys.executable, __file__, *map(str, preload)]
        support = Path(__file__).parent
        paths = [environment["PYTHONPATH"], str(support), str(support.parent)]
        own = environment | {"PYTHONPATH": os.pathsep.join(paths)}
        self._server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=own)

    def __enter__(self) -> "StageServer":
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stdin.close()
        self._server.wait(timeout=60)

    def start(
        self,
        folder: Path,
        script: Path,
        *arguments: str,
        kill: Kill | None = None,
        **environment: str,
    ) -> int:
        """Start a script in a folder and return the number of its process."""
        return self._ask(start=[str(folder), str(script), *arguments], kill=kill, environment=environment)

    def wait(self, process: int) -> Ended:
        """Wait for the end of a process."""
        return Ended(*self._ask(wait=process))

    def run(self, folder: Path, script: Path, *arguments: str, kill: Kill | None = None, **more) -> Ended:
        """Run a script to its end, or to that of the signal."""
        return self.wait(self.start(folder, script, *arguments, kill=kill, **more))

    def _ask(self, **request):
        print(json.dumps(request), file=self._server.stdin, flush=True)
        answer = self._server.stdout.readline()
        assert answer, "the server of stages has died"
        return json.loads(answer)


def moments(seed: str, signum: int, changes: int, seconds: float, number: int) -> list[Kill | float]:
    """Draw moments of a run: two thirds at changes of files, the others after some seconds."""
    generator = random.Random(seed)
    return [
        Kill(signum, generator.randint(1, max(changes, 1)), generator.choice([0, 1, 2, 3, 5, 10, 20]))
        if generator.random() < 2 / 3
        else generator.uniform(0, seconds)
        for _ in range(number)
    ]


def _serve() -> None:
    outputs: dict[int, tuple[int, int]] = {}
    for line in sys.stdin:
        request = json.loads(line)
        if "wait" in request:
            process = request["wait"]
            said, counted = outputs.pop(process)
            code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
            _answer([code, int(_read(counted) or 0), _read(said)])
        else:
            said, counted = os.memfd_create("said"), os.memfd_create("counted")
            process = os.fork()
            if process == 0:
                _run(said, counted, **request)
            outputs[process] = (said, counted)
            _answer(process)


def _answer(content: object) -> None:
    sys.stdout.write(f"{json.dumps(content)}\n")
    sys.stdout.flush()


def _read(file: int) -> str:
    os.lseek(file, 0, os.SEEK_SET)
    with os.fdopen(file, errors="replace") as opened:
        return opened.read()


def _run(said: int, counted: int, start: list[str], kill: Kill | None, environment: dict[str, str]) -> NoReturn:
    """Be the process of a stage, which the requests to the server are not for, and count its changes of files."""
    folder, *arguments = start
    changes = _Changes(folder, Kill(*kill) if kill else Kill(0, 0, 0))
    atexit.register(lambda: os.write(counted, str(changes.count).encode()))
    sys.addaudithook(changes.see)
    nothing = os.open(os.devnull, os.O_RDONLY)
    be_python(folder, arguments, dict(os.environ) | environment, [nothing, said, os.dup(said)])


class _Changes:
    """Counts the changes of files below a folder, and sends this process its signal."""

    def __init__(self, folder: str, kill: Kill) -> None:
        self._folder = folder
        self._kill = kill
        self._returned = 0
        self.count = 0

    def see(self, event: str, arguments: tuple) -> None:
        """See an event of Python's; it is about to happen."""
        if event in _CHANGES or (event == "open" and self._writes(*arguments)):
            path = Path() if isinstance(arguments[0], int) else Path(os.fsdecode(arguments[0]))
            if (Path.cwd() / path).is_relative_to(self._folder):
                self.count += 1
                if self.count == self._kill.change:
                    sys.setprofile(self._see_return)
                    self._see_return(None, "return", None)

    def _see_return(self, _frame: object, event: str, _value: object) -> None:
        if event in ("return", "c_return"):
            self._returned += 1
            if self._returned > self._kill.calls:
                sys.setprofile(None)
                os.kill(os.getpid(), self._kill.signum)

    def _writes(self, path: object, mode: str | None, flags: int) -> bool:
        return isinstance(path, str | bytes | os.PathLike) and bool(flags & (os.O_WRONLY | os.O_RDWR))


if __name__ == "__main__":
    for path in sys.argv[1:]:
        runpy.run_path(path, run_name="preloaded")
    needed = ["cxprobe.run.tracking", "mlflow.store.tracking.sqlalchemy_workspace_store"]
    for module in [*needed, "alembic.command", "sqlalchemy.dialects.sqlite"]:
        import_module(module)
    from matplotlib.figure import Figure

    drawn = Figure()
    drawn.subplots()
    drawn.savefig(os.devnull, format="png")  # matplotlib looks for fonts
    _serve()
