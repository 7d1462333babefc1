"""Being the process of a script, in a child that was forked from a process which has imported what scripts need."""

import atexit
import multiprocessing.process
import os
import runpy
import signal
import sys
import traceback
from pathlib import Path
from typing import NoReturn

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
