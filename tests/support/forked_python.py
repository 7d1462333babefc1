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


def be_python(folder: str, arguments: list[str], environment: dict[str, str], files: list[int]) -> NoReturn:
    """Run a script and end this process, as `python script arguments` would.

    Args:
        folder: In which it runs.
        arguments: The script and what it is given.
        environment: All of it; its PYTHONPATH comes before what this process can import.
        files: What becomes standard input, output and error; they are closed.
    """
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
        os.chdir(folder)
        multiprocessing.process.ORIGINAL_DIR = folder  # where processes that the script starts look for it
        os.environ.clear()
        os.environ.update(environment)
        paths = [path for path in environment.get("PYTHONPATH", "").split(os.pathsep) if path]
        sys.path[0:1] = [str(Path(arguments[0]).resolve().parent), *paths]
        sys.argv = arguments
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
    except BaseException:
        traceback.print_exc()
        return 1
    return 0
