"""A `python`, a `dvc` and a `cxprobe` for test projects that need not import the packages of others.

Importing torch, transformers and MLflow takes a stage seconds, and the tests run hundreds of stages. The programs that
are made here hand their arguments, environment, working folder and open files to a server that has these packages
loaded, one for all workers of the tests. The server forks, and the child runs the script; a test can ask for that
without a program too (`fork`). Where the project's code is not that of this repository, the child imports it anew.
Signals go to the child, and its exit code comes back. What is no script, such as `python -m`, is run by the real
interpreter.
"""

import atexit
import filecmp
import gc
import marshal
import multiprocessing.process
import os
import pkgutil
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections import OrderedDict
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from filelock import FileLock

# What stages, and the tests' own stages, import only where they need it.
_LATE = (
    "alembic.command",
    "dvc.cli",
    "dvc.commands.repro",
    "dvc.commands.status",
    "dvc.repo",
    "hypothesis",
    "inspect_ai.model",
    "pytest",
    "pytorch_lightning",
    "mlflow.store.tracking.sqlalchemy_workspace_store",
    "scipy.stats",
    "spacy.lang.en",
    "sqlalchemy.dialects.sqlite",
    "transformers.models.auto.modeling_auto",
    "transformers.models.bert.modeling_bert",
    "transformers.models.bert.tokenization_bert",
    "transformers.models.gpt2.modeling_gpt2",
)

_CLIENT = """#!{python} -IS
import marshal, os, signal, socket, sys
arguments = [*{script!r}, *sys.argv[1:]]
if not {script!r} and not (arguments and arguments[0].endswith(".py")):
    os.execv({python!r}, [{python!r}, *arguments])
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
request = marshal.dumps((os.getcwd(), arguments, dict(os.environ), (0, 0, 0)))
socket.send_fds(server, [len(request).to_bytes(8, "big")], [0, 1, 2])
server.sendall(request)
child = int.from_bytes(server.recv(8), "big")
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, lambda number, _: os.kill(child, number))
status = int.from_bytes(server.recv(8), "big")
if os.WIFSIGNALED(status):
    signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
    os.kill(os.getpid(), os.WTERMSIG(status))
os._exit(os.waitstatus_to_exitcode(status))
"""


@cache
def _server() -> Path:
    """Return the folder of the server's socket and its programs; the server ends with the tests, and removes it."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID")  # of all workers
    owner = os.getppid() if run else os.getpid()
    folder = Path(tempfile.gettempdir(), f"quick-python-{run or owner}")
    folder.mkdir(exist_ok=True)
    with FileLock(folder / "lock"):
        if not (folder / "server").exists():
            _start(folder, owner)
    return folder


def _start(folder: Path, owner: int) -> None:
    (folder / "bin").mkdir()
    for name in ("python", "dvc", "cxprobe"):
        client = folder / "bin" / name
        script = [] if name == "python" else [str(Path(sys.executable).with_name(name))]
        client.write_text(_CLIENT.format(python=sys.executable, address=str(folder / "server"), script=script))
        client.chmod(0o700)
    environment = os.environ | {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, __file__, str(folder), str(owner)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, start_new_session=True)
    assert server.stdout.readline(), "the server of stages did not start"


def quick_python() -> Path:
    """Return the folder of the server's `python`."""
    return _server() / "bin"


def fork(
    folder: str, arguments: list[str], environment: dict[str, str], files: list[int], kill: tuple[int, ...]
) -> tuple[socket.socket, int]:
    """Let the server run a script as `be_python` says; the socket gives its exit status at its end.

    Returns:
        The socket and the number of the process.
    """
    server = socket.socket(socket.AF_UNIX)
    server.connect(str(_server() / "server"))
    request = marshal.dumps((folder, arguments, environment, tuple(map(int, kill))))
    socket.send_fds(server, [len(request).to_bytes(8, "big")], files)
    server.sendall(request)
    return server, int.from_bytes(server.recv(8), "big")


def _load() -> None:
    """Import everything that the project imports."""
    for module in pkgutil.walk_packages(import_module("cxprobe").__path__, "cxprobe."):
        import_module(module.name)
    for name in _LATE:
        import_module(name)
    from matplotlib.figure import Figure

    drawn = Figure()
    drawn.subplots()
    drawn.savefig(os.devnull, format="png")  # matplotlib looks for fonts
    _let_dvc_lock_fast()
    gc.collect()
    gc.freeze()


def _let_dvc_lock_fast() -> None:
    """Let DVC read and write dvc.lock by libyaml; by the parser that keeps comments it takes seconds for each stage."""
    import yaml
    from dvc.utils.serialize import _yaml as of_dvc

    class Dumper(yaml.CSafeDumper):
        """DVC gives it ordered mappings."""

    Dumper.add_representer(OrderedDict, lambda dumper, content: dumper.represent_dict(content.items()))
    of_dvc.parse_yaml_for_update = lambda text, _path: yaml.load(text, yaml.CSafeLoader) or {}
    of_dvc._dump = lambda content, stream: yaml.dump(content, stream, Dumper, sort_keys=False)


