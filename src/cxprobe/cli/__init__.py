"""The command ``cxprobe``: what a team does beside ``dvc repro``.

A module has one command, or several of one subject. It imports inside its functions what takes long to import, so that
each command loads only what it needs. A command raises `CxprobeError` for what the user can mend; that is printed
without a traceback, and the exit code is 2.
"""

import sys
from collections.abc import Callable
from functools import wraps

import typer

from cxprobe.cli import check, describe, labels, papers, plan, schema, tracking, validate
from cxprobe.errors import CxprobeError
from cxprobe.reading import one_line

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="What a team does beside `dvc repro`: check, describe and label data, keep results and tracking in order.",
)


def _mendable(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that prints a fault which the user can mend, and exits with 2."""

    @wraps(command)
    def run(*args: object, **options: object) -> None:
        try:
            command(*args, **options)
        except CxprobeError as fault:
            print("\n".join(one_line(line) for line in str(fault).split("\n")), file=sys.stderr)
            raise SystemExit(2) from None

    return run


for _command in (
    check.check,
    describe.describe,
    plan.plan,
    papers.papers,
    schema.schema,
    labels.label,
    labels.agreement,
    tracking.sync,
    tracking.prune,
):
    app.command()(_mendable(_command))

_validate = typer.Typer(no_args_is_help=True, help="Let people judge items: write forms, and read their answers.")
_validate.command("export")(_mendable(validate.export))
_validate.command("import")(_mendable(validate.import_))
app.add_typer(_validate, name="validate")

__all__ = ["app"]
