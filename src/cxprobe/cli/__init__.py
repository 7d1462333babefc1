"""The command ``cxprobe``: what a team does beside ``dvc repro``.

A module has one command, or several of one subject. It imports inside its functions what takes long to import, so that
each command loads only what it needs. A command raises `CxprobeError` for what the user can mend; that is printed
without a traceback, and the exit code is 2. Commands that read a project refuse to run elsewhere.
"""

import signal
import sys
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Annotated

import typer

from cxprobe.cli import (
    check,
    describe,
    download,
    export,
    files,
    init,
    labels,
    measure,
    new,
    params,
    plan,
    tracking,
    validate,
)
from cxprobe.errors import CxprobeError
from cxprobe.files.reading import one_line
from cxprobe.run.project import require_project
from cxprobe.run.signals import end_on_signals
from cxprobe.secrets import blot

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Scores of a file of sentences, and what a team does beside `dvc repro`: begin projects and constructions, "
    "check, describe and label data, keep results and tracking in order.",
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


def _mendable(command: Callable[..., None], *, anywhere: bool = False) -> Callable[..., None]:
    """Return a command that prints a fault which the user can mend, and exits with 2.

    Args:
        command: The command.
        anywhere: Whether it runs outside of a project's folder too.
    """

    @wraps(command)
    def run(*args: object, **options: object) -> None:
        try:
            if not anywhere:
                require_project(Path())
            command(*args, **options)
        except (CxprobeError, OSError) as fault:
            from cxprobe.files.writing import full_disk, no_access

            message = str(fault) if isinstance(fault, CxprobeError) else full_disk(fault) or no_access(fault)
            if message is None:
                raise
            print("\n".join(one_line(line) for line in blot(message).split("\n")), file=sys.stderr)
            raise SystemExit(2) from None

    return run


def _group(name: str, panel: str, about: str, commands: Mapping[str, Callable[..., None]]) -> None:
    """Add commands that have a first word in common."""
    group = typer.Typer(no_args_is_help=True, help=about)
    for word, command in commands.items():
        group.command(word)(_mendable(command))
    app.add_typer(group, name=name, rich_help_panel=panel)


_TEXTS, _PROJECT, _PEOPLE, _RESULTS = "Texts of your own", "A project", "People's judgements", "Runs and pages"
_ANYWHERE: Mapping[Callable[..., None], str] = {
    files.score: _TEXTS,
    files.surprisal: _TEXTS,
    files.compare: _TEXTS,
    files.features: _TEXTS,
    init.init: _PROJECT,
    params.schema: _PROJECT,
}
_IN_A_PROJECT: Mapping[Callable[..., None], str] = {
    params.preset: _PROJECT,
    check.check: _PROJECT,
    plan.plan: _PROJECT,
    download.download: _PROJECT,
    labels.label: _PEOPLE,
    labels.agreement: _PEOPLE,
    measure.measure: _RESULTS,
    tracking.sync: _RESULTS,
    tracking.ui: _RESULTS,
    tracking.prune: _RESULTS,
    describe.describe: _RESULTS,
}
for _command, _panel in _ANYWHERE.items():
    app.command(rich_help_panel=_panel)(_mendable(_command, anywhere=True))
for _command, _panel in _IN_A_PROJECT.items():
    app.command(rich_help_panel=_panel)(_mendable(_command))

_BEGIN = "Begin a part of a project: a construction, its frames, a model."
_group("new", _PROJECT, _BEGIN, {"construction": new.construction, "frames": new.frames, "model": new.model})
_JUDGE = "Compare with people: let them judge items, and measure patterns on what they annotated."
_COMPARED: Mapping[str, Callable[..., None]] = {
    "export": validate.export,
    "import": validate.import_,
    "pattern": validate.pattern,
}
_group("validate", _PEOPLE, _JUDGE, _COMPARED)
_GIVE = "Give data, tasks and results to other tools."
_EXPORTS: Mapping[str, Callable[..., None]] = {
    "hf": export.hf,
    "lm-eval": export.lm_eval,
    "inspect": export.inspect,
    "results": export.results,
    "conllu": export.conllu,
}
_group("export", _RESULTS, _GIVE, _EXPORTS)

__all__ = ["app"]
