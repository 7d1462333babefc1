"""The command ``cxprobe``: what a team does beside ``dvc repro``.

A module has one command, or several of one subject. It imports inside its functions what takes long to import, so that
each command loads only what it needs. A command raises `CxprobeError` for what the user can mend; that is printed
without a traceback, and the exit code is 2. Commands that read a project refuse to run elsewhere.
"""

import signal
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated

import typer

from cxprobe.cli import add, check, init, labels, models, runs
from cxprobe.errors import CxprobeError, ProjectError, warn_in_words
from cxprobe.run.progress import end_on_signals
from cxprobe.secrets import redact

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Models beside each other on constructions and files, and what a team does beside `dvc repro`: begin projects "
    "and constructions, check and label data, keep results and tracking in order.",
)


def _say_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        print(f"cxprobe {version('cxprobe')}")
        raise typer.Exit


@app.callback()
def _begin(
    _version: Annotated[
        bool, typer.Option("--version", help="Say which version is installed.", callback=_say_version, is_eager=True)
    ] = False,
) -> None:
    # Otherwise the processes that a command has started would live on; a person's Ctrl-C is asked for by the commands.
    end_on_signals(signal.SIGTERM, signal.SIGHUP)
    warn_in_words()


def require_project(folder: Path) -> None:
    """Refuse a folder that has neither params.yaml, dvc.yaml nor constructions/, as a project has.

    Raises:
        ProjectError: The message names the nearest folder above it that is one.
    """
    here, marks = folder.absolute(), ("params.yaml", "dvc.yaml", "constructions")
    projects = [one for one in (here, *here.parents) if any((one / mark).exists() for mark in marks)]
    if here in projects:
        return
    go = f"go to the project above it (cd {projects[0]})" if projects else "go to the folder of a project"
    raise ProjectError(
        f"{here} is no project: it has no params.yaml, dvc.yaml or constructions/; {go}, or make a project with "
        "`cxprobe init FOLDER`"
    )


def _user_message(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that prints a fault which the user can mend, and exits with 2."""

    @wraps(command)
    def run(*args: object, **options: object) -> None:
        try:
            # All others are about the project in whose folder they are called.
            if command not in (models.score, models.compare, models.evaluate, init.init):
                require_project(Path())
            command(*args, **options)
        except (CxprobeError, ImportError, OSError) as fault:
            from cxprobe.files.reading import one_line
            from cxprobe.files.writing import user_message

            message = user_message(fault)
            if message is None:
                raise
            print("\n".join(one_line(line) for line in redact(message).split("\n")), file=sys.stderr)
            raise SystemExit(2) from None

    return run


for _panel, _commands in {
    "Models": (models.compare, models.score, models.evaluate),
    "A project": (init.init, add.add, init.preset, check.check),
    "Labels": (labels.label,),
    "Runs and pages": (runs.sync, runs.ui, runs.export),
}.items():
    for _command in _commands:
        app.command(rich_help_panel=_panel)(_user_message(_command))