def _forget_other_code(environment: dict[str, str]) -> None:
    """Forget the package of this repository, unless a project's is the same in every file."""
    project = Path(environment.get("PYTHONPATH", "").split(os.pathsep)[0])
    if not _same_code(Path(import_module("cxprobe").__file__).parent, project / "cxprobe"):
        for name in [name for name in sys.modules if name.partition(".")[0] == "cxprobe"]:
            del sys.modules[name]


def _same_code(loaded: Path, project: Path) -> bool:
    names = {path.relative_to(loaded) for path in loaded.rglob("*.py")}
    same, _, _ = filecmp.cmpfiles(loaded, project, names)
    return set(same) == names == {path.relative_to(project) for path in project.rglob("*.py")}


def _serve(folder: Path, owner: int) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "server"))
        listener.listen(64)
        if os.fork() == 0:
            select.select([os.pidfd_open(owner)], [], [])  # until the tests have ended
            os.kill(os.getppid(), signal.SIGKILL)
            shutil.rmtree(folder)
            os._exit(0)
        os.write(1, b"ready\n")
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        while True:
            connection, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                _watch(connection)
            connection.close()


def _watch(connection: socket.socket) -> None:
    """Run a script in a child and send its number at once, and its exit status when it has ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    header, files, _, _ = socket.recv_fds(connection, 8, 4)
    request = bytearray()
    while len(request) < int.from_bytes(header, "big"):
        request += connection.recv(1 << 16)
    child = os.fork()
    if child == 0:
        connection.close()
        folder, arguments, environment, kill = marshal.loads(bytes(request))
        _forget_other_code(environment)
        be_python(folder, arguments, environment, list(files), kill)
    connection.sendall(child.to_bytes(8, "big"))
    connection.sendall(os.waitpid(child, 0)[1].to_bytes(8, "big"))
    os._exit(0)


# The child, which is the process of a script

_CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.link", "os.symlink")


def be_python(
    folder: str, arguments: list[str], environment: dict[str, str], files: list[int], kill: tuple[int, int, int]
) -> NoReturn:
    """Run a script and end this process, as `python script arguments` would.

    Args:
        folder: In which it runs.
        arguments: The script and what it is given.
        environment: All of it; its PYTHONPATH comes before what this process can import.
        files: What becomes standard input, output and error; and perhaps a file for the number of changes of files.
        kill: Signal, change and calls; see `stage_process.Kill`.
    """
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number, file in enumerate(files[:3]):
            os.dup2(file, number)
            os.close(file)
        os.chdir(folder)
        multiprocessing.process.ORIGINAL_DIR = folder  # where processes that the script starts look for it
        os.environ.clear()
        os.environ.update(environment)
        paths = [path for path in environment.get("PYTHONPATH", "").split(os.pathsep) if path]
        sys.path[0:1] = [str(Path(arguments[0]).resolve().parent), *paths]
        sys.argv = arguments
        if counted := files[3:]:
            changes = _Changes(folder, *kill)
            atexit.register(lambda: os.write(counted[0], str(changes.count).encode()))
            sys.addaudithook(changes.see)
        code = _exit_code(arguments[0])
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:  # nothing may go back to the process that this one was forked from
        traceback.print_exc()
    finally:
        os._exit(code)


def _exit_code(script: str) -> int:
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as ended:
        if isinstance(ended.code, str):
            sys.stderr.write(f"{ended.code}\n")
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except KeyboardInterrupt:  # it ends by its signal, as in Python
        traceback.print_exc()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


class _Changes:
    """Counts the changes of files below a folder, and sends this process its signal."""

    def __init__(self, folder: str, signum: int, change: int, calls: int) -> None:
        self._folder, self._signum, self._change, self._calls = folder, signum, change, calls
        self._returned = self.count = 0

    def see(self, event: str, arguments: tuple) -> None:
        """See an event of Python's; it is about to happen."""
        if event in _CHANGES or (event == "open" and self._writes(*arguments)):
            path = Path() if isinstance(arguments[0], int) else Path(os.fsdecode(arguments[0]))
            if (Path.cwd() / path).is_relative_to(self._folder):
                self.count += 1
                if self.count == self._change:
                    sys.setprofile(self._see_return)
                    self._see_return(None, "return", None)

    def _see_return(self, _frame: object, event: str, _value: object) -> None:
        if event in ("return", "c_return"):
            self._returned += 1
            if self._returned > self._calls:
                sys.setprofile(None)
                os.kill(os.getpid(), self._signum)

    def _writes(self, path: object, mode: str | None, flags: int) -> bool:
        return isinstance(path, str | bytes | os.PathLike) and bool(flags & (os.O_WRONLY | os.O_RDWR))


if __name__ == "__main__":
    _load()
    _serve(Path(sys.argv[1]), int(sys.argv[2]))
