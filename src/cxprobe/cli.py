"""The command ``cxprobe``: what a team does beside ``dvc repro``."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from cxprobe import tracking
from cxprobe.constructions import load_construction
from cxprobe.errors import CxprobeError
from cxprobe.params import load_params
from cxprobe.sentences import load_grammars
from cxprobe.stage import read_records

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help=__doc__)


@app.command()
def sync() -> None:
    """Write every finished stage that the MLflow diary lacks into it, from the files under results/."""
    with _mendable():
        records = read_records()
        added = tracking.sync(records)
        print(f"{len(records)} finished stages, {added} of them new in the diary")


@app.command()
def check() -> None:
    """Check params.yaml and the constructions that it names, without running anything: seconds, not hours."""
    with _mendable():
        params = load_params()
        for name in params.grid.sentences.constructions:
            load_grammars(name, load_construction(name))
        print("params.yaml and its constructions are as they should be")


@contextmanager
def _mendable() -> Iterator[None]:
    """Print a fault that the user can mend without a traceback, and exit with 2."""
    try:
        yield
    except CxprobeError as fault:
        print(fault, file=sys.stderr)
        raise SystemExit(2) from None
